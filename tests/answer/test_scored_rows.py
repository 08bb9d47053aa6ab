"""Options as rows of JSON or of a table: their scores, their places, and rows that hold neither."""

from __future__ import annotations

import pytest

from egomem.answer import read_choice
from egomem.answer.choice.tables import judged_rows
from egomem.records import Status

OPTIONS = ["a tent", "a rope", "a stove"]


def test_scores_of_rows_are_kept() -> None:
    reply = '{"options": [{"label": "A", "score": 0.2}, {"label": "C", "score": 0.6}]}'
    reading = read_choice(reply, OPTIONS)
    assert (reading.letter, reading.ranking) == ("C", ("C", "A"))
    assert reading.scores == {"A": 0.2, "C": 0.6}


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ('[{"rank": 2, "option": "A"}, {"rank": 1, "option": "C"}]', "C"),
        ('[["A", "12%"], ["B", "80%"], ["C", "8%"]]', "B"),
        ('{"A": {"verdict": "rejected"}, "B": {"verdict": "supported"}}', None),
        (
            '[{"option": "a rope", "supported": true}, {"option": "a tent", "supported": false}]',
            "B",
        ),
        # Times and counts of frames are no scores.
        ('[{"option": "A", "frames": 3}, {"option": "B", "frames": 9}]', None),
        ('[{"option": "A", "score": 0.9}, {"option": "A", "score": 0.1}, {"option": "B"}]', None),
        ('[{"option": "A", "score": 0.4}, {"option": "B", "score": 0.4}]', None),
        (f'[{{"option": "A", "score": {"9" * 400}}}, {{"option": "B", "score": 0.4}}]', None),
        ('{"answer": "A", "scores": [["A", 0.1], ["B", 0.8]]}', None),
    ],
)
def test_rows(reply: str, letter: str | None) -> None:
    reading = read_choice(reply, OPTIONS)
    assert reading.letter == letter
    assert reading.status is (Status.PARSED if letter else Status.UNPARSABLE)


def test_a_table_without_a_verdict_stays() -> None:
    table = "| Option | At |\n|---|---|\n| A | 3 |\n| B | 9 |"
    assert judged_rows(table) == table
    marked = table.replace("3", "✗").replace("9", "✓")
    assert judged_rows(f"So:\n{marked}\nDone") == "So:\nA ✗\nB ✓\nDone"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The answer is A. Wait, no: it is C.", "C"),
        ("The answer is A. The rope lies there, no doubt.", "A"),
        ("My earlier answer was A; I switch to B.", "B"),
    ],
)
def test_what_is_taken_back_does_not_count(reply: str, letter: str) -> None:
    assert read_choice(reply, OPTIONS).letter == letter


def test_long_runs_of_one_sign_are_read() -> None:
    for sign in ("9", "\n", "[", '{"a":'):
        assert read_choice(sign * 20_000, OPTIONS).letter is None
