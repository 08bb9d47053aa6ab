"""Shards joined are the run; what is missing or doubled is told by id."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.errors import UsageError
from egomem.evaluate import Config, RunSummary, Shard, load_run, merge, status
from egomem.evaluate.predictions import FOLDER
from egomem.report import report_columns, report_sections
from egomem.testing import ScriptedServer

Go = Callable[..., RunSummary]
Leave = Callable[[Path], None]


def shard(config: Config, index: int, count: int) -> Config:
    return config.model_copy(update={"shard": Shard(index=index, count=count)})


def predictions(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((folder / FOLDER).iterdir())}


def test_merged_shards_are_one_run_bit_for_bit(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, server: ScriptedServer
) -> None:
    go(benchmark, config, tmp_path / "one" / "run")
    folders = [tmp_path / f"part{k}" for k in (1, 2)]
    for k, folder in enumerate(folders, 1):
        go(benchmark, shard(config, k, 2), folder)
    assert merge(tmp_path / "whole" / "run", folders) == 20
    assert predictions(tmp_path / "whole" / "run") == predictions(tmp_path / "one" / "run")
    for name in ("answers.jsonl", "benchmark.json"):
        assert (tmp_path / "whole" / "run" / name).read_bytes() == (
            tmp_path / "one" / "run" / name
        ).read_bytes()
    one, whole = load_run(tmp_path / "one" / "run"), load_run(tmp_path / "whole" / "run")
    assert whole.config == one.config
    other = ("In short", "Runs", "Cost")
    tables = [
        [s for s in report_sections([run], report_columns([run])) if s.title not in other]
        for run in (one, whole)
    ]
    assert tables[0] == tables[1]
    before = len(server.requests)
    outcome = go(benchmark, config, tmp_path / "whole" / "run")
    assert (outcome.asked, len(server.requests)) == (0, before)
    assert status(whole).spent.requests == sum(status(load_run(f)).spent.requests for f in folders)
    assert {k: c.usage.tokens_in for k, c in whole.cells.items()} == {
        k: c.usage.tokens_in for k, c in one.cells.items()
    }
    assert all(c.at for c in whole.cells.values())


def test_a_merge_that_was_killed_is_begun_again(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})
    folders = [tmp_path / f"part{k}" for k in (1, 2)]
    for k, folder in enumerate(folders, 1):
        go(benchmark, shard(only, k, 2), folder)

    def killed(*words: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sys.modules["egomem.evaluate.merge"], "write_predictions", killed)
        with pytest.raises(KeyboardInterrupt):
            merge(tmp_path / "whole", folders)
    assert merge(tmp_path / "whole", folders) == 5
    with pytest.raises(UsageError, match="holds a run already"):
        merge(tmp_path / "whole", folders)


def test_every_video_is_captioned_in_one_shard(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, server: ScriptedServer
) -> None:
    only = config.model_copy(update={"settings": ("caption@2",)})
    ordered = sorted(benchmark.questions, key=lambda q: q.recording or "")
    for k in (1, 2):
        other = benchmark.model_copy(update={"questions": tuple(ordered)})
        go(other, shard(only, k, 2), tmp_path / f"part{k}")
        assert len({q.recording for q in load_run(tmp_path / f"part{k}").questions}) == 1
    captions = [s for s in server.requests if "Question:" not in s.text]
    assert len(captions) == 4  # two videos of two windows each


def test_missing_cells_are_listed_and_nothing_is_written(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})
    go(benchmark, shard(only, 1, 2), tmp_path / "part1")
    with pytest.raises(UsageError) as caught:
        merge(tmp_path / "whole", [tmp_path / "part1"])
    assert "2 of 5 cells are missing: q1 (" in str(caught.value)
    assert "q3 (" in str(caught.value)
    assert not (tmp_path / "whole").exists()


def test_a_shard_that_lost_a_line_is_missing_that_cell(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, leave_text_files: Leave
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})
    for k in (1, 2):
        go(benchmark, shard(only, k, 2), tmp_path / f"part{k}")
    leave_text_files(tmp_path / "part2")
    file = tmp_path / "part2" / "answers.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(UsageError, match=r"1 of 5 cells is missing: q\d"):
        merge(tmp_path / "whole", [tmp_path / "part1", tmp_path / "part2"])


def test_doubled_cells_are_listed(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})
    go(benchmark, shard(only, 1, 2), tmp_path / "part1")
    go(benchmark, only, tmp_path / "all")
    with pytest.raises(UsageError, match="3 cells stand in two shards: q0"):
        merge(tmp_path / "whole", [tmp_path / "part1", tmp_path / "all"])


def test_shards_of_other_runs_are_refused(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})
    go(benchmark, shard(only, 1, 2), tmp_path / "part1")
    other = only.model_copy(update={"max_tokens": 77})
    go(benchmark, shard(other, 2, 2), tmp_path / "part2")
    with pytest.raises(UsageError, match="different runs"):
        merge(tmp_path / "whole", [tmp_path / "part1", tmp_path / "part2"])
    changed = benchmark.questions[0].model_copy(update={"answer": "B"})
    rest = benchmark.model_copy(update={"questions": (changed, *benchmark.questions[1:])})
    go(rest, shard(only, 2, 2), tmp_path / "part3")
    with pytest.raises(UsageError, match="different questions"):
        merge(tmp_path / "whole", [tmp_path / "part1", tmp_path / "part3"])
