"""Put observations in the place of others: new digests in that of those that are out of date.

All or nothing: a kill leaves either the old ones or the new ones. What the index still holds of the
old ones is taken out by the next opening, as it is after a forgetting that was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from egomem.memory.connection import Connection
from egomem.memory.forget import finish_forgetting, recount_tally, scrub_derived
from egomem.memory.insert import insert
from egomem.memory.reader import MemoryReader
from egomem.records import Observation


class ObservationKey(NamedTuple):
    """Where an observation lies: `n` is its row; `start` and `end` in seconds of its timeline."""

    n: int
    id: str
    recording: str | None
    wearer: str
    source: str
    track: str
    start: float
    end: float


def observation_keys(
    store: MemoryReader, recordings: Iterable[str] | None = None
) -> list[ObservationKey]:
    """The keys of everything in a memory (or on some recordings), without any text; in no order."""
    sql = (
        "SELECT o.n, o.id, r.id, o.wearer, t.source, t.id, o.start, o.end FROM observation o "
        "JOIN recording r ON r.number = o.recording JOIN track t ON t.number = o.track"
    )
    if recordings is None:
        return [ObservationKey(*row) for row in store.connection.select(sql)]
    return [
        ObservationKey(*row)
        for id in recordings
        for row in store.connection.select(f"{sql} WHERE r.id = ?", (id,))
    ]


def exchange(
    connection: Connection,
    old: Iterable[tuple[int, str]],
    new: Sequence[Observation],
    track_numbers: dict[tuple[str, str], int],
    *,
    drop_tracks: Iterable[str] = (),
) -> int:
    """Delete observations (row and id) and insert others; returns how many were deleted.

    An old one that is no longer there, or is another one by now, is passed over. `drop_tracks`
    lose their entries, as far as nothing is left of them.
    """
    with connection.transaction() as db:
        (unfinished,) = db.execute("SELECT value FROM state WHERE name = 'forgetting'").fetchone()
        deleted = 0
        timelines = set()
        for n, id in old:
            row = db.execute(
                "SELECT recording FROM observation WHERE n = ? AND id = ?", (n, id)
            ).fetchone()
            if row is None:
                continue
            timelines.add(row[0])
            # What rests on it goes on saying so: one of the same content may be among the new ones.
            db.execute("DELETE FROM observation WHERE n = ?", (n,))
            deleted += 1
        for timeline in timelines:
            recount_tally(db, timeline)
        insert(db, new, track_numbers)
        for track in drop_tracks:
            db.execute(
                "DELETE FROM track WHERE id = ? AND number NOT IN (SELECT track FROM tally)",
                (track,),
            )
        db.execute(
            "DELETE FROM recording WHERE id IS NULL AND number NOT IN (SELECT recording FROM tally)"
        )
        if deleted:
            # Readers must not go on with lists of rows that hold the old ones.
            db.execute(
                "UPDATE state SET value = value + 1 "
                "WHERE name IN ('forgotten', 'recordings', 'index')"
            )
            db.execute("UPDATE state SET value = 1 WHERE name = 'forgetting'")
    if deleted and unfinished:
        finish_forgetting(connection)
    elif deleted:
        with connection.changing() as db:
            scrub_derived(db, connection.folder)
            db.execute("UPDATE state SET value = 0 WHERE name = 'forgetting'")
    return deleted
