"""Answers of an earlier configuration, beside those of a call that did not come to its end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.errors import UsageError
from egomem.evaluate import Config, RunSummary, load_run, merge, opened, rescore, run, status
from egomem.evaluate.legacy_run import ANSWERS
from egomem.report import write_report

Go = Callable[..., RunSummary]


class Stopped(Exception):
    pass


def halted(benchmark: Benchmark, config: Config, folder: Path, requests: int) -> RunSummary:
    async def whole() -> RunSummary:
        async with opened(benchmark, config, folder, environ={}, max_requests=requests) as work:
            return await run(work, concurrency=1)

    return asyncio.run(whole())


@pytest.fixture
def both(config: Config) -> Config:
    return config.model_copy(update={"settings": ("clean", "caption@2")})


def test_a_halted_call_of_another_configuration(
    benchmark: Benchmark, both: Config, tmp_path: Path, go: Go, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten answers and four captions are 14 requests: two more answer two of ten anew."""
    folder = tmp_path / "run"
    go(benchmark, both, folder)
    done = halted(benchmark, both.model_copy(update={"abstain": True}), folder, 16)
    assert (done.left, done.by_status) == (8, {"parsed": 2})
    run = load_run(folder)
    now = status(run)
    assert (now.done, now.total, now.stale) == (2, 10, 8)
    assert [(c.done, c.by_status) for c in now.columns] == [(2, {"parsed": 2}), (0, {})]
    assert [c.setting for c in run.columns] == ["clean"]
    written = write_report([folder], tmp_path / "report")
    assert any("8 answers are of another configuration" in w for w in written.warnings)
    assert "caption@2" not in (tmp_path / "report" / "figures.csv").read_text()
    assert main(["eval", "status", str(folder)]) == 0
    assert "8 answers are of another configuration and are not counted" in capsys.readouterr().out
    rows = {p.name[:5]: p.read_text().splitlines() for p in (folder / "predictions").iterdir()}
    assert {name: len(lines) for name, lines in rows.items()} == {"clean": 2, "capti": 0}
    # They stay: a return to what they were made with asks only for those that were replaced.
    rescore(folder)
    assert len((folder / ANSWERS).read_text().splitlines()) == 10
    again = go(benchmark, both, folder)
    assert (again.asked, again.kept) == (2, 8)
    assert status(load_run(folder)).stale == 0


def test_a_killed_call_of_another_configuration(
    benchmark: Benchmark, both: Config, tmp_path: Path, go: Go
) -> None:
    """Nothing is written at its end, so what it found at its start counts."""
    folder = tmp_path / "run"
    go(benchmark, both, folder)
    messages = []

    def third(progress: object) -> None:
        messages.append(progress)
        if len(messages) == 3:
            raise Stopped

    changed = both.model_copy(update={"abstain": True})
    with pytest.raises(Stopped):
        go(benchmark, changed, folder, on_progress=third, concurrency=1)
    now = status(load_run(folder))
    assert (now.state, now.done, now.stale) == ("unfinished", 3, 7)


def test_nothing_is_stale_where_a_call_came_to_its_end(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    folder = tmp_path / "run"
    go(benchmark, config, folder)
    go(benchmark, config.model_copy(update={"abstain": True}), folder)
    state = status(load_run(folder))
    assert (state.done, state.stale) == (20, 0)
    assert json.loads((folder / "run.json").read_text())["stale"] == {}


def test_stale_answers_of_a_shard_are_missing_in_the_whole(
    benchmark: Benchmark, both: Config, tmp_path: Path, go: Go
) -> None:
    only = both.model_copy(update={"settings": ("clean",)})
    shards = [tmp_path / f"part{k}" for k in (1, 2)]
    changed = only.model_copy(update={"abstain": True})
    for k, folder in enumerate(shards, 1):
        shard = {"shard": {"index": k, "count": 2}}
        go(benchmark, Config.model_validate({**only.model_dump(), **shard}), folder)
        new = Config.model_validate({**changed.model_dump(), **shard})
        halted(benchmark, new, folder, 4 if k == 1 else 9)
    with pytest.raises(UsageError, match="2 of 5 cells are missing"):
        merge(tmp_path / "whole", shards)
