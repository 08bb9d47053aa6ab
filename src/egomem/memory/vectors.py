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
from egomem.memory.catalog import Places
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
    """`matrix` is (rows, dimension) float32, memory-mapped; the columns have one entry a row.

    `last` and `runs` are what `scope.Columns` asks for.
    """

    matrix: Matrix
    n: npt.NDArray[np.int64]
    line: npt.NDArray[np.int32]
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
    """Add unit rows for observations (n, recording, track, start, end); the caller commits.

    Observations that have a vector of this embedder are passed over; returns how many were new.
    """
    db.execute(
        "INSERT OR IGNORE INTO embedder(name, dimension) VALUES (?, ?)", (embedder, matrix.shape[1])
    )
    number, dimension = db.execute(
        "SELECT number, dimension FROM embedder WHERE name = ?", (embedder,)
    ).fetchone()
    if dimension != matrix.shape[1]:
        raise UsageError(
            f"the vectors of {embedder} have {dimension} numbers, not {matrix.shape[1]}",
            "give another embedder another name",
        )
    lines = np.array([row[1] for row in rows], dtype=np.int64)
    new = 0
    for line in np.unique(lines).tolist():
        at = np.flatnonzero(lines == line)
        held, edition = _rows(db, number, line)
        path = path_of(folder, number, line, edition)
        known = _facts(path, held)["n"] if held else np.zeros(0, dtype=np.int64)
        facts = np.array(
            [(rows[i][0], rows[i][2], 0, *rows[i][3:5]) for i in at.tolist()], dtype=ROW_DTYPE
        )
        fresh = ~np.isin(facts["n"], known)
        if not fresh.any():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_at(path, held * dimension * 4, matrix[at[fresh]].astype("<f4").tobytes())
        _write_at(path.with_suffix(".row"), held * ROW_DTYPE.itemsize, facts[fresh].tobytes())
        if not held:
            sync_folder(path.parent)
        count = int(fresh.sum())
        db.execute(
            "INSERT INTO vectors VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET rows = excluded.rows",
            (number, line, held + count, edition),
        )
        new += count
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")
    return new


def _rows(db: sqlite3.Connection, embedder: int, line: int) -> tuple[int, int]:
    """How many rows count, and of which edition."""
    found = db.execute(
        "SELECT rows, edition FROM vectors WHERE embedder = ? AND recording = ?", (embedder, line)
    ).fetchone()
    return (int(found[0]), int(found[1])) if found else (0, 1)


def _facts(path: Path, count: int) -> npt.NDArray[Any]:
    return np.fromfile(path.with_suffix(".row"), dtype=ROW_DTYPE, count=count)


def _write_at(path: Path, offset: int, content: bytes) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    with open(handle, "r+b") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path, line: int, count: int, dimension: int) -> VectorFile:
    """Map the rows that count. Raises DamagedError where the file is shorter."""
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
        np.full(count, line, dtype=np.int32),
        track,
        start,
        end,
        last=int(n.max(initial=0)),
        runs=np.array([0, count]),
    )


class VectorFileEntry(NamedTuple):
    """A line of the table `vectors`."""

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
    """The files that count, by the embedder's name."""
    table: dict[str, list[VectorFileEntry]] = {}
    for name, *entry in db.execute(
        "SELECT e.name, e.number, v.recording, v.rows, v.edition, e.dimension "
        "FROM vectors v JOIN embedder e ON e.number = v.embedder ORDER BY v.recording"
    ):
        table.setdefault(name, []).append(VectorFileEntry(*entry))
    return table


class VectorFileCache:
    """The vector files of a memory, mapped as they are first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[VectorFileEntry, VectorFile] = {}
        self._known: tuple[int, dict[str, list[VectorFileEntry]]] | None = None

    def files(self, db: sqlite3.Connection, embedder: str, lines: set[int]) -> list[VectorFile]:
        (version,) = db.execute("SELECT value FROM state WHERE name = 'vectors'").fetchone()
        if self._known is None or self._known[0] != version:
            table = vector_file_entries(db)
            self._known = (version, table)
            current = {entry for entries in table.values() for entry in entries}
            self._open = {entry: file for entry, file in self._open.items() if entry in current}
        found = []
        for entry in self._known[1].get(embedder, ()):
            if entry.recording in lines:
                if entry not in self._open:
                    self._open[entry] = entry.read(self.folder)
                found.append(self._open[entry])
        return found


def rewrite(
    db: sqlite3.Connection, folder: Path, entry: VectorFileEntry, keep: npt.NDArray[np.bool_]
) -> None:
    """Write a new edition of a file with the rows to `keep`; the caller commits, then sweeps."""
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
    """Count only the rows that both files have in full; None where there are none left."""
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
    known = {
        entry.path(folder) for entries in vector_file_entries(db).values() for entry in entries
    }
    known |= {path.with_suffix(".row") for path in known}
    gone = [path for path in (folder / "vectors").glob("*/*") if path not in known]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def nearest_rows(
    files: Sequence[VectorFile], scope: ViewFilter, vector: Matrix, k: int
) -> list[tuple[int, float]]:
    """The k rows `n` with the largest cosine, and all that share the last place, best first.

    One product over all that is seen finds the candidates; they are computed again in 64 bits, in
    an order of operations that does not depend on what else was in the product.
    """
    seen: list[tuple[VectorFile, Places | None]] = []
    scores: list[Matrix] = []
    for file in files:
        at = scope.places(file)
        if at is not None and not len(at):
            continue
        if at is None:
            rows = file.matrix
        elif at[-1] - at[0] + 1 == len(at):
            rows = file.matrix[at[0] : at[-1] + 1]  # a stretch of time is a slice: no copy
        else:
            rows = file.matrix[at]
        seen.append((file, at))
        scores.append(np.asarray(rows @ vector))
    if not scores:
        return []
    every = np.concatenate(scores)
    least = (
        np.partition(every, len(every) - k)[len(every) - k] - _TOLERANCE if k < len(every) else -2
    )
    chosen = np.flatnonzero(every >= least)
    begins = np.cumsum([0, *map(len, scores)])
    found = np.searchsorted(begins, chosen, side="right") - 1
    wide = vector.astype(np.float64)
    exact: list[tuple[int, float]] = []
    for which, row in zip(found.tolist(), (chosen - begins[found]).tolist(), strict=True):
        file, at = seen[which]
        place = row if at is None else int(at[row])
        cosine = float((file.matrix[place].astype(np.float64) * wide).sum())
        exact.append((int(file.n[place]), cosine))
    exact.sort(key=lambda pair: -pair[1])
    if len(exact) > k:
        last = exact[k - 1][1]
        exact = [pair for pair in exact if pair[1] >= last]
    return exact
