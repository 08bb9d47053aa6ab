"""Exact top-k BM25 over segments, with the statistics of a view.

Terms are scored from the rarest on. Once the k-th best score exceeds what all later terms can give
together, no new observation can enter the result, and later terms are only looked up for those that
can still win (MaxScore: Turtle and Flood, 1995). Every posting that could matter is read, so the
result is exact. Sums are 32-bit here; the caller scores the few candidates again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from egomem.memory import bm25
from egomem.memory.catalog import Flags, Positions
from egomem.memory.segment import Segment, term_hash

Scores = npt.NDArray[np.float32]
_SPARSE = 16
"""A binary search costs about as much as looking at so many postings in a row."""
_ROUNDING = 1e-4
"""Far above the relative error of adding some hundred 32-bit numbers, and far below any use."""


@dataclass(frozen=True, eq=False)
class VisibleSegment:
    """A segment and the positions of the observations that a view sees in it (None: all).

    With few positions it is *small*: documents are numbered by their rank among the positions, and
    no array of the segment's size is touched.
    """

    segment: Segment
    positions: Positions | None

    @cached_property
    def small(self) -> bool:
        return self.positions is not None and len(self.positions) * _SPARSE <= len(self.segment)

    @cached_property
    def rowid(self) -> npt.NDArray[np.int64]:
        return self.segment.rowid[self.positions] if self.small else self.segment.rowid

    @cached_property
    def length(self) -> Scores:
        return self.segment.length[self.positions] if self.small else self.segment.length

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column of the segment, of what the view sees."""
        values = self.segment.arrays[name]
        return values if self.positions is None else values[self.positions]

    @property
    def seen_count(self) -> int:
        return len(self.segment) if self.positions is None else len(self.positions)

    def ranks(self, docs: Positions) -> Positions:
        """Where documents, as numbered here, stand among what the view sees."""
        if self.positions is None or self.small:
            return docs
        return np.searchsorted(self.positions, docs).astype(np.int32)

    @cached_property
    def shortest(self) -> float:
        return float(self.length.min()) if self.small else self.segment.shortest

    @cached_property
    def _flags(self) -> Flags:
        flags = np.zeros(len(self.segment), dtype=bool)
        flags[self.positions] = True
        return flags

    def visible(self, docs: Positions, tf: npt.NDArray[Any]) -> tuple[Positions, npt.NDArray[Any]]:
        """Only the postings of visible observations."""
        if self.positions is None:
            return docs, tf
        if not self.small:
            keep = self._flags[docs]
            return docs[keep], tf[keep]
        if len(docs) < len(self.positions):
            rank = _find(docs, self.positions)
            keep = rank >= 0
            return rank[keep], tf[keep]
        at = _find(self.positions, docs)
        rank = np.flatnonzero(at >= 0).astype(np.int32)
        return rank, tf[at[rank]]


def _find(sought: Positions, among: Positions) -> Positions:
    """The index of each value in an ascending list, -1 for those that are not in it."""
    at = np.searchsorted(among, sought).astype(np.int32)
    at[at == len(among)] = 0
    at[among[at] != sought] = -1
    return at


class QueryPostings:
    """The postings of a query's terms in one segment, of visible observations only."""

    def __init__(self, part: VisibleSegment, terms: Sequence[str]) -> None:
        segment = part.segment
        self.part = part
        self.docs: dict[str, Positions] = {}
        self.tf: dict[str, npt.NDArray[Any]] = {}
        self.peak: dict[str, int] = {}
        hashes = np.array([term_hash(term) for term in terms], dtype=np.uint64)
        places = np.searchsorted(segment.terms, hashes)
        for term, value, place in zip(terms, hashes, places.tolist(), strict=True):
            if place == len(segment.terms) or segment.terms[place] != value:
                continue
            low, high = segment.offsets[place], segment.offsets[place + 1]
            docs, tf = part.visible(segment.docs[low:high], segment.tf[low:high])
            if len(docs):
                self.docs[term], self.tf[term] = docs, tf
                self.peak[term] = int(segment.peak[place])


def document_frequencies(postings: Sequence[QueryPostings], terms: Sequence[str]) -> dict[str, int]:
    """Term -> the number of visible observations that contain it."""
    return {term: sum(len(p.docs.get(term, ())) for p in postings) for term in terms}


def top_rows(
    query_postings: Sequence[QueryPostings], idfs: Mapping[str, float], mean: float, k: int
) -> npt.NDArray[np.int64]:
    """Row ids that include the k best, and all that share the k-th score."""
    threshold = 0.0
    rows: list[npt.NDArray[np.int64]] = []
    scores: list[Scores] = []
    # The k-th score of the segments so far is the threshold of the next one.
    for postings in query_postings:
        docs, segment_scores = _score_segment(postings, idfs, mean, k, threshold)
        if not len(docs):
            continue
        rows.append(postings.part.rowid[docs])
        scores.append(segment_scores)
        threshold = max(threshold, _kth(np.concatenate(scores), k))
    if not rows:
        return np.zeros(0, dtype=np.int64)
    # Scores here are float32; what is near the bound is kept, and scored exactly by the caller.
    keep = np.concatenate(scores) >= threshold * (1 - _ROUNDING)
    return np.concatenate(rows)[keep]


def _kth(scores: Scores, k: int) -> float:
    if len(scores) < k:
        return 0.0
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _score_segment(
    postings: QueryPostings, idfs: Mapping[str, float], mean: float, k: int, threshold: float
) -> tuple[Positions, Scores]:
    part = postings.part
    # Rare words first: they score most and have the fewest documents, so the threshold rises early.
    terms = sorted(postings.docs, key=lambda term: -idfs[term])
    flat = np.float32(bm25.K1 * (1 - bm25.B))
    slope = np.float32(bm25.K1 * bm25.B / mean)
    smallest = float(flat + slope * part.shortest)
    # The most that a term can add to any document (MaxScore, Turtle and Flood 1995).
    bounds = [idfs[term] * postings.peak[term] / (postings.peak[term] + smallest) for term in terms]
    remaining = np.append(np.cumsum(bounds[::-1])[::-1], 0.0) * (1 + _ROUNDING)

    def gains(term: str, docs: Positions, tf: npt.NDArray[Any]) -> Scores:
        often = tf.astype(np.float32)
        norm = flat + slope * part.length[docs]
        return np.asarray(np.float32(idfs[term]) * often / (often + norm), dtype=np.float32)

    sums: Scores | None = None
    docs = np.zeros(0, dtype=np.int32)
    scores: Scores = np.zeros(0, dtype=np.float32)
    for i, term in enumerate(terms):
        term_docs, tf = postings.docs[term], postings.tf[term]
        # No document that has none of the terms so far can still reach the threshold.
        if threshold > remaining[i]:
            in_race = scores + np.float32(remaining[i]) >= threshold
            docs, scores = docs[in_race], scores[in_race]
            if not len(docs):
                break
            at = _find(docs, term_docs)
            hits = np.flatnonzero(at >= 0)
            scores[hits] += gains(term, docs[hits], tf[at[hits]])
        else:
            gain = gains(term, term_docs, tf)
            if sums is None and not len(docs):
                docs, scores = term_docs, gain
            else:
                if sums is None:
                    sums = np.zeros(len(part.rowid), dtype=np.float32)
                    sums[docs] = scores
                new_docs = term_docs[sums[term_docs] == 0]
                sums[term_docs] += gain
                docs = np.concatenate([docs, new_docs])
                scores = sums[docs]
        # While the terms so far could not reach what is left, no bound of theirs would help.
        if remaining[0] - remaining[i + 1] > remaining[i + 1] or i + 1 == len(terms):
            threshold = max(threshold, _kth(scores, k))
    keep = scores >= threshold * (1 - _ROUNDING)
    return docs[keep], scores[keep]
