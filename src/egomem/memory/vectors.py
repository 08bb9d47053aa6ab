"""Vectors of observations: append-only files, one for each embedder and recording, scanned exactly.

`vectors/E/R-N.f32` holds float32 rows of unit length, `R-N.row` what each row is of (`ROW_DTYPE`);
E and R are the numbers of the embedder and the recording in memory.db, N is the edition, which
changes when something is forgotten. The table `vectors` says which edition and how many rows count.
Bytes past that are a write that a crash cut off; the next one overwrites them.
"""

from __future__ import annotations

import os
import re
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from egomem.errors import DamagedError, UsageError, reason
from egomem.memory.checksums import file_checksum
from egomem.memory.permissions import make_private_folder, open_private
from egomem.memory.segment import sync_folder
from egomem.paths import entries as folder_entries
from egomem.paths import files_named, inside

FILE_NAME = re.compile(r"\d+-\d+\.(f32|row)")
_FOLDER_NAME = re.compile(r"\d+")

Matrix = npt.NDArray[np.float32]
ROW_DTYPE = np.dtype(
    [("n", "<i8"), ("track", "<i4"), ("_", "<i4"), ("start", "<f8"), ("end", "<f8")]
)


@dataclass(frozen=True, slots=True)
class VectorFile:
    """A memory-mapped vector file: `matrix` is (rows, dimension) float32; columns have one entry a
    row.

    `last` and `runs` are as in `ObservationColumns`.
    """

    matrix: Matrix
    rowid: npt.NDArray[np.int64]
    timeline: npt.NDArray[np.int32]
    track: npt.NDArray[np.int32]
    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]

    last: int
    runs: npt.NDArray[np.int64]


def normalise_rows(matrix: npt.ArrayLike) -> Matrix:
    """Rows of length 1, so that cosine is a dot product; a row of zeros stays one."""
    rows = np.asarray(matrix, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def path_of(folder: Path, embedder: int, recording: int, edition: int) -> Path:
    return folder / "vectors" / str(embedder) / f"{recording}-{edition}.f32"


def append(
    db: sqlite3.Connection,
    folder: Path,
    embedder: str,
    rows: Sequence[tuple[Any, ...]],
    matrix: Matrix,
) -> int:
    """Append unit vectors of observations (row id, recording, track, start, end); the caller
    commits.

    Observations that already have a vector of this embedder are skipped; returns how many were new.
    """
    db.execute(
        "INSERT OR IGNORE INTO embedder(name, dimension) VALUES (?, ?)", (embedder, matrix.shape[1])
    )
    number, dimension = db.execute(
        "SELECT number, dimension FROM embedder WHERE name = ?", (embedder,)
    ).fetchone()
    # The same name with other numbers is another model: their vectors must not be compared.
    if dimension != matrix.shape[1]:
        raise UsageError(
            f"the vectors of {embedder} have {dimension} numbers, not {matrix.shape[1]}",
            "give another embedder another name",
        )
    timelines = np.array([row[1] for row in rows], dtype=np.int64)
    new = 0
    for timeline in np.unique(timelines).tolist():
        at = np.flatnonzero(timelines == timeline)
        row_count, edition, crc, row_crc = _rows(db, number, timeline)
        path = path_of(folder, number, timeline, edition)
        stored = _facts(path, row_count)["n"] if row_count else np.zeros(0, dtype=np.int64)
        facts = np.array(
            [(rows[i][0], rows[i][2], 0, *rows[i][3:5]) for i in at.tolist()], dtype=ROW_DTYPE
        )
        # Embedding again after a crash adds what is lacking, and nothing twice.
        is_new = ~np.isin(facts["n"], stored)
        if not is_new.any():
            continue
        make_private_folder(folder / "vectors")
        make_private_folder(inside(folder, path.parent))
        new_vectors = matrix[at[is_new]].astype("<f4").tobytes()
        new_facts = facts[is_new].tobytes()
        # Files first, then the record: rows that the record does not count are not there yet.
        _write_at(path, row_count * dimension * 4, new_vectors)
        _write_at(path.with_suffix(".row"), row_count * ROW_DTYPE.itemsize, new_facts)
        if not row_count:
            sync_folder(path.parent)
        count = int(is_new.sum())
        db.execute(
            "INSERT INTO vectors(embedder, recording, rows, edition, checksum, row_checksum) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET rows = excluded.rows, "
            "checksum = excluded.checksum, row_checksum = excluded.row_checksum",
            (
                number,
                timeline,
                row_count + count,
                edition,
                zlib.crc32(new_vectors, crc),
                zlib.crc32(new_facts, row_crc),
            ),
        )
        new += count
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")
    return new


def _rows(db: sqlite3.Connection, embedder: int, timeline: int) -> tuple[int, int, int, int]:
    """The number of valid rows of a file, its edition, and the checksums of both files."""
    row = db.execute(
        "SELECT rows, edition, checksum, row_checksum FROM vectors "
        "WHERE embedder = ? AND recording = ?",
        (embedder, timeline),
    ).fetchone()
    return (int(row[0]), int(row[1]), int(row[2]), int(row[3])) if row else (0, 1, 0, 0)


def _facts(path: Path, count: int) -> npt.NDArray[Any]:
    return np.fromfile(path.with_suffix(".row"), dtype=ROW_DTYPE, count=count)


def _write_at(path: Path, offset: int, content: bytes) -> None:
    with open(open_private(path, os.O_RDWR | os.O_CREAT), "r+b") as file:
        file.truncate(offset)  # what a crash left past the valid rows
        file.seek(offset)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path, entry: VectorFileEntry) -> VectorFile:
    """Map the valid rows of a file. Raises DamagedError where they are not what was written."""
    count = entry.rows
    try:
        facts = np.fromfile(path.with_suffix(".row"), dtype=ROW_DTYPE, count=count)
        mapped = np.memmap(path, dtype="<f4", mode="r", shape=(count, entry.dimension))
    except (OSError, ValueError) as fault:
        raise DamagedError(
            f"{path} is damaged ({reason(fault)})", "run: egomem check --repair"
        ) from None
    if len(facts) < count:
        raise DamagedError(f"{path} is cut short", "run: egomem check --repair")
    if (entry.checksum, entry.row_checksum) != (
        zlib.crc32(mapped.view(np.ndarray).data),
        zlib.crc32(facts.data),
    ):
        raise DamagedError(f"{path} is not what was written", "run: egomem check --repair")
    columns = [np.ascontiguousarray(facts[name]) for name in ("n", "track", "start", "end")]
    n, track, start, end = columns
    return VectorFile(
        mapped.view(np.ndarray),
        n,
        np.full(count, entry.recording, dtype=np.int32),
        track,
        start,
        end,
        last=int(n.max(initial=0)),
        runs=np.array([0, count]),
    )


class VectorFileEntry(NamedTuple):
    """A row of the table `vectors`."""

    embedder: int
    recording: int
    rows: int
    edition: int
    checksum: int
    row_checksum: int
    dimension: int

    def path(self, folder: Path) -> Path:
        return path_of(folder, self.embedder, self.recording, self.edition)

    def read(self, folder: Path) -> VectorFile:
        """The file. Raises DamagedError where it is not what was written."""
        return read(self.path(folder), self)


def vector_file_entries(db: sqlite3.Connection) -> dict[str, list[VectorFileEntry]]:
    """Embedder's name -> its valid files."""
    table: dict[str, list[VectorFileEntry]] = {}
    for name, *entry in db.execute(
        "SELECT e.name, e.number, v.recording, v.rows, v.edition, "
        "coalesce(v.checksum, 0), coalesce(v.row_checksum, 0), e.dimension "
        "FROM vectors v JOIN embedder e ON e.number = v.embedder ORDER BY v.recording"
    ):
        table.setdefault(name, []).append(VectorFileEntry(*entry))
    return table


class VectorFileCache:
    """Open vector files: mapped when first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[VectorFileEntry, VectorFile] = {}
        self._known: tuple[int, dict[str, list[VectorFileEntry]]] | None = None

    def files(self, db: sqlite3.Connection, embedder: str, timelines: set[int]) -> list[VectorFile]:
        (version,) = db.execute("SELECT value FROM state WHERE name = 'vectors'").fetchone()
        if self._known is None or self._known[0] != version:
            table = vector_file_entries(db)
            self._known = (version, table)
            # Files are immutable up to their row count, which is part of the entry: those whose
            # entry still stands stay mapped.
            current = {entry for entries in table.values() for entry in entries}
            self._open = {entry: file for entry, file in self._open.items() if entry in current}
        files = []
        for entry in self._known[1].get(embedder, ()):
            if entry.recording in timelines:
                if entry not in self._open:
                    self._open[entry] = entry.read(self.folder)
                files.append(self._open[entry])
        return files


def rewrite(
    db: sqlite3.Connection, folder: Path, entry: VectorFileEntry, keep: npt.NDArray[np.bool_]
) -> None:
    """Write a new edition of a file with the rows to `keep`; the caller commits, then calls
    `sweep`.
    """
    if not keep.any():
        drop(db, entry)
        return
    # A new file, and not a change in place: readers may have the old one mapped.
    edition = entry.edition + 1
    path = path_of(folder, entry.embedder, entry.recording, edition)
    matrix = np.memmap(entry.path(folder), "<f4", "r", shape=(len(keep), entry.dimension))
    facts = _facts(entry.path(folder), len(keep))
    kept_vectors, kept_facts = matrix[keep].tobytes(), facts[keep].tobytes()
    _write_at(path, 0, kept_vectors)
    _write_at(path.with_suffix(".row"), 0, kept_facts)
    sync_folder(path.parent)
    db.execute(
        "UPDATE vectors SET rows = ?, edition = ?, checksum = ?, row_checksum = ? "
        "WHERE embedder = ? AND recording = ?",
        (
            int(keep.sum()),
            edition,
            zlib.crc32(kept_vectors),
            zlib.crc32(kept_facts),
            entry.embedder,
            entry.recording,
        ),
    )
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")


def drop(db: sqlite3.Connection, entry: VectorFileEntry) -> None:
    """List a file no more; the caller commits, then calls `sweep`."""
    db.execute(
        "DELETE FROM vectors WHERE embedder = ? AND recording = ?",
        (entry.embedder, entry.recording),
    )
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")


def cut_to_whole(
    db: sqlite3.Connection, folder: Path, entry: VectorFileEntry
) -> VectorFileEntry | None:
    """Reduce a file's row count to the rows that both files hold completely; None if there are
    none.
    """
    path = entry.path(folder)
    sizes = [p.stat().st_size if p.is_file() else 0 for p in (path, path.with_suffix(".row"))]
    # What is whole in both is kept: making a vector again costs more than reading one.
    rows = min(entry.rows, sizes[0] // (4 * entry.dimension), sizes[1] // ROW_DTYPE.itemsize)
    if rows == entry.rows:
        return entry
    if not rows:
        drop(db, entry)
        return None
    return note_checksums(db, folder, entry._replace(rows=rows))


def note_checksums(db: sqlite3.Connection, folder: Path, entry: VectorFileEntry) -> VectorFileEntry:
    """List a file with the checksums that its valid rows have now; the caller commits."""
    path = entry.path(folder)
    sums = (
        file_checksum(path, entry.rows * 4 * entry.dimension),
        file_checksum(path.with_suffix(".row"), entry.rows * ROW_DTYPE.itemsize),
    )
    db.execute(
        "UPDATE vectors SET rows = ?, checksum = ?, row_checksum = ? "
        "WHERE embedder = ? AND recording = ?",
        (entry.rows, *sums, entry.embedder, entry.recording),
    )
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")
    return entry._replace(checksum=sums[0], row_checksum=sums[1])


def sweep(db: sqlite3.Connection, folder: Path) -> list[Path]:
    """Delete our files that are not listed; not those of others.

    The caller holds the writers' lock.
    """
    strays = stray_files(db, folder)
    for path in strays:
        path.unlink(missing_ok=True)
    return strays


def stray_files(db: sqlite3.Connection, folder: Path) -> list[Path]:
    """Files of `vectors/E/` that are ours by their names, and not listed."""
    listed_paths = {
        entry.path(folder) for entries in vector_file_entries(db).values() for entry in entries
    }
    listed_paths |= {path.with_suffix(".row") for path in listed_paths}
    return [
        path
        for child in folder_entries(folder / "vectors")
        if _FOLDER_NAME.fullmatch(child.name)
        for path in files_named(Path(child.path), FILE_NAME)
        if path not in listed_paths
    ]
