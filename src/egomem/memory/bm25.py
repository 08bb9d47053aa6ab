"""BM25 as Lucene writes it, over the statistics of a view."""

from __future__ import annotations

import math
from collections.abc import Mapping

K1 = 0.9
B = 0.4
"""What Anserini uses for short passages; on narrations too they beat Lucene's 1.2 and 0.75."""


def idf(count: int, frequency: int) -> float:
    """ln(1 + (N - df + 0.5) / (df + 0.5)): never negative."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def weight(frequency: int, length: int, mean: float) -> float:
    """How much of a term's idf a document earns, in [0, 1)."""
    return frequency / (frequency + K1 * (1 - B + B * length / mean)) if frequency else 0.0


def parts(
    idfs: Mapping[str, float], frequencies: Mapping[str, int], length: int, mean: float
) -> dict[str, float]:
    """Each matching query term's share of the score. The score is their sum, in this order."""
    return {
        term: idf * weight(frequencies[term], length, mean)
        for term, idf in idfs.items()
        if frequencies.get(term)
    }
