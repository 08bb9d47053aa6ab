"""What speaks for a window: four signals, each a small pure function over candidates.

CapMem names BM25, hash-cosine, word overlap and time hints, and gives no formulas: these are our
reconstructions. Each returns one number a candidate, in the candidates' order; none normalises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from egomem.recall.terms import Bag
from egomem.timeline import Span

Scores = NDArray[np.float64]


def bm25(
    query: Bag,
    documents: Sequence[Bag],
    *,
    frequency: Mapping[str, int],
    count: int,
    mean_length: float,
    k1: float = 0.9,
    b: float = 0.4,
    pairs: float = 0.0,
) -> Scores:
    """BM25 with Lucene's idf, `ln(1 + (n - df + .5) / (df + .5))`, never negative.

    `frequency` and `count` are document frequencies and documents of the whole view, `mean_length`
    is in words. `pairs` is the share that two words which also stand together add: a pair is as
    telling as the rarer of its words, so it needs no statistics of its own.
    """

    def idf(term: str) -> float:
        df = min(frequency.get(term, 0), count)
        return math.log(1 + (count - df + 0.5) / (df + 0.5))

    scores = np.zeros(len(documents))
    weights = {term: idf(term) for term in query.words}
    doubled = {p: max(map(idf, p)) * pairs for p in query.pairs} if pairs else {}
    for i, d in enumerate(documents):
        damp = k1 * (1 - b + b * d.length / (mean_length or 1.0))
        score = 0.0
        for term, weight in weights.items():
            if tf := d.words.get(term):
                score += weight * tf * (k1 + 1) / (tf + damp)
        for pair, weight in doubled.items():
            if tf := d.pairs.get(pair):
                score += weight * tf * (k1 + 1) / (tf + damp)
        scores[i] = score
    return scores


def hash_cosine(query: Bag, documents: Sequence[Bag], *, dimensions: int = 1024) -> Scores:
    """The cosine of signed feature hashes of words, word pairs and 3- to 5-grams of letters.

    1,024 dimensions by default; sparse, so only what the query also holds costs time.
    """
    wanted = _hashed(query, dimensions)
    norm = math.sqrt(sum(v * v for v in wanted.values()))
    scores = np.zeros(len(documents))
    for i, d in enumerate(documents):
        has = _hashed(d, dimensions)
        length = math.sqrt(sum(v * v for v in has.values()))
        if length and norm:
            dot = sum(v * has.get(slot, 0.0) for slot, v in wanted.items())
            scores[i] = dot / (length * norm)
    return scores


def _hashed(bag: Bag, dimensions: int) -> dict[int, float]:
    vector: dict[int, float] = {}
    for feature, times in bag.features():
        code = crc32(feature.encode())
        slot = code % dimensions
        sign = 1.0 if (code >> 20) & 1 else -1.0
        vector[slot] = vector.get(slot, 0.0) + sign * times
    return vector


def overlap(query: Bag, documents: Sequence[Bag]) -> Scores:
    """The share of the query's distinct words that a window holds: `|Q ∩ W| / |Q|`."""
    wanted = set(query.words)
    if not wanted:
        return np.zeros(len(documents))
    return np.array([len(wanted & d.words.keys()) / len(wanted) for d in documents])


def time_hints(spans: Sequence[Span], within: Span, hints: Sequence[float]) -> Scores:
    """How near each window's centre is to a hinted place: `exp(-|position - hint| / 0.2)`.

    Positions are shares of `within` (0 is its start, 1 its end); the best hint counts.
    """
    if not hints or within.length <= 0:
        return np.zeros(len(spans))
    places = np.array([(s.middle - within.start) / within.length for s in spans])
    apart = np.abs(places[:, None] - np.array(hints)[None, :]).min(axis=1)
    return np.exp(-apart / 0.2)


def minmax(scores: Scores) -> Scores:
    """Scores on `[0, 1]`; a signal that says the same of every candidate says nothing: all 0."""
    if not len(scores) or (spread := scores.max() - scores.min()) <= 1e-12:
        return np.zeros(len(scores))
    return (scores - scores.min()) / spread
