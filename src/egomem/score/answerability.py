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


def answerability(sheet: ScoredAnswers) -> Answerability:
    """Over all questions of a sheet (SuperMemory-VQA; macro and the other class are ours)."""
    can = np.array([q.answerable is not False for q in sheet.questions], bool)
    withheld = np.array(
        [abstains(q, a) for q, a in zip(sheet.questions, sheet.answers, strict=True)], bool
    )
    answered = np.array([s == "parsed" for s in sheet.statuses], bool) & ~withheld
    tp, fp = _count(can & answered), _count(~can & answered)
    fn, tn = _count(can & withheld), _count(~can & withheld)
    positives, negatives = _count(can), _count(~can)
    # What no decision could be read from is missed by its own class and claimed by none.
    f1 = _f1(tp, fp, positives - tp)
    other = _f1(tn, fn, negatives - tn)
    return Answerability(
        n=len(sheet),
        answerable=positives,
        answered_answerable=tp,
        answered_unanswerable=fp,
        abstained_answerable=fn,
        abstained_unanswerable=tn,
        f1=f1,
        f1_unanswerable=other,
        f1_macro=None if f1 is None or other is None else (f1 + other) / 2,
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


def answerable_outcomes(sheet: ScoredAnswers) -> AnswerableOutcomes:
    """Correct, wrongly answered, wrongly abstained, or without a reading (SuperMemory-VQA)."""
    held = sheet.only([q.answerable is not False for q in sheet.questions])
    withheld = sum(abstains(q, a) for q, a in zip(held.questions, held.answers, strict=True))
    unread = sum(s not in ("parsed", "abstained") for s in held.statuses)
    correct = float(held.right.sum())
    return AnswerableOutcomes(
        n=len(held),
        correct=correct,
        wrong=len(held) - correct - withheld - unread,
        abstained=withheld,
        no_reading=unread,
    )
