"""A small benchmark over videos made on the fly, and a reader that answers what a rule says."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Arm, Config, RunSummary, opened, run
from egomem.evaluate.export import write_answers
from egomem.evaluate.legacy_run import CAPTION_USAGE
from egomem.evaluate.run_db import read_run
from egomem.evaluate.stored_run import Finished
from egomem.records import Answer, Evidence, Question, Status, Usage, Video
from egomem.testing import ReceivedRequest, ScriptedServer
from egomem.timeline import Span

SECONDS = 4
LETTERS = "ABCD"


def says(request: ReceivedRequest) -> str | None:
    """A letter that follows from the question alone, a verdict, or a caption."""
    if "You check answers" in request.text:
        return '{"answer": "B", "support": "strong", "reason": "it is there"}'
    match = re.search(r"Question: .*?(\d+)\?", request.text)
    if match is None:
        return "[0:00-0:02] The wearer opens a red drawer."
    return LETTERS[int(match[1]) % 4]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(answer=says) as running:
        yield running


@pytest.fixture
def spec(server: ScriptedServer) -> str:
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


Go = Callable[..., RunSummary]


@pytest.fixture
def go() -> Go:
    """Run to the end: `go(benchmark, config, folder)`."""

    def done(benchmark: Benchmark, config: Config, folder: Path, **fields: Any) -> RunSummary:
        opening = {k: fields.pop(k) for k in ("memory", "policy") if k in fields}

        async def whole() -> RunSummary:
            async with opened(benchmark, config, folder, environ={}, **opening) as work:
                return await run(work, **fields)

        return asyncio.run(whole())

    return done


@pytest.fixture
def finished() -> Callable[..., Finished]:
    """`finished(id, arm, seconds=1.0, part="a")`: a trial whose reply took so many seconds; what it
    says does not depend on them."""

    def made(id: str, arm: Arm, *, seconds: float = 1.0, part: str = "a") -> Finished:
        usage = Usage(requests=1, tokens_in=7, seconds=seconds)
        asked = {
            "step": "asked",
            "raw": "B\u2028",
            "key": f"key-{part}",
            "cached": seconds < 1,
            "usage": usage.model_dump(mode="json"),
        }
        answer = Answer(
            text="b",
            choice="B",
            status=Status.PARSED,
            strategy=arm.setting,
            usage=usage,
            trace=({"step": "looked", "frames": []}, asked, "a step of another package"),
        )
        return Finished(question=id, arm=arm, parts={"question": part}, answer=answer, usage=usage)

    return made


Leave = Callable[[Path], None]


@pytest.fixture
def leave_text_files() -> Leave:
    """Make a run's folder one of an earlier version, whose record is text files."""

    def leave(folder: Path) -> None:
        stored = read_run(folder)
        write_answers(folder, stored, stored.cells)
        with (folder / CAPTION_USAGE).open("w") as file:
            for request, usage in stored.caption_usage.items():
                row = {"request": request, "usage": usage.model_dump(mode="json")}
                file.write(json.dumps(row) + "\n")
        for path in folder.glob("run.db*"):
            path.unlink()

    return leave


@pytest.fixture
def config(spec: str) -> Config:
    return Config(
        settings=("clean", "video", "caption@2", "verify@2"), readers=(spec,), gate="report"
    )


NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Browsers that speak the DevTools protocol."""


class Chromium:
    """A headless browser, driven over its DevTools socket."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._number = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tell(f"{domain}.enable")
        self.tell("Page.setLifecycleEventsEnabled", enabled=True)

    def tell(self, method: str, **params: Any) -> Any:
        self._number += 1
        sent = {"id": self._number, "method": method, "params": params}
        self._socket.send(json.dumps(sent))
        while True:
            reply = json.loads(self._socket.recv(timeout=60))
            if reply.get("id") == self._number:
                assert "error" not in reply, reply
                return reply["result"]
            self.events.append(reply)

    def open(self, address: str) -> None:
        """Load a page, and forget what came before it."""
        for place in ("about:blank", address):  # a change after # alone would load nothing
            self.events.clear()
            loader = self.tell("Page.navigate", url=place).get("loaderId")
            while not any(
                e["name"] == "load" and e["loaderId"] == loader
                for e in self.seen("Page.lifecycleEvent")
            ):
                self.events.append(json.loads(self._socket.recv(timeout=60)))

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        reply = self.tell(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    def seen(self, method: str) -> list[dict[str, Any]]:
        return [e["params"] for e in self.events if e["method"] == method]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = next((match for name in NAMES if (match := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(NAMES)})")
    sync = pytest.importorskip("websockets.sync.client")
    command = [
        program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--remote-debugging-port=0",
        "about:blank",
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            path = (re.search(r"//([^/]+)/devtools", line) for line in process.stderr or ())
            place = next(match[1] for match in path if match)
            with urllib.request.urlopen(f"http://{place}/json/list") as reply:
                pages = [t for t in json.load(reply) if t["type"] == "page"]
            with sync.connect(pages[0]["webSocketDebuggerUrl"], max_size=None) as socket:
                yield Chromium(socket)
        finally:
            process.terminate()
