"""Options under other letters: by the seed alone, and back again in predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, load_run
from egomem.evaluate.export import export_predictions
from egomem.evaluate.shuffle import shuffled
from egomem.records import Question
from egomem.score import read_predictions, score_answers


def ask(*texts: str, id: str = "q", answer: str = "C") -> Question:
    return Question.of("Which?", list(texts), id=id, answer=answer)


def test_texts_move_and_the_key_moves_with_its_text() -> None:
    orders = set()
    for k in range(40):
        question = ask("tin", "oak", "felt", "clay", id=f"q{k}")
        moved = shuffled(question, 7)
        assert moved == shuffled(question, 7)
        assert [o.label for o in moved.options] == list("ABCD")
        assert sorted(o.text for o in moved.options) == ["clay", "felt", "oak", "tin"]
        assert next(o.text for o in moved.options if o.label == moved.answer) == "felt"
        orders.add(tuple(o.text for o in moved.options))
    assert len(orders) > 10
    several = [ask("a", "b", "c", id=f"q{k}") for k in range(9)]
    assert [shuffled(q, 1) for q in several] != [shuffled(q, 2) for q in several]


@pytest.mark.parametrize(
    "last",
    ["All of the above", "None of these options", "Both A and B", "A or C", "neither of the above"],
)
def test_options_that_speak_of_others_stay(last: str) -> None:
    for k in range(12):
        question = ask("tin", "oak", "felt", last, id=f"q{k}")
        assert shuffled(question, 3) == question


def test_open_questions_and_questions_without_a_key_are_taken() -> None:
    question = Question(id="q", text="What?", answer="a tin cup")
    assert shuffled(question, 3) == question
    hidden = ask("x", "y", "z").model_copy(update={"answer": None})
    assert shuffled(hidden, 3).answer is None


def test_a_run_asks_shuffled_questions_and_writes_the_benchmarks_letters(
    benchmark: Benchmark, spec: str, go: Any, tmp_path: Path
) -> None:
    plain = Config(settings=("clean",), readers=(spec,), gate="report")
    mixed = plain.model_copy(update={"shuffle_options": 5})
    assert mixed.hash != plain.hash
    go(benchmark, plain, tmp_path / "plain")
    go(benchmark, mixed, tmp_path / "mixed")
    run = load_run(tmp_path / "mixed")
    (arm,) = run.columns
    # The reader names the letter that is right without shuffling.
    by_letter = load_run(tmp_path / "plain").sheet(arm).right
    assert by_letter.mean() == 1.0
    moved = [run.sheet(arm).right[k] for k in range(5)]
    expected = [
        float(q.answer == next(b.answer for b in benchmark.questions if b.id == q.id))
        for q in run.questions
    ]
    assert moved == expected
    assert len(moved) - sum(moved) > 0
    (path,) = (tmp_path / "mixed" / "predictions").glob("*.jsonl")
    exported = export_predictions(tmp_path / "mixed", tmp_path / "out")
    for file in (path, *exported):
        answers = read_predictions(file, benchmark.questions).answers
        assert list(score_answers(benchmark.questions, answers).right) == moved
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {row["id"] for row in rows} == {q.id for q in benchmark.questions}
