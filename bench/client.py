"""Requests a second and memory of the model client, beside the openai SDK and litellm.

Each client runs in a process of its own, pinned to one core; a trivial server on loopback answers.
A request holds 12 JPEGs of 40 KB from a pool that all requests share, and a question of its own.

    python bench/client.py [--requests 512] [--rounds 3] [--litellm PYTHON] [--json FILE]

`--litellm` names a Python that has litellm installed, if this one has not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

IMAGES, SIZE = 12, 40_000
REPLY = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "A red mug stands on the table."},
            }
        ],
        "usage": {"prompt_tokens": 4000, "completion_tokens": 9, "total_tokens": 4009},
    }
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(
    REPLY
)
Ask = Callable[[int], Awaitable[str]]


class _Answer(asyncio.Protocol):
    """Counts the bytes of each request and answers the same reply after `delay` seconds."""

    delay = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.missing, self.head = -1, b""

    def data_received(self, data: bytes) -> None:
        if self.missing < 0:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return
            fields = self.head[:end].lower().split(b"\r\n")
            length = next(int(f[15:]) for f in fields if f.startswith(b"content-length:"))
            self.missing, data, self.head = length, self.head[end + 4 :], b""
        self.missing -= len(data)
        if self.missing == 0:
            self.missing = -1
            asyncio.get_running_loop().call_later(self.delay, self._reply)

    def _reply(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(HEAD + REPLY)  # type: ignore[attr-defined]


async def serve(delay: float) -> None:
    _Answer.delay = delay
    server = await asyncio.get_running_loop().create_server(_Answer, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def pool() -> list[bytes]:
    draw = random.Random(7)
    return [b"\xff\xd8" + draw.randbytes(SIZE - 2) for _ in range(IMAGES)]


def egomem(url: str, at_once: int) -> Ask:
    from egomem.models import ImagePart, ModelClient, Request, RequestPolicy, Role, TextPart

    images = tuple(ImagePart(data) for data in pool())
    client = ModelClient(
        {"captioner": f"openai-compatible:m@{url}"},
        policy=RequestPolicy(concurrency=at_once),
        environ={},
    )
    started = client.__aenter__()
    opened = False

    async def ask(i: int) -> str:
        nonlocal opened
        if not opened:
            opened = True
            await started
        reply = await client.ask(
            Request(Role.CAPTIONER, (*images, TextPart(f"Question {i}?")), "b@1")
        )
        return reply.text

    return ask


def messages(images: list[bytes], i: int) -> list[dict[str, object]]:
    """What a caller of the SDK writes: base64 in a data address, for each request."""
    import base64

    content: list[dict[str, object]] = [
        {
            "type": "image_url",
            "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(data).decode()},
        }
        for data in images
    ]
    return [{"role": "user", "content": [*content, {"type": "text", "text": f"Question {i}?"}]}]


def openai(url: str, at_once: int) -> Ask:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=600)
    images = pool()
    gate = asyncio.Semaphore(at_once)

    async def ask(i: int) -> str:
        async with gate:
            done = await client.chat.completions.create(
                model="m",
                messages=messages(images, i),  # type: ignore[arg-type]
                max_tokens=1024,
                temperature=0.0,
            )
        return done.choices[0].message.content or ""

    return ask


def litellm(url: str, at_once: int) -> Ask:
    import litellm as lib

    lib.suppress_debug_info = True
    images = pool()
    gate = asyncio.Semaphore(at_once)

    async def ask(i: int) -> str:
        async with gate:
            done = await lib.acompletion(
                model="openai/m",
                api_base=url,
                api_key="none",
                messages=messages(images, i),
                max_tokens=1024,
                temperature=0.0,
                num_retries=0,
            )
        return str(done.choices[0].message.content)

    return ask


CLIENTS = {"egomem": egomem, "openai": openai, "litellm": litellm}


async def client(name: str, url: str, requests: int, at_once: int) -> dict[str, float]:
    ask = CLIENTS[name](url, at_once)
    await asyncio.gather(*(ask(-i) for i in range(1, 9)))  # imports, connections
    wall, cpu = time.perf_counter(), time.process_time()
    texts = await asyncio.gather(*(ask(i) for i in range(requests)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert all(text.startswith("A red mug") for text in texts), texts[:3]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"per_second": requests / wall, "cpu_ms": 1000 * cpu / requests, "peak_mb": peak}


def measure(python: str, name: str, requests: int, at_once: int, delay: float) -> dict[str, float]:
    """One run: a server on the last core, the client alone on the first."""
    here = str(Path(__file__).resolve())
    cores = sorted(os.sched_getaffinity(0))
    server = subprocess.Popen(
        [sys.executable, here, "--serve", str(delay)], stdout=subprocess.PIPE, text=True
    )
    try:
        os.sched_setaffinity(server.pid, {cores[-1]})
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        done = subprocess.run(
            [
                python,
                here,
                "--client",
                name,
                f"http://127.0.0.1:{port}/v1",
                str(requests),
                str(at_once),
            ],
            preexec_fn=lambda: os.sched_setaffinity(0, {cores[0]}),
            env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},  # it would ask the network
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr.strip()[-2000:]}")
        result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return result
    finally:
        server.kill()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--requests", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--litellm", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--client", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        asyncio.run(serve(given.serve))
        return
    if given.client:
        name, url, requests, at_once = given.client
        print(json.dumps(asyncio.run(client(name, url, int(requests), int(at_once)))))
        return
    pythons = {"egomem": sys.executable, "openai": sys.executable, "litellm": given.litellm}
    rates: dict[str, list[dict[str, float]]] = {name: [] for name in CLIENTS}
    peaks: dict[str, list[float]] = {name: [] for name in CLIENTS}
    for _ in range(given.rounds):
        for name, python in pythons.items():
            rates[name].append(measure(python, name, given.requests, 64, 0.0))
            # All 256 are sent before the first is answered, so that they are in flight together.
            peaks[name].append(measure(python, name, 256, 256, 4.0)["peak_mb"])
    table = {
        name: {
            "per_second": statistics.median(r["per_second"] for r in runs),
            "cpu_ms": statistics.median(r["cpu_ms"] for r in runs),
            "peak_mb_256": statistics.median(peaks[name]),
        }
        for name, runs in rates.items()
    }
    print(f"{IMAGES} JPEGs of {SIZE // 1000} KB a request; median of {given.rounds} rounds")
    print(f"{'client':<10}{'requests/s':>12}{'CPU ms':>10}{'peak MB, 256 in flight':>25}")
    for name, row in table.items():
        print(
            f"{name:<10}{row['per_second']:>12.1f}{row['cpu_ms']:>10.2f}{row['peak_mb_256']:>25.0f}"
        )
    ours, sdk, lite = table["egomem"], table["openai"], table["litellm"]
    ratios = {
        "rate_of_openai": ours["per_second"] / sdk["per_second"],
        "rate_of_litellm": ours["per_second"] / lite["per_second"],
        "peak_of_openai": ours["peak_mb_256"] / sdk["peak_mb_256"],
    }
    print(", ".join(f"{name} {value:.2f}" for name, value in ratios.items()))
    if given.json:
        given.json.write_text(json.dumps({"clients": table, "ratios": ratios}, indent=2) + "\n")


if __name__ == "__main__":
    main()
