"""Predictions in the shapes that people have them in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import submission_readers
from egomem.errors import UsageError
from egomem.records import Option, Question, Status
from egomem.score import read_predictions


def save(folder: Path, content: Any, name: str = "p.json") -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_a_map_of_id_to_answer_is_a_submission(ask: Any, tmp_path: Path) -> None:
    content = {
        "a": 0,
        "b": "3",
        "c": "d",
        "d": None,
        "e": 4,
        "f": -1,
        "g": True,
        "h": {"choice": "B"},
    }
    got = read_predictions(save(tmp_path, content), [ask(k) for k in "abcdefgh"])
    assert {id: a.choice for id, a in got.answers.items()} == {
        "a": "A", "b": "D", "c": "D", "d": None, "h": "B",
    }  # fmt: skip
    assert got.answers["d"].status is Status.UNPARSABLE
    assert [p.partition(": ")[2] for p in got.problems] == [
        "e: the index 4 is none of 4 options, counting from 0",
        "f: the choice -1 is none of the options (A, B, C, D); an option's number is its index",
        "g: the choice True is none of the options (A, B, C, D); an option's number is its index",
    ]
    assert got.missing == ("e", "f", "g")


def test_a_key_that_stands_twice_is_refused(ask: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a stands twice"):
        read_predictions(save(tmp_path, '{"a": 1, "b": 2, "a": 3}'), [ask("a")])
    twice = [{"id": "a", "choice": "A"}, {"id": "a", "choice": "B"}]
    with pytest.raises(UsageError, match="1 and 2 both answer a"):
        read_predictions(save(tmp_path, twice), [ask("a")])


def result(id: str, response: Any) -> dict[str, Any]:
    return {"question_id": id, "task_type": "t", "question": "?", "choices": ["A. x", "B. y"],
            "answer": "A", "response": response}  # fmt: skip


@pytest.mark.parametrize("grouped", [True, False])
def test_results_of_video_mme_are_read(ask: Any, tmp_path: Path, grouped: bool) -> None:
    asked = [result("a", "B"), result("b", "(c)."), result("c", "The answer is D"), result("d", "")]
    content = [{"video_id": "001", "questions": asked}] if grouped else asked
    file, questions = save(tmp_path, content), [ask(k) for k in "abcde"]
    submissions = submission_readers()
    got = read_predictions(file, questions, submissions=submissions)
    assert {id: a.choice for id, a in got.answers.items()} == {
        "a": "B", "b": "C", "c": None, "d": None,
    }  # fmt: skip
    assert got.answers["c"].status is Status.UNPARSABLE
    assert got.answers["c"].trace[0]["raw"] == "The answer is D"

    def refuses(reply: str, options: tuple[Option, ...]) -> tuple[Status, str | None]:
        return Status.REFUSED, None

    again = read_predictions(file, questions, refuses, submissions)
    assert {a.status for a in again.answers.values()} == {Status.REFUSED}
    opened = Question(id="a", text="?", answer="B")
    assert read_predictions(file, [opened], submissions=submissions).answers["a"].text == "B"


def test_a_row_may_give_the_options_number(ask: Any, tmp_path: Path) -> None:
    rows = '{"id": "a", "index": 2}\n{"id": "b", "index": "x"}\n'
    got = read_predictions(save(tmp_path, rows, "p.jsonl"), [ask("a"), ask("b")])
    assert got.answers["a"].choice == "C"
    assert "the index 'x'" in got.problems[0]


def test_words_are_no_choice(ask: Any, tmp_path: Path) -> None:
    rows = '{"id": "a", "text": "The answer is B"}\n{"id": "b", "choice": "A"}\n'
    got = read_predictions(save(tmp_path, rows, "p.jsonl"), [ask("a"), ask("b")])
    assert got.answers["a"].status is Status.UNPARSABLE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "answers none of the questions;"),
        ("[]", "answers none of the questions;"),
        ({"zzz": 1}, "none of the questions: zzz is none of them"),
        ([{"q_uid": "a", "answer": 1}], "p.json:1: not a JSON object with an 'id' field"),
        ([[1]], "p.json:1: not a JSON object with an 'id' field"),
        ('{"id": "a", "choice"', "p.json:1: "),
    ],
)
def test_a_file_that_answers_nothing_is_no_result(
    ask: Any, tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_predictions(save(tmp_path, content), [ask("a")])
