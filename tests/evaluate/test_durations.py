"""Lengths that a benchmark does not state are those of the files that are asked about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.evaluate import Config, RunSummary, Shard, load_run, merge
from egomem.evaluate.durations import video_durations
from egomem.memory import Store
from egomem.records import Recording
from egomem.report import report_columns, report_sections
from egomem.report.table import ReportTable
from egomem.timeline import Span

Go = Callable[..., RunSummary]


@pytest.fixture
def unstated(benchmark: Benchmark) -> Benchmark:
    videos = tuple(v.model_copy(update={"duration": None}) for v in benchmark.videos)
    return benchmark.model_copy(update={"videos": videos})


@pytest.mark.parametrize("ways", [("clean",), ("clean", "video", "caption@2")])
def test_a_run_knows_the_lengths_of_the_files_that_it_asksrun_details(
    unstated: Benchmark, config: Config, tmp_path: Path, go: Go, ways: tuple[str, ...]
) -> None:
    """Also one that has no other use for them."""
    late = unstated.questions[0].evidence[0].model_copy(update={"span": Span(3, 3.5)})
    first = unstated.questions[0].model_copy(update={"evidence": (late,)})
    asked = unstated.model_copy(update={"questions": (first, *unstated.questions[1:])})
    go(asked, config.model_copy(update={"settings": ways}), tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert [v.duration for v in run.benchmark.videos] == [4.0, 4.0]
    assert {v.duration for v in run.sheet(run.columns[0]).videos if v} == {4.0}
    sections = {s.title: s for s in report_sections([run], report_columns([run]))}
    tables = [part for part in sections["Accuracy by group"].parts if isinstance(part, ReportTable)]
    assert any("position" in table.title.lower() for table in tables)
    if "video" in ways:
        (details,) = [
            p
            for p in sections["Cost"].parts
            if isinstance(p, ReportTable) and p.title.startswith("Frames")
        ]
        counted = [str(row[1]) for row in details.rows if "captions, one window" in str(row[0])]
        assert counted == ["8"]  # two videos of 4 s


def test_lengths_of_a_given_memory_are_known(
    unstated: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    with Store.open(tmp_path / "memory", create=True) as store:
        for k in range(2):
            store.put_recording(Recording(id=f"v{k}", name=f"v{k}", duration=9.0 + k))
    only = Config(settings=("extractive",))
    go(unstated, only, tmp_path / "run", memory=tmp_path / "memory")
    assert [v.duration for v in load_run(tmp_path / "run").benchmark.videos] == [9.0, 10.0]


def test_shards_say_the_same_of_every_video(
    unstated: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    only = config.model_copy(update={"settings": ("video",)})
    for k in (1, 2):
        part = only.model_copy(update={"shard": Shard(index=k, count=2)})
        go(unstated, part, tmp_path / f"part{k}")
    merge(tmp_path / "whole", [tmp_path / "part1", tmp_path / "part2"])
    assert [v.duration for v in load_run(tmp_path / "whole").benchmark.videos] == [4.0, 4.0]


def test_a_stated_length_stays_and_a_broken_file_has_none(
    benchmark: Benchmark, unstated: Benchmark, tmp_path: Path
) -> None:
    assert video_durations(benchmark.videos) == {}
    Path(unstated.videos[0].path or "").write_bytes(b"no video")
    assert video_durations(unstated.videos) == {"v1": 4.0}
    recordings = {"v0": Recording(id="r", name="r", duration=3.5)}
    assert video_durations(unstated.videos, recordings) == {"v0": 3.5, "v1": 4.0}


def test_validate_and_stats_read_lengths(
    unstated: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = unstated.questions[0].evidence[0].model_copy(update={"span": Span(1, 31)})
    first = unstated.questions[0].model_copy(update={"evidence": (late,)})
    asked = unstated.model_copy(update={"questions": (first, *unstated.questions[1:])})
    benchmarks.write(asked, tmp_path / "data")
    command = ["benchmark", "validate", str(tmp_path / "data"), "--media", str(tmp_path), "--json"]
    assert main(command) == 1
    faults = json.loads(capsys.readouterr().out)["result"]["faults"]
    (fault,) = [f for f in faults if f["kind"] == "evidence"]
    assert (fault["id"], "31 s, and the video at 4 s" in fault["message"]) == ("q0", True)
    assert "duration" not in {f["kind"] for f in faults}
    command[1] = "stats"
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["result"]["durations"]["n"] == 2
