"""What counts as right, and that nothing leaves the denominator."""

from __future__ import annotations

from typing import Any

import pytest

from egomem.records import Question, Status
from egomem.score import abstain_label, correctness, group_accuracy, score_answers


@pytest.mark.parametrize(
    ("choice", "status", "right"),
    [
        ("B", Status.PARSED, 1.0),
        ("C", Status.PARSED, 0.0),
        (None, Status.ABSTAINED, 0.0),
        (None, Status.REFUSED, 0.0),
        ("B", Status.TRUNCATED, 0.0),
        ("B", Status.ERROR, 0.0),
        (None, Status.UNPARSABLE, 0.0),
    ],
)
def test_only_a_parsed_key_is_right(
    ask: Any, say: Any, choice: str | None, status: Status, right: float
) -> None:
    assert correctness(ask(key="B"), say(choice, status=status)) == right
    assert correctness(ask(key="B"), None) == 0.0


def test_errors_stay_in_the_denominator(ask: Any, say: Any) -> None:
    # Eight items, two right, two errors, one without a row: 25 %, not 33 %.
    questions = [ask(f"q{k}", "A") for k in range(8)]
    answers = {f"q{k}": say("A") for k in range(2)} | {f"q{k}": say("B") for k in range(2, 5)}
    answers |= {f"q{k}": say(status=Status.ERROR) for k in (5, 6)}
    accuracy = group_accuracy(score_answers(questions, answers))
    assert accuracy.accuracy == 0.25
    assert accuracy.by_status == {"parsed": 5, "error": 2, "missing": 1}


def test_an_item_that_cannot_be_answered_is_right_where_the_answer_abstains(
    ask: Any, say: Any
) -> None:
    bare = ask(key=None, answerable=False)
    offered = ask(key="D", answerable=False)
    assert (
        correctness(bare, say())
        == correctness(offered, say())
        == correctness(offered, say("D"))
        == 1.0
    )
    assert correctness(bare, say("A")) == correctness(offered, say("A")) == 0.0
    assert correctness(bare, say(status=Status.REFUSED)) == 0.0


def test_choosing_the_abstaining_option_of_an_answerable_item_is_wrong(ask: Any, say: Any) -> None:
    question = ask(key="A", answerable=True, tags={"abstain_option": "C"})
    assert abstain_label(question) == "C"
    assert correctness(question, say("C")) == 0.0
    assert correctness(question, say("A")) == 1.0


def test_open_answers_take_a_verdict_or_are_compared_when_normalised(say: Any) -> None:
    question = Question(id="o", text="?", answer="The red mug.", recording="v")
    assert correctness(question, say(text="a RED mug")) == 1.0
    assert correctness(question, say(text="a mug that is red")) == 0.0
    assert correctness(question, say(text="a mug that is red"), 0.75) == 0.75
    assert correctness(question, say(text="a red mug"), 0.0) == 0.0
    assert correctness(question, say(status=Status.ERROR), 1.0) == 0.0


def test_questions_without_a_key_are_left_out_and_counted(ask: Any, say: Any) -> None:
    questions = [ask("a", "A"), ask("b", None), ask("c", None, answerable=False)]
    accuracy = score_answers(questions, {"a": say("A"), "b": say("A")})
    assert [q.id for q in accuracy.questions] == ["a", "c"]
    assert accuracy.unscored == 1
