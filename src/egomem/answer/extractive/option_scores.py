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

from egomem.answer.extractive.anchors import Anchor, gaps, part_weights
from egomem.answer.extractive.question import ParsedQuestion
from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.answer.extractive.words import thing_words_of, words_of

ENOUGH = 0.4
"""Share of an option's words that an observation of it must hold to be put in order."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An option's score, and the observation that speaks most for it."""

    score: float
    best: IndexedObservation | None
    near: float = 0.0
    """How much nearer than usual an embedder finds it (a difference of cosines)."""


def in_order(
    scene: ViewIndex, ask: ParsedQuestion, options: Sequence[str], anchor: Anchor, *, fade: float
) -> list[Scored]:
    """Scores by time from the anchor: a whole mention at a gap of `fade` seconds counts 1/e."""
    assert ask.relation is not None
    gap = gaps(scene, anchor, ask.relation)
    words = [words_of(option) for option in options]
    match = [coverages(scene, w) for w in words]
    scored = []
    for k, mine in enumerate(words):
        narrower = [
            match[j]
            for j, other in enumerate(words)
            if j != k and {w.stem for w in mine} < {w.stem for w in other}
        ]
        best, where = 0.0, None
        for i, seen in enumerate(scene.seen):
            if math.isinf(gap[i]) or any(m[i] > 0.999 for m in narrower):
                continue
            value = match[k][i] * math.exp(-gap[i] / fade)
            if value > best:
                best, where = value, seen
        scored.append(Scored(best, where))
    return scored


def by_first(scene: ViewIndex, which: str, options: Sequence[str]) -> list[Scored]:
    """Scores by when each option was first (or last) observed: 1 for the first, 1/2 for the second.

    An option counts where an observation holds enough of its words (`ENOUGH`). Only what lies on
    the time line that most options share is put in order.
    """
    found: list[IndexedObservation | None] = []
    for option in options:
        coverage = coverages(scene, thing_words_of(option))
        top = max(coverage, default=0.0)
        holding = [
            s for s, c in zip(scene.seen, coverage, strict=True) if c >= max(top - 1e-9, ENOUGH)
        ]
        direct = [s for s in holding if s.direct] or holding
        found.append((direct[0] if which == "first" else direct[-1]) if direct else None)
    lines = Counter(s.line for s in found if s)
    line = max(lines, key=lambda name: lines[name], default="")
    times = sorted({s.span.start for s in found if s and s.line == line}, reverse=which == "last")
    return [
        Scored(1.0 / (1 + times.index(s.span.start)), s) if s and s.line == line else Scored(0.0, s)
        for s in found
    ]


def by_words(
    scene: ViewIndex, ask: ParsedQuestion, options: Sequence[str], *, sharpness: float, width: float
) -> list[Scored]:
    """Scores by the words of each option; see the top of this module."""
    if not scene.seen:
        return [Scored(0.0, None) for _ in options]
    relevance = _relevance(scene, ask, sharpness=sharpness, width=width)
    total = sum(relevance)
    scored = []
    for option in options:
        words = words_of(option)
        value = 0.0
        held = [0.0] * len(scene.seen)
        for word in words:
            weight = scene.weight(word)
            share = 0.0
            for i, seen in enumerate(scene.seen):
                if seen.has(word):
                    share += relevance[i]
                    held[i] += weight * relevance[i]
            value += weight * math.sqrt(share / total)
        i = max(range(len(held)), key=held.__getitem__)
        scored.append(
            Scored(value / math.sqrt(max(1, len(words))), scene.seen[i] if held[i] else None)
        )
    return scored


def _relevance(
    scene: ViewIndex, ask: ParsedQuestion, *, sharpness: float, width: float
) -> list[float]:
    coverage = coverages(scene, ask.words + ask.anchor)
    top = max(coverage, default=0.0)
    relevance = [math.exp(sharpness * (c - top)) for c in coverage]
    if ask.part:
        near = part_weights(scene, ask.part, width=width)
        relevance = [r * (0.5 + 0.5 * n) for r, n in zip(relevance, near, strict=True)]
    return relevance
