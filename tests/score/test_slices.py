"""Views: who is in which row, and what stands beside each figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egomem.benchmarks import load
from egomem.records import Evidence, Question, Video
from egomem.score import (
    BASELINES,
    ScoredAnswers,
    Slice,
    by_duration,
    by_evidence_position,
    by_frame_cap,
    by_tag,
    by_video_field,
    group_accuracy,
    leave_one_out,
    middle_drop,
    score_answers,
    slice_table,
    slice_tables,
)
from egomem.score import baselines as baselines
from egomem.timeline import Span


def counts(table: Any) -> dict[str, int]:
    return {row.label: row.figure.n for row in table.rows}


def test_regimes_hold_their_upper_edge(graded: Any) -> None:
    lengths = (720.0, 720.5, 1200.0, 1200.5, 30.0)
    scored = graded([(f"v{d}", d, "A", "A") for d in lengths])
    assert counts(slice_table(scored, by_duration())) == {
        "<= 12 min": 2,
        "12-20 min": 2,
        "> 20 min": 1,
    }
    assert counts(slice_table(scored, by_duration((1200,)))) == {"<= 20 min": 4, "> 20 min": 1}
    cap = counts(
        slice_table(graded([("a", 768.9, "A", "A"), ("b", 769.0, "A", "A")]), by_frame_cap())
    )
    assert cap == {"within 768 frames": 1, "over 768 frames": 1}


def test_a_video_of_unknown_length_is_in_no_regime_and_under_no_cap(ask: Any, say: Any) -> None:
    questions = [ask("known"), ask("bare", video="w"), ask("about nothing", video=None)]
    answers = {q.id: say("A") for q in questions}
    scored = score_answers(questions, answers, videos=[Video(id="v", duration=30.0), Video(id="w")])
    assert counts(slice_table(scored, by_frame_cap())) == {"within 768 frames": 1, "not stated": 2}
    assert counts(slice_table(scored, by_duration())) == {"<= 12 min": 1, "not stated": 2}


def test_evidence_falls_into_bins_by_where_it_begins(ask: Any, say: Any) -> None:
    video = Video(id="v", duration=90.0)
    at = [0.0, 29.9, 30.0, 59.9, 60.0, 90.0, (29.0, 80.0)]
    questions = [ask(f"q{k}", "A", at=t) for k, t in enumerate(at)] + [ask("none")]
    answers = {q.id: say("A" if q.id in ("q0", "q2", "q4", "q5") else "B") for q in questions}
    scored = score_answers(questions, answers, videos=[video])
    table = slice_table(scored, by_evidence_position())
    assert counts(table) == {"0%-33%": 3, "33%-67%": 2, "67%-100%": 2, "no evidence": 1}
    assert middle_drop(table) == pytest.approx((1 / 3 + 1) / 2 - 1 / 2)
    assert counts(slice_table(scored, by_evidence_position((0.5,)))) == {
        "0%-50%": 4,
        "50%-100%": 3,
        "no evidence": 1,
    }
    assert middle_drop(slice_table(scored, by_evidence_position((0.5,)))) is None


def test_the_middle_drop_is_that_of_the_bins_that_begin_and_end_the_video(
    ask: Any, say: Any
) -> None:
    """With five bins of 20 s: evidence at 10 (right), 30, 50 (right), 70 and, or not, 90."""
    answers = {"10": say("A"), "30": say("B"), "50": say("A"), "70": say("B"), "90": say("A")}

    def drop(bins: int | tuple[float, ...], *at: int) -> float | None:
        questions = [ask(str(t), at=float(t)) for t in at]
        scored = score_answers(questions, answers, videos=[Video(id="v", duration=100.0)])
        return middle_drop(slice_table(scored, by_evidence_position(bins)))

    assert drop(5, 10, 30, 50, 70, 90) == pytest.approx(1 - 1 / 3)
    assert drop(5, 10, 30, 90) == 1.0  # bins that hold nothing say nothing
    assert drop((0.25, 0.75), 10, 30, 50, 90) == pytest.approx(1 - 1 / 2)
    assert drop(5, 10, 30, 50, 70) is None  # nothing lies at the end
    assert drop(5, 30, 50, 90) is None
    assert drop(5, 10, 90) is None


def test_the_position_is_within_the_questions_own_video(ask: Any) -> None:
    elsewhere = Evidence(recording="w", span=Span(1.0, 2.0))
    here = Evidence(recording="v", span=Span(80.0, 81.0))
    questions = [ask("a", evidence=(elsewhere, here)), ask("b", evidence=(elsewhere,))]
    scored = score_answers(questions, {}, videos=[Video(id="v", duration=90.0)])
    assert counts(slice_table(scored, by_evidence_position())) == {"67%-100%": 1, "no evidence": 1}


def test_a_question_counts_in_each_of_its_tags_once(ask: Any, say: Any) -> None:
    questions = [
        ask("a", tags={"visual": ["object", "action", "object"]}),
        ask("b", tags={"visual": ["object"]}),
        ask("c"),
    ]
    scored = score_answers(questions, {"a": say("A")})
    table = slice_table(scored, Slice("visual tags", by_tag("visual")))
    assert counts(table) == {"action": 1, "object": 2, "not stated": 1}
    assert table.figure("object").accuracy == 0.5
    assert table.figure("object").by_status == {"parsed": 1, "missing": 1}
    with pytest.raises(KeyError):
        table.figure("spatial")


def test_groups_are_by_equality_of_a_field(ask: Any) -> None:
    # "ego" is part of "ego4d": a substring test would put both in one row.
    videos = [Video(id="v", source_dataset="ego"), Video(id="w", source_dataset="ego4d")]
    questions = [ask("a"), ask("b", video="w"), ask("c", video="w")]
    scored = score_answers(questions, {}, videos=videos)
    view = Slice("source", by_video_field("source_dataset"))
    assert counts(slice_table(scored, view)) == {"ego": 1, "ego4d": 2}
    assert counts(leave_one_out(scored, view)) == {"without ego": 2, "without ego4d": 1}
    assert leave_one_out(scored.only([True, False, False]), view).rows == ()


def test_views_that_say_nothing_are_left_out(graded: Any) -> None:
    tables = slice_tables(graded([("v", 800.0, "A", "B"), ("w", 60.0, "A", "A")]))
    assert list(tables) == [
        "overall", "evidence position", "duration", "long", "frame cap", "answerable",
    ]  # fmt: skip
    assert tables["overall"].figure("all").accuracy == 0.5


def test_the_groups_of_video_mme_are_views(tmp_path: Path) -> None:
    groups = [("a", "long", "Cooking"), ("b", "short", "Cooking"), ("c", "medium", "Basketball")]
    rows = [
        {
            "video_id": id, "duration": length, "domain": "Life", "sub_category": kind,
            "questions": [
                {
                    "question_id": f"{id}-{k}", "question": "What?", "answer": "A",
                    "options": ["A. a", "B. b", "C. c", "D. d"],
                }
                for k in range(n)
            ],
        }
        for n, (id, length, kind) in enumerate(groups, 1)
    ]  # fmt: skip
    (tmp_path / "mme.json").write_text(json.dumps(rows))
    benchmark = load(tmp_path / "mme.json")
    tables = slice_tables(score_answers(benchmark.questions, {}, videos=benchmark.videos))
    assert list(counts(tables["length"]).items()) == [("short", 2), ("medium", 3), ("long", 1)]
    assert counts(tables["sub-category"]) == {"Basketball": 3, "Cooking": 3}
    assert "duration" not in tables  # no seconds are stated


def blind(name: str, *questions: Question) -> list[float]:
    return [float(value) for value in BASELINES[name](questions)]


def test_blind_baselines_share_ties_and_stay_silent_where_they_cannot_tell(ask: Any) -> None:
    tied = ask(key="B", options=("abc", "xyz", "k"))
    assert blind("longest option", tied) == [0.5]
    times = ("at 1:00:02", "59:59 to 1:01:00", "12:30, 13:10", "never")
    assert blind("earliest time", ask(key="C", options=times)) == [1.0]
    assert blind("earliest time", ask(key="A", options=times)) == [0.0]
    assert np.isnan(blind("earliest time", tied)).all()
    cut = ask(key="A", options=("the red mug", "the red plate", "the blue mug", "a dog"))
    assert blind("option overlap", cut) == [1.0]
    assert blind("always abstain", tied, ask(key=None, answerable=False)) == [0.0, 1.0]
    most = [ask("a", "B"), ask("b", "B"), ask("c", "A")]
    assert blind("fixed position", *most) == [1.0, 1.0, 0.0]
    open_question = Question(id="o", text="?", answer="x")
    assert np.isnan(blind("longest option", open_question)).all()
    assert np.isnan(blind("fixed position", open_question)).all()


@pytest.mark.parametrize(
    ("file", "name", "accuracy"),
    [
        ("egoexolearn/questions.jsonl.gz", "longest option", 0.461),
        ("egoexolearn/questions.jsonl.gz", "fixed position", 0.331),
        ("nextgqa/questions.jsonl.gz", "longest option", 0.193),
        ("epic_amb/amb_q7_questions.jsonl.gz", "earliest time", 0.93),
    ],
)
def test_known_shortcuts_of_public_sets_show(
    shared_data: Path, file: str, name: str, accuracy: float
) -> None:
    scored: ScoredAnswers = score_answers(load(shared_data / file).questions, {})
    baseline = group_accuracy(scored).blind[name]
    assert baseline.accuracy == pytest.approx(accuracy, abs=0.008)
    assert baseline.n == len(scored)


def test_kept_baselines_are_those_of_the_very_questions(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures of many groups, kept or not, are those of the baselines asked anew."""
    monkeypatch.setattr(baselines, "_MAX_CACHED", 3)
    monkeypatch.setattr(baselines, "_MEANS_CACHE", {})
    groups = [
        tuple(
            ask(f"q{k}", "ABCD"[(k + j) % 4], options=("a", "bb", "cc", "d" * j)) for k in range(g)
        )
        for j, g in enumerate((5, 5, 2, 7, 3, 4))
    ]
    for group in (*groups, *groups):
        accuracy = group_accuracy(score_answers(group, {}))
        for name, baseline in BASELINES.items():
            got = baseline(group)
            values = got[~np.isnan(got)]
            assert (name in accuracy.blind) == bool(len(values))
            if len(values):
                assert accuracy.blind[name].accuracy == pytest.approx(values.mean())
                assert accuracy.blind[name].n == len(values)
        assert accuracy.chance == 0.25
        assert len(baselines._MEANS_CACHE) <= 3
