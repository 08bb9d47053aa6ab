"""Anyone's predictions are read strictly: no credit twice, nothing dropped in silence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from egomem.errors import UsageError
from egomem.records import Status
from egomem.score import read_predictions, score_answers


def write(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_duplicating_a_line_is_refused(ask: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "a", "choice": "A"}, "", {"id": "a", "choice": "A"})
    with pytest.raises(UsageError, match="lines 1 and 3 both answer a"):
        read_predictions(file, [ask("a")])


def test_rows_become_answers_with_a_status(ask: Any, tmp_path: Path) -> None:
    questions = [ask(k) for k in "abcdefg"]
    file = write(
        tmp_path / "p.jsonl",
        {"id": "a", "choice": "b", "scores": {"a": 0.2, "B": 0.8}, "raw": "(b) line\u2028end"},
        {"id": "b", "status": "abstained"},
        {"id": "c"},
        {"id": "d", "status": "refused", "raw": "no"},
        {"id": "e", "choice": "A", "usage": {"tokens_in": 7}, "verdict": 0.5},
        {"id": "zzz", "choice": "A"},
    )
    got = read_predictions(file, questions)
    assert (got.answers["a"].choice, got.answers["a"].scores) == ("B", {"A": 0.2, "B": 0.8})
    statuses = {id: a.status for id, a in got.answers.items()}
    assert statuses == {
        "a": Status.PARSED, "b": Status.ABSTAINED, "c": Status.UNPARSABLE, "d": Status.REFUSED,
        "e": Status.PARSED,
    }  # fmt: skip
    assert got.answers["e"].usage.tokens_in == 7
    assert got.verdicts == {"e": 0.5}
    assert (got.missing, got.unknown, got.problems) == (("f", "g"), ("zzz",), ())
    assert score_answers(questions, got.answers).by_status()["missing"] == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"id": "a", "choice": ', "p.jsonl:1: "),
        ("[1]", "not a JSON object with an 'id' field"),
        ({"choice": "A"}, "not a JSON object with an 'id' field"),
        ({"id": "a", "choice": "E"}, "the choice 'E' is none of the options (A, B, C, D)"),
        ({"id": "a", "choice": "B", "usage": {"cost": -0.25}}, "usage: cost is -0.25"),
        ({"id": "a", "choice": "B", "usage": {"tokens_in": -3}}, "usage: tokens_in is -3"),
        ('{"id": "a", "choice": "B", "usage": {"cost": NaN}}', "usage: cost is nan"),
        ('{"id": "a", "choice": "B", "usage": {"seconds": Infinity}}', "usage: seconds is inf"),
        ('{"id": "a", "choice": "B", "scores": {"A": NaN}}', "the score of A is nan"),
        ({"id": "a", "choice": "B", "scores": [0.1, 0.9]}, "the scores [0.1, 0.9] are not a map"),
        ('{"id": "a", "choice": "B", "verdict": NaN}', "the verdict nan is not from 0 to 1"),
        ({"id": "a", "status": "fine"}, "the status 'fine' is none of parsed"),
        ({"id": "a", "status": "parsed"}, "no choice and no text"),
        ({"id": "a", "chioce": "A"}, "the field chioce is not known"),
        ({"id": "a", "choice": "A", "verdict": 3}, "the verdict 3 is not from 0 to 1"),
        ({"id": "a", "choice": "A", "scores": {"A": "high"}}, "could not convert"),
    ],
)
def test_a_damaged_row_is_a_problem_and_its_question_is_missing(
    ask: Any, tmp_path: Path, row: Any, message: str
) -> None:
    file = write(tmp_path / "p.jsonl", row, {"id": "b", "choice": "A"})
    got = read_predictions(file, [ask("a"), ask("b")])
    assert len(got.problems) == 1
    assert message in got.problems[0]
    assert got.missing == ("a",)
    assert set(got.answers) == {"b"}
    assert got.verdicts == {}


def test_spaces_around_a_label_do_not_count(ask: Any, tmp_path: Path) -> None:
    rows = [{"id": "a", "choice": " c\n"}, {"id": "b", "index": " 1 ", "scores": {" a ": 2}}]
    got = read_predictions(write(tmp_path / "p.jsonl", *rows), [ask("a"), ask("b")])
    assert [got.answers[id].choice for id in "ab"] == ["C", "B"]
    assert got.answers["b"].scores == {"A": 2.0}
    assert got.problems == ()


def test_gzip_and_a_file_that_cannot_be_read(ask: Any, tmp_path: Path) -> None:
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"id": "a", "choice": "A"}\n{"id": "b"'))
    got = read_predictions(packed, [ask("a"), ask("b")])
    assert set(got.answers) == {"a"}
    assert len(got.problems) == 1  # a torn last line
    with pytest.raises(UsageError, match="cannot be read"):
        read_predictions(tmp_path / "none.jsonl", [])
