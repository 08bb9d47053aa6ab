"""Knowing what cannot be answered: Ans-F1 and what became of the items that can be."""

from __future__ import annotations

import numpy as np

from egomem.records import Record
from egomem.score.scored_answers import ScoredAnswers, abstains


class Answerability(Record):
    """The decision "can this be answered" against the truth.

    `f1` takes *answerable* as the positive class (SuperMemory-VQA's Ans-F1, methods B.5); the
    other class's F1 and the mean of both stand beside it, since always answering already has
    `f1` = 2a/(1 + a) where a share a can be answered. A reply without a reading makes neither
    decision right: it counts against both classes. A figure whose denominator is 0 is None.
    """

    n: int
    answerable: int
    answered_answerable: int
    answered_unanswerable: int
    abstained_answerable: int
    abstained_unanswerable: int
    f1: float | None
    f1_unanswerable: float | None
    f1_macro: float | None
    f1_always_answering: float | None


def answerability(scored: ScoredAnswers) -> Answerability:
    """Over all scored questions (SuperMemory-VQA; macro and the other class are ours)."""
    # Most data sets do not state it: a question counts as answerable unless its record says no.
    answerable = np.array([q.answerable is not False for q in scored.questions], bool)
    abstained = np.array(
        [abstains(q, a) for q, a in zip(scored.questions, scored.answers, strict=True)], bool
    )
    # Choosing the option "cannot be answered" is a parsed reply, and still an abstention.
    answered = np.array([s == "parsed" for s in scored.statuses], bool) & ~abstained
    tp, fp = _count(answerable & answered), _count(~answerable & answered)
    fn, tn = _count(answerable & abstained), _count(~answerable & abstained)
    positives, negatives = _count(answerable), _count(~answerable)
    # What no decision could be read from is missed by its own class and claimed by none.
    f1 = _f1(tp, fp, positives - tp)
    f1_unanswerable = _f1(tn, fn, negatives - tn)
    return Answerability(
        n=len(scored),
        answerable=positives,
        answered_answerable=tp,
        answered_unanswerable=fp,
        abstained_answerable=fn,
        abstained_unanswerable=tn,
        f1=f1,
        f1_unanswerable=f1_unanswerable,
        f1_macro=None if f1 is None or f1_unanswerable is None else (f1 + f1_unanswerable) / 2,
        # Without it .8 looks good where two thirds can be answered, and a reader that never
        # abstains gets it.
        f1_always_answering=_f1(positives, negatives, 0),
    )


def _count(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int(np.count_nonzero(mask))


def _f1(tp: int, fp: int, fn: int) -> float | None:
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None


class AnswerableOutcomes(Record):
    """What became of the answerable items."""

    n: int
    correct: float
    wrong: float
    abstained: int
    no_reading: int


def answerable_outcomes(scored: ScoredAnswers) -> AnswerableOutcomes:
    """Correct, wrongly answered, wrongly abstained, or without a reading (SuperMemory-VQA)."""
    answerable = scored.only([q.answerable is not False for q in scored.questions])
    abstained = sum(
        abstains(q, a) for q, a in zip(answerable.questions, answerable.answers, strict=True)
    )
    no_reading = sum(s not in ("parsed", "abstained") for s in answerable.statuses)
    correct = float(answerable.right.sum())
    return AnswerableOutcomes(
        n=len(answerable),
        correct=correct,
        wrong=len(answerable) - correct - abstained - no_reading,
        abstained=abstained,
        no_reading=no_reading,
    )
