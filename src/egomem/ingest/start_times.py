"""When a recording began, by the user, sidecars, file names and containers.

A start counts as a clock where both instant and zone are known. Everything else is a hint, which is
shown and never trusted: cameras write local time into the container and mark it as UTC, and file
names carry no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from typing import Literal

from egomem.errors import TimeError
from egomem.ingest.sidecars import Folders, sidecar_times
from egomem.media import MediaInfo
from egomem.records import Recording
from egomem.timeline import Clock, format_time, read_start, read_time
from egomem.timeline.chapters import Chapter, ChapterFile, chapter_name, chapters_of
from egomem.timeline.clock import ClockSource
from egomem.timeline.dst import occurs_twice
from egomem.timeline.file_names import DAY_ONLY, named_time

MAX_DIFFERENCE_S = 60
"""Seconds that two sources may differ by before it is said: cameras and phones are set by hand."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A start from one source. `start` is naive where the source names no zone."""

    source: ClockSource
    start: datetime
    note: str = ""

    def __str__(self) -> str:
        start = self.start.date() if self.note.startswith(DAY_ONLY) else self.start
        text = f"{self.source}: {start!s}"
        return text + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, slots=True)
class Start:
    """A recording's start: the clock to use, if any, and the reason.

    `hints` are all that were found, with the one that is used; `notes` are lines for the user.
    """

    clock: Clock | None
    reason: str
    hints: tuple[Hint, ...] = ()
    notes: tuple[str, ...] = ()


_REASONS = {
    "sidecar": "a file beside it says so",
    "filename": "its name says so, in the zone given",
    "container": "its creation time has a zone",
}


def find_start(
    path: str | Path,
    facts: MediaInfo | None = None,
    *,
    given: datetime | None = None,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    container: Literal["hint", "utc", "local"] = "hint",
    folders: Folders | None = None,
) -> Start:
    """Find the start of one file: `given`, else a sidecar's, else its name's in `zone`, else
    unknown.

    `zone` is where it was recorded: without it, times without a zone stay hints; with it, every
    start is in that zone. `day_one` is the date of EgoLife's DAY1. `container` says how to take a
    creation time that is marked as UTC; one with another offset was set by a device that knows its
    zone, and counts. `folders` remembers what was read of folders.
    """
    path = Path(path)
    notes: list[str] = []
    hints = [
        *(
            Hint("sidecar", t.start, t.doubt)
            for t in sidecar_times(path, facts, zone, notes, folders)
        ),
        *_name(path, zone, day_one, notes),
        *_container(facts, zone, container, notes),
    ]
    # What the user says is over all else, and where a file contradicts it by more than a minute
    # that is said: one of them is wrong.
    if given is not None:
        # In the zone of the recording, so that "yesterday evening" is an evening there.
        clock = Clock(given.astimezone(zone) if zone else given, "given")
        if occurs_twice(given):
            what = f"{given:%H:%M} occurs twice that day"
            notes.append(f"{what}; read as the first (write it with an offset to say otherwise)")
        notes += [
            f"the start given is not what the {hint} says"
            for hint in hints
            if hint.start.tzinfo
            and (not hint.note or hint.source == "sidecar")
            and abs(clock.seconds(hint.start)) > MAX_DIFFERENCE_S
        ]
        return Start(clock, "it was given", tuple(hints), tuple(notes))
    for hint in hints:
        if hint.start.tzinfo is not None and (hint.source == "sidecar" or not hint.note):
            if hint.note:
                notes.append(f"{path.name}: its sidecar tells an instant; {hint.note}: give --zone")
            clock = Clock(hint.start, hint.source)
            return Start(clock, _REASONS[hint.source], tuple(hints), tuple(notes))
    notes.append(_unknown(path, hints))
    return Start(None, "no source gives both a time and its zone", tuple(hints), tuple(notes))


def _unknown(path: Path, hints: Sequence[Hint]) -> str:
    if not hints:
        return f"{path.name}: nothing says when it began; give --start to place it in time"
    hint_texts = "; ".join(map(str, hints))
    what = f"{path.name}: when it began is only hinted at ({hint_texts}); if that is right, give"
    first = hints[0]
    if first.note == _NO_ZONE or first.note == _IN_UTC:
        return f"{what} --zone, where it was filmed (such as Europe/Berlin)"
    if first.note.startswith(DAY_ONLY):
        return f"{what} --start {first.start.date()}THH:MM+HH:MM"
    start = first.start.isoformat()
    return f"{what} --start {start}" + ("" if first.start.tzinfo else "+HH:MM with your offset")


# -- several files ---------------------------------------------------------------------------------


def find_starts(
    files: Mapping[Path, MediaInfo],
    *,
    given: datetime | None = None,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    container: Literal["hint", "utc", "local"] = "hint",
    stored: Sequence[Recording] = (),
) -> dict[Path, Start]:
    """Find the starts of several files; chapters of one recording follow each other.

    `given` is the start of the first of these files' recording. `stored` are recordings of earlier:
    a chapter of one of them follows it. A chapter's own sidecar is over where it would follow.
    Raises TimeError where a start is given and the files are more than one recording.
    """
    folders = Folders()
    starts = {
        path: find_start(
            path, facts, zone=zone, day_one=day_one, container=container, folders=folders
        )
        for path, facts in files.items()
    }
    groups = _groups(files, starts, stored, alone=given is None)
    if given is not None and len(groups) > 1:
        names = ", ".join(group[0].file.path.name for group in groups[:5])
        more = f" and {len(groups) - 5} more" if len(groups) > 5 else ""
        raise TimeError(
            f"one start was given for {len(groups)} recordings ({names}{more})",
            "ingest them one by one",
        )
    by_path = {Path(r.path): r for r in stored if r.path}
    for group in groups:
        _follow(group, files, starts, by_path, given, zone)
    return starts


def _groups(
    files: Mapping[Path, MediaInfo],
    starts: Mapping[Path, Start],
    stored: Sequence[Recording],
    *,
    alone: bool,
) -> list[tuple[Chapter[Path], ...]]:
    """The recordings that the files are of, with their stored chapters.

    With `alone`, a file of one creation time with others that has a sidecar of its own is no
    chapter: that it is one was a guess.
    """
    # Stored paths are absolute, those of a command are often not.
    absolute = {path: path.resolve() for path in files}
    chapter_files = {
        path: ChapterFile(absolute[path], f.duration, f.created) for path, f in files.items()
    }
    for recording in stored:
        path = Path(recording.path) if recording.path else None
        if path is not None and path not in absolute.values():
            created = recording.facts.get("created")
            chapter_files[path] = ChapterFile(
                path, recording.duration, created if isinstance(created, str) else None
            )
    lone: list[tuple[Chapter[Path], ...]] = []
    if alone:
        for path in [p for p in files if _has_own_sidecar(starts[p])]:
            name = chapter_name(chapter_files[path])
            if name is None or not name.numbered:
                file = chapter_files.pop(path)
                lone.append((Chapter(path, file, 0, 0.0),))
    groups = [g for g in chapters_of(chapter_files) if any(c.id in files for c in g)]
    return groups + lone


def _follow(
    group: Sequence[Chapter[Path]],
    files: Mapping[Path, MediaInfo],
    starts: dict[Path, Start],
    stored: Mapping[Path, Recording],
    given: datetime | None,
    zone: tzinfo | None,
) -> None:
    """Set the start of each chapter of a recording to follow those before it."""
    first = group[0].file.path.name
    origin: tuple[Clock, float] | None = None
    was_given = False
    for place, chapter in enumerate(group):
        path, chapter_start = chapter.id, starts.get(chapter.id)
        if chapter.offset is None and place:
            origin = None
        notes = list(_missing(group, place))
        clock, reason = None, ""
        if chapter_start is None:
            clock = stored[path].clock
            if clock is not None and chapter.offset is not None:
                origin = clock, chapter.offset
            continue
        if given is not None and not was_given:
            was_given = True
            chapter_start = find_start(path, files[path], given=given, zone=zone)
            clock, reason = chapter_start.clock, chapter_start.reason
            notes += chapter_start.notes
        elif place == 0 or (_has_own_sidecar(chapter_start) and given is None):
            clock, reason = chapter_start.clock, chapter_start.reason
            notes += chapter_start.notes
            if place and chapter_start.clock is not None and origin is not None:
                apart = chapter_start.clock.seconds(_after(origin, chapter.offset or 0.0).start)
                if abs(apart) > MAX_DIFFERENCE_S:
                    notes.append(f"{path.name}: its sidecar is over its place as a chapter")
        elif origin is not None and chapter.offset is not None:
            clock, reason = _after(origin, chapter.offset), f"it follows {first}"
        elif chapter.offset is None:
            clock, reason = chapter_start.clock, chapter_start.reason
        if place and chapter.offset is not None and reason != _REASONS["sidecar"]:
            notes.append(
                f"{path.name}: chapter {place + 1} of {first}, "
                f"{format_time(chapter.offset)} after its start"
            )
        if place and chapter.offset is None and clock is None:
            notes.append(f"{path.name}: when it began is not known; give it a --start of its own")
        starts[path] = Start(
            clock, reason or chapter_start.reason, chapter_start.hints, tuple(notes)
        )
        if clock is not None and chapter.offset is not None:
            origin = clock, chapter.offset


def _after(origin: tuple[Clock, float], offset: float) -> Clock:
    clock, zero = origin
    return replace(clock, start=clock.at(offset - zero))


def _missing(group: Sequence[Chapter[Path]], place: int) -> Iterator[str]:
    chapter = group[place]
    if not chapter.missing:
        return
    numbers = ", ".join(str(number) for number in chapter.missing)
    noun = "chapter" if len(chapter.missing) == 1 else "chapters"
    verb = "is" if len(chapter.missing) == 1 else "are"
    before = (
        f"before {chapter.file.path.name}"
        if not place
        else (f"between {group[place - 1].file.path.name} and {chapter.file.path.name}")
    )
    yield f"{noun} {numbers} of the recording {verb} missing, {before}"


def _has_own_sidecar(start: Start) -> bool:
    return start.clock is not None and start.clock.source == "sidecar"


# -- sources ---------------------------------------------------------------------------------------

_EGOLIFE = re.compile(r"(DAY\d+)_.*?_?(\d{8})$", re.IGNORECASE)
_NO_ZONE = "a name has no zone"
_IN_UTC = "the name is in UTC"


def _name(
    path: Path, zone: tzinfo | None, day_one: date | None, notes: list[str]
) -> Iterator[Hint]:
    try:
        if match := _EGOLIFE.search(path.stem):
            when = read_time(f"{match[1]} {match[2]}", zone=zone or UTC, day_one=day_one)
            assert when.instants is not None
            start = when.instants.start
            yield (
                Hint("filename", start)
                if zone
                else Hint("filename", start.replace(tzinfo=None), _NO_ZONE)
            )
            return
        named = named_time(path.stem)
        if named is None:
            return
        start = named.start
        if start.tzinfo is not None:
            has_zone = zone is not None or named.zoned
            start = start.astimezone(zone) if zone else start
            yield Hint("filename", start, named.doubt or ("" if has_zone else _IN_UTC))
        elif zone is None:
            yield Hint("filename", start, named.doubt or _NO_ZONE)
        elif named.doubt:
            yield Hint("filename", start, named.doubt)
        else:
            start = read_start(start.isoformat(), zone=zone)
            if occurs_twice(start):
                what = f"{start:%H:%M} occurs twice that day; read as the first"
                notes.append(f"{path.name}: {what} (give --start to say otherwise)")
            yield Hint("filename", start)
    except TimeError as error:
        notes.append(f"{path.name}: {error}")
        return
    if named.note:
        notes.append(f"{path.name}: {named.note}")


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
    yield Hint("container", start.astimezone(zone) if zone else start)
