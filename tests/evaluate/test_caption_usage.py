"""What the captions of a run took is kept with them, or it is said that it is not known."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Run, RunSummary, load_run, merge
from egomem.evaluate.config import Shard
from egomem.evaluate.legacy_run import CAPTION_USAGE
from egomem.evaluate.run_db import NAME, read_run
from egomem.records import Usage
from egomem.report import report_columns, report_sections
from egomem.report.markdown import render_markdown
from egomem.testing import Rule, Script, ScriptedServer

Go = Callable[..., RunSummary]
Leave = Callable[[Path], None]


def took(run: Run, setting: str = "caption@2") -> tuple[Usage, str]:
    column = next(c for c in run.columns if c.setting == setting)
    built = run.built(column)
    return sum(built.by_video.values(), Usage()), built.missing


def lose_replies(folder: Path) -> None:
    for path in folder.glob("replies.db*"):
        path.unlink()


def forget_caption_usage(folder: Path, prefix: str = "") -> None:
    """As a run leaves it that is killed before it is written down."""
    with closing(sqlite3.connect(folder / NAME)) as db, db:
        db.execute("DELETE FROM caption_usage WHERE instr(request, ?) = 1", (prefix,))


def report(folder: Path) -> str:
    run = load_run(folder)
    return render_markdown("", report_sections([run], report_columns([run])))


def test_what_building_took_outlives_the_replies(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, server: ScriptedServer
) -> None:
    go(benchmark, config, tmp_path / "run")
    before, whole = took(load_run(tmp_path / "run")), report(tmp_path / "run")
    assert (before[0].requests, before[0].frames, before[1]) == (4, 8, "")
    assert before[0].tokens_in > 100
    assert before == took(load_run(tmp_path / "run"), "verify@2")
    lose_replies(tmp_path / "run")
    assert took(load_run(tmp_path / "run")) == before
    assert report(tmp_path / "run") == whole
    sent = len(server.requests)
    go(benchmark, config, tmp_path / "run")
    assert (len(server.requests), took(load_run(tmp_path / "run"))) == (sent, before)


def test_what_is_lost_is_not_counted(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, leave_text_files: Leave
) -> None:
    go(benchmark, config, tmp_path / "run")
    leave_text_files(tmp_path / "run")
    path = tmp_path / "run" / CAPTION_USAGE
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], '{"request": "x"', '["request"]', "", "\u2028"]))
    kept = read_run(tmp_path / "run").caption_usage
    assert list(kept) == [json.loads(x)["request"] for x in lines[:3]]
    assert took(load_run(tmp_path / "run"))[1] == ""  # the fourth is in the cache still
    lose_replies(tmp_path / "run")
    assert took(load_run(tmp_path / "run"))[1] == "what 1 window took is not known any more"
    text = report(tmp_path / "run")
    assert "Not counted, as what 1 window took is not known any more: caption@2, verify" in text
    row = next(x for x in text.splitlines() if x.startswith("| caption@2 | 5 | - (not counted)"))
    cells = [c.strip() for c in row.split("|")]
    assert cells[5:13] == ["-"] * 8
    assert cells[13].startswith("at least ")
    front = next(x for x in text.splitlines() if x.startswith("| tokens per question at reuse 32"))
    assert front == "| tokens per question at reuse 32 | 1 | video | caption@2, verify@2 |"


def test_a_run_that_was_killed_before_it_was_written_goes_on(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    go(benchmark, config, tmp_path / "run")
    before = read_run(tmp_path / "run").caption_usage
    forget_caption_usage(tmp_path / "run")
    assert read_run(tmp_path / "run").caption_usage == {}
    go(benchmark, config, tmp_path / "run")
    assert read_run(tmp_path / "run").caption_usage == before


def test_a_memory_that_was_given_is_not_counted(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    go(benchmark, config, tmp_path / "run")
    reading = config.model_copy(update={"settings": ("clean", "caption@2")})
    go(benchmark, reading, tmp_path / "second", memory=tmp_path / "run" / "memory")
    costs, missing = took(load_run(tmp_path / "second"))
    assert (costs, missing) == (Usage(), "the captions came with the memory that was given")
    assert took(load_run(tmp_path / "second"), "clean") == (Usage(), "")
    text = report(tmp_path / "second")
    assert "Not counted, as the captions came with the memory that was given: caption@2." in text
    assert "| caption@2 | 5 | - (not counted) |" in text


def test_an_answer_whose_usage_is_lost_is_left_out_of_the_mean(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, leave_text_files: Leave
) -> None:
    go(benchmark, config.model_copy(update={"settings": ("clean",)}), tmp_path / "run")
    leave_text_files(tmp_path / "run")
    usage = tmp_path / "run" / "usage.jsonl"
    usage.write_text("\n".join(usage.read_text().splitlines()[1:]))
    run = load_run(tmp_path / "run")
    assert len(run.usage(run.columns[0])) == 4
    text = report(tmp_path / "run")
    assert "| clean | 4 (of 5) | 0 | " in text
    assert "The usage of some answers is lost: clean." in text


@pytest.mark.parametrize("written", [True, False])
def test_merged_shards_know_what_their_captions_took(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, written: bool
) -> None:
    go(benchmark, config, tmp_path / "whole")
    parts = []
    for k in (1, 2):
        part = config.model_copy(update={"shard": Shard(index=k, count=2)})
        parts.append(tmp_path / f"part{k}")
        go(benchmark, part, parts[-1])
        if not written:
            forget_caption_usage(parts[-1])
    merge(tmp_path / "merged", parts)
    lose_replies(tmp_path / "merged")
    costs, missing = took(load_run(tmp_path / "merged"))
    want, _ = took(load_run(tmp_path / "whole"))
    assert (missing, costs.frames, costs.tokens_in) == ("", want.frames, want.tokens_in)


@pytest.mark.parametrize(("reply", "asked"), [("", 2), ("[0:02] The wea", 1)])
def test_what_a_window_without_a_caption_took_is_counted(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, reply: str, asked: int
) -> None:
    """The second window of each video is empty twice, or cut off, in two tracks."""
    second = "0:02-0:04 of the recording"
    rules = (
        Rule(when=second, reply=reply, finish="length" if reply else "stop"),
        Rule(when="Question:", reply="A"),
        Rule(reply="A red drawer."),
    )
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(
            update={"settings": ("caption@2", "aligned@2"), "readers": (spec,)}
        )
        go(benchmark, only, tmp_path / "run")
    for setting in only.settings:
        usage, missing = took(load_run(tmp_path / "run"), setting)
        assert (missing, usage.requests) == ("", 2 + 2 * asked)
        assert usage.tokens_in > 400
    lose_replies(tmp_path / "run")
    assert took(load_run(tmp_path / "run"), "caption@2")[0].requests == 2 + 2 * asked
    forget_caption_usage(tmp_path / "run", "gap ")
    assert took(load_run(tmp_path / "run"))[1] == "what 2 windows took is not known any more"
