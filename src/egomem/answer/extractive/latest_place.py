"""Where a thing is: the last place that it was observed to be put; those before are history."""

from __future__ import annotations

import re
from collections.abc import Sequence

from egomem.answer.extractive.answer_parts import AnswerParts, DirectAnswer, quote, unique
from egomem.answer.extractive.evidence_match import EvidenceMatch
from egomem.answer.extractive.option_scores import OptionScore
from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.view_index import IndexedObservation
from egomem.recall.words import words_of

_PLACING = re.compile(
    r"\b(?:put|puts|putting|place[sd]?|placing|set|sets|lay|lays|laid|drop(?:s|ped)?|leave[s]?|left|"
    r"move[sd]?|hang[s]?|hung|store[sd]?|stow(?:s|ed)?|park(?:s|ed)?|keep[s]?|kept|return(?:s|ed)?|"
    r"throw[s]?|threw|slide[s]?|slid|tuck(?:s|ed)?|hide[s]?|hid|stick[s]?|stuck|lie[s]?|stand[s]?|"
    r"is|are|was|were)\b.*\b(?:in|on|into|onto|under|behind|beside|next to|at|to|near|over|above|"
    r"below|between|inside|back|by)\b",
    re.IGNORECASE | re.DOTALL,
)
_NOT_SO = re.compile(
    r"\b(?:not|never|no|without|should|will|may|might|want|wants|forget|remember|almost)\b|n't|\?",
    re.IGNORECASE,
)


def placements(entries: Sequence[IndexedObservation]) -> list[IndexedObservation]:
    """The observations that tell where a thing was put or is, latest first; ties as they came."""
    placing = [
        e
        for e in entries
        if e.observation.source not in ("speech", "screen_text")
        and _PLACING.search(e.observation.text)
        and not _NOT_SO.search(e.observation.text)
    ]
    return sorted(unique(placing), key=lambda e: (e.timeline == "", e.span.start), reverse=True)


def latest_place(parts: AnswerParts) -> DirectAnswer | None:
    """The last place, with earlier ones as history; None where no observation places the thing."""
    placed = placements(parts.best)
    if not placed:
        return None
    latest, before = placed[0], placed[1 : parts.quotes]
    line = f"{quote(latest)} ({parts.writer.span(latest)})"
    if before:
        line += "; before that: " + "; ".join(
            f"{quote(e)} ({parts.writer.span(e)})" for e in before
        )
    return DirectAnswer(line, (latest, *before))


def by_latest_place(match: EvidenceMatch, options: Sequence[str]) -> list[OptionScore] | None:
    """How much of each option the last place holds; None where nothing places the thing."""
    top = max(match.coverage, default=0.0)
    ranked = [e for c, e in zip(match.coverage, match.index.entries, strict=True) if c >= top > 0]
    placed = placements(ranked)
    if not placed:
        return None
    at = next(i for i, e in enumerate(match.index.entries) if e is placed[0])
    scores = [OptionScore(coverages(match.index, words_of(o))[at], placed[0]) for o in options]
    return scores if max(s.score for s in scores) > 0 else None
