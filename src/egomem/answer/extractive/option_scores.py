"""A score for each option of a multiple-choice question: what the memory says for it.

In order: where the question places the answer before or after an event that is found, the option
whose mention comes next (or came last) wins. A mention belongs to the most specific option: what
says "pot lid" is not a mention of "lid" while both are on offer.

By words: each word of an option counts by how rare it is in the whole memory and by how much of the
scope holds it (the square root of its share of observations, those nearer to what the question says
and where it points counting more). A word that the scope lacks gives nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egomem.answer.extractive.anchors import LocatedAnchor, gaps, part_weights
from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.recall import Query
from egomem.recall.words import Word, stem_set, thing_words_of, words_of

ENOUGH = 0.4
"""Share of an option's words that an observation of it must hold to be put in order."""


@dataclass(frozen=True, slots=True)
class OptionScore:
    """An option's score, and the observation that speaks most for it."""

    score: float
    best: IndexedObservation | None
    near: float = 0.0
    """How much nearer than usual an embedder finds it (a difference of cosines)."""


def by_order(
    index: ViewIndex, query: Query, options: Sequence[str], anchor: LocatedAnchor, *, fade: float
) -> list[OptionScore]:
    """Scores by time from the anchor: a whole mention at a gap of `fade` seconds counts 1/e."""
    assert query.relation is not None
    gap = gaps(index, anchor, query.relation)
    words = [words_of(option) for option in options]
    match = [coverages(index, w) for w in words]
    scores = []
    for k, option_words in enumerate(words):
        narrower = [
            match[j]
            for j, others in enumerate(words)
            if j != k and {w.stem for w in option_words} < {w.stem for w in others}
        ]
        best, mention = 0.0, None
        for i, entry in enumerate(index.entries):
            if math.isinf(gap[i]) or any(m[i] > 0.999 for m in narrower):
                continue
            value = match[k][i] * math.exp(-gap[i] / fade)
            if value > best:
                best, mention = value, entry
        scores.append(OptionScore(best, mention))
    return scores


def by_first(index: ViewIndex, order: str, options: Sequence[str]) -> list[OptionScore]:
    """Scores by when each option was first (or last) observed: 1 for the first, 1/2 for the second.

    An option counts where an observation holds enough of its words (`ENOUGH`). Only what lies on
    the timeline that most options share is put in order.
    """
    mentions: list[IndexedObservation | None] = []
    for option in options:
        coverage = coverages(index, thing_words_of(option))
        least = max(max(coverage, default=0.0) - 1e-9, ENOUGH)
        holding = [entry for entry, c in zip(index.entries, coverage, strict=True) if c >= least]
        direct = [entry for entry in holding if entry.direct] or holding
        mentions.append((direct[0] if order == "first" else direct[-1]) if direct else None)
    timelines = Counter(m.timeline for m in mentions if m)
    shared = max(timelines, key=lambda name: timelines[name], default="")
    starts = {m.span.start for m in mentions if m and m.timeline == shared}
    in_order = sorted(starts, reverse=order == "last")
    return [
        OptionScore(1.0 / (1 + in_order.index(m.span.start)), m)
        if m and m.timeline == shared
        else OptionScore(0.0, m)
        for m in mentions
    ]


def by_words(
    index: ViewIndex, query: Query, options: Sequence[str], *, sharpness: float, width: float
) -> list[OptionScore]:
    """Scores by the words of each option; see the top of this module."""
    if not len(index.matches.view.columns):
        return [OptionScore(0.0, None) for _ in options]
    relevance = _Relevance(index, query, sharpness=sharpness, width=width)
    scores = []
    for option in options:
        words = words_of(option)
        weights = [(word, index.weight(word)) for word in words]
        value = sum(weight * math.sqrt(relevance.share(word)) for word, weight in weights)
        best, speaking = 0.0, None
        for entry, relevant in zip(index.entries, relevance.of_entries, strict=True):
            matched_weight = sum(weight * relevant for word, weight in weights if entry.has(word))
            if matched_weight > best:
                best, speaking = matched_weight, entry
        scores.append(OptionScore(value / math.sqrt(max(1, len(words))), speaking))
    return scores


class _Relevance:
    """How near each observation of the scope is to what a question says and where it points.

    Of those that are not laid out the columns tell it, by the words that they hold; of the entries
    it is known exactly, and replaces what the columns say.
    """

    def __init__(self, index: ViewIndex, query: Query, *, sharpness: float, width: float) -> None:
        self._index = index
        words = (*query.words, *query.anchor_words)
        weights = {word: index.weight(word) for word in words}
        total = sum(index.weight(word) for word in words)
        coverage = coverages(index, words)
        top = max(coverage, default=0.0)
        near = [1.0] * len(coverage)
        columns = index.matches.view.columns
        near_columns: NDArray[np.float64] = np.ones(len(columns))
        if query.part:
            near = [0.5 + 0.5 * n for n in part_weights(index, query.part, width=width)]
            near_columns = 0.5 + 0.5 * index.matches.part_weights(query.part, width)

        def relevant(coverage: float, near: float) -> float:
            return near * math.exp(sharpness * (coverage - top))

        matched_weight = np.zeros(len(columns))
        for word in words:
            matched_weight += weights[word] * index.matches.holds[word]
        self._of_columns = near_columns * np.exp(
            sharpness * (matched_weight / (total or 1.0) - top)
        )
        self.of_entries = [relevant(c, n) for c, n in zip(coverage, near, strict=True)]
        self._texts = [stem_set(entry.observation.text) for entry in index.entries]
        # What the columns say of the entries, to be taken off again.
        self._by_text = [
            relevant(sum(weights[w] for w in words if _holds(text, w)) / (total or 1.0), n)
            for text, n in zip(self._texts, near, strict=True)
        ]
        self._total = max(
            float(self._of_columns.sum()) + sum(self.of_entries) - sum(self._by_text), 1e-12
        )

    def share(self, word: Word) -> float:
        """The share of all relevance that lies in observations which hold a word."""
        relevance = float(self._of_columns[self._index.matches.holds[word]].sum())
        for entry, text, exact, by_text in zip(
            self._index.entries, self._texts, self.of_entries, self._by_text, strict=True
        ):
            relevance += exact * entry.has(word) - by_text * _holds(text, word)
        return max(0.0, relevance) / self._total


def _holds(stems: frozenset[str], word: Word) -> bool:
    return not word.forms.isdisjoint(stems)
