"""Insert observations into `memory.db`, and keep the tally of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from math import inf

from egomem.errors import ForgottenError
from egomem.memory import rows
from egomem.memory.checksums import (
    OBSERVATION_CHECKED,
    RECORDING_CHECKED,
    TRACK_CHECKED,
    row_checksum,
)
from egomem.records import Observation
from egomem.text import terms

_INSERT = (
    f"INSERT INTO observation({OBSERVATION_CHECKED}, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(recording, id) DO NOTHING"
)


def insert(
    db: sqlite3.Connection,
    observations: Iterable[Observation],
    track_numbers: dict[tuple[str, str], int],
) -> int:
    """Insert observations, with what they rest on, and count them; returns how many were new.

    `track_numbers` (track id and source -> number) is filled and used again from call to call. The
    caller commits. Raises ForgottenError where a recording is not in the memory.
    """
    recordings: dict[tuple[str | None, str], int] = {}
    tally: dict[tuple[int, int], tuple[int, int, float, float]] = {}
    new = 0
    for o in observations:
        # Looked up once a call: the rows of one call are mostly of one recording.
        number = recordings.get((o.recording, o.wearer))
        if number is None:
            number = recordings[o.recording, o.wearer] = _recording_number(db, o)
        track = track_numbers.get((o.track, o.source))
        if track is None:
            track = track_numbers[o.track, o.source] = _track_number(db, o)
        # The terms are stored, so that rebuilding the index needs no stemmer and gives the same.
        words, length = terms(o.text)
        row = (
            o.id,
            number,
            o.wearer,
            track,
            # As SQLite returns them, of which the checksum is: floats, and no -0.0.
            float(o.span.start) + 0.0,
            float(o.span.end) + 0.0,
            o.text,
            rows.to_json(o.data) if o.data else "{}",
            rows.provenance_json(o.provenance),
            " ".join(words),
            length,
        )
        # Ids are hashes of content, so the database itself tells what is there already.
        cursor = db.execute(_INSERT, (*row, row_checksum(*row)))
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
        # Kept as sums, so that statistics of a view over whole recordings need no scan.
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
        return recording_number(db, o.recording)
    where = "id IS NULL AND wearer = ?"
    row = db.execute(f"SELECT number FROM recording WHERE {where}", (o.wearer,)).fetchone()
    if row is None:
        db.execute(
            "INSERT INTO recording(id, wearer, name, duration) VALUES (NULL, ?, '', 0)", (o.wearer,)
        )
        renew_recording_checksum(db, None, o.wearer)
        db.execute("UPDATE state SET value = value + 1 WHERE name = 'recordings'")
        return _recording_number(db, o)
    return int(row[0])


def recording_number(db: sqlite3.Connection, id: str) -> int:
    """The number of a recording. Raises ForgottenError where it is not in the memory."""
    row = db.execute("SELECT number FROM recording WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise ForgottenError(f"recording {id!r} is not in this memory", "put it first")
    return int(row[0])


def _track_number(db: sqlite3.Connection, o: Observation) -> int:
    db.execute("INSERT OR IGNORE INTO track(id, source) VALUES (?, ?)", (o.track, o.source))
    (number, checksum) = db.execute(
        "SELECT number, checksum FROM track WHERE id = ? AND source = ?", (o.track, o.source)
    ).fetchone()
    if checksum is None:
        renew_track_checksum(db, o.track, o.source)
    return int(number)


def renew_recording_checksum(db: sqlite3.Connection, id: str | None, wearer: str) -> None:
    """Compute the checksum of a recording that was put (None: of a wearer's timeline) anew."""
    which = "id = ?" if id is not None else "id IS NULL AND wearer = ?"
    sql = f"UPDATE recording SET checksum = row_checksum({RECORDING_CHECKED}) WHERE {which}"
    db.execute(sql, (wearer if id is None else id,))


def renew_track_checksum(db: sqlite3.Connection, id: str, source: str) -> None:
    """Compute the checksum of a track that was put anew."""
    db.execute(
        f"UPDATE track SET checksum = row_checksum({TRACK_CHECKED}) WHERE id = ? AND source = ?",
        (id, source),
    )
