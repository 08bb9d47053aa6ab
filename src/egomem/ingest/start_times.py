"""When a recording began, by the user, sidecars, file names and containers.

A start counts as a clock where both instant and zone are known. Everything else is a hint, which is
shown and never trusted: cameras write local time into the container and mark it as UTC, and file
names carry no zone.
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from typing import Literal

from egomem.errors import TimeError, reason
from egomem.ingest.coverage import TOLERANCE_S, CoverageGap, Overlap, gaps, overlaps
from egomem.media import MediaInfo
from egomem.timeline import Clock, format_time, read_start, read_time, zone_of
from egomem.timeline.clock import ClockSource

__all__ = [
    "Chapter",
    "CoverageGap",
    "Hint",
    "Overlap",
    "Start",
    "chapters",
    "find_start",
    "find_starts",
    "gaps",
    "instant_of",
    "overlaps",
]


@dataclass(frozen=True, slots=True)
class Hint:
    """A start from one source. `start` is naive where the source names no zone."""

    source: ClockSource
    start: datetime
    note: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.start.isoformat(' ')}" + (
            f" ({self.note})" if self.note else ""
        )


@dataclass(frozen=True, slots=True)
class Start:
    """A recording's start: the clock to use, if any, and the reason.

    `hints` are all that were found, with the one that is used; `notes` are lines for the user.
    """

    clock: Clock | None
    reason: str
    hints: tuple[Hint, ...] = ()
    notes: tuple[str, ...] = ()


def find_start(
    path: str | Path,
    facts: MediaInfo | None = None,
    *,
    given: datetime | None = None,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    container: Literal["hint", "utc", "local"] = "hint",
) -> Start:
    """Find the start of one file: `given`, else a sidecar's, else its name's in `zone`, else
    unknown.

    `zone` is where it was recorded: without it, times without a zone stay hints. `day_one` is the
    date of EgoLife's DAY1. `container` says how to take a creation time that is marked as UTC; one
    with another offset was set by a device that knows its zone, and counts.
    """
    path = Path(path)
    notes: list[str] = []
    hints = [
        *_sidecar(path, facts, zone, notes),
        *_name(path, zone, day_one, notes),
        *_container(facts, zone, container, notes),
    ]
    if given is not None:
        clock = Clock(given, "given")
        notes += [
            f"the start given is not what the {hint} says"
            for hint in hints
            if hint.start.tzinfo and not hint.note and abs(clock.seconds(hint.start)) > 60
        ]
        return Start(clock, "it was given", tuple(hints), tuple(notes))
    for hint in hints:
        if hint.start.tzinfo is not None and (hint.source == "sidecar" or not hint.note):
            reason = {
                "sidecar": "a file beside it says so",
                "filename": "its name says so, in the zone given",
                "container": "its creation time has a zone",
            }[hint.source]
            return Start(Clock(hint.start, hint.source), reason, tuple(hints), tuple(notes))
    if hints:
        hint_texts = "; ".join(map(str, hints))
        notes.append(
            f"{path.name}: when it began is only hinted at ({hint_texts}); "
            f"if that is right, give --start {_suggestion(hints[0].start)}"
        )
    else:
        notes.append(f"{path.name}: nothing says when it began; give --start to place it in time")
    return Start(None, "no source gives both a time and its zone", tuple(hints), tuple(notes))


def find_starts(
    files: Mapping[Path, MediaInfo],
    *,
    given: datetime | None = None,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    container: Literal["hint", "utc", "local"] = "hint",
) -> dict[Path, Start]:
    """Find the starts of several files; chapters of one recording follow each other.

    `given` is the start of the first file's recording. Raises TimeError where the files are more
    than one recording.
    """
    groups = chapters(files)
    if given is not None and len(groups) > 1:
        raise TimeError(
            f"one start was given for {len(groups)} recordings", "ingest them one by one"
        )
    starts: dict[Path, Start] = {}
    for group in groups:
        first = group[0].path
        start = find_start(
            first, files[first], given=given, zone=zone, day_one=day_one, container=container
        )
        for number, chapter in enumerate(group, 1):
            if number == 1:
                starts[chapter.path] = start
                continue
            note = f"{chapter.path.name}: chapter {number} of {first.name}, "
            note += f"{format_time(chapter.offset)} after its start"
            clock = (
                replace(start.clock, start=start.clock.at(chapter.offset)) if start.clock else None
            )
            starts[chapter.path] = Start(clock, f"it follows {first.name}", start.hints, (note,))
    return {path: starts[path] for path in files}


# -- chapters of one recording ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chapter:
    """A file of a recording that the camera split, `offset` seconds after its start."""

    path: Path
    offset: float


def chapters(files: Mapping[Path, MediaInfo]) -> list[tuple[Chapter, ...]]:
    """Group files into recordings, each in the order in which it was filmed.

    Chapters carry GoPro's numbers (GX010123, GX020123; GOPR0123, GP010123), or the same creation
    time and names that differ only in their last number. All chapters of a camera may carry one
    creation time, so the offset is the sum of the durations before.
    """
    keyed: dict[tuple[str, ...], list[tuple[int, Path]]] = {}
    for path, facts in files.items():
        key, number = _chapter_key(path, facts)
        keyed.setdefault(key, []).append((number, path))
    groups = []
    for members in keyed.values():
        offset, group = 0.0, []
        for _, path in sorted(members):
            group.append(Chapter(path, offset))
            offset += files[path].duration
        groups.append(tuple(group))
    return groups


def _chapter_key(path: Path, facts: MediaInfo) -> tuple[tuple[str, ...], int]:
    folder, suffix, stem = str(path.parent), path.suffix.lower(), path.stem
    if match := re.fullmatch(r"(G[HXLS])(\d\d)(\d{4})", stem, re.IGNORECASE):
        return (folder, suffix, match[1].upper(), match[3]), int(match[2])
    if match := re.fullmatch(r"GOPR(\d{4})|GP(\d\d)(\d{4})", stem, re.IGNORECASE):
        return (folder, suffix, "GOPR", match[1] or match[3]), int(match[2] or 0)
    match = re.fullmatch(r"(.*?)(\d+)", stem)
    timed = match is not None and _named_time(stem) != _named_time(match[1])
    if match is None or not facts.created or timed:
        return (str(path),), 0
    return (folder, suffix, match[1], facts.created), int(match[2])


# -- sources ---------------------------------------------------------------------------------------


def _sidecar(
    path: Path, facts: MediaInfo | None, zone: tzinfo | None, notes: list[str]
) -> Iterator[Hint]:
    """Hints from `<stem>.json`, `<name>.json`, `<stem>*.vrs.json`: `start` or `start_time`."""
    stem = glob.escape(path.stem)
    vrs = [p for p in sorted(path.parent.glob(f"{stem}*.vrs.json")) if _belongs(path.stem, p.name)]
    for beside in (path.with_suffix(".json"), path.with_name(path.name + ".json"), *vrs):
        if not beside.is_file():
            continue
        try:
            sidecar = json.loads(beside.read_text(encoding="utf-8-sig"))
        except (ValueError, OSError) as error:
            notes.append(f"{beside.name} cannot be read: {reason(error)}")
            continue
        start_value = (
            sidecar.get("start", sidecar.get("start_time")) if isinstance(sidecar, dict) else None
        )
        if start_value is None or isinstance(start_value, bool):
            continue
        zone_name = sidecar.get("zone") or sidecar.get("timezone") or sidecar.get("time_zone")
        try:
            sidecar_zone = zone_of(zone_name) if isinstance(zone_name, str) else zone
            start, note = instant_of(start_value, sidecar_zone)
        except (TimeError, ValueError, OverflowError, OSError) as error:
            notes.append(f"{beside.name}: {error}")
            continue
        end = sidecar.get("end_time")
        if facts and isinstance(start_value, int | float) and isinstance(end, int | float):
            length = instant_of(end, sidecar_zone)[0].timestamp() - start.timestamp()
            if abs(length - facts.duration) > max(TOLERANCE_S, 0.05 * facts.duration):
                notes.append(
                    f"{beside.name} tells of {length:.0f} s, the video has {facts.duration:.0f} s"
                )
        yield Hint("sidecar", start, note)


def _belongs(stem: str, name: str) -> bool:
    """False for `cam10.vrs.json` beside `cam1.mp4`."""
    return not name[len(stem) : len(stem) + 1].isalnum()


def instant_of(value: object, zone: tzinfo | None) -> tuple[datetime, str]:
    """A sidecar's time: ISO 8601, or a count since 1970 in s, ms, us or ns; and a note on it."""
    if isinstance(value, str):
        try:
            return read_start(value, zone=zone), ""
        except TimeError as error:
            if "has no zone" not in error.message:
                raise
            return datetime.fromisoformat(value), "it has no zone"
    assert isinstance(value, int | float), value
    seconds = float(value)
    while seconds > 1e11:  # the year 5138 in seconds, 1973 in milliseconds
        seconds /= 1000
    local = datetime.fromtimestamp(seconds, UTC)
    return (local.astimezone(zone), "") if zone else (local, "local times are shown in UTC")


_DATED = re.compile(
    r"(?<!\d)(20\d\d)([-._]?)(\d\d)\2(\d\d)"  # 2026-03-02, 20260302
    r"(?:[-_T ]|\s+at\s+)?(\d\d)([-._]?)(\d\d)\6(\d\d)(?!\d{5})",  # 08.10.00, 081000
    re.IGNORECASE,
)
_EGOLIFE = re.compile(r"(DAY\d+)_.*?_?(\d{8})$", re.IGNORECASE)


def _named_time(stem: str) -> datetime | tuple[str, ...] | None:
    """The local time in a file's name, or EgoLife's day and time."""
    if match := _EGOLIFE.search(stem):
        return (match[1], match[2])
    if match := _DATED.search(stem):
        try:
            return datetime(*(int(match[k]) for k in (1, 3, 4, 5, 7, 8)))  # type: ignore[arg-type]
        except ValueError:
            return None
    return None


def _name(
    path: Path, zone: tzinfo | None, day_one: date | None, notes: list[str]
) -> Iterator[Hint]:
    named_time = _named_time(path.stem)
    if named_time is None:
        return
    try:
        if isinstance(named_time, tuple):
            when = read_time(" ".join(named_time), zone=zone or UTC, day_one=day_one)
            assert when.instants is not None
            start = when.instants.start
            named_time = start.replace(tzinfo=None)
        elif path.stem.upper().startswith("PXL_"):
            # Pixel phones write UTC into the name, not local time.
            utc = named_time.replace(tzinfo=UTC)
            yield Hint("filename", utc.astimezone(zone) if zone else utc, "" if zone else _PIXEL)
            return
        elif zone:
            start = read_start(named_time.isoformat(), zone=zone)
    except TimeError as error:
        notes.append(f"{path.name}: {error}")
        return
    yield Hint("filename", start) if zone else Hint("filename", named_time, "a name has no zone")


_PIXEL = "Pixel phones name files in UTC, as far as we know"


def _container(
    facts: MediaInfo | None,
    zone: tzinfo | None,
    meaning: Literal["hint", "utc", "local"],
    notes: list[str],
) -> Iterator[Hint]:
    if facts is None or not facts.created:
        return
    try:
        start = datetime.fromisoformat(facts.created)
    except ValueError:
        notes.append(f"the creation time {facts.created!r} cannot be read")
        return
    if start.year < 1990:  # the epoch of the container: a clock that was never set
        return
    if start.tzinfo is None or not start.utcoffset():
        naive = start.replace(tzinfo=None)
        if meaning == "local" and zone is not None:
            try:
                yield Hint("container", read_start(naive.isoformat(), zone=zone))
            except TimeError as error:
                notes.append(f"the creation time: {error}")
        elif meaning == "utc":
            utc = naive.replace(tzinfo=UTC)
            yield Hint("container", utc.astimezone(zone) if zone else utc)
        else:
            note = "marked as UTC, but cameras often write local time there"
            yield Hint("container", start, note)
        return
    yield Hint("container", start)


def _suggestion(start: datetime) -> str:
    return start.isoformat() if start.tzinfo else f"{start.isoformat()}+HH:MM with your offset"
