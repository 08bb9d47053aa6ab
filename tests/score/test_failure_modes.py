"""Why an answer is wrong, from traces and oracle answers."""

from __future__ import annotations

from typing import Any

import pytest

from egomem.records import Evidence, Status
from egomem.score import FailureMode, OracleAnswer, count_failure_modes, explain_failure
from egomem.timeline import Span

READ_ALL = ({"step": "notes", "observations": 7},)


def retrieved(*spans: tuple[float, float], recording: str = "v") -> tuple[Any, ...]:
    hits = [{"recording": recording, "start": a, "end": b} for a, b in spans]
    return ({"step": "found", "hits": hits},)


@pytest.mark.parametrize(
    ("captions", "frames", "trace", "choice", "why", "sure"),
    [
        ("B", "A", READ_ALL, "B", FailureMode.NOT_OBSERVED, True),
        ("B", None, READ_ALL, "B", FailureMode.NOT_OBSERVED, False),
        ("B", "C", READ_ALL, "B", FailureMode.MISREAD, True),
        ("A", None, retrieved((0, 30), (60, 90)), "B", FailureMode.NOT_RETRIEVED, True),
        ("A", None, retrieved((30, 60)), "B", FailureMode.MISREAD, True),
        ("A", None, READ_ALL, "B", FailureMode.MISREAD, True),
        ("A", None, READ_ALL, None, FailureMode.WRONGLY_ABSTAINED, True),
        (None, None, READ_ALL, None, FailureMode.WRONGLY_ABSTAINED, False),
        ("A", None, retrieved((60, 90)), None, FailureMode.NOT_RETRIEVED, True),
        ("A", None, retrieved(), None, FailureMode.NOT_RETRIEVED, True),
        (None, None, (), "B", FailureMode.MISREAD, False),
    ],
)
def test_each_step_is_told_apart(
    ask: Any, say: Any, captions: str | None, frames: str | None, trace: Any, choice: str | None,
    why: FailureMode, sure: bool,
) -> None:  # fmt: skip
    question = ask(key="A", at=(40.0, 45.0))
    got = explain_failure(
        question,
        say(choice, trace=trace),
        oracle_captions=say(captions) if captions else None,
        oracle_frames=say(frames) if frames else None,
    )
    assert got is not None
    assert (got.why, got.sure) == (why, sure)


@pytest.mark.parametrize(
    ("at", "without", "sources", "captions", "why", "sure"),
    [
        ((40, 45), [(30, 60, "refused")], ["caption"], None, FailureMode.NOT_OBSERVED, True),
        ((30, 60), [(30, 60, "refused")], ["caption"], "A", FailureMode.NOT_OBSERVED, True),
        ((45, 45), [(30, 60, "refused")], ["caption"], "B", FailureMode.NOT_OBSERVED, True),
        ((60, 60), [(30, 60, "refused")], ["caption"], None, FailureMode.MISREAD, False),
        ((40, 70), [(30, 60, "refused")], ["caption"], None, FailureMode.MISREAD, False),
        ((20, 50), [(30, 60, "refused")], ["caption"], None, FailureMode.MISREAD, False),
        (
            (40, 70), [(60, 90, "truncated"), (30, 60, "refused")], ["caption"], None,
            FailureMode.NOT_OBSERVED, True,
        ),
        (
            (40, 100), [(90, 120, "refused"), (30, 60, "refused")], ["caption"], None,
            FailureMode.MISREAD, False,
        ),
        (
            (40, 45), [(30, 60, "refused")], ["caption", "speech"], None,
            FailureMode.NOT_OBSERVED, False,
        ),
        ((40, 45), [(30, 60, "refused")], ["caption", "speech"], "A", FailureMode.MISREAD, True),
    ],
)  # fmt: skip
def test_evidence_without_a_caption_was_not_observed(
    ask: Any, say: Any, at: tuple[float, float], without: list[tuple[float, float, str]],
    sources: list[str], captions: str | None, why: FailureMode, sure: bool,
) -> None:  # fmt: skip
    failed = [{"recording": "v", "start": a, "end": b, "status": s} for a, b, s in without]
    read = {"sources": sources, "without": failed}
    notes = ({"step": "notes", "observations": 7, **read},)
    verified = ({"step": "baseline", **read}, {"step": "decision", "outcome": "kept"})
    oracle = say(captions) if captions else None
    for choice, trace in (("B", notes), ("B", verified), (None, notes)):
        answer = say(choice, trace=trace)  # an honest abstention, too, is wrong for want of one
        got = explain_failure(ask(key="A", at=at), answer, oracle_captions=oracle)
        assert got is not None
        reader = FailureMode.MISREAD if choice else FailureMode.WRONGLY_ABSTAINED
        assert (got.why, got.sure) == (reader if why is FailureMode.MISREAD else why, sure)
    if why is FailureMode.NOT_OBSERVED:
        ended = ", ".join(s for *_, s in sorted(without))
        assert got.because == f"the evidence has no caption: {ended}"


def test_evidence_in_two_places_is_lost_where_both_are(ask: Any, say: Any) -> None:
    pieces = tuple(Evidence(recording=v, span=Span(40.0, 45.0)) for v in ("v", "w"))
    question = ask(key="A").model_copy(update={"evidence": pieces})

    def why(*recordings: str) -> FailureMode:
        failed = [{"recording": r, "start": 30, "end": 60, "status": "refused"} for r in recordings]
        notes = {"step": "notes", "observations": 7, "sources": ["caption"], "without": failed}
        got = explain_failure(question, say("B", trace=(notes,)))
        assert got is not None
        return got.why

    assert (why("v", "w"), why("v", "v")) == (FailureMode.NOT_OBSERVED, FailureMode.MISREAD)


def test_a_right_answer_has_no_reason_and_a_failed_reply_has_its_own(ask: Any, say: Any) -> None:
    question = ask(key="A", at=3.0)
    assert explain_failure(question, say("A")) is None
    refused = explain_failure(question, say(status=Status.REFUSED))
    assert refused is not None
    assert (refused.why, refused.because) == (FailureMode.NO_READING, "refused")
    assert explain_failure(question, None).why is FailureMode.NO_READING  # type: ignore[union-attr]
    made_up = explain_failure(ask(key=None, answerable=False), say("B"))
    assert made_up is not None
    assert made_up.why is FailureMode.MISREAD
    assert explain_failure(ask(key=None, answerable=False), say()) is None


def test_an_oracle_whose_reply_failed_says_nothing(ask: Any, say: Any) -> None:
    question = ask(key="A", at=40.0)
    wrong, failed = say("B", trace=READ_ALL), say(status=Status.ERROR)
    got = explain_failure(question, wrong, oracle_captions=failed, oracle_frames=say("A"))
    assert got is not None
    assert (got.why, got.sure) == (FailureMode.MISREAD, False)
    got = explain_failure(question, wrong, oracle_captions=say("B"), oracle_frames=failed)
    assert got is not None
    assert (got.why, got.sure) == (FailureMode.NOT_OBSERVED, False)


def test_frames_looked_at_count_within_their_slack(ask: Any, say: Any) -> None:
    question = ask(key="A", at=40.0)

    def looked(*times: float) -> Any:
        frames = [{"recording": "v", "time": t} for t in times]
        return say("B", trace=({"step": "looked", "frames": frames},))

    assert explain_failure(question, looked(10.0, 38.5)).why is FailureMode.NOT_OBSERVED  # type: ignore[union-attr]
    assert explain_failure(question, looked(39.4)).why is FailureMode.MISREAD  # type: ignore[union-attr]
    assert explain_failure(question, looked(38.5), slack=2.0).why is FailureMode.MISREAD  # type: ignore[union-attr]
    other = say("B", trace=retrieved((0, 90), recording="w"))
    assert explain_failure(question, other).why is FailureMode.NOT_RETRIEVED  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("before", "times", "because"),
    [
        ("A", (39.0, 40.2), "which was right"),
        ("D", (39.5,), "which was wrong, too"),
        (None, (80.0,), "which was wrong, too; no frame that was looked at lies in the evidence"),
    ],
)
def test_a_wrong_override_is_the_doing_of_the_look(
    ask: Any, say: Any, before: str | None, times: tuple[float, ...], because: str
) -> None:
    """Whatever the oracles say of the captions that the answer no longer rests on."""
    question = ask(key="A", at=40.0)
    frames = [{"recording": "v", "time": t} for t in times]
    steps = (
        {"step": "baseline", "choice": before},
        *retrieved((60, 90)),
        {"step": "looked", "frames": frames},
    )
    kept = say("B", trace=(*steps, {"step": "decision", "outcome": "kept", "before": before}))
    changed = {"step": "decision", "outcome": "overridden", "before": before}
    oracles = {"oracle_captions": say("B"), "oracle_frames": say("A")}
    got = explain_failure(question, say("B", trace=(*steps, changed)), **oracles)
    assert got is not None
    assert (got.why, got.sure) == (FailureMode.MISREAD_BY_LOOK, True)
    assert got.because.endswith(because)
    assert explain_failure(question, kept, **oracles).why is FailureMode.NOT_OBSERVED  # type: ignore[union-attr]


def test_a_look_that_gave_an_answer_where_there_is_none(ask: Any, say: Any) -> None:
    question = ask(key=None, answerable=False)
    decision = {"step": "decision", "outcome": "overridden", "before": None}
    got = explain_failure(question, say("B", trace=(decision,)))
    assert got is not None
    assert (got.why, got.because) == (
        FailureMode.MISREAD_BY_LOOK,
        "a look at the frames replaced the caption answer, which was right",
    )


@pytest.mark.parametrize(
    ("captions", "frames", "choice", "why"),
    [
        ("B", "A", "B", FailureMode.NOT_OBSERVED),
        ("B", None, "B", FailureMode.NOT_OBSERVED),
        ("B", "C", "B", FailureMode.MISREAD),
        ("A", "A", "B", FailureMode.MISREAD),
        ("A", None, None, FailureMode.WRONGLY_ABSTAINED),
    ],
)
def test_an_oracle_of_other_captions_shows_nothing_for_sure_and_is_named(
    ask: Any, say: Any, captions: str, frames: str | None, choice: str | None, why: FailureMode
) -> None:
    question, other = ask(key="A", at=(40.0, 45.0)), "of 30 s windows"
    given = say(choice, trace=READ_ALL)
    for differs in ("", other):
        got = explain_failure(
            question,
            given,
            oracle_captions=OracleAnswer(
                answer=say(captions), name="caption@evidence", other=differs
            ),
            oracle_frames=frames and OracleAnswer(answer=say(frames), name="video@evidence"),
        )
        assert got is not None
        assert got.why is why
        assert got.sure is (not differs and (captions, frames) != ("B", None))
        assert f"(caption@evidence{', of 30 s windows' if differs else ''})" in got.because
        if frames and captions == "B":
            assert "(video@evidence)" in got.because


def looked_at(*times: float) -> tuple[Any, ...]:
    frames = [{"recording": "v", "time": t} for t in times]
    return ({"step": "looked", "frames": frames},)


@pytest.mark.parametrize(
    ("times", "choice", "oracle", "why", "sure"),
    [
        ((10.0, 70.0), "B", "A", FailureMode.NOT_OBSERVED, True),
        ((10.0, 70.0), None, None, FailureMode.NOT_OBSERVED, True),
        ((10.0, 43.0), "B", "C", FailureMode.MISREAD, True),
        ((41.0, 42.0, 43.0), "B", "A", FailureMode.MISREAD, True),
        ((10.0, 43.0), "B", "A", FailureMode.MISREAD, False),  # the oracle had three frames of it
        ((10.0, 43.0), "B", None, FailureMode.MISREAD, False),
        ((41.0, 42.0, 43.0), None, "A", FailureMode.WRONGLY_ABSTAINED, True),
        ((41.0, 42.0, 43.0), None, None, FailureMode.WRONGLY_ABSTAINED, False),
    ],
)
def test_an_answer_from_frames_is_explained_by_the_oracle_of_frames(
    ask: Any,
    say: Any,
    times: Any,
    choice: str | None,
    oracle: str | None,
    why: FailureMode,
    sure: bool,
) -> None:
    question = ask(key="A", at=(40.0, 45.0))
    ideal = oracle and OracleAnswer(
        answer=say(oracle, trace=looked_at(38.0, 40.0, 42.0, 44.0, 48.0)), name="video@evidence"
    )
    got = explain_failure(question, say(choice, trace=looked_at(*times)), oracle_frames=ideal)
    assert got is not None
    assert (got.why, got.sure) == (why, sure)
    if oracle and why is not FailureMode.NOT_OBSERVED:
        assert "video@evidence" in got.because
    elif why is not FailureMode.NOT_OBSERVED:
        assert "no oracle says" in got.because
    # An oracle of captions says nothing of frames.
    also = explain_failure(
        question,
        say(choice, trace=looked_at(*times)),
        oracle_captions=say("B"),
        oracle_frames=ideal,
    )
    assert also == got


def test_what_was_not_retrieved_is_sure_where_its_captions_tell_it(ask: Any, say: Any) -> None:
    question, wrong = ask(key="A", at=40.0), say("B", trace=retrieved((60, 90)))
    for captions, sure in ((say("A"), True), (None, False)):
        got = explain_failure(question, wrong, oracle_captions=captions)
        assert got is not None
        assert (got.why, got.sure) == (FailureMode.NOT_RETRIEVED, sure)


def test_reasons_are_counted_in_order(ask: Any, say: Any) -> None:
    question = ask(key="A", at=40.0)
    found_ = [explain_failure(question, say(c, trace=READ_ALL)) for c in ("A", "B", None, "C")]
    assert count_failure_modes(found_) == {
        "not observed": 0, "not retrieved": 0, "misread": 2, "misread by the look": 0,
        "wrongly abstained": 1, "no reading": 0,
    }  # fmt: skip
