"""Rescoring reads the stored replies again: no model, and the same answers from the same reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from egomem.answer import reader
from egomem.answer.choice import ChoiceReading
from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Outcome, load_run, rescore
from egomem.evaluate.predictions import FOLDER
from egomem.evaluate.results import NAME
from egomem.models.fake_server import FakeServer, Rule, Script
from egomem.records import Status

Go = Callable[..., Outcome]

REPLIES = ("B", "Both A and B", "<think>Maybe A.</think>C", "I cannot tell.", "The answer is (d)")


@pytest.mark.parametrize("form", ["letter", "scores"])
def test_the_same_reader_reads_the_same(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, form: str
) -> None:
    rules = [Rule(when=f"number {k}?", reply=REPLIES[k]) for k in range(5)]
    rules.append(Rule(reply="A red drawer."))
    with FakeServer(Script(rules=tuple(rules))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        mixed = config.model_copy(update={"readers": (spec,), "format": form, "abstain": True})
        go(benchmark, mixed, tmp_path / "run")
        before = (tmp_path / "run" / NAME).read_bytes()
        sent = len(server.seen)
        said = rescore(tmp_path / "run")
        assert len(server.seen) == sent
    assert (said.read, said.kept, said.changed) == (20, 0, ())
    rows = [
        json.loads(line)
        for path in (tmp_path / "run" / FOLDER).iterdir()
        for line in path.read_text().splitlines()
    ]
    assert len(rows) == 20
    assert any(row.get("scores") for row in rows)
    assert all("seconds" not in row and "at" not in row for row in rows)
    assert (tmp_path / "run" / NAME).read_bytes() == before
    assert len({c.answer.status for c in load_run(tmp_path / "run").cells.values()}) >= 2


def test_a_better_reader_changes_what_it_reads_better_alone(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reading that failed is mended without asking; verify follows the answer it starts from."""
    folder = tmp_path / "run"
    whole = reader.read_choice

    def blind(text: str, options: Any) -> ChoiceReading:
        reading = whole(text, options)
        if reading.letter != "C":
            return reading
        return replace(reading, status=Status.UNPARSABLE, letter=None, ranking=())

    monkeypatch.setattr(reader, "read_choice", blind)
    go(benchmark, config, folder)
    before = load_run(folder).cells
    lost = {key for key, c in before.items() if c.answer.status is Status.UNPARSABLE}
    assert {(id, c.setting) for id, c in lost} == {
        ("q2", "clean"),
        ("q2", "video"),
        ("q2", "caption@2"),
    }
    monkeypatch.setattr(reader, "read_choice", whole)
    said = rescore(folder)
    after = load_run(folder).cells
    assert {(q, now) for q, _, _, now in said.changed} == {("q2", "C"), ("q2", "B")}
    assert all(after[key].answer.choice == "C" for key in lost)
    # What verify would have fixed or broken is told of the answer as it now reads.
    (decision,) = [
        step
        for (id, column), cell in after.items()
        if id == "q2" and column.setting == "verify@2"
        for step in cell.answer.trace
        if isinstance(step, dict) and step["step"] == "decision"
    ]
    assert (decision["before"], decision["after"]) == ("C", "B")
    assert not rescore(folder).changed
    again = go(benchmark, config, folder)
    assert again.asked == 0
