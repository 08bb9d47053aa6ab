"""Ranking metrics, with the edge rules that decide whether two reports can be compared.

Ties share their expected rank, whatever order they came in; queries without a positive are left
out and counted; what was retrieved counts once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from egomem.records import Answer, Question, Record, Status
from egomem.score.baselines import key_label
from egomem.score.scored_answers import ScoredAnswers, abstain_label, abstains
from egomem.timeline import Span


def reciprocal_rank(scores: Sequence[float], gold: int) -> float:
    """Expected 1/rank of item `gold`, higher scores first, ties in every order equally likely."""
    best = sum(s > scores[gold] for s in scores)
    tied = sum(s == scores[gold] for s in scores)
    return sum(1 / (best + k) for k in range(1, tied + 1)) / tied


def option_rank(question: Question, answer: Answer | None) -> float | None:
    """Expected 1/rank of the key among the options; None where the question has no such key.

    Options without a score share the last places. A lone letter is first and the others are tied.
    An answer that abstains ranks the abstaining option first, where one is offered; without one all
    are tied. A reply without a reading (refused, cut off, unreadable, none) has 0.
    """
    key = key_label(question)
    labels = [o.label for o in question.options]
    if key not in labels:
        return None
    if answer is None or answer.status not in (Status.PARSED, Status.ABSTAINED):
        return 0.0
    scores = {label: answer.scores.get(label, -np.inf) for label in labels}
    top = answer.choice or (abstain_label(question) if abstains(question, answer) else None)
    highest = max(scores.values())
    if top in scores and (scores[top] < highest or highest == -np.inf):
        scores[top] = np.inf  # what was chosen is first, whatever the scores say of it
    return reciprocal_rank(list(scores.values()), labels.index(key))


class Mrr(Record):
    """Mean reciprocal rank over `n` questions; `left_out` have no key among ranked options."""

    value: float | None
    n: int
    left_out: int


def mrr(sheet: ScoredAnswers) -> Mrr:
    """Mean reciprocal rank of the key among the options."""
    found = [option_rank(q, a) for q, a in zip(sheet.questions, sheet.answers, strict=True)]
    held = [value for value in found if value is not None]
    return Mrr(
        value=sum(held) / len(held) if held else None, n=len(held), left_out=len(found) - len(held)
    )


def recall_at(retrieved: Iterable[Hashable], gold: Iterable[Hashable], k: int) -> float | None:
    """Share of the gold items among the first k different ones retrieved; None without gold."""
    wanted = set(gold)
    if not wanted:
        return None
    return len(wanted & set(_unique(retrieved)[:k])) / len(wanted)


def hit_at(retrieved: Iterable[Hashable], gold: Iterable[Hashable], k: int) -> float | None:
    """1 where any gold item is among the first k different ones retrieved; None without gold."""
    share = recall_at(retrieved, gold, k)
    return None if share is None else float(share > 0)


def reciprocal_rank_at(
    retrieved: Iterable[Hashable], gold: Iterable[Hashable], k: int
) -> float | None:
    """1/rank of the first gold item, 0 where it is not among the first k; None without gold."""
    wanted = set(gold)
    if not wanted:
        return None
    for rank, item in enumerate(_unique(retrieved)[:k], 1):
        if item in wanted:
            return 1 / rank
    return 0.0


def _unique(retrieved: Iterable[Hashable]) -> list[Hashable]:
    return list(dict.fromkeys(retrieved))


RecordingSpan = tuple[str | None, Span]
"""A recording and a span of it."""


class RetrievalMetrics(Record):
    """Moments retrieved against evidence, over the same `n` questions for every figure.

    `left_out`: questions without evidence. `hit`: share with some evidence among the first k.
    `recall`: mean share of the evidence spans that are overlapped.
    """

    n: int
    left_out: int
    hit: dict[int, float]
    recall: dict[int, float]
    mrr: dict[int, float]


def retrieval_metrics(
    retrieved: Mapping[str, Sequence[RecordingSpan]],
    questions: Iterable[Question],
    *,
    ks: Sequence[int] = (1, 3, 5, 10),
) -> RetrievalMetrics:
    """R@k and MRR@k of moments, by question id; a moment hits where it overlaps evidence.

    A question that nothing was retrieved for counts with 0.
    """
    held = list(questions)
    asked = [q for q in held if q.evidence]
    hit: dict[int, list[float]] = {k: [] for k in ks}
    recall: dict[int, list[float]] = {k: [] for k in ks}
    ranks: dict[int, list[float]] = {k: [] for k in ks}
    for question in asked:
        places = list(dict.fromkeys(retrieved.get(question.id, ())))
        gold = [(e.recording, e.span) for e in question.evidence]
        met = [{i for i, g in enumerate(gold) if overlap_in_time(place, g)} for place in places]
        for k in ks:
            found: set[int] = set().union(*met[:k])
            first = next((r for r, m in enumerate(met[:k], 1) if m), None)
            hit[k].append(float(bool(found)))
            recall[k].append(len(found) / len(gold))
            ranks[k].append(1 / first if first else 0.0)

    def means(of: dict[int, list[float]]) -> dict[int, float]:
        return {k: sum(v) / len(v) for k, v in of.items() if v}

    return RetrievalMetrics(
        n=len(asked),
        left_out=len(held) - len(asked),
        hit=means(hit),
        recall=means(recall),
        mrr=means(ranks),
    )


def overlap_in_time(place: RecordingSpan, gold: RecordingSpan) -> bool:
    """Whether a moment shares more than nothing with a span of the same recording."""
    return place[0] == gold[0] and place[1].overlaps(gold[1])
