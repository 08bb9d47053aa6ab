"""The lexical index of a memory: segments on disk, and the rows that no segment holds yet.

It is derived: `memory.db` alone rebuilds it. The table `segment` lists the files of `index/` that
count, so that a file and the watermark (the last row that a segment holds) change in one
transaction; a file that is not listed is left over from a crash, and goes. Rows past the watermark
are indexed in memory when a search needs them, so that none is ever missed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from egomem.memory.segment import ROW_COLUMNS, Segment, merge

FLUSH_ROWS = 1024
"""Rows past the watermark that are worth a segment."""
MAX_SEGMENT_ROWS = 1 << 18
"""Observations. Larger segments are not merged, which bounds the time and memory of adding."""
_RATIO = 4
_CHUNK = 1 << 15


class SegmentEntry(NamedTuple):
    number: int
    first: int
    last: int
    rows: int
    checksum: int


def path_of(folder: Path, number: int) -> Path:
    return folder / "index" / f"{number:06d}.seg"


def segment_entries(db: sqlite3.Connection) -> list[SegmentEntry]:
    found = db.execute("SELECT number, first, last, count, checksum FROM segment ORDER BY first")
    return [SegmentEntry(*row) for row in found]


def last_row(db: sqlite3.Connection) -> int:
    """The largest n that was ever given."""
    found = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'observation'").fetchone()
    return int(found[0]) if found else 0


def rows_behind(db: sqlite3.Connection) -> int:
    """How many rows, at most, no segment holds."""
    (watermark,) = db.execute("SELECT coalesce(max(last), 0) FROM segment").fetchone()
    return last_row(db) - int(watermark)


class SegmentCache:
    """The segments up to a row, mapped once and kept as long as they are listed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[int, Segment] = {}
        self._tail: tuple[tuple[int, int], Segment] | None = None
        self._known: tuple[int, list[SegmentEntry]] | None = None

    def segments(self, db: sqlite3.Connection, horizon: int) -> list[Segment]:
        """Together they hold every row up to `horizon` (and perhaps some after it), once."""
        found: list[Segment] = []
        last = 0
        for entry in self._listed(db):
            if entry.first > horizon:
                break
            segment = self._open.get(entry.number)
            if segment is None:
                try:
                    segment = self._open[entry.number] = Segment.read(
                        path_of(self.folder, entry.number)
                    )
                except FileNotFoundError:
                    return self._anew(db, horizon, entry.number)
            found.append(segment)
            last = entry.last
        if last < horizon:
            found.append(self._rest(db, last, horizon))
        return found

    def _listed(self, db: sqlite3.Connection) -> list[SegmentEntry]:
        (version,) = db.execute("SELECT value FROM state WHERE name = 'index'").fetchone()
        if self._known is None or self._known[0] != version:
            entries = segment_entries(db)
            self._known = (version, entries)
            numbers = {entry.number for entry in entries}
            self._open = {k: v for k, v in self._open.items() if k in numbers}
            self._tail = None
        return self._known[1]

    def _anew(self, db: sqlite3.Connection, horizon: int, number: int) -> list[Segment]:
        """A writer merged the segment away, or somebody deleted the file."""
        self._known = None
        if number in {entry.number for entry in self._listed(db)}:
            # The rows are all there; an index that is lost slows a search and no more.
            return [self._rest(db, 0, horizon)]
        return self.segments(db, horizon)

    def _rest(self, db: sqlite3.Connection, after: int, horizon: int) -> Segment:
        if self._tail is None or self._tail[0] != (after, horizon):
            self._tail = ((after, horizon), build(db, after, horizon))
        return self._tail[1]


def build(db: sqlite3.Connection, after: int, last: int) -> Segment:
    """The segment of the rows after `after` up to `last`."""
    pieces = []
    while True:
        rows = db.execute(
            f"SELECT {ROW_COLUMNS} FROM observation o "
            "WHERE o.n > ? AND o.n <= ? ORDER BY o.n LIMIT ?",
            (after, last, _CHUNK),
        ).fetchall()
        pieces.append(Segment.build(rows))
        if len(rows) < _CHUNK:
            break
        after = rows[-1][0]
    return pieces[0] if len(pieces) == 1 else merge(pieces)


def flush(db: sqlite3.Connection, folder: Path) -> None:
    """Write the rows past the watermark as segments. The caller holds the writers' lock.

    Small segments are merged as they come: a new one takes in its predecessor as long as that one
    is not much larger, so that a memory has few segments and each row is rewritten a few times
    only, however many there are.
    """
    (folder / "index").mkdir(exist_ok=True)
    sweep(db, folder)
    while True:
        entries = segment_entries(db)
        after = entries[-1].last if entries else 0
        last = min(last_row(db), after + _CHUNK)
        if last <= after:
            return
        segment = build(db, after, last)
        taken: list[SegmentEntry] = []
        total = len(segment)
        while (
            entries
            and entries[-1].rows <= _RATIO * total
            and total + entries[-1].rows <= MAX_SEGMENT_ROWS
        ):
            taken.insert(0, entries.pop())
            total += taken[0].rows
        if taken:
            old = [Segment.read(path_of(folder, entry.number)) for entry in taken]
            segment = merge([*old, segment])
            after = taken[0].first - 1
        replace(db, folder, taken, segment, after + 1, last)


def replace(
    db: sqlite3.Connection,
    folder: Path,
    old: Sequence[SegmentEntry],
    new: Segment | None,
    first: int,
    last: int,
) -> None:
    """List `new` (rows first to last) in place of `old`, in one transaction; then delete those."""
    numbers = [(entry.number,) for entry in old]
    (number,) = db.execute(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'segment'), 0) + 1"
    ).fetchone()
    checksum = new.write(path_of(folder, number)) if new is not None else 0
    db.execute("BEGIN IMMEDIATE")
    try:
        db.executemany("DELETE FROM segment WHERE number = ?", numbers)
        if new is not None:
            db.execute(
                "INSERT INTO segment VALUES (?, ?, ?, ?, ?)",
                (number, first, last, len(new), checksum),
            )
        db.execute("UPDATE state SET value = value + 1 WHERE name = 'index'")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    for (gone,) in numbers:
        path_of(folder, gone).unlink(missing_ok=True)


def scrub(db: sqlite3.Connection, folder: Path) -> None:
    """Rewrite the segments that hold rows which the record no longer has.

    It needs no list of them, so that it can be taken up again after a crash. The caller holds the
    writers' lock.
    """
    for entry in segment_entries(db):
        held = rows_between(db, entry.first, entry.last)
        if len(held) == entry.rows:
            continue
        old = Segment.read(path_of(folder, entry.number))
        new = merge([old], np.setdiff1d(old.n, held))
        replace(db, folder, [entry], new, entry.first, entry.last)


def rows_between(db: sqlite3.Connection, first: int, last: int) -> npt.NDArray[np.int64]:
    found = db.execute(
        "SELECT n FROM observation WHERE n BETWEEN ? AND ? ORDER BY n", (first, last)
    )
    return np.array([n for (n,) in found], dtype=np.int64)


def rebuild(db: sqlite3.Connection, folder: Path) -> None:
    """Make the index anew from the record. The caller holds the writers' lock."""
    replace(db, folder, segment_entries(db), None, 0, 0)
    sweep(db, folder)
    flush(db, folder)


def sweep(db: sqlite3.Connection, folder: Path) -> list[Path]:
    """Delete files that are not listed: a crash left them. The caller holds the writers' lock."""
    known = {path_of(folder, entry.number) for entry in segment_entries(db)}
    gone = [path for path in (folder / "index").glob("*") if path not in known]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone
