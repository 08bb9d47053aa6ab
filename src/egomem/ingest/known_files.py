"""What an ingest changes, keeps or ignores of a recording that the memory knows, and what it says.

What the user gave stands until the user gives something else: no name, sidecar or copy is over it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from egomem.hashing import recording_id
from egomem.ingest.job import DAMAGE, SOUND_DAMAGE, STREAMS
from egomem.ingest.start_times import MAX_DIFFERENCE_S, Start
from egomem.media import MediaInfo
from egomem.records import Recording
from egomem.timeline import Clock, format_instant
from egomem.timeline.file_names import named_time

_RANKS = {"given": 3, "import": 3, "sidecar": 2, "filename": 1, "container": 0}
"""How sure a clock is, by its source."""

_SOURCES = {
    "given": "as given",
    "import": "as imported",
    "sidecar": "from its sidecar",
    "filename": "from its name",
    "container": "from its creation time",
}

_COPY = re.compile(
    r"\s?\(\d+\)$|(^|[-_ ])(copy|kopie|copie|copia|cópia|kopia)(\s?\(?\d+\)?)?$"
    r"|^(copy of|kopie von|copia de|copie de)\b",
    re.IGNORECASE,
)


def originals(files: Mapping[Path, str], stored: Collection[str | None]) -> dict[Path, Path]:
    """Each file that has the same bytes as another (by hash) -> the one that counts.

    That is the one whose path is stored already; else a name that does not look like a copy's, one
    with a time in it, the shortest, the first.
    """
    by_hash: dict[str, list[Path]] = {}
    for path, digest in files.items():
        by_hash.setdefault(digest, []).append(path)

    def rank(path: Path) -> tuple[bool, bool, bool, int]:
        is_stored = str(path.resolve()) in stored
        looks_copied = _COPY.search(path.stem) is not None
        return not is_stored, looks_copied, named_time(path.stem) is None, len(path.name)

    copies: dict[Path, Path] = {}
    for paths in by_hash.values():
        first = min(paths, key=rank)
        copies |= {path: first for path in paths if path != first}
    return copies


def is_copy_of(path: Path, facts: MediaInfo, stored: Recording) -> bool:
    """Whether a file is a copy beside the file that the memory knows, which is still there."""
    if stored.path is None or Path(stored.path) == path.resolve():
        return False
    try:
        return Path(stored.path).stat().st_size == facts.bytes
    except OSError:
        return False


def known_recording(
    path: Path,
    digest: str,
    facts: MediaInfo,
    start: Start,
    stored: Recording | None,
    *,
    wearer: str,
    given: datetime | None = None,
    zone: tzinfo | None = None,
) -> tuple[Recording, list[str]]:
    """The recording of a file, and lines on what was changed, kept or ignored of a stored one."""
    fact_values = facts.model_dump(mode="json", exclude={"path"})
    speed = [note] if (note := facts.speed_note) else []
    if stored is None:
        recording = Recording(
            id=recording_id(digest),
            wearer=wearer,
            name=path.name,
            path=str(path.resolve()),
            sha256=digest,
            duration=facts.duration,
            clock=start.clock,
            facts=fact_values,
        )
        return recording, [*start.notes, *speed]
    # Not found by the probe: a run that decodes nothing, and finds no stream, must keep them.
    kept_facts = (DAMAGE, SOUND_DAMAGE, STREAMS)
    fact_values |= {k: v for k, v in stored.facts.items() if k in kept_facts}
    copy = is_copy_of(path, facts, stored)
    clock, notes = _clock(stored.clock, start, given, zone, copy=copy)
    if copy:
        notes.insert(0, f"a copy of {stored.path} (the same bytes), which stays its file")
    elif stored.path is not None and stored.path != str(path.resolve()):
        notes.insert(0, f"it was {stored.path}, which is not there any more")
    recording = stored.model_copy(
        update={
            "name": stored.name if copy else path.name,
            "path": stored.path if copy else str(path.resolve()),
            "sha256": digest,
            "duration": facts.duration,
            "clock": clock,
            "facts": fact_values,
        }
    )
    return recording, [*notes, *speed]


def _clock(
    clock: Clock | None, start: Start, given: datetime | None, zone: tzinfo | None, *, copy: bool
) -> tuple[Clock | None, list[str]]:
    """The clock of a stored recording after an ingest, and lines on it."""
    new = start.clock
    if clock is None or new is None:
        if new is not None:
            return new, [*start.notes, f"its start is set: {_text(new)}"]
        kept = clock if copy else _in_zone(clock, zone)
        # What hints tell is of no use where the start is known.
        return kept, list(start.notes) if clock is None else _rezoned(clock, kept)
    is_guess_of_its_own = not copy and _RANKS[new.source] >= _RANKS[clock.source] < 3
    if given is not None or is_guess_of_its_own:
        changed = f"its start was {_text(clock)}; it is now {_text(new)}"
        return new, [*start.notes, *([] if _is_same(new, clock) else [changed])]
    kept = clock if copy else _in_zone(clock, zone)
    notes = _rezoned(clock, kept)
    if abs(clock.seconds(new.start)) > MAX_DIFFERENCE_S:
        whose = "the copy's" if copy else "the"
        source = {"filename": "name", "container": "creation time"}.get(new.source, new.source)
        notes.append(
            f"its start stays {_text(clock)}; {whose} {source} says {format_instant(new.start)}, "
            "which is ignored (give --start to change it)"
        )
    return kept, notes


def _in_zone(clock: Clock | None, zone: tzinfo | None) -> Clock | None:
    """The same instant in the zone that the user gives, unless one was given by name before."""
    if clock is None or zone is None or getattr(clock.start.tzinfo, "key", None):
        return clock
    return Clock(clock.start.astimezone(zone), clock.source)


def _rezoned(clock: Clock | None, kept: Clock | None) -> list[str]:
    if clock is None or kept is None or _is_same(clock, kept):
        return []
    return [f"its start is read in {kept.start.tzinfo}: {format_instant(kept.start)}"]


def _is_same(one: Clock, other: Clock) -> bool:
    """Equal instants in equal zones; two zones may share an offset today and not tomorrow."""
    return one.start == other.start and str(one.start.tzinfo) == str(other.start.tzinfo)


def is_changed(stored: Recording, recording: Recording) -> bool:
    """Whether what a user sees of a stored recording has changed."""
    if (stored.name, stored.path, stored.wearer, stored.facts.get(STREAMS)) != (
        recording.name,
        recording.path,
        recording.wearer,
        recording.facts.get(STREAMS),
    ):
        return True
    if stored.clock is None or recording.clock is None:
        return stored.clock != recording.clock
    one, other = stored.clock, recording.clock
    return not _is_same(one, other) or one.source != other.source


def _text(clock: Clock) -> str:
    return f"{format_instant(clock.start)} ({_SOURCES[clock.source]})"


def ignored_wearer(recording: Recording, wearer: str | None) -> Iterable[str]:
    """A line where a wearer was given for a recording that is another's."""
    if wearer is not None and recording.wearer != wearer:
        yield (
            f"--wearer {wearer} is ignored: the recording is {recording.wearer}'s; to change it, "
            f"forget it and ingest it again"
        )
