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
    # Ties are common (a lone letter leaves the others tied), and the order of a file must not
    # decide.
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
    # Leaving these out instead would reward a reader that fails on hard questions.
    if answer is None or answer.status not in (Status.PARSED, Status.ABSTAINED):
        return 0.0
    # Log-probabilities of servers name only the best few tokens.
    scores = {label: answer.scores.get(label, -np.inf) for label in labels}
    first_label = answer.choice or (abstain_label(question) if abstains(question, answer) else None)
    highest = max(scores.values())
    if first_label in scores and (scores[first_label] < highest or highest == -np.inf):
        scores[first_label] = np.inf  # what was chosen is first, whatever the scores say of it
    return reciprocal_rank(list(scores.values()), labels.index(key))


class Mrr(Record):
    """Mean reciprocal rank over `n` questions; `left_out` have no key among ranked options."""

    value: float | None
    n: int
    left_out: int


def mrr(scored: ScoredAnswers) -> Mrr:
    """Mean reciprocal rank of the key among the options."""
    ranks = [option_rank(q, a) for q, a in zip(scored.questions, scored.answers, strict=True)]
    defined = [value for value in ranks if value is not None]
    return Mrr(
        value=sum(defined) / len(defined) if defined else None,
        n=len(defined),
        left_out=len(ranks) - len(defined),
    )


def recall_at(retrieved: Iterable[Hashable], gold: Iterable[Hashable], k: int) -> float | None:
    """Share of the gold items among the first k different ones retrieved; None without gold."""
    gold_items = set(gold)
    if not gold_items:
        return None
    return len(gold_items & set(_unique(retrieved)[:k])) / len(gold_items)


def hit_at(retrieved: Iterable[Hashable], gold: Iterable[Hashable], k: int) -> float | None:
    """1 where any gold item is among the first k different ones retrieved; None without gold."""
    share = recall_at(retrieved, gold, k)
    return None if share is None else float(share > 0)


def reciprocal_rank_at(
    retrieved: Iterable[Hashable], gold: Iterable[Hashable], k: int
) -> float | None:
    """1/rank of the first gold item, 0 where it is not among the first k; None without gold."""
    gold_items = set(gold)
    if not gold_items:
        return None
    for rank, item in enumerate(_unique(retrieved)[:k], 1):
        if item in gold_items:
            return 1 / rank
    return 0.0


def _unique(retrieved: Iterable[Hashable]) -> list[Hashable]:
    # The same moment may be retrieved for several reasons; counted twice it would fill the first k.
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
    all_questions = list(questions)
    # A benchmark's questions about nothing that happened have no evidence to retrieve.
    with_evidence = [q for q in all_questions if q.evidence]
    hit: dict[int, list[float]] = {k: [] for k in ks}
    recall: dict[int, list[float]] = {k: [] for k in ks}
    ranks: dict[int, list[float]] = {k: [] for k in ks}
    for question in with_evidence:
        # A question that nothing was retrieved for stays in: silence would otherwise be the best
        # retriever.
        moments = list(dict.fromkeys(retrieved.get(question.id, ())))
        gold = [(e.recording, e.span) for e in question.evidence]
        hits_of_moment = [
            {i for i, g in enumerate(gold) if overlap_in_time(moment, g)} for moment in moments
        ]
        for k in ks:
            gold_hit: set[int] = set().union(*hits_of_moment[:k])
            first_rank = next((r for r, m in enumerate(hits_of_moment[:k], 1) if m), None)
            hit[k].append(float(bool(gold_hit)))
            recall[k].append(len(gold_hit) / len(gold))
            ranks[k].append(1 / first_rank if first_rank else 0.0)

    def means(of: dict[int, list[float]]) -> dict[int, float]:
        return {k: sum(v) / len(v) for k, v in of.items() if v}

    return RetrievalMetrics(
        n=len(with_evidence),
        left_out=len(all_questions) - len(with_evidence),
        hit=means(hit),
        recall=means(recall),
        mrr=means(ranks),
    )


def overlap_in_time(place: RecordingSpan, gold: RecordingSpan) -> bool:
    """Whether a moment shares more than nothing with a span of the same recording."""
    return place[0] == gold[0] and place[1].overlaps(gold[1])
