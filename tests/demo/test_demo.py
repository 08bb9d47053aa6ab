"""The demo end to end on real recordings, and that its own check can fail."""

from pathlib import Path
from typing import Any

from egomem.demo import QUESTIONS, is_right
from egomem.records import Answer, Evidence, Status
from egomem.timeline import Span

NAMES = {"x": "street.mp4", "y": "car.mp4"}
SIGN = QUESTIONS[1]


def answer(text: str, recording: str = "x", span: Span | None = None, **fields: object) -> Answer:
    evidence = (Evidence(recording=recording, span=span or Span(2.6, 3.0)),)
    return Answer.model_validate(
        {"text": text, "status": Status.PARSED, "strategy": "t", "evidence": evidence, **fields}
    )


def test_the_check_takes_the_truth_and_nothing_else() -> None:
    assert is_right(SIGN, answer("It said Taxi."), NAMES)
    assert not is_right(SIGN, answer("It said Bus."), NAMES)
    assert not is_right(SIGN, answer("TAXI", recording="y"), NAMES)
    assert not is_right(SIGN, answer("TAXI", span=Span(7, 8)), NAMES)
    assert not is_right(SIGN, answer("TAXI", status=Status.ABSTAINED), NAMES)
    order = QUESTIONS[4]
    assert is_right(order, answer("", choice="B"), NAMES)
    assert not is_right(order, answer("", choice="A"), NAMES)
    nowhere = QUESTIONS[5]
    assert is_right(nowhere, answer("", status=Status.ABSTAINED), NAMES)
    assert not is_right(nowhere, answer("In the hall."), NAMES)


def test_six_questions_are_answered_as_it_is_in_truth(
    demo_run: tuple[Path, dict[str, Any], int],
) -> None:
    _, printed, code = demo_run
    assert [a["question"] for a in printed["result"]["answers"] if not a["right"]] == []
    assert printed["problems"] == []
    assert code == 0
