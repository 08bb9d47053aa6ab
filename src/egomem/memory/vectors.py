"""Vectors of observations: append-only files, one for each embedder and recording, scanned exactly.

`vectors/E/R.f32` holds float32 rows of unit length, `vectors/E/R.row` what each row is of (`KIND`);
E and R are the numbers of the embedder and the recording in memory.db, and the table `vectors` says
how many rows count. Bytes past that are a write that a crash cut off; the next one overwrites them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from egomem.errors import DamagedError, UsageError
from egomem.memory.scope import Scope
from egomem.memory.segment import sync_folder
from egomem.memory.shape import Places

Matrix = npt.NDArray[np.float32]
KIND = np.dtype([("n", "<i8"), ("track", "<i4"), ("_", "<i4"), ("start", "<f8"), ("end", "<f8")])
_CLOSE = 1e-5
"""Far above the rounding error of a dot product of two unit vectors in 32 bits."""


@dataclass(frozen=True, slots=True)
class VectorFile:
    """`matrix` is (rows, dimension) float32, memory-mapped; the rest has one entry a row."""

    matrix: Matrix
    n: npt.NDArray[np.int64]
    line: npt.NDArray[np.int32]
    track: npt.NDArray[np.int32]
    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]

    @property
    def runs(self) -> npt.NDArray[np.int64]:
        return np.array([0, len(self.n)])


def unit(matrix: npt.ArrayLike) -> Matrix:
    """Rows of length 1, so that cosine is a dot product; a row of zeros stays one."""
    rows = np.asarray(matrix, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def path_of(folder: Path, embedder: int, recording: int) -> Path:
    return folder / "vectors" / str(embedder) / f"{recording}.f32"


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
        path = path_of(folder, number, line)
        held = _rows(db, number, line)
        known = _facts(path, held)["n"] if held else np.zeros(0, dtype=np.int64)
        facts = np.array(
            [(rows[i][0], rows[i][2], 0, *rows[i][3:5]) for i in at.tolist()], dtype=KIND
        )
        fresh = ~np.isin(facts["n"], known)
        if not fresh.any():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_at(path, held * dimension * 4, matrix[at[fresh]].astype("<f4").tobytes())
        _write_at(path.with_suffix(".row"), held * KIND.itemsize, facts[fresh].tobytes())
        if not held:
            sync_folder(path.parent)
        count = int(fresh.sum())
        db.execute(
            "INSERT INTO vectors VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rows = excluded.rows",
            (number, line, held + count),
        )
        new += count
    db.execute("UPDATE state SET value = value + 1 WHERE name = 'vectors'")
    return new


def _rows(db: sqlite3.Connection, embedder: int, line: int) -> int:
    found = db.execute(
        "SELECT rows FROM vectors WHERE embedder = ? AND recording = ?", (embedder, line)
    ).fetchone()
    return int(found[0]) if found else 0


def _facts(path: Path, count: int) -> npt.NDArray[Any]:
    return np.fromfile(path.with_suffix(".row"), dtype=KIND, count=count)


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
        facts = np.fromfile(path.with_suffix(".row"), dtype=KIND, count=count)
        mapped = np.memmap(path, dtype="<f4", mode="r", shape=(count, dimension))
    except (OSError, ValueError) as fault:
        raise DamagedError(f"{path} is damaged ({fault})", "run: egomem check --repair") from None
    if len(facts) < count:
        raise DamagedError(f"{path} is cut short", "run: egomem check --repair")
    columns = [np.ascontiguousarray(facts[name]) for name in ("n", "track", "start", "end")]
    n, track, start, end = columns
    return VectorFile(
        mapped.view(np.ndarray), n, np.full(count, line, dtype=np.int32), track, start, end
    )


class Reader:
    """The vector files of one embedder, mapped as they are first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[tuple[int, int], tuple[int, VectorFile]] = {}
        self._known: tuple[int, dict[str, list[tuple[int, int, int, int]]]] | None = None

    def files(self, db: sqlite3.Connection, embedder: str, lines: set[int]) -> list[VectorFile]:
        (version,) = db.execute("SELECT value FROM state WHERE name = 'vectors'").fetchone()
        if self._known is None or self._known[0] != version:
            table: dict[str, list[tuple[int, int, int, int]]] = {}
            for name, *entry in db.execute(
                "SELECT e.name, e.number, v.recording, v.rows, e.dimension "
                "FROM vectors v JOIN embedder e ON e.number = v.embedder ORDER BY v.recording"
            ):
                table.setdefault(name, []).append((entry[0], entry[1], entry[2], entry[3]))
            self._known = (version, table)
        found = []
        for number, line, count, dimension in self._known[1].get(embedder, ()):
            if line not in lines:
                continue
            held = self._open.get((number, line))
            if held is None or held[0] != count:
                file = read(path_of(self.folder, number, line), line, count, dimension)
                held = self._open[number, line] = (count, file)
            found.append(held[1])
        return found


def scan(
    files: Sequence[VectorFile], scope: Scope, vector: Matrix, k: int
) -> list[tuple[int, float]]:
    """The k rows `n` with the largest cosine, and all that share the last place, best first.

    One product over all that is seen finds the candidates; they are computed again in 64 bits, in
    an order of operations that does not depend on what else was in the product.
    """
    numbers: list[npt.NDArray[np.int64]] = []
    scores: list[Matrix] = []
    places: list[tuple[VectorFile, Places | None]] = []
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
        scores.append(np.asarray(rows @ vector))
        numbers.append(file.n if at is None else file.n[at])
        places.append((file, at))
    if not scores:
        return []
    every = np.concatenate(scores)
    least = np.partition(every, len(every) - k)[len(every) - k] - _CLOSE if k < len(every) else -2
    exact: list[tuple[int, float]] = []
    wide = vector.astype(np.float64)
    for (file, at), found, n in zip(places, scores, numbers, strict=True):
        chosen = np.flatnonzero(found >= least)
        if not len(chosen):
            continue
        rows = file.matrix[chosen if at is None else at[chosen]].astype(np.float64)
        exact += zip(n[chosen].tolist(), (rows * wide).sum(axis=1).tolist(), strict=True)
    exact.sort(key=lambda pair: -pair[1])
    if len(exact) > k:
        last = exact[k - 1][1]
        exact = [pair for pair in exact if pair[1] >= last]
    return exact
