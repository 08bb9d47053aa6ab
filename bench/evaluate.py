"""CPU and memory of an evaluation, beside bare httpx2 with the same requests to the same server.

Videos are recordings of a memory with captions; each question is asked blind (`clean`) and with the
captions (`caption`). A trivial server on loopback answers at once, on a core of its own; the floor
sends the very bodies that the run sent. Each part runs in a process of its own.

    python bench/evaluate.py [--questions 1000] [--videos 75] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CAPTIONS, SECONDS = 40, 30.0
CONCURRENCY = 8
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "B"}}
REPLY = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [CHOICE],
        "usage": {"prompt_tokens": 900, "completion_tokens": 1, "total_tokens": 901},
    }
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(
    REPLY
)


class _Answer(asyncio.Protocol):
    """Answers each request at once, and appends its body to `record`."""

    record: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        fields = self.received[:end].lower().split(b"\r\n")
        length = next((int(f[15:]) for f in fields if f.startswith(b"content-length:")), 0)
        body = self.received[end + 4 :]
        if len(body) < length:
            return
        self.received = b""
        if self.record is not None and length:
            self.record.write(body + b"\n")
            self.record.flush()
        self.transport.write(HEAD + REPLY)  # type: ignore[attr-defined]


async def serve(record: str) -> None:
    if record:
        _Answer.record = Path(record).open("wb")  # noqa: SIM115
    server = await asyncio.get_running_loop().create_server(_Answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def write_memory(folder: Path, videos: int) -> None:
    from egomem.memory import Store
    from egomem.records import Observation, Recording, Track
    from egomem.timeline import Span

    draw = random.Random(11)
    words = [
        "opens",
        "closes",
        "a",
        "the",
        "red",
        "green",
        "drawer",
        "mug",
        "kettle",
        "door",
        "left",
    ]
    with Store.open(folder, create=True) as store:
        track = Track(source="caption", observer="made", window=SECONDS)
        store.put_track(track)
        for v in range(videos):
            length = CAPTIONS * SECONDS
            store.put_recording(Recording(id=f"v{v}", name=f"v{v}.mp4", duration=length))
            store.add(
                Observation(
                    recording=f"v{v}",
                    span=Span(k * SECONDS, (k + 1) * SECONDS),
                    source="caption",
                    track=track.id,
                    text=" ".join(draw.choices(words, k=30)),
                )
                for k in range(CAPTIONS)
            )


def make_benchmark(questions: int, videos: int) -> Any:
    from egomem.benchmarks import Benchmark
    from egomem.records import Evidence, Question, Video
    from egomem.timeline import Span

    return Benchmark(
        name="made",
        format="native",
        videos=tuple(
            Video(id=f"v{k}", duration=CAPTIONS * SECONDS, source_dataset="made")
            for k in range(videos)
        ),
        questions=tuple(
            Question.of(
                f"Which drawer did the wearer open after the mug number {k}?",
                ["the red one", "the green one", "the blue one", "the black one"],
                id=f"q{k}",
                recording=f"v{k % videos}",
                answer="ABCD"[k % 4],
                evidence=(Evidence(recording=f"v{k % videos}", span=Span(30.0, 60.0)),),
            )
            for k in range(questions)
        ),
    )


def run_part(part: str, folder: Path, url: str, questions: int, videos: int) -> dict[str, float]:
    """One call of an evaluation: `run` answers, or repeats a finished run; `plan` plans."""
    from egomem.evaluate import Config, opened, run
    from egomem.evaluate.plan import plan

    benchmark = make_benchmark(questions, videos)
    config = Config(
        readers=(f"openai-compatible:m@{url}",), settings=("clean", "caption"), gate="report"
    )

    async def work() -> int:
        async with opened(benchmark, config, folder, memory=folder.parent / "memory") as open_run:
            if part == "plan":
                return plan(open_run).total.cells
            return (await run(open_run, concurrency=CONCURRENCY)).asked

    wall, cpu = time.perf_counter(), time.process_time()
    answers = asyncio.run(work())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"answers": answers, "wall_s": wall, "cpu_s": cpu, "peak_mb": peak}


def floor(url: str, bodies: Path) -> dict[str, float]:
    """The same bodies by bare httpx2, as many at once, each reply parsed."""
    import httpx2

    async def work() -> int:
        lines = iter(bodies.read_bytes().splitlines())
        sent = 0

        async def worker(client: httpx2.AsyncClient) -> None:
            nonlocal sent
            for body in lines:
                response = await client.post(
                    f"{url}/chat/completions",
                    content=body,
                    headers={"content-type": "application/json"},
                )
                assert response.json()["choices"][0]["message"]["content"] == "B"
                sent += 1

        async with httpx2.AsyncClient(timeout=60) as client:
            await asyncio.gather(*(worker(client) for _ in range(CONCURRENCY)))
        return sent

    wall, cpu = time.perf_counter(), time.process_time()
    answers = asyncio.run(work())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"answers": answers, "wall_s": wall, "cpu_s": cpu}


def child(*args: str) -> dict[str, float]:
    cores = sorted(os.sched_getaffinity(0))
    done = subprocess.run(
        [sys.executable, __file__, "--part", *args],
        preexec_fn=lambda: os.sched_setaffinity(0, {cores[0]}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(questions: int, videos: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_memory(folder / "memory", videos)
        server = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(folder / "bodies")],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            os.sched_setaffinity(server.pid, {max(os.sched_getaffinity(0))})
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
            size = str(questions), str(videos)
            parts = {"run": child("run", str(folder / "run"), url, *size)}
            (folder / "sent").write_bytes((folder / "bodies").read_bytes())
            parts["floor"] = child("floor", str(folder / "sent"), url, *size)
            parts["plan"] = child("plan", str(folder / "new"), url, *size)
            parts["again"] = child("run", str(folder / "run"), url, *size)
        finally:
            server.kill()
            server.wait()
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--videos", type=int, default=75)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--part", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        asyncio.run(serve(given.serve))
        return
    if given.part:
        part, folder, url, questions, videos = given.part
        if part == "floor":
            print(json.dumps(floor(url, Path(folder))))
        else:
            print(json.dumps(run_part(part, Path(folder), url, int(questions), int(videos))))
        return
    whole = measure(given.questions, given.videos)
    fifth = measure(max(1, given.questions // 5), given.videos)
    print(f"{given.questions} questions x {given.videos} videos, clean and caption")
    for name, row in whole.items():
        each = 1000 * row["cpu_s"] / max(1, row["answers"])
        print(f"{name:<6} {row['wall_s']:6.1f} s, CPU {row['cpu_s']:6.1f} s, {each:.2f} ms each")
    per_answer = {n: whole[n]["cpu_s"] / whole[n]["answers"] for n in ("run", "floor")}
    ratios = {
        "cpu_of_httpx2": per_answer["run"] / per_answer["floor"],
        "peak_of_a_fifth_of_the_questions": whole["run"]["peak_mb"] / fifth["run"]["peak_mb"],
    }
    print(", ".join(f"{name} {value:.2f}" for name, value in ratios.items()))
    if given.json:
        given.json.write_text(json.dumps({"parts": whole, "ratios": ratios}, indent=2) + "\n")


if __name__ == "__main__":
    main()
