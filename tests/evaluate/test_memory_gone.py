"""A run whose memory was deleted: its figures are told all the same, and what cannot be is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.evaluate import Config, RunSummary, load_run, merge
from egomem.evaluate import status as status_of
from egomem.evaluate.config import Shard
from egomem.report import report_columns, write_report
from egomem.report.question_browser import browser_data, unpack

Go = Callable[..., RunSummary]


def whole(folder: Path) -> None:
    shutil.rmtree(folder)


def record(folder: Path) -> None:
    """What a cleaning up by size or by name may leave: the folder, and files in it."""
    for path in folder.glob("memory.db*"):
        path.unlink()
    (folder / "thumbnails").mkdir(exist_ok=True)


@pytest.mark.parametrize("delete", [whole, record])
@pytest.mark.parametrize("given", [False, True])
def test_the_report_opens_without_it_and_says_so(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    given: bool,
    delete: Callable[[Path], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, folder = tmp_path / "first", tmp_path / "run"
    only = config.model_copy(update={"settings": ("clean", "caption@2")})
    go(benchmark, only, first)
    memory = first / "memory"
    if given:
        go(benchmark, only, folder, memory=memory)
    else:
        folder = first
    before = write_report([folder], tmp_path / "before")
    assert not any("no memory" in w for w in before.warnings)
    delete(memory)
    after = write_report([folder], tmp_path / "after")
    (line,) = set(after.warnings) - set(before.warnings)
    assert line.startswith(f"{folder.name}: there is no memory at {memory}, so")
    assert line in (tmp_path / "after" / "report.html").read_text()
    figures = [(tmp_path / name / "figures.csv").read_text() for name in ("before", "after")]
    rows = [[r for r in text.splitlines() if ",Accuracy," in r] for text in figures]
    assert rows[0] == rows[1] != []
    run = load_run(folder)
    (block,) = browser_data(report_columns([run]))["blocks"]
    assert all((d["pictures"], d["captions"]) == ([], {}) for d in unpack(block))
    assert status_of(run).captions == ()
    assert main(["report", str(folder), "--out", str(tmp_path / "cli")]) == 0
    assert "there is no memory at" in capsys.readouterr().out


def test_shards_without_their_memories_merge(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    shards = []
    for k in (1, 2):
        part = config.model_copy(
            update={"settings": ("caption@2",), "shard": Shard(index=k, count=2)}
        )
        go(benchmark, part, tmp_path / f"s{k}")
        shards.append(tmp_path / f"s{k}")
    record(shards[0] / "memory")
    record(shards[1] / "memory")
    assert merge(tmp_path / "all", shards) == 5
    assert len(load_run(tmp_path / "all").cells) == 5
