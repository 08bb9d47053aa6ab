"""Where a run stands: running, finished, halted at a budget, or left unfinished."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.evaluate import (
    Config,
    RunProgress,
    RunStatus,
    RunSummary,
    load_run,
    opened,
    run,
    status,
)
from egomem.evaluate.legacy_run import ANSWERS, USAGE
from egomem.evaluate.run_folder import locked
from egomem.testing import Rule, Script, ScriptedServer

Go = Callable[..., RunSummary]
Leave = Callable[[Path], None]


class Stopped(Exception):
    pass


def now(folder: Path) -> RunStatus:
    return status(load_run(folder))


def test_a_run_is_followed_from_outside(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    """Read at every step while it runs: who is at it, captions, cells, what was sent."""
    states: list[RunStatus] = []

    def look(progress: RunProgress) -> None:
        states.append(now(tmp_path / "run"))

    only = config.model_copy(update={"settings": ("caption@2", "caption@4")})
    go(benchmark, only, tmp_path / "run", on_progress=look, concurrency=1)
    assert {s.state for s in states} == {"running"}
    assert all("process" in s.who for s in states)
    assert [(t.done, t.total) for t in states[-1].captions] == [(4, 4), (2, 2)]
    assert [s.captions[0].done for s in states[:2]] == [0, 1]
    assert [s.done for s in states[-10:]] == list(range(1, 11))
    assert {s.total for s in states} == {10}
    sent = [s.spent.requests for s in states]
    assert sent == sorted(sent)
    assert sent[-1] == 16
    last = now(tmp_path / "run")
    assert (last.state, last.who, last.done, last.unpriced) == ("finished", "", 10, 16)
    assert last.ended is not None


def test_errors_are_not_finished(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    with ScriptedServer(Script(rules=(Rule(status=400, times=2), Rule(reply="B")))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        go(benchmark, config.model_copy(update={"readers": (spec,), "settings": ("clean",)}),
           tmp_path / "run")  # fmt: skip
    state = now(tmp_path / "run")
    assert (state.done, state.total, state.errors) == (3, 5, 2)
    assert state.columns[0].by_status == {"error": 2, "parsed": 3}


def test_a_run_that_was_left_or_halted_says_so(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    leave_text_files: Leave,
    capsys: pytest.CaptureFixture[str],
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})

    def stop(progress: RunProgress) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        go(benchmark, only, tmp_path / "run", on_progress=stop, concurrency=1)
    state = now(tmp_path / "run")
    assert (state.state, state.done, state.ended) == ("unfinished", 1, None)

    async def halted() -> None:
        async with opened(benchmark, only, tmp_path / "run", environ={}, max_requests=3) as work:
            await run(work)

    asyncio.run(halted())
    state = now(tmp_path / "run")
    assert (state.state, state.done, state.ended) == ("halted", 3, None)
    leave_text_files(tmp_path / "run")
    file = tmp_path / "run" / ANSWERS
    file.write_bytes(file.read_bytes() + b'{"torn')
    (tmp_path / "run" / USAGE).unlink()
    assert main(["eval", "status", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    assert "halted: all of --max-requests 3 are sent; 3 of 5 cells finished" in printed
    assert "3 / 5" in printed
    assert "sent: 3 requests" in printed
    assert "1 line of the answers cannot be read" in printed
    assert "the usage of 3 answers is not known" in printed
    with locked(tmp_path / "run"):
        assert main(["eval", "status", str(tmp_path / "run"), "--json"]) == 0
    body: dict[str, Any] = json.loads(capsys.readouterr().out)["result"]
    assert body["state"] == "running"
    assert body["unreadable_lines"] == [4]
    assert body["config_hash"] == only.hash
    assert [(c["done"], c["total"]) for c in body["columns"]] == [(3, 5)]
