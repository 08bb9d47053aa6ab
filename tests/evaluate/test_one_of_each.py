"""One question about one video, of one reader: nothing speaks of it in the plural."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.evaluate import Config, RunSummary
from egomem.records import Question

Go = Callable[..., RunSummary]
NOUNS = (
    "answers|captions|cells|differences|errors|frames|lines|questions|readers|replies|requests|"
    "rows|settings|tests|video files|videos|windows"
)


@pytest.fixture
def one(benchmark: Benchmark) -> Benchmark:
    """Of 1 s, so that there is one frame and one window, and one question more without a key."""
    first = benchmark.questions[0]
    bare = Question(id="bare", text="Which is number 9?", options=first.options, recording="v0")
    return benchmark.model_copy(update={"videos": benchmark.videos[:1], "questions": (first, bare)})


def test_one_is_never_many(
    one: Benchmark,
    config: Config,
    spec: str,
    tmp_path: Path,
    make_video: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_video("v0.mp4", seconds=1)
    benchmarks.write(one, tmp_path / "data")
    with (tmp_path / "data" / "questions.jsonl").open("a") as out:
        out.write("{torn\n")
    run = str(tmp_path / "run")
    command = (
        "eval", "capmem", "--data", str(tmp_path / "data"), "--media", str(tmp_path),
        "--settings", "clean,video,caption@1,verify@1", "--gate", "report", "--limit", "1",
        "--model", f"reader={spec}", "--out", run,
    )  # fmt: skip
    printed = []
    for words in (
        (*command, "--max-requests", "1"),  # halted: what is left is said
        command,
        command,
        ("eval", "status", run),
        ("eval", "rescore", run),
        ("report", run, "--out", str(tmp_path / "report")),
    ):
        main([str(word) for word in words])
        captured = capsys.readouterr()
        printed.append(captured.out + captured.err)
    printed.append((tmp_path / "report" / "report.md").read_text())
    wrong = [
        m[0] for text in printed for m in re.finditer(rf".*(?<![\w.,@-])1 (?:{NOUNS})\b.*", text)
    ]
    assert wrong == []
    assert all(len(text) > 30 for text in printed)
