"""BM25 as Lucene writes it, over the statistics of a view."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
F = TypeVar("F", float, Floats)

K1 = 0.9
B = 0.4
"""What Anserini uses for short passages; on narrations too they beat Lucene's 1.2 and 0.75."""


def idf(count: int, frequency: int) -> float:
    """Inverse document frequency, ln(1 + (N - df + 0.5) / (df + 0.5)): never negative."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def norm(length: F, mean: float, *, k1: float = K1, b: float = B) -> F:
    """What a document's length does to the counts of its terms: k1 (1 - b + b length / mean)."""
    return k1 * (1 - b + b * length / mean)


def term_scores(
    idfs: Mapping[str, float], words: Sequence[str], length: int, mean: float
) -> dict[str, float]:
    """Score a document, as the share of each matching query term; the score is their sum in this
    order.

    A term that occurs c times earns c / (c + k1 (1 - b + b length / mean)) of its idf.
    """
    damping = norm(float(length), mean)
    return {
        term: idf * (count / (count + damping))
        for term, idf in idfs.items()
        if (count := words.count(term))
    }
