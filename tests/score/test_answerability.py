"""Ans-F1 against scikit-learn, and what it says beside itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from egomem.records import Answer, Question, Status
from egomem.score import answerability, answerable_outcomes, score_answers

rows = st.lists(st.tuples(st.booleans(), st.sampled_from("ABC-")), min_size=1, max_size=30)


def scored(pairs: list[tuple[bool, str]]) -> Any:
    questions, answers = [], {}
    for k, (can, choice_or_dash) in enumerate(pairs):
        questions.append(
            Question.of("?", ["x", "y", "z"], id=str(k), answer="A" if can else None,
                        answerable=can)
        )  # fmt: skip
        choice = None if choice_or_dash == "-" else choice_or_dash
        status = Status.PARSED if choice else Status.ABSTAINED
        answers[str(k)] = Answer(text="", status=status, strategy="t", choice=choice)
    return score_answers(questions, answers)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(rows)
def test_it_is_scikit_learns_f1(pairs: list[tuple[bool, str]]) -> None:
    scored_answers = scored(pairs)
    truth = [can for can, _ in pairs]
    answered = [choice != "-" for _, choice in pairs]
    result = answerability(scored_answers)
    for value, positive in ((result.f1, True), (result.f1_unanswerable, False)):
        expected = f1_score(truth, answered, pos_label=positive, zero_division=0.0)
        assert (value or 0.0) == pytest.approx(expected)
        assert (value is None) == (positive not in truth and positive not in answered)
    whole = {True, False} <= {*truth, *answered}
    macro = f1_score(truth, answered, average="macro", labels=[True, False], zero_division=0.0)
    assert result.f1_macro == (pytest.approx(macro) if whole else None)
    right = [c == "A" if can else c == "-" for can, c in pairs]
    assert scored_answers.right.mean() == pytest.approx(accuracy_score([True] * len(pairs), right))


@given(st.integers(1, 40), st.integers(1, 40))
def test_always_answering_scores_what_the_share_of_answerable_items_gives(a: int, b: int) -> None:
    result = answerability(scored([(True, "B")] * a + [(False, "B")] * b))
    share = a / (a + b)
    assert result.f1 == pytest.approx(2 * share / (1 + share))
    assert result.f1 == pytest.approx(result.f1_always_answering)
    assert result.f1_unanswerable == 0.0


def test_a_reply_without_a_reading_decides_nothing() -> None:
    scored_answers = scored([(True, "A"), (True, "A"), (False, "-"), (False, "-")])
    broken = list(scored_answers.answers)
    broken[1] = Answer(text="", status=Status.TRUNCATED, strategy="t")
    broken[3] = None
    questions = scored_answers.questions
    result = answerability(
        score_answers(questions, {q.id: a for q, a in zip(questions, broken, strict=True) if a})
    )
    assert (result.answered_answerable, result.abstained_unanswerable) == (1, 1)
    assert result.f1 == result.f1_unanswerable == pytest.approx(2 / 3)


def test_what_became_of_the_answerable_items() -> None:
    scored_answers = scored(
        [(True, "A"), (True, "B"), (True, "-"), (True, "-"), (False, "B"), (True, "A")]
    )
    answers = dict(
        zip((q.id for q in scored_answers.questions), scored_answers.answers, strict=True)
    )
    answers["5"] = Answer(text="", status=Status.REFUSED, strategy="t")
    result = answerable_outcomes(
        score_answers(scored_answers.questions, {k: a for k, a in answers.items() if a})
    )
    assert result.model_dump() == {
        "n": 5, "correct": 1.0, "wrong": 1.0, "abstained": 2, "no_reading": 1,
    }  # fmt: skip
