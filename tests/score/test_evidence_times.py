"""Cited against the key's evidence, with figures worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from egomem.records import Answer, Evidence, Question, Video
from egomem.score import (
    evidence_baselines,
    evidence_rows,
    evidence_times,
    read_evidence,
    score_answers,
)
from egomem.timeline import RecordingTime, Span


def cites(*spans: tuple[float, float], video: str | None = "v", **fields: Any) -> dict[str, Any]:
    evidence = tuple(Evidence(recording=video, span=Span(*s), **fields) for s in spans)
    return {"evidence": evidence}


def test_hits_overlap_distance_and_accuracy(ask: Any, say: Any) -> None:
    questions = [ask(f"q{k}", at=(100.0, 110.0)) for k in range(6)] + [ask("no key")]
    answers = {
        "q0": say("A", **cites((105.0, 115.0))),  # overlaps 5 of 15 s
        "q1": say("A", **cites((122.0, 130.0))),  # 12 s off
        "q2": say("B", **cites((40.0, 75.0))),  # 25 s off
        "q3": say("B", **cites((0.0, 10.0), (90.0, 100.0))),  # the second one touches
        "q4": say("A", **cites((100.0, 110.0), video="another")),
        "no key": say("A", **cites((1.0, 2.0))),
    }
    figures = evidence_times(score_answers(questions, answers))
    assert figures is not None
    assert (figures.n, figures.cited) == (6, 5)
    assert figures.hits == pytest.approx({"0": 2 / 6, "15": 3 / 6, "30": 4 / 6})
    assert (figures.n_iou, figures.n_distance) == (6, 4)
    assert figures.iou == pytest.approx((5 / 15) / 6)
    assert figures.distance == pytest.approx((0 + 12) / 2)
    assert figures.seconds == pytest.approx(10)
    parts = [figures.right, figures.wrong, figures.none]
    assert [part.n for part in parts if part] == [3, 2, 1]
    assert [part.accuracy for part in parts if part] == pytest.approx([2 / 3, 1 / 2, 0])


def test_a_key_that_is_a_point_has_no_overlap(ask: Any, say: Any) -> None:
    scored = score_answers([ask("q", at=50.0)], {"q": say("A", **cites((45.0, 75.0)))})
    figures = evidence_times(scored)
    assert figures is not None
    assert (figures.hits["0"], figures.iou, figures.distance) == (1.0, None, 0.0)


def test_baselines_cite_the_end_and_the_middle_of_what_has_passed(ask: Any, say: Any) -> None:
    questions = [
        ask("q0", at=(580.0, 590.0)),
        ask("q1", at=(290.0, 300.0)),
        Question.of("later?", ["a", "b"], id="q2", answer="A", recording="v",
                    at=RecordingTime("v", 200.0), evidence=cites((180.0, 185.0))["evidence"]),
        ask("q3", video="unknown length", at=5.0),
    ]  # fmt: skip
    scored = score_answers(questions, {"q0": say("A")}, videos=[Video(id="v", duration=600.0)])
    nearest, middle = evidence_baselines(scored)
    assert (nearest.name, nearest.n, middle.name, middle.n) == (
        "nearest in time", 3, "middle of video", 3,
    )  # fmt: skip
    assert nearest.hits["0"] == pytest.approx(2 / 3)
    assert middle.hits["0"] == pytest.approx(1 / 3)
    assert nearest.seconds == 30
    assert nearest.right is None


def test_evidence_on_the_wearers_timeline_is_compared_by_instants(ask: Any, say: Any) -> None:
    gold = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    key = Evidence(recording=None, span=Span(gold.timestamp(), gold.timestamp()), when=gold)
    question = Question.of("?", ["a", "b"], id="q", answer="A", evidence=(key,),
                           at=datetime(2026, 3, 2, 9, 0, 20, tzinfo=UTC))  # fmt: skip
    when = datetime(2026, 3, 2, 8, 59, 50, tzinfo=UTC)
    scored = score_answers([question], {"q": say("A", **cites((80.0, 85.0), when=when))})
    figures = evidence_times(scored)
    assert figures is not None
    assert (figures.distance, figures.seconds) == (5.0, 5.0)
    (nearest,) = evidence_baselines(scored)
    assert nearest.hits["0"] == 1.0


def test_nothing_is_said_where_no_key_names_evidence(ask: Any, say: Any) -> None:
    scored = score_answers([ask("q")], {"q": say("A", **cites((1.0, 2.0)))})
    assert evidence_times(scored) is None
    assert evidence_baselines(scored) == []


@pytest.mark.parametrize(
    ("value", "spans"),
    [
        ([[61.5, 70]], [(61.5, 70)]),
        ([61.5, 70], [(61.5, 70)]),
        ([70, 61.5], [(70, 70), (61.5, 61.5)]),
        ([[61.5]], [(61.5, 61.5)]),
        (61.5, [(61.5, 61.5)]),
        ("1:01-1:10", [(61, 70)]),
        (["1:01", "70"], [(61, 61), (70, 70)]),
        ([{"start": "1:01", "end": 70}], [(61, 70)]),
        ([{"timestamp": 61}], [(61, 61)]),
        ([], []),
        (None, []),
    ],
)
def test_forms_of_evidence(ask: Any, value: object, spans: list[tuple[float, float]]) -> None:
    pieces = read_evidence(value, ask("q", video="w"))
    assert [(p.span.start, p.span.end) for p in pieces] == spans
    assert {p.recording for p in pieces} <= {"w"}


@pytest.mark.parametrize(
    "value",
    [
        "soon", [[9, 3]], [[-4, 3]], [None], [True], [float("nan")], [{"end": 3}],
        [{"start": 3, "when": "2026-03-02T08:10"}],
    ],
)  # fmt: skip
def test_evidence_that_cannot_be_is_told(ask: Any, value: object) -> None:
    with pytest.raises(ValueError, match="evidence"):
        read_evidence(value, ask("q"))


def test_rows_are_read_as_they_were_written(ask: Any) -> None:
    when = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    given = Answer(text="", strategy="s", status="parsed",
                   **cites((3.25, 9.5), video="other", when=when))  # fmt: skip
    (piece,) = read_evidence(evidence_rows(given), ask("q"))
    assert (piece.recording, piece.span, piece.when) == ("other", Span(3.25, 9.5), when)
