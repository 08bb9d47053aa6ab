"""Every reply of the corpus has the reading that a person gives it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from egomem.answer.choice import read_choice
from egomem.records import Option, Status

CORPUS = tomllib.loads(Path(__file__).with_name("choice_corpus.toml").read_text("utf-8"))


def options_of(name: str) -> list[Option]:
    given = CORPUS["options"][name]
    if isinstance(given, list):
        return [Option(label=chr(65 + i), text=text) for i, text in enumerate(given)]
    return [Option(label=label, text=text) for label, text in given.items()]


def cases() -> list[Any]:
    return [
        pytest.param(group["options"], case, id=f"{group['kind']}: {case[0][:40]!r}")
        for group in CORPUS["group"]
        for case in group["cases"]
    ]


@pytest.mark.parametrize(("options", "case"), cases())
def test_reading(options: str, case: list[Any]) -> None:
    reply, wanted, *order = case
    reading = read_choice(reply, options_of(options))
    got = reading.letter if reading.status is Status.PARSED else reading.status.value
    assert got == wanted
    if order:
        assert list(reading.ranking) == order[0]


def test_the_corpus_is_large() -> None:
    assert len(cases()) >= 300
