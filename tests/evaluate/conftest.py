"""A small benchmark over videos made on the fly, and a reader that answers what a rule says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Outcome, opened, run
from egomem.models.fake_server import FakeServer, Seen
from egomem.records import Evidence, Question, Video
from egomem.timeline import Span

SECONDS = 4
LETTERS = "ABCD"


def says(seen: Seen) -> str | None:
    """A letter that follows from the question alone, a verdict, or a caption."""
    if "You check answers" in seen.text:
        return '{"answer": "B", "support": "strong", "reason": "it is there"}'
    found = re.search(r"Question: .*?(\d+)\?", seen.text)
    if found is None:
        return "[0:00-0:02] The wearer opens a red drawer."
    return LETTERS[int(found[1]) % 4]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(answer=says) as running:
        yield running


@pytest.fixture
def spec(server: FakeServer) -> str:
    return f"openai-compatible:fake@{server.url}"


@pytest.fixture
def benchmark(make_video: Callable[..., Path]) -> Benchmark:
    """Two videos of 4 s, five questions; the key of question k is option k mod 4."""
    videos = [
        Video(
            id=f"v{k}",
            path=str(make_video(f"v{k}.mp4", seconds=SECONDS, level=20 * k)),
            duration=SECONDS,
            source_dataset="made",
        )
        for k in range(2)
    ]
    return Benchmark(name="tiny", format="native", videos=tuple(videos), questions=questions(5))


def questions(count: int) -> tuple[Question, ...]:
    return tuple(
        Question.of(
            f"Which drawer is number {k}?",
            ["red", "green", "blue", "black"],
            id=f"q{k}",
            recording=f"v{k % 2}",
            answer=LETTERS[k % 4],
            evidence=(Evidence(recording=f"v{k % 2}", span=Span(0.5, 1.5)),),
            tags={"visual": ["Object"] if k % 2 else ["Object", "Action"]},
        )
        for k in range(count)
    )


Go = Callable[..., Outcome]


@pytest.fixture
def go() -> Go:
    """Run to the end: `go(benchmark, config, folder)`."""

    def done(benchmark: Benchmark, config: Config, folder: Path, **fields: Any) -> Outcome:
        opening = {k: fields.pop(k) for k in ("memory", "conduct") if k in fields}

        async def whole() -> Outcome:
            async with opened(benchmark, config, folder, environ={}, **opening) as work:
                return await run(work, **fields)

        return asyncio.run(whole())

    return done


@pytest.fixture
def config(spec: str) -> Config:
    return Config(
        settings=("clean", "video", "caption@2", "verify@2"), readers=(spec,), gate="report"
    )
