"""Vectors of observations: append-only files, one for each embedder and recording, scanned exactly.

`vectors/E/R-N.f32` holds float32 rows of unit length, `R-N.row` what each row is of (`ROW_DTYPE`);
E and R are the numbers of the embedder and the recording in memory.db, N is the edition, which
changes when something is forgotten. The table `vectors` says which edition and how many rows count.
Bytes past that are a write that a crash cut off; the next one overwrites them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from egomem.errors import DamagedError, UsageError, reason
from egomem.memory.catalog import Positions
from egomem.memory.filter import ViewFilter
from egomem.memory.segment import sync_folder

Matrix = npt.NDArray[np.float32]
ROW_DTYPE = np.dtype(
    [("n", "<i8"), ("track", "<i4"), ("_", "<i4"), ("start", "<f8"), ("end", "<f8")]
)
_TOLERANCE = 1e-5
"""Far above the rounding error of a dot product of two unit vectors in 32 bits."""


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
        row_count, edition = _rows(db, number, timeline)
        path = path_of(folder, number, timeline, edition)
        stored = _facts(path, row_count)["n"] if row_count else np.zeros(0, dtype=np.int64)
        facts = np.array(
            [(rows[i][0], rows[i][2], 0, *rows[i][3:5]) for i in at.tolist()], dtype=ROW_DTYPE
        )
        is_new = ~np.isin(facts["n"], stored)
        if not is_new.any():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_at(path, row_count * dimension * 4, matrix[at[is_new]].astype("<f4").tobytes())
        _write_at(path.with_suffix(".row"), row_count * ROW_DTYPE.itemsize, facts[is_new].tobytes())
        if not row_count:
            sync_folder(path.parent)
        count = int(is_new.sum())
        db.execute(
            "INSERT INTO vectors VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET rows = excluded.rows",
            (number, timeline, row_count + count, edition),
        )
        new += count
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")
    return new


def _rows(db: sqlite3.Connection, embedder: int, timeline: int) -> tuple[int, int]:
    """The number of valid rows of a file, and its edition."""
    row = db.execute(
        "SELECT rows, edition FROM vectors WHERE embedder = ? AND recording = ?",
        (embedder, timeline),
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 1)


def _facts(path: Path, count: int) -> npt.NDArray[Any]:
    return np.fromfile(path.with_suffix(".row"), dtype=ROW_DTYPE, count=count)


def _write_at(path: Path, offset: int, content: bytes) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    with open(handle, "r+b") as file:
        file.truncate(offset)  # what a crash left past the valid rows
        file.seek(offset)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path, timeline: int, count: int, dimension: int) -> VectorFile:
    """Map the valid rows of a file. Raises DamagedError where the file is shorter."""
    try:
        facts = np.fromfile(path.with_suffix(".row"), dtype=ROW_DTYPE, count=count)
        mapped = np.memmap(path, dtype="<f4", mode="r", shape=(count, dimension))
    except (OSError, ValueError) as fault:
        raise DamagedError(
            f"{path} is damaged ({reason(fault)})", "run: egomem check --repair"
        ) from None
    if len(facts) < count:
        raise DamagedError(f"{path} is cut short", "run: egomem check --repair")
    columns = [np.ascontiguousarray(facts[name]) for name in ("n", "track", "start", "end")]
    n, track, start, end = columns
    return VectorFile(
        mapped.view(np.ndarray),
        n,
        np.full(count, timeline, dtype=np.int32),
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
    dimension: int

    def path(self, folder: Path) -> Path:
        return path_of(folder, self.embedder, self.recording, self.edition)

    def read(self, folder: Path) -> VectorFile:
        return read(self.path(folder), self.recording, self.rows, self.dimension)


def vector_file_entries(db: sqlite3.Connection) -> dict[str, list[VectorFileEntry]]:
    """Embedder's name -> its valid files."""
    table: dict[str, list[VectorFileEntry]] = {}
    for name, *entry in db.execute(
        "SELECT e.name, e.number, v.recording, v.rows, v.edition, e.dimension "
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
    # A new file, and not a change in place: readers may have the old one mapped.
    edition = entry.edition + 1
    path = path_of(folder, entry.embedder, entry.recording, edition)
    matrix = np.memmap(entry.path(folder), "<f4", "r", shape=(len(keep), entry.dimension))
    facts = _facts(entry.path(folder), len(keep))
    _write_at(path, 0, matrix[keep].tobytes())
    _write_at(path.with_suffix(".row"), 0, facts[keep].tobytes())
    sync_folder(path.parent)
    key = (entry.embedder, entry.recording)
    if keep.any():
        db.execute(
            "UPDATE vectors SET rows = ?, edition = ? WHERE embedder = ? AND recording = ?",
            (int(keep.sum()), edition, *key),
        )
    else:
        db.execute("DELETE FROM vectors WHERE embedder = ? AND recording = ?", key)
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")


def cut_to_whole(
    db: sqlite3.Connection, folder: Path, entry: VectorFileEntry
) -> VectorFileEntry | None:
    """Reduce a file's row count to the rows that both files hold completely; None if there are
    none.
    """
    path = entry.path(folder)
    sizes = [p.stat().st_size if p.is_file() else 0 for p in (path, path.with_suffix(".row"))]
    rows = min(entry.rows, sizes[0] // (4 * entry.dimension), sizes[1] // ROW_DTYPE.itemsize)
    if rows == entry.rows:
        return entry
    key = (entry.embedder, entry.recording)
    if rows:
        sql = "UPDATE vectors SET rows = ? WHERE embedder = ? AND recording = ?"
        db.execute(sql, (rows, *key))
    else:
        db.execute("DELETE FROM vectors WHERE embedder = ? AND recording = ?", key)
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")
    return entry._replace(rows=rows) if rows else None


def sweep(db: sqlite3.Connection, folder: Path) -> list[Path]:
    """Delete files that are not listed. The caller holds the writers' lock."""
    listed_paths = {
        entry.path(folder) for entries in vector_file_entries(db).values() for entry in entries
    }
    listed_paths |= {path.with_suffix(".row") for path in listed_paths}
    strays = [path for path in (folder / "vectors").glob("*/*") if path not in listed_paths]
    for path in strays:
        path.unlink(missing_ok=True)
    return strays


def nearest_rows(
    files: Sequence[VectorFile], filter: ViewFilter, vector: Matrix, k: int
) -> list[tuple[int, float]]:
    """The k row ids with the largest cosine, and all that share the last place, best first.

    One matrix product over all visible rows finds candidates. They are computed again in 64 bits,
    in an order of operations that does not depend on the other rows, so that equal views give equal
    scores.
    """
    scanned: list[tuple[VectorFile, Positions | None]] = []
    scores: list[Matrix] = []
    for file in files:
        at = filter.positions(file)
        if at is not None and not len(at):
            continue
        if at is None:
            rows = file.matrix
        elif at[-1] - at[0] + 1 == len(at):
            rows = file.matrix[at[0] : at[-1] + 1]  # a stretch of time is a slice: no copy
        else:
            rows = file.matrix[at]
        scanned.append((file, at))
        scores.append(np.asarray(rows @ vector))
    if not scores:
        return []
    all_scores = np.concatenate(scores)
    threshold = (
        np.partition(all_scores, len(all_scores) - k)[len(all_scores) - k] - _TOLERANCE
        if k < len(all_scores)
        else -2
    )
    candidates = np.flatnonzero(all_scores >= threshold)
    begins = np.cumsum([0, *map(len, scores)])
    file_numbers = np.searchsorted(begins, candidates, side="right") - 1
    wide = vector.astype(np.float64)
    exact: list[tuple[int, float]] = []
    for which, row in zip(
        file_numbers.tolist(), (candidates - begins[file_numbers]).tolist(), strict=True
    ):
        file, at = scanned[which]
        place = row if at is None else int(at[row])
        cosine = float((file.matrix[place].astype(np.float64) * wide).sum())
        exact.append((int(file.rowid[place]), cosine))
    exact.sort(key=lambda pair: -pair[1])
    if len(exact) > k:
        last = exact[k - 1][1]
        exact = [pair for pair in exact if pair[1] >= last]
    return exact


def visible_rows(file: VectorFile, filter: ViewFilter) -> Positions | slice:
    """What to index a file's columns with for the rows that a view sees."""
    positions = filter.positions(file)
    return slice(None) if positions is None else positions


def mean_row(files: Sequence[VectorFile], filter: ViewFilter) -> Matrix | None:
    """The mean of all vectors that a view sees; None where it sees none."""
    parts = [file.matrix[visible_rows(file, filter)] for file in files]
    count = sum(map(len, parts))
    if not count:
        return None
    total = np.sum([part.sum(axis=0, dtype=np.float64) for part in parts], axis=0)
    return np.asarray(total / count, dtype=np.float32)
