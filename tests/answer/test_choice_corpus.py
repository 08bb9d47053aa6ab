"""Every reply of the corpora has the reading that a person gives it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from egomem.answer import read_choice
from egomem.records import Option, Status

HERE = Path(__file__).parent
CORPORA = [
    tomllib.loads((HERE / name).read_text("utf-8"))
    for name in (
        "choice_corpus.toml",
        "choice_corpus_2.toml",
        "choice_corpus_3.toml",
        "choice_held_out.toml",
        "choice_held_out_2.toml",
        "choice_held_out_3.toml",
        "choice_held_out_4.toml",
        "choice_held_out_5.toml",
        "choice_held_out_6.toml",
    )
]


def options_of(corpus: dict[str, Any], name: str) -> list[Option]:
    given = corpus["options"][name]
    if isinstance(given, list):
        return [Option(label=chr(65 + i), text=text) for i, text in enumerate(given)]
    return [Option(label=label, text=text) for label, text in given.items()]


CASES = [
    pytest.param(
        options_of(corpus, group["options"]), case, id=f"{group['kind']}: {case[0][:40]!r}"
    )
    for corpus in CORPORA
    for group in corpus["group"]
    for case in group["cases"]
]


@pytest.mark.parametrize(("options", "case"), CASES)
def test_reading(options: list[Option], case: list[Any]) -> None:
    reply, expected, *order = case
    reading = read_choice(reply, options)
    got = reading.letter if reading.status is Status.PARSED else reading.status.value
    assert got == expected
    if order:
        assert list(reading.ranking) == order[0]


def test_the_corpus_is_large() -> None:
    assert len({(case.values[1][0], str(case.values[0])) for case in CASES}) >= 1000


def test_texts_are_options_lettered_in_order() -> None:
    assert read_choice("it was the saw", ["a hammer", "the saw"]).letter == "B"
    assert read_choice("b", ["A. a hammer", "B. the saw"]).letter == "B"
    assert read_choice("the saw", ["A. a hammer", "B. the saw"]).letter == "B"


def test_scores_are_kept_with_their_ties() -> None:
    reading = read_choice('{"A": 0.5, "B": 0.5, "C": 0}', ["one", "two", "three"])
    assert (reading.status, reading.letter) == (Status.UNPARSABLE, None)
    assert reading.scores == {"A": 0.5, "B": 0.5, "C": 0}


def test_an_answer_breaks_a_tie_of_its_scores() -> None:
    reply = '{"answer": "B", "scores": {"A": 0.5, "B": 0.5, "C": 0}}'
    reading = read_choice(reply, ["one", "two", "three"])
    assert (reading.letter, reading.ranking) == ("B", ("B", "A", "C"))
