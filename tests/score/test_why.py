"""Why an answer is wrong, from traces and oracle answers."""

from __future__ import annotations

from typing import Any

import pytest

from egomem.records import Status
from egomem.score import Why, tally, why_wrong

READ_ALL = ({"step": "notes", "observations": 7},)


def found(*spans: tuple[float, float], recording: str = "v") -> tuple[Any, ...]:
    hits = [{"recording": recording, "start": a, "end": b} for a, b in spans]
    return ({"step": "found", "hits": hits},)


@pytest.mark.parametrize(
    ("captions", "frames", "trace", "choice", "why", "sure"),
    [
        ("B", "A", READ_ALL, "B", Why.NOT_OBSERVED, True),
        ("B", None, READ_ALL, "B", Why.NOT_OBSERVED, False),
        ("B", "C", READ_ALL, "B", Why.MISREAD, True),
        ("A", None, found((0, 30), (60, 90)), "B", Why.NOT_RETRIEVED, True),
        ("A", None, found((30, 60)), "B", Why.MISREAD, True),
        ("A", None, READ_ALL, "B", Why.MISREAD, True),
        ("A", None, READ_ALL, None, Why.WRONGLY_ABSTAINED, True),
        (None, None, READ_ALL, None, Why.WRONGLY_ABSTAINED, False),
        ("A", None, found((60, 90)), None, Why.NOT_RETRIEVED, True),
        ("A", None, found(), None, Why.NOT_RETRIEVED, True),
        (None, None, (), "B", Why.MISREAD, False),
    ],
)
def test_each_step_is_told_apart(
    ask: Any, say: Any, captions: str | None, frames: str | None, trace: Any, choice: str | None,
    why: Why, sure: bool,
) -> None:  # fmt: skip
    question = ask(key="A", at=(40.0, 45.0))
    got = why_wrong(
        question,
        say(choice, trace=trace),
        oracle_captions=say(captions) if captions else None,
        oracle_frames=say(frames) if frames else None,
    )
    assert got is not None
    assert (got.why, got.sure) == (why, sure)


def test_a_right_answer_has_no_reason_and_a_failed_reply_has_its_own(ask: Any, say: Any) -> None:
    question = ask(key="A", at=3.0)
    assert why_wrong(question, say("A")) is None
    refused = why_wrong(question, say(status=Status.REFUSED))
    assert refused is not None
    assert (refused.why, refused.because) == (Why.NO_READING, "refused")
    assert why_wrong(question, None).why is Why.NO_READING  # type: ignore[union-attr]
    made_up = why_wrong(ask(key=None, answerable=False), say("B"))
    assert made_up is not None
    assert made_up.why is Why.MISREAD
    assert why_wrong(ask(key=None, answerable=False), say()) is None


def test_an_oracle_whose_reply_failed_says_nothing(ask: Any, say: Any) -> None:
    question = ask(key="A", at=40.0)
    wrong, failed = say("B", trace=READ_ALL), say(status=Status.ERROR)
    got = why_wrong(question, wrong, oracle_captions=failed, oracle_frames=say("A"))
    assert got is not None
    assert (got.why, got.sure) == (Why.MISREAD, False)
    got = why_wrong(question, wrong, oracle_captions=say("B"), oracle_frames=failed)
    assert got is not None
    assert (got.why, got.sure) == (Why.NOT_OBSERVED, False)


def test_frames_looked_at_count_within_their_slack(ask: Any, say: Any) -> None:
    question = ask(key="A", at=40.0)

    def looked(*times: float) -> Any:
        frames = [{"recording": "v", "time": t} for t in times]
        return say("B", trace=({"step": "looked", "frames": frames},))

    assert why_wrong(question, looked(10.0, 38.5)).why is Why.NOT_RETRIEVED  # type: ignore[union-attr]
    assert why_wrong(question, looked(39.4)).why is Why.MISREAD  # type: ignore[union-attr]
    assert why_wrong(question, looked(38.5), slack=2.0).why is Why.MISREAD  # type: ignore[union-attr]
    other = say("B", trace=found((0, 90), recording="w"))
    assert why_wrong(question, other).why is Why.NOT_RETRIEVED  # type: ignore[union-attr]


def test_an_overridden_answer_rests_on_what_was_looked_at(ask: Any, say: Any) -> None:
    question = ask(key="A", at=40.0)
    steps = ({"step": "baseline", "choice": "B"}, *found((60, 90)))
    kept = say("B", trace=(*steps, {"step": "decision", "outcome": "kept"}))
    changed = say("B", trace=(*steps, {"step": "decision", "outcome": "overridden"}))
    assert why_wrong(question, kept).why is Why.MISREAD  # type: ignore[union-attr]
    assert why_wrong(question, changed).why is Why.NOT_RETRIEVED  # type: ignore[union-attr]


def test_reasons_are_counted_in_order(ask: Any, say: Any) -> None:
    question = ask(key="A", at=40.0)
    found_ = [why_wrong(question, say(c, trace=READ_ALL)) for c in ("A", "B", None, "C")]
    assert tally(found_) == {
        "not observed": 0, "not retrieved": 0, "misread": 2, "wrongly abstained": 1,
        "no reading": 0,
    }  # fmt: skip
