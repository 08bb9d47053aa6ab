"""What is asked without a memory knows the time of asking, wherever the videos are."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, RunSummary, load_run
from egomem.integrations.harness import BenchmarkSession
from egomem.memory import Store
from egomem.models import ModelClient
from egomem.records import Recording, Status
from egomem.testing import ScriptedServer
from egomem.timeline import RecordingTime

Go = Callable[..., RunSummary]
NOW = datetime(2026, 3, 4, 15, 16, tzinfo=UTC)


@pytest.fixture
def timed(benchmark: Benchmark) -> Benchmark:
    """Question k is asked at second k of its video; q4 at an instant."""
    at = [*(RecordingTime(q.recording or "", k) for k, q in enumerate(benchmark.questions))]
    asked = [
        q.model_copy(update={"at": NOW if q.id == "q4" else t})
        for q, t in zip(benchmark.questions, at, strict=True)
    ]
    return benchmark.model_copy(update={"questions": tuple(asked)})


def times(server: ScriptedServer) -> list[str]:
    """What each request without frames says of the time, in the order of the questions."""
    blind = sorted(
        s.text.split("Question: ")[1] + "\n" + s.text for s in server.requests if not s.images
    )
    return [
        line[10:] for text in blind for line in text.split("\n") if line.startswith("It is now ")
    ]


TOLD = [*(f"0:0{k} of the recording." for k in range(4)), "Wednesday 2026-03-04T15:16:00+00:00."]


def test_clean_alone_is_told_the_time(
    timed: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})
    assert go(timed, only, tmp_path / "run").by_status == {"parsed": 5}
    assert times(server) == TOLD


def test_a_video_that_is_not_at_hand_is_nothing_to_clean(
    timed: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    Path(timed.videos[1].path or "").unlink()
    both = config.model_copy(update={"settings": ("clean", "video")})
    # q0 and q4 see nothing: it is the first second, and the video's clock is not known.
    done = go(timed, both, tmp_path / "run")
    assert done.by_status == {"parsed": 5 + 1, "abstained": 2, "error": 2}
    assert times(server) == TOLD


def test_a_question_about_everything_needs_the_video_at_whose_seconds_it_is_asked(
    timed: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    Path(timed.videos[1].path or "").unlink()
    asked = [q.model_copy(update={"recording": None}) for q in timed.questions]
    both = config.model_copy(update={"settings": ("clean", "video", "caption@2")})
    open_ = timed.model_copy(update={"questions": tuple(asked)})
    go(open_, both, tmp_path / "run")
    cells = load_run(tmp_path / "run").cells
    answers = {(q, c.setting): f.answer for (q, c), f in cells.items()}
    for setting in ("video", "caption@2"):
        assert "video v1 is not at hand" in answers["q1", setting].reason
        assert answers["q2", setting].status is Status.PARSED


def test_a_given_memory_of_other_videos_is_nothing_to_clean(
    timed: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_recording(Recording(id="other", name="other", duration=9))
    only = config.model_copy(update={"settings": ("clean",)})
    done = go(timed, only, tmp_path / "run", memory=tmp_path / "memory")
    assert done.by_status == {"parsed": 5}
    assert times(server) == TOLD
    with Store.open(tmp_path / "memory") as store:
        assert [r.id for r in store.recordings()] == ["other"]  # no name was put into it


def test_another_harness_tells_the_same(
    timed: Benchmark,
    spec: str,
    server: ScriptedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "there"))

    async def whole() -> list[str]:
        asked = BenchmarkSession.of(timed, None, "clean")
        async with ModelClient({"reader": spec}, environ={}) as models:
            answers = [await asked.answer(q, "clean", {}, models) for q in timed.questions]
        asked.close()
        return [a.status.value for a in answers]

    assert asyncio.run(whole()) == ["parsed"] * 5
    assert times(server) == TOLD
    assert list((tmp_path / "there").iterdir()) == []
