"""Exact top-k BM25 over segments, with the statistics of a view.

Every posting that could matter is looked at, so there is nothing to prove afterwards. Terms are
taken from the rarest on. Once the k-th best score so far is more than all later terms can give
together, no new observation can enter the result, and the later terms are only looked up for those
that are still in the race (MaxScore: Turtle and Flood, 1995). Sums are kept in 32 bits here; the
caller computes the few that remain again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from egomem.memory import bm25
from egomem.memory.catalog import Flags, Places
from egomem.memory.segment import Segment, term_hash

Scores = npt.NDArray[np.float32]
_SPARSE = 16
"""A binary search costs about as much as looking at so many postings in a row."""
_ROUNDING = 1e-4
"""Far above the relative error of adding some hundred 32-bit numbers, and far below any use."""


@dataclass(frozen=True, eq=False)
class VisibleSegment:
    """A segment, and the places of the observations that the view sees (None: all of them).

    Few places make a *small* part: its documents are numbered by their rank among the places, and
    nothing of the size of the segment is touched.
    """

    segment: Segment
    places: Places | None

    @cached_property
    def small(self) -> bool:
        return self.places is not None and len(self.places) * _SPARSE <= len(self.segment)

    @cached_property
    def n(self) -> npt.NDArray[np.int64]:
        return self.segment.n[self.places] if self.small else self.segment.n

    @cached_property
    def length(self) -> Scores:
        return self.segment.length[self.places] if self.small else self.segment.length

    @cached_property
    def shortest(self) -> float:
        return float(self.length.min()) if self.small else self.segment.shortest

    @cached_property
    def _flags(self) -> Flags:
        flags = np.zeros(len(self.segment), dtype=bool)
        flags[self.places] = True
        return flags

    def seen(self, docs: Places, tf: npt.NDArray[Any]) -> tuple[Places, npt.NDArray[Any]]:
        """The postings of visible observations."""
        if self.places is None:
            return docs, tf
        if not self.small:
            keep = self._flags[docs]
            return docs[keep], tf[keep]
        if len(docs) < len(self.places):
            rank = _find(docs, self.places)
            keep = rank >= 0
            return rank[keep], tf[keep]
        at = _find(self.places, docs)
        rank = np.flatnonzero(at >= 0).astype(np.int32)
        return rank, tf[at[rank]]


def _find(wanted: Places, among: Places) -> Places:
    """Where each of some places is in an ascending list, -1 for those that are not."""
    at = np.searchsorted(among, wanted).astype(np.int32)
    at[at == len(among)] = 0
    at[among[at] != wanted] = -1
    return at


class QueryPostings:
    """The postings of a query's terms in one part, of visible observations only."""

    def __init__(self, part: VisibleSegment, terms: Sequence[str]) -> None:
        segment = part.segment
        self.part = part
        self.docs: dict[str, Places] = {}
        self.tf: dict[str, npt.NDArray[Any]] = {}
        self.peak: dict[str, int] = {}
        hashes = np.array([term_hash(term) for term in terms], dtype=np.uint64)
        places = np.searchsorted(segment.terms, hashes)
        for term, value, place in zip(terms, hashes, places.tolist(), strict=True):
            if place == len(segment.terms) or segment.terms[place] != value:
                continue
            low, high = segment.offsets[place], segment.offsets[place + 1]
            docs, tf = part.seen(segment.docs[low:high], segment.tf[low:high])
            if len(docs):
                self.docs[term], self.tf[term] = docs, tf
                self.peak[term] = int(segment.peak[place])


def document_frequencies(held: Sequence[QueryPostings], terms: Sequence[str]) -> dict[str, int]:
    """In how many visible observations each term is."""
    return {term: sum(len(p.docs.get(term, ())) for p in held) for term in terms}


def top_rows(
    held: Sequence[QueryPostings], idfs: Mapping[str, float], mean: float, k: int
) -> npt.NDArray[np.int64]:
    """Rows `n` among which the k best are, and all that share the k-th score."""
    least = 0.0
    rows: list[npt.NDArray[np.int64]] = []
    scores: list[Scores] = []
    for postings in held:
        docs, found = _score_segment(postings, idfs, mean, k, least)
        if not len(docs):
            continue
        rows.append(postings.part.n[docs])
        scores.append(found)
        least = max(least, _kth(np.concatenate(scores), k))
    if not rows:
        return np.zeros(0, dtype=np.int64)
    keep = np.concatenate(scores) >= least * (1 - _ROUNDING)
    return np.concatenate(rows)[keep]


def _kth(scores: Scores, k: int) -> float:
    if len(scores) < k:
        return 0.0
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _score_segment(
    postings: QueryPostings, idfs: Mapping[str, float], mean: float, k: int, least: float
) -> tuple[Places, Scores]:
    part = postings.part
    terms = sorted(postings.docs, key=lambda term: -idfs[term])
    flat = np.float32(bm25.K1 * (1 - bm25.B))
    slope = np.float32(bm25.K1 * bm25.B / mean)
    smallest = float(flat + slope * part.shortest)
    bounds = [idfs[term] * postings.peak[term] / (postings.peak[term] + smallest) for term in terms]
    left = np.append(np.cumsum(bounds[::-1])[::-1], 0.0) * (1 + _ROUNDING)

    def gains(term: str, docs: Places, tf: npt.NDArray[Any]) -> Scores:
        often = tf.astype(np.float32)
        norm = flat + slope * part.length[docs]
        return np.asarray(np.float32(idfs[term]) * often / (often + norm), dtype=np.float32)

    sums: Scores | None = None
    docs = np.zeros(0, dtype=np.int32)
    scores: Scores = np.zeros(0, dtype=np.float32)
    for i, term in enumerate(terms):
        held, tf = postings.docs[term], postings.tf[term]
        if least > left[i]:
            race = scores + np.float32(left[i]) >= least
            docs, scores = docs[race], scores[race]
            if not len(docs):
                break
            at = _find(docs, held)
            here = np.flatnonzero(at >= 0)
            scores[here] += gains(term, docs[here], tf[at[here]])
        else:
            gain = gains(term, held, tf)
            if sums is None and not len(docs):
                docs, scores = held, gain
            else:
                if sums is None:
                    sums = np.zeros(len(part.n), dtype=np.float32)
                    sums[docs] = scores
                fresh = held[sums[held] == 0]
                sums[held] += gain
                docs = np.concatenate([docs, fresh])
                scores = sums[docs]
        # While the terms so far could not reach what is left, no bound of theirs would help.
        if left[0] - left[i + 1] > left[i + 1] or i + 1 == len(terms):
            least = max(least, _kth(scores, k))
    keep = scores >= least * (1 - _ROUNDING)
    return docs[keep], scores[keep]
