"""Our tasks for lmms-eval: how replies are read, scored and counted."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.integrations import lmms_eval
from egomem.records import Question
from egomem.score import read_predictions

Place = Callable[..., dict[str, Any]]
Replies = dict[str, tuple[str, float]]


@pytest.mark.parametrize(
    ("reply", "status", "choice", "score"),
    [
        ("B", "parsed", "B", 1.0),
        ("The answer is (D).", "parsed", "D", 0.0),
        ("<think>A or C?</think>B", "parsed", "B", 1.0),
        ('{"answer": "B"}', "parsed", "B", 1.0),
        ("", "unparsable", None, 0.0),
        (None, "unparsable", None, 0.0),
        ("Both A and B", "unparsable", None, 0.0),
        ("<think>It is B, as", "truncated", None, 0.0),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error: B", "error", None, 0.0),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", "error", None, 0.0),
    ],
)
def test_a_reply_is_read_and_counted(
    place: Place, reply: str | None, status: str, choice: str | None, score: float
) -> None:
    results = lmms_eval.process_results(lmms_eval.rows(place("caption"))[1], [reply])
    assert results["accuracy"] == {"video": "v1", "score": score}
    assert results["prediction"]["status"] == status
    assert results["prediction"].get("choice") == choice
    assert results["prediction"].get("raw") == (reply or "")
    counted = {k for k, v in results.items() if v == {"count": 1}}
    assert counted == {"n", f"n_{status}"}


def test_no_question_leaves_the_denominator(
    place: Place, benchmark: Benchmark, replies: Replies, tmp_path: Path
) -> None:
    extra = (
        Question.of("Which drawer is number 5?", ["red", "green"], id="q5", recording="v1"),
        Question.of("Which drawer is number 6?", ["red", "green"], id="q6", answer="B"),
    )
    more = benchmark.model_copy(update={"questions": (*benchmark.questions, *extra)})
    benchmarks.write(more, tmp_path / "more")
    docs = lmms_eval.rows(place("caption", data=str(tmp_path / "more")))
    results = [
        lmms_eval.process_results(d, [r]) for d, r in zip(docs, [*replies, "A", "B"], strict=True)
    ]
    # q5 has no key; q6 is about the whole memory, and right. 3 of 6 with a key.
    assert lmms_eval.accuracy([f["accuracy"] for f in results]) == pytest.approx(3 / 6)
    assert lmms_eval.guessing([f["chance"] for f in results]) == pytest.approx((5 / 4 + 1 / 2) / 6)
    totals = {k: lmms_eval.count([f[k] for f in results]) for k in results[0] if k.startswith("n")}
    assert {k: n for k, n in totals.items() if n} == {
        "n": 7,
        "n_unscored": 1,
        "n_parsed": 5,
        "n_unparsable": 2,
    }
    assert math.isnan(lmms_eval.accuracy([results[5]["accuracy"]]))
    assert results[6]["accuracy"]["video"] == "question q6"


def test_an_open_answer_is_read_out_of_its_json(
    place: Place, benchmark: Benchmark, tmp_path: Path
) -> None:
    question = Question(id="q", text="Where is the key?", recording="v0", answer="The drawer")
    benchmarks.write(benchmark.model_copy(update={"questions": (question,)}), tmp_path / "open")
    (doc,) = lmms_eval.rows(place("caption", data=str(tmp_path / "open")))
    results = lmms_eval.process_results(doc, ['{"answer": "the drawer.", "evidence": [1]}'])
    assert results["prediction"]["text"] == "the drawer."
    assert (results["accuracy"]["score"], results["chance"]) == (1.0, {})


def test_the_log_of_samples_can_be_scored(
    place: Place, benchmark: Benchmark, replies: Replies, tmp_path: Path
) -> None:
    docs = lmms_eval.rows(place("caption"))
    results = [lmms_eval.process_results(d, [r]) for d, r in zip(docs, replies, strict=True)]
    lines = [json.dumps({"doc_id": k, "target": "A", **f}) + "\n" for k, f in enumerate(results)]
    (tmp_path / "log.jsonl").write_text("".join(lines))
    read = read_predictions(tmp_path / "log.jsonl", benchmark.questions)
    assert [a.status.value for a in read.answers.values()] == [x for x, _ in replies.values()]
    assert [a.choice for a in read.answers.values()] == ["A", None, None, "D", "B"]
    assert (read.missing, read.unknown, read.problems) == ((), (), ())


def test_rows_that_cannot_be_read_are_counted(
    place: Place, replies: Replies, tmp_path: Path
) -> None:
    with (tmp_path / "data" / "questions.jsonl").open("a") as out:
        out.write('{"id": "q7", "question": "Which?", "options": ["red"], "answer": "Z"}\n{"id"\n')
    docs = lmms_eval.rows(place("caption"))
    results = [lmms_eval.process_results(d, [r]) for d, r in zip(docs, replies, strict=True)]
    assert [f["n_dropped"]["count"] for f in results] == [2, 0, 0, 0, 0]
