"""Servers of one's own get the request that a provider's client would send."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from egomem.models import (
    ImagePart,
    ModelSpec,
    Request,
    Role,
    TextPart,
    VideoPart,
    chat_completions,
    pydantic_ai_adapter,
)
from egomem.models.request import AudioPart
from egomem.models.transport import HttpExchange, http_client
from egomem.testing import Rule

Fixture = Callable[..., Any]
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "array", "items": {"type": "object", "properties": {"c": {}}}},
    },
    "required": ["a"],
}
PICTURE = ImagePart(b"\xff\xd8pixels", 1.0, "[1 s]")
REQUESTS = [
    Request(Role.READER, (TextPart("one"), TextPart("two")), "t@1", max_tokens=None),
    Request(Role.READER, (TextPart("one"),), "t@1", system="be brief", schema=SCHEMA, seed=3),
    Request(
        Role.CAPTIONER,
        (PICTURE, AudioPart(b"sound"), AudioPart(b"song", "mp3"), VideoPart((PICTURE, PICTURE))),
        "t@1",
        logprobs=2,
        temperature=0.5,
    ),
]


@pytest.mark.parametrize("in_words", [False, True])
@pytest.mark.parametrize("request_", REQUESTS)
def test_both_ways_send_the_same(serve: Fixture, request_: Request, in_words: bool) -> None:
    server = serve(Rule(reply='{"a": 1}'))
    spec = ModelSpec("vllm", "fake", server.url)

    async def both() -> None:
        async with http_client(server.url) as client:
            direct = chat_completions.connect(spec, client, None)
            other = pydantic_ai_adapter.build_model(spec, client, {})
            for send, model in (
                (chat_completions.send_request, direct),
                (pydantic_ai_adapter.send_request, other),
            ):
                completion = await send(model, request_, HttpExchange(), schema_in_words=in_words)
                assert (completion.raw, completion.finish) == ('{"a": 1}', "stop")

    asyncio.run(both())
    first, second = server.requests
    assert first.body == second.body


def test_a_server_of_ones_own_needs_no_provider_client(serve: Fixture) -> None:
    server = serve(Rule(reply="B"))
    program = (
        "import asyncio, sys\n"
        "from egomem.models import ModelClient, Request, Role, TextPart\n"
        f"client = ModelClient({{'all': 'vllm:m@{server.url}'}}, environ={{}})\n"
        "reply = asyncio.run(client.ask(Request(Role.READER, (TextPart('?'),), 't@1')))\n"
        "print(reply.text, 'pydantic_ai' in sys.modules, 'openai' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["B", "False", "False"]
