"""Five questions over two videos, asked through a task of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.memory import Store
from egomem.records import Observation, Question, Recording, Track, Video
from egomem.timeline import Span

LETTERS = {"format": "letter", "abstain": False}


@pytest.fixture
def benchmark() -> Benchmark:
    """Two videos of 4 s, five questions; the key of question k is option k mod 4."""
    options = ["red", "green", "blue", "black"]
    asked = [
        Question.of(
            f"Which drawer is number {k}?",
            options,
            id=f"q{k}",
            recording=f"v{k % 2}",
            answer="ABCD"[k % 4],
        )
        for k in range(5)
    ]
    videos = tuple(Video(id=f"v{k}", duration=4) for k in range(2))
    return Benchmark(name="tiny", format="native", videos=videos, questions=tuple(asked))


@pytest.fixture
def films(make_video: Callable[..., Path]) -> dict[str, str]:
    """The videos as files: frame k of v1 is grey level 20 + k, ten frames a second."""
    return {f"v{k}": str(make_video(f"v{k}.mp4", seconds=4, level=20 * k)) for k in range(2)}


@pytest.fixture
def memory(benchmark: Benchmark, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A caption of each video; the files, too, for a test that uses `films`."""
    files = request.getfixturevalue("films") if "films" in request.fixturenames else {}
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_track(Track(source="caption", observer="made"))
        for id in ("v0", "v1"):
            store.put_recording(Recording(id=id, name=id, duration=4, path=files.get(id)))
            text = f"The drawer of {id} is opened."
            row = {"source": "caption", "track": "caption/made"}
            store.add([Observation(recording=id, span=Span(0, 1), text=text, **row)])
    return tmp_path / "memory"


@pytest.fixture
def place(
    benchmark: Benchmark, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """A task's JSON file, with the questions and the memory told by the environment."""
    benchmarks.write(benchmark, tmp_path / "data")
    monkeypatch.setenv("EGOMEM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("EGOMEM_MEMORY", str(memory))
    return lambda strategy, **more: {"strategy": strategy, "settings": LETTERS, **more}


@pytest.fixture
def replies() -> dict[str, tuple[str, float]]:
    """A reply for each question, its status, and what it scores; the keys are A, B, C, D, A."""
    return {
        "A": ("parsed", 1.0),
        "Both A and B": ("unparsable", 0.0),
        "": ("unparsable", 0.0),
        "The answer is (D).": ("parsed", 1.0),
        "B": ("parsed", 0.0),
    }
