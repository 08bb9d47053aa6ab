"""Insert observations into `memory.db`, and keep the tally of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from math import inf

from egomem.errors import StoreError
from egomem.memory import rows
from egomem.records import Observation
from egomem.text import terms


def insert(
    db: sqlite3.Connection,
    observations: Iterable[Observation],
    track_numbers: dict[tuple[str, str], int],
) -> int:
    """Insert observations, with what they rest on, and count them; returns how many were new.

    `track_numbers` (track id and source -> number) is filled and used again from call to call. The
    caller commits. Raises StoreError where a recording is not in the memory.
    """
    recordings: dict[tuple[str | None, str], int] = {}
    tally: dict[tuple[int, int], tuple[int, int, float, float]] = {}
    new = 0
    for o in observations:
        number = recordings.get((o.recording, o.wearer))
        if number is None:
            number = recordings[o.recording, o.wearer] = _recording_number(db, o)
        track = track_numbers.get((o.track, o.source))
        if track is None:
            track = track_numbers[o.track, o.source] = _track_number(db, o)
        # The terms are stored, so that rebuilding the index needs no stemmer and gives the same.
        words, length = terms(o.text)
        cursor = db.execute(
            "INSERT INTO observation(id, recording, wearer, track, start, end, text, data, "
            "provenance, terms, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT(recording, id) DO NOTHING",
            (
                o.id,
                number,
                o.wearer,
                track,
                o.span.start,
                o.span.end,
                o.text,
                rows.to_json(o.data) if o.data else "{}",
                rows.provenance_json(o.provenance),
                " ".join(words),
                length,
            ),
        )
        # Already there, and counted: a repeated import changes nothing.
        if not cursor.rowcount:
            continue
        new += 1
        rowid = cursor.lastrowid or 0
        if rests_on := o.provenance.rests_on:
            db.executemany(
                "INSERT OR IGNORE INTO rests_on VALUES (?, ?)",
                [(rowid, basis) for basis in rests_on],
            )
        _count(tally, (number, track), length, o.span.start, o.span.end)
    db.executemany(
        "INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "count = count + excluded.count, length = length + excluded.length, "
        "start = min(start, excluded.start), end = max(end, excluded.end)",
        [(*key, *values) for key, values in tally.items()],
    )
    return new


def _count(
    tally: dict[tuple[int, int], tuple[int, int, float, float]],
    key: tuple[int, int],
    length: int,
    start: float,
    end: float,
) -> None:
    count, total, first, last = tally.get(key, (0, 0, inf, -inf))
    tally[key] = count + 1, total + length, min(first, start), max(last, end)


def _recording_number(db: sqlite3.Connection, o: Observation) -> int:
    if o.recording is not None:
        row = db.execute("SELECT number FROM recording WHERE id = ?", (o.recording,)).fetchone()
        if row is None:
            raise StoreError(f"recording {o.recording!r} is not in this memory", "put it first")
        return int(row[0])
    where = "id IS NULL AND wearer = ?"
    row = db.execute(f"SELECT number FROM recording WHERE {where}", (o.wearer,)).fetchone()
    if row is None:
        db.execute(
            "INSERT INTO recording(id, wearer, name, duration) VALUES (NULL, ?, '', 0)", (o.wearer,)
        )
        db.execute("UPDATE state SET value = value + 1 WHERE name = 'recordings'")
        return _recording_number(db, o)
    return int(row[0])


def _track_number(db: sqlite3.Connection, o: Observation) -> int:
    db.execute("INSERT OR IGNORE INTO track(id, source) VALUES (?, ?)", (o.track, o.source))
    (number,) = db.execute(
        "SELECT number FROM track WHERE id = ? AND source = ?", (o.track, o.source)
    ).fetchone()
    return int(number)
