from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from egomem.models import ModelClient, Reply, Request, RequestPolicy
from egomem.testing import Rule, Script, ScriptedServer

QUICK = RequestPolicy(deadline=20, backoff=0.01, concurrency=4)


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Start servers that stop when the test ends."""
    started: list[ScriptedServer] = []

    def start(*rules: Rule, **fields: Any) -> ScriptedServer:
        answer = fields.pop("answer", None)
        started.append(ScriptedServer(Script(rules=rules, **fields), answer=answer).start())
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def models() -> Callable[..., ModelClient]:
    """Models of a server, in a hurry and without any key."""

    def of(server: ScriptedServer, kind: str = "openai-compatible", **fields: Any) -> ModelClient:
        fields.setdefault("policy", QUICK)
        fields.setdefault("environ", {})
        return ModelClient({"all": f"{kind}:fake@{server.url}"}, **fields)

    return of


@pytest.fixture
def ask() -> Callable[..., list[Reply]]:
    """The replies to requests that are sent at once."""

    def all_of(client: ModelClient, *requests: Request) -> list[Reply]:
        async def work() -> list[Reply]:
            async with client:
                return list(await asyncio.gather(*(client.ask(r) for r in requests)))

        return asyncio.run(work())

    return all_of
