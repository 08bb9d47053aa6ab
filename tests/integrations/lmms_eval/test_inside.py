"""Our tasks inside lmms-eval, with a scripted server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.integrations import lmms_eval
from egomem.score import read_predictions
from egomem.testing import ReceivedRequest, Rule, Script, ScriptedServer

Replies = dict[str, tuple[str, float]]


needs_lmms = pytest.mark.skipif(find_spec("lmms_eval") is None, reason="lmms-eval is not installed")
inside = [needs_lmms, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def scripted(replies: Replies) -> Iterator[ScriptedServer]:
    """A server that gives the replies by the question's number; null where it is empty."""

    def says(request: ReceivedRequest) -> str | None:
        match = re.search(r"Question: .*?(\d+)\?", request.text)
        assert match is not None
        return list(replies)[int(match[1])] or None

    with ScriptedServer(Script(rules=(Rule(null=True),)), answer=says) as running:
        yield running


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "LMMS_EVAL_DATASETS_CACHE": str(tmp_path / "hf"),
        "OPENAI_API_KEY": "none",
    }.items():
        monkeypatch.setenv(name, value)


def evaluated(server: ScriptedServer, tasks: list[str], **more: Any) -> dict[str, Any]:
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    results: dict[str, Any] = simple_evaluate(
        model="openai",
        model_args=f"model=fake,base_url={server.url},max_retries=1,num_concurrent=1",
        tasks=tasks,
        task_manager=TaskManager(include_path=str(lmms_eval.FOLDER), include_defaults=False),
        batch_size=1,
        **more,
    )
    return results


@pytest.mark.usefixtures("offline", "films", "place")
class TestInside:
    pytestmark = inside

    @pytest.mark.parametrize("simple", [False, True], ids=["chat", "simple"])
    def test_every_task_asks_the_model_and_is_scored(
        self, scripted: ScriptedServer, replies: Replies, simple: bool
    ) -> None:
        results = evaluated(scripted, ["egomem"], force_simple=simple)
        assert set(results["results"]) == {"egomem_caption", "egomem_clean", "egomem_video"}
        for task, samples in results["samples"].items():
            figures = results["results"][task]
            assert figures["accuracy,none"] == pytest.approx(2 / 5), task
            assert figures["chance,none"] == pytest.approx(1 / 4)
            assert figures["n,none"] == 5
            assert (figures["n_parsed,none"], figures["n_unparsable,none"]) == (3, 2)
            statuses = [(s["prediction"]["status"], s["accuracy"]["score"]) for s in samples]
            assert statuses == list(replies.values())
        sent = Counter((len(s.images), "drawer of" in s.text) for s in scripted.requests)
        # 4 s at one frame a second; captions or frames, or neither
        assert sent == {(0, True): 5, (0, False): 5, (4, False): 5}
        assert all("[0:00.5]" in s.text for s in scripted.requests if s.images)

    def test_a_server_that_fails_is_an_error_that_counts(self, scripted: ScriptedServer) -> None:
        broken = Script(rules=(Rule(status=400, error="B is not to be had"),))
        with ScriptedServer(broken) as server:
            results = evaluated(server, ["egomem_clean"])
        figures = results["results"]["egomem_clean"]
        assert (figures["n_error,none"], figures["n,none"]) == (5, 5)
        assert figures["accuracy,none"] == 0.0

    def test_the_command_and_its_logs(
        self, scripted: ScriptedServer, benchmark: Benchmark, replies: Replies, tmp_path: Path
    ) -> None:
        done = self.command(
            *("--tasks", "egomem_caption", "--output_path", str(tmp_path / "out")),
            *("--log_samples", "--model", "openai", "--model_args"),
            f"model=fake,base_url={scripted.url},max_retries=1",
        )
        assert re.search(r"egomem_caption\|none +\| +0\|accuracy +\|↑ +\| +0\.40", done), done
        (log,) = (tmp_path / "out").rglob("*_samples_egomem_caption.jsonl")
        read = read_predictions(log, benchmark.questions)
        assert [a.status.value for a in read.answers.values()] == [x for x, _ in replies.values()]
        assert (read.missing, read.unknown, read.problems) == ((), (), ())
        (results,) = (tmp_path / "out").rglob("*_results.json")
        about = json.loads(results.read_text())["configs"]["egomem_caption"]["metadata"]
        assert about["data"] == os.environ["EGOMEM_DATA"]

    def test_a_fault_is_the_last_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("EGOMEM_DATA")
        output = self.command("--tasks", "egomem_caption", "--model", "dummy")
        last = output.strip().splitlines()[-1]
        assert "Error during evaluation: no questions are named; set EGOMEM_DATA" in last

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "lmms_eval",
                "--include_path",
                str(lmms_eval.FOLDER),
                *arguments,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout
