"""The lexical index of a memory: segments on disk, and the rows that no segment holds yet.

The index is derived: `memory.db` alone rebuilds it. The table `segment` lists the valid files of
`index/`, so that a file and the watermark (the last row that a segment holds) change in one
transaction; a file that is not listed was left by a crash and is deleted. Rows past the watermark
are indexed in memory when a search needs them, so that a search never misses one.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from egomem.errors import DamagedError
from egomem.memory.permissions import make_private_folder
from egomem.memory.segment import ROW_COLUMNS, Segment, merge
from egomem.paths import files_named, inside

log = logging.getLogger(__name__)

FILE_NAME = re.compile(r"\d{6,}\.(seg|part)")

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
    rows = db.execute("SELECT number, first, last, count, checksum FROM segment ORDER BY first")
    return [SegmentEntry(*row) for row in rows]


def last_row(db: sqlite3.Connection) -> int:
    """The largest row id that was ever assigned."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'observation'").fetchone()
    return int(row[0]) if row else 0


def rows_behind(db: sqlite3.Connection) -> int:
    """An upper bound of the number of rows that no segment holds."""
    (watermark,) = db.execute("SELECT coalesce(max(last), 0) FROM segment").fetchone()
    return last_row(db) - int(watermark)


class SegmentCache:
    """Open segments: mapped once, and kept as long as they are listed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[int, Segment] = {}
        self._tail: tuple[tuple[int, int], Segment] | None = None
        self._known: tuple[int, list[SegmentEntry]] | None = None

    def segments(self, db: sqlite3.Connection, horizon: int) -> list[Segment]:
        """Segments that together hold every row up to `horizon` once, and perhaps some after it."""
        segments: list[Segment] = []
        last = 0
        for entry in self._listed(db):
            # Rows past the horizon are not in the view; nothing of them is even mapped.
            if entry.first > horizon:
                break
            segment = self._open.get(entry.number)
            if segment is None:
                try:
                    segment = read_segment(self.folder, entry)
                except (FileNotFoundError, DamagedError) as fault:
                    self._known = None
                    # A reader in another process may hold a list from before the merge: no damage.
                    if entry not in self._listed(db):  # a writer has merged it away
                        return self.segments(db, horizon)
                    segment = rebuilt_segment(db, self.folder, entry, fault)
                self._open[entry.number] = segment
            segments.append(segment)
            last = entry.last
        if last < horizon:
            segments.append(self._unindexed(db, last, horizon))
        return segments

    def _listed(self, db: sqlite3.Connection) -> list[SegmentEntry]:
        (version,) = db.execute("SELECT value FROM state WHERE name = 'index'").fetchone()
        if self._known is None or self._known[0] != version:
            entries = segment_entries(db)
            self._known = (version, entries)
            numbers = {entry.number for entry in entries}
            self._open = {k: v for k, v in self._open.items() if k in numbers}
            self._tail = None  # rows of it may be in a segment now
        return self._known[1]

    def _unindexed(self, db: sqlite3.Connection, after: int, horizon: int) -> Segment:
        if self._tail is None or self._tail[0] != (after, horizon):
            self._tail = ((after, horizon), build(db, after, horizon))
        return self._tail[1]


def read_segment(folder: Path, entry: SegmentEntry) -> Segment:
    """Map a listed segment. Raises FileNotFoundError; DamagedError for another in its place."""
    return Segment.read(path_of(folder, entry.number), entry.checksum)


def rebuilt_segment(
    db: sqlite3.Connection, folder: Path, entry: SegmentEntry, fault: Exception
) -> Segment:
    """The segment of a listed file that is gone or damaged, built anew from the record."""
    # The rows are all there: a part of the index that is lost slows a search down, and no more.
    name = path_of(folder, entry.number)
    what = "is missing" if isinstance(fault, FileNotFoundError) else "is damaged"
    log.warning("%s %s; it is built anew for now; run: egomem check --repair", name, what)
    return build(db, entry.first - 1, entry.last)


def listed_segment(db: sqlite3.Connection, folder: Path, entry: SegmentEntry) -> Segment:
    """A listed segment; where its file is gone or damaged, as the record has it."""
    try:
        return read_segment(folder, entry)
    except (FileNotFoundError, DamagedError) as fault:
        return rebuilt_segment(db, folder, entry, fault)


def build(db: sqlite3.Connection, after: int, last: int) -> Segment:
    """Build the segment of the rows after `after` up to `last`."""
    segments = []
    while True:
        rows = db.execute(
            f"SELECT {ROW_COLUMNS} FROM observation o "
            "WHERE o.n > ? AND o.n <= ? ORDER BY o.n LIMIT ?",
            (after, last, _CHUNK),
        ).fetchall()
        segments.append(Segment.build(rows))
        if len(rows) < _CHUNK:
            break
        after = rows[-1][0]
    return segments[0] if len(segments) == 1 else merge(segments)


def flush(db: sqlite3.Connection, folder: Path) -> None:
    """Write the rows past the watermark as segments. The caller holds the writers' lock.

    Small segments are merged: a new one absorbs its predecessor while that one is not much larger.
    So a memory has few segments, and each row is rewritten only a few times.
    """
    make_private_folder(folder / "index")
    inside(folder, folder / "index")
    sweep(db, folder)
    while True:
        entries = segment_entries(db)
        after = entries[-1].last if entries else 0
        # In pieces: a rebuild of a year must not hold all its terms at once.
        last = min(last_row(db), after + _CHUNK)
        if last <= after:
            return
        segment = build(db, after, last)
        merged_entries: list[SegmentEntry] = []
        total = len(segment)
        while (
            entries
            and entries[-1].rows <= _RATIO * total
            and total + entries[-1].rows <= MAX_SEGMENT_ROWS
        ):
            merged_entries.insert(0, entries.pop())
            # Sizes grow at least by a factor, as in an LSM tree: few segments, and few rewrites of
            # a row.
            total += merged_entries[0].rows
        if merged_entries:
            old = [listed_segment(db, folder, entry) for entry in merged_entries]
            segment = merge([*old, segment])
            after = merged_entries[0].first - 1
        replace(db, folder, merged_entries, segment, after + 1, last)


def replace(
    db: sqlite3.Connection,
    folder: Path,
    old: Sequence[SegmentEntry],
    new: Segment | None,
    first: int,
    last: int,
) -> None:
    """List `new` (rows first to last) in place of `old` in one transaction; then delete the old
    files.
    """
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
    # Only after the commit: until then a crash must leave the old files usable.
    for (old_number,) in numbers:
        path_of(folder, old_number).unlink(missing_ok=True)


def scrub(db: sqlite3.Connection, folder: Path) -> None:
    """Rewrite the segments that hold rows which the record no longer has.

    It finds them by comparison and needs no list, so it can resume after a crash. The caller holds
    the writers' lock.
    """
    for entry in segment_entries(db):
        rowids = rows_between(db, entry.first, entry.last)
        # Rows are never changed, only removed: equal counts are equal rows.
        if len(rowids) == entry.rows:
            continue
        old = listed_segment(db, folder, entry)
        new = merge([old], np.setdiff1d(old.rowid, rowids))
        replace(db, folder, [entry], new, entry.first, entry.last)


def rows_between(db: sqlite3.Connection, first: int, last: int) -> npt.NDArray[np.int64]:
    cursor = db.execute(
        "SELECT n FROM observation WHERE n BETWEEN ? AND ? ORDER BY n", (first, last)
    )
    return np.array([n for (n,) in cursor], dtype=np.int64)


def rebuild(db: sqlite3.Connection, folder: Path) -> None:
    """Rebuild the index from the record. The caller holds the writers' lock."""
    replace(db, folder, segment_entries(db), None, 0, 0)
    sweep(db, folder)
    flush(db, folder)


def sweep(db: sqlite3.Connection, folder: Path) -> list[Path]:
    """Delete our files that are not listed, which a crash left; not those of others.

    The caller holds the writers' lock.
    """
    strays = stray_files(db, folder)
    for path in strays:
        path.unlink(missing_ok=True)
    return strays


def stray_files(db: sqlite3.Connection, folder: Path) -> list[Path]:
    """Files of `index/` that are ours by their name, and not listed."""
    listed_paths = {path_of(folder, entry.number) for entry in segment_entries(db)}
    return [path for path in files_named(folder / "index", FILE_NAME) if path not in listed_paths]
