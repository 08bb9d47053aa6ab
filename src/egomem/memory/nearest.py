"""The nearest vectors of a view: an exact scan of its vector files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.memory.catalog import Positions
from egomem.memory.filter import ViewFilter
from egomem.memory.vectors import Matrix, VectorFile

_TOLERANCE = 1e-5
"""Far above the rounding error of a dot product of two unit vectors in 32 bits."""


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
