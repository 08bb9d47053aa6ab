"""How much of a question a memory supports, between 0 and 1.

Coverage: of what the question's content words tell (each weighted by how rare it is in the whole
memory), the share that one observation holds. A word that the memory never holds weighs most, so a
question about what was never observed has little support, however common its other words are.

Whose: where the question names one person who speaks in the memory, an observation by somebody else
speaks for another person. The best few observations of each side are compared; what somebody else
said as well or better is not support: the share is a logistic of the difference.

Both are our reconstruction; the reference points are in docs/explanation/extractive-reader.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.recall.words import Word

FEW = 5
"""Observations a side that are compared, each counting half of the one before."""


@dataclass(frozen=True, slots=True)
class SupportScore:
    """`score` = `coverage` x `share`; `missing` are stems of words that nothing in scope holds."""

    score: float
    coverage: float
    share: float
    missing: tuple[str, ...]


def coverages(index: ViewIndex, words: Sequence[Word]) -> list[float]:
    """The rarity-weighted share of the words that each entry holds, 0 to 1."""
    weights = [(word, index.weight(word)) for word in words]
    total = sum(weight for _, weight in weights)
    if not total:
        return [0.0] * len(index.entries)
    return [
        sum(weight * entry.meets(word) for word, weight in weights) / total
        for entry in index.entries
    ]


def support(
    index: ViewIndex,
    words: Sequence[Word],
    coverage: Sequence[float],
    speakers: Sequence[str],
    doubt: float,
) -> SupportScore:
    """The support of a question's words. `speakers`: those whom the question asks about.

    `doubt` is the difference in coverage at which the share moves by one logit.
    """
    covering = [entry for c, entry in zip(coverage, index.entries, strict=True) if c]
    missing = tuple(w.stem for w in words if not any(entry.meets(w) for entry in covering))
    if not coverage:
        return SupportScore(0.0, 0.0, 1.0, missing)
    if len(speakers) != 1:
        best = max(coverage)
        return SupportScore(best, best, 1.0, missing)
    pairs = list(zip(coverage, index.entries, strict=True))
    by_speaker = [c for c, entry in pairs if entry.speaker == speakers[0]]
    by_others = [c for c, entry in pairs if other(entry, speakers)]
    best = max(by_speaker, default=0.0)
    lead = _best_few(by_speaker) - _best_few(by_others)
    share = 1.0 / (1.0 + math.exp(-lead / doubt))
    return SupportScore(best * share, best, share, missing)


def other(entry: IndexedObservation, speakers: Sequence[str]) -> bool:
    """True where somebody speaks whom the question, which names somebody, does not name."""
    return bool(speakers) and entry.speaker is not None and entry.speaker not in speakers


def _best_few(coverage: Sequence[float]) -> float:
    best = sorted(coverage, reverse=True)[:FEW]
    halves = [0.5**i for i in range(FEW)]
    return sum(c * h for c, h in zip(best, halves, strict=False)) / sum(halves)
