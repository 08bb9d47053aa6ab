"""Summarise what a memory holds, for `egomem show`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from egomem.ingest.coverage import gaps, overlaps
from egomem.ingest.job import damages
from egomem.memory import Store
from egomem.memory.failed_windows import failed_windows_by_track
from egomem.records import Record, Recording


class MissingWindow(Record):
    """A window that a track has no observation of: `start` and `end` in seconds of the recording.

    `status` is that of the reply (`refused`, `truncated`, `unparsable`).
    """

    track: str
    recording: str
    name: str
    start: float
    end: float
    status: str


class MemorySummary(Record):
    """What a memory holds: recordings in time order, hours, observations by source, and problems.

    `gaps` and `overlaps` are lines for a person, each on two recordings of one wearer. `untold`
    lists windows without observations, because the model refused, was cut off, or its reply was
    unreadable.
    """

    folder: str
    recordings: tuple[Recording, ...]
    hours: float
    observations: dict[str, int]
    tracks: tuple[str, ...]
    gaps: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    overlaps: tuple[str, ...] = ()
    untold: tuple[MissingWindow, ...] = ()


def summarise(store: Store) -> MemorySummary:
    """Summarise a memory from its tally; observations are read only of failed tracks."""
    recordings, catalog = store.recordings(), store.catalog()
    counts: Counter[str] = Counter()
    # From the tally: counting a million observations would take seconds.
    for track, count in zip(catalog.tally_track, catalog.tally_count, strict=True):
        counts[catalog.tracks[track][1]] += int(count)
    return MemorySummary(
        folder=str(store.folder),
        recordings=tuple(recordings),
        hours=sum(r.duration for r in recordings) / 3600,
        observations=dict(counts),
        tracks=tuple(t.id for t in store.tracks()),
        damaged=tuple(f"{r.name}: {damage}" for r in recordings for damage in damages(r)),
        gaps=tuple(str(gap) for gap in gaps(recordings)),
        overlaps=tuple(str(overlap) for overlap in overlaps(recordings)),
        untold=tuple(_untold(store, recordings)),
    )


def _untold(store: Store, recordings: Iterable[Recording]) -> Iterator[MissingWindow]:
    for r in recordings:
        for track, failures in failed_windows_by_track(store, r.id).items():
            for span, status, _ in failures:
                yield MissingWindow(
                    track=track,
                    recording=r.id,
                    name=r.name,
                    start=span.start,
                    end=span.end,
                    status=status,
                )
