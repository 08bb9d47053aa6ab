"""A plan is told before anything is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, RunPlan, RunProgress, RunSummary, opened, plan, run
from egomem.evaluate.legacy_run import ANSWERS
from egomem.evaluate.plan_text import plan_lines
from egomem.testing import Rule, Script, ScriptedServer

Go = Callable[..., RunSummary]
Leave = Callable[[Path], None]


class Stopped(Exception):
    pass


def planned(benchmark: Benchmark, config: Config, folder: Path) -> RunPlan:
    async def whole() -> RunPlan:
        async with opened(benchmark, config, folder, environ={}) as work:
            return plan(work)

    return asyncio.run(whole())


def test_requests_and_frames_are_those_that_are_sent(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    estimate = planned(benchmark, config, tmp_path / "run")
    assert not server.requests
    go(benchmark, config, tmp_path / "run")
    assert estimate.total.requests == len(server.requests)
    captions = sum(len(s.images) for s in server.requests if "Question:" not in s.text)
    assert estimate.captions[0].frames == captions
    by_setting = {p.label.split(" ")[0]: p for p in estimate.columns}
    assert by_setting["video"].frames == 5 * 4
    assert by_setting["clean"].frames == 0
    assert estimate.total.cost is None
    assert estimate.money_is_lower_bound
    after = planned(benchmark, config, tmp_path / "run")
    assert (after.total.cells, after.total.kept, after.total.requests) == (0, 20, 0)
    assert after.captions[0].kept == 4


def test_a_stopped_run_has_so_much_left(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    """Stage 1, captions and three answers are there; the rest of 29 requests is left."""
    folder = tmp_path / "run"

    def stop(progress: RunProgress) -> None:
        if progress.total > 5 and progress.done == 3:
            raise Stopped

    with pytest.raises(Stopped):
        go(benchmark, config, folder, on_progress=stop, concurrency=1)
    sent = len(server.requests)
    estimate = planned(benchmark, config, folder)
    assert (estimate.captions[0].cells, estimate.captions[0].kept) == (0, 4)
    assert {p.label.split(" ")[0]: (p.cells, p.kept) for p in estimate.columns} == {
        "clean": (0, 5), "video": (2, 3), "caption@2": (5, 0), "verify@2": (5, 0),
    }  # fmt: skip
    assert estimate.total.requests == 29 - sent == 2 + 5 + 10
    assert (estimate.spent.requests, estimate.replies_cached) == (sent, sent)
    text = "\n".join(plan_lines(estimate))
    assert f"sent so far: {sent} requests" in text
    go(benchmark, config, folder)
    assert len(server.requests) == 29


def test_replies_that_are_kept_are_not_to_be_sent(
    benchmark: Benchmark,
    config: Config,
    server: ScriptedServer,
    tmp_path: Path,
    go: Go,
    leave_text_files: Leave,
) -> None:
    """Two lines are lost, of a question's candidate and verdict and of another in clean."""
    folder = tmp_path / "run"
    go(benchmark, config, folder)
    leave_text_files(folder)
    file = folder / ANSWERS
    lines = file.read_bytes().splitlines(keepends=True)
    names = [(r["question"], r["column"]["setting"]) for r in map(json.loads, lines)]
    lost = [names.index(name) for name in (("q1", "verify@2"), ("q3", "clean"))]
    file.write_bytes(b"".join(line for k, line in enumerate(lines) if k not in lost))
    estimate = planned(benchmark, config, folder)
    by_setting = {p.label.split(" ")[0]: p for p in estimate.columns}
    assert (by_setting["verify@2"].cells, by_setting["verify@2"].cached) == (1, 2)
    assert (by_setting["clean"].cells, by_setting["clean"].cached) == (1, 1)
    assert (estimate.total.requests, estimate.total.frames, estimate.total.tokens_in) == (0, 0, 0)
    assert "1 to do, 4 done; 2 replies out of the cache, nothing to send" in "\n".join(
        plan_lines(estimate)
    )
    sent = len(server.requests)
    (folder / "replies.db").unlink()
    bare = planned(benchmark, config, folder)
    assert (bare.total.requests, bare.total.cached) == (3, 0)
    assert bare.total.frames > 0
    assert len(server.requests) == sent


def test_a_changed_question_is_named(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    go(benchmark, config, tmp_path / "run")
    first = benchmark.questions[0]
    options = (first.options[0].model_copy(update={"text": "pink"}), *first.options[1:])
    changed = (first.model_copy(update={"options": options}), *benchmark.questions[1:])
    other = benchmark.model_copy(update={"questions": changed})
    estimate = planned(other, config, tmp_path / "run")
    assert estimate.changed_questions == ("q0",)
    assert [p.changed for p in estimate.columns] == [{"question": 1}] * 4
    lines = "\n".join(plan_lines(estimate))
    assert "changed questions: q0" in lines
    assert "asked again: 1 question" in lines


def test_known_prices_are_added_up(benchmark: Benchmark, tmp_path: Path) -> None:
    pytest.importorskip("genai_prices")
    config = Config(settings=("clean", "video"), readers=("openai:gpt-4o-mini",), gate="report")
    estimate = planned(benchmark, config, tmp_path / "run")
    assert estimate.total.cost is not None
    assert estimate.total.cost > 0
    assert not estimate.money_is_lower_bound


def test_what_is_finished_costs_nothing_more(
    benchmark: Benchmark, config: Config, tmp_path: Path
) -> None:
    pytest.importorskip("genai_prices")
    with ScriptedServer(Script(rules=(Rule(reply="B"),))) as server:
        spec = f"openai:gpt-4o-mini@{server.url}"
        only = config.model_copy(update={"settings": ("clean", "video"), "readers": (spec,)})
        clean = only.model_copy(update={"settings": ("clean",)})
        before = planned(benchmark, only, tmp_path / "run")

        async def first() -> None:
            keys = {"OPENAI_API_KEY": "sk-none"}
            async with opened(benchmark, clean, tmp_path / "run", environ=keys) as work:
                await run(work)

        asyncio.run(first())
    after = planned(benchmark, only, tmp_path / "run")
    assert after.columns[0].cost is None
    assert after.total.cost == before.columns[1].cost
    assert not after.money_is_lower_bound
    assert after.spent.cost is not None


def test_what_is_missing_is_told(benchmark: Benchmark, config: Config, tmp_path: Path) -> None:
    Path(benchmark.videos[0].path or "").unlink()
    estimate = planned(benchmark, config, tmp_path / "run")
    assert list(estimate.missing) == ["v0"]
    by_setting = {p.label.split(" ")[0]: p.unable for p in estimate.columns}
    assert (
        by_setting == {"clean": 0, "video": 3, "caption@2": 0, "verify@2": 0}
        or by_setting["video"] == 3
    )
    assert "1 video is not at hand" in "\n".join(plan_lines(estimate))
