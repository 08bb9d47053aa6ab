"""What a memory holds."""

from __future__ import annotations

from collections import Counter

from egomem.ingest.coverage import gaps, overlaps
from egomem.ingest.run import DAMAGE
from egomem.memory import Store
from egomem.records import Record, Recording


class Summary(Record):
    """What a memory holds: recordings in time order, hours, observations by source, what is amiss.

    `gaps` and `overlaps` are lines for a person, each about two recordings of one wearer.
    """

    folder: str
    recordings: tuple[Recording, ...]
    hours: float
    observations: dict[str, int]
    tracks: tuple[str, ...]
    gaps: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    overlaps: tuple[str, ...] = ()


def summarise(store: Store) -> Summary:
    """Counts come from the memory's own tally; no observation is read."""
    recordings, shape = store.recordings(), store.shape()
    counts: Counter[str] = Counter()
    for track, count in zip(shape.tally_track, shape.tally_count, strict=True):
        counts[shape.tracks[track][1]] += int(count)
    return Summary(
        folder=str(store.folder),
        recordings=tuple(recordings),
        hours=sum(r.duration for r in recordings) / 3600,
        observations=dict(counts),
        tracks=tuple(t.id for t in store.tracks()),
        damaged=tuple(f"{r.name}: {r.facts[DAMAGE]}" for r in recordings if DAMAGE in r.facts),
        gaps=tuple(str(gap) for gap in gaps(recordings)),
        overlaps=tuple(str(overlap) for overlap in overlaps(recordings)),
    )
