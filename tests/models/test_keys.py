"""What is in a cache key, what is kept, and that one request is under way per key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from egomem.memory.replies import ReplyCache
from egomem.models import (
    AudioPart,
    ContentPart,
    ImagePart,
    InMemoryReplyStore,
    Limits,
    ModelClient,
    ModelSpec,
    Request,
    RequestTags,
    Role,
    TextPart,
    VideoPart,
)
from egomem.records import Status
from egomem.testing import Rule

Fixture = Callable[..., Any]
SPEC = ModelSpec.parse("vllm:qwen@http://127.0.0.1:9/v1", {})
BASE = Request(Role.READER, (ImagePart(b"\xff\xd8one", 1.0, "[1 s]"), TextPart("Which?")), "read@1")
COLD = replace(BASE, temperature=0.7)


def swap(part: ContentPart) -> Request:
    return replace(BASE, parts=(part, BASE.parts[1]))


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, temperature=0.7),
        replace(BASE, prompt="read@2"),
        replace(BASE, system="Be short."),
        replace(BASE, schema={"type": "object"}),
        replace(BASE, max_tokens=12),
        replace(BASE, seed=3),
        replace(BASE, logprobs=5),
        replace(BASE, parts=BASE.parts[::-1]),
        replace(BASE, parts=(BASE.parts[0], TextPart("Which one?"))),
        swap(ImagePart(b"\xff\xd8One", 1.0, "[1 s]")),  # the same file at another quality
        swap(ImagePart(b"\xff\xd8one", 1.0, "[2 s]")),
        swap(AudioPart(b"\xff\xd8one")),
        swap(VideoPart((ImagePart(b"\xff\xd8one"),))),
    ],
)
def test_what_decides_the_reply_is_in_the_key(other: Request) -> None:
    assert other.key(SPEC) != BASE.key(SPEC)


def test_another_model_or_server_is_another_key() -> None:
    others = [
        ModelSpec.parse(text, {})
        for text in (
            "vllm:qwen@http://127.0.0.1:10/v1",
            "vllm:qwen2@http://127.0.0.1:9/v1",
            "ollama:qwen",
        )
    ]
    assert len({BASE.key(spec) for spec in [SPEC, *others]}) == 4


def test_what_does_not_decide_the_reply_is_not() -> None:
    same = [
        replace(BASE, role=Role.JUDGE),
        replace(BASE, tags=RequestTags("r1", "q1")),
        replace(BASE, sample=3),  # at temperature 0 all draws are one
        swap(ImagePart(b"\xff\xd8one", 9.0, "[1 s]")),  # a time that is not told
    ]
    assert {r.key(SPEC) for r in same} == {BASE.key(SPEC)}
    assert replace(COLD, sample=1).key(SPEC) != COLD.key(SPEC)


def test_the_key_does_not_change_between_releases() -> None:
    """A key that moves makes every user pay again: change it on purpose, and say so."""
    assert BASE.key(SPEC)[:16] == "1803ba899057a84f"


def test_a_hash_is_of_all_bytes(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    """D5: two images must never share a caption, and a changed file must miss."""
    server = serve(Rule(reply="seen {hash}"))
    client = models(server, cache=InMemoryReplyStore())
    first = ask(client, BASE)[0]
    changed = ask(client, swap(ImagePart(b"\xff\xd8onE", 1.0, "[1 s]")))[0]
    assert first.text != changed.text
    assert len(server.requests) == 2


def test_a_second_run_asks_nothing(
    serve: Fixture, models: Fixture, ask: Fixture, tmp_path: Any
) -> None:
    server = serve(Rule(reply="{n}"))
    with ReplyCache(tmp_path) as cache:
        fresh = ask(models(server, cache=cache), BASE)[0]
    with ReplyCache(tmp_path) as cache:
        again = ask(models(server, cache=cache), BASE)[0]
    assert (again.text, again.cached, fresh.cached, len(server.requests)) == ("1", True, False, 1)
    assert again.model_copy(update={"cached": False}) == fresh


def test_fitted_and_whole_requests_do_not_share(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    cache = InMemoryReplyStore()
    server = serve(Rule(reply="{n}"))
    ask(models(server, cache=cache, limits={Role.READER: Limits(fit=True)}), BASE)
    assert not ask(models(server, cache=cache), BASE)[0].cached


@pytest.mark.parametrize("with_cache", [True, False])
def test_one_request_under_way_per_key(
    serve: Fixture, models: Fixture, ask: Fixture, with_cache: bool
) -> None:
    server = serve(Rule(reply="{n}", delay=0.05))
    client = models(server, cache=InMemoryReplyStore() if with_cache else None)
    replies = ask(client, *[BASE] * 20, replace(BASE, prompt="read@2"))
    assert {r.text for r in replies[:20]} == {replies[0].text}
    assert len(server.requests) == 2
    total = client.ledger.total()
    assert (total.asked, total.cached, total.usage.requests) == (21, 19, 2)


def test_those_who_wait_take_over_when_the_first_is_cancelled(
    serve: Fixture, models: Fixture
) -> None:
    server = serve(Rule(reply="B", delay=0.1))
    client: ModelClient = models(server)

    async def work() -> Status:
        async with client:
            first = asyncio.create_task(client.ask(BASE))
            second = asyncio.create_task(client.ask(BASE))
            await asyncio.sleep(0.05)
            first.cancel()
            return (await second).status

    assert asyncio.run(work()) is Status.PARSED
    assert len(server.requests) == 2


def test_a_loop_for_each_question_leaves_nothing_open(serve: Fixture, models: Fixture) -> None:
    """Warnings are errors here: a connection left open would fail this test."""
    client: ModelClient = models(serve(Rule(reply="{n}")))
    texts = [asyncio.run(client.ask(replace(BASE, prompt=f"p@{i}"))).text for i in range(3)]
    assert texts == ["1", "2", "3"]


def test_closing_is_for_ever_repeatable(serve: Fixture, models: Fixture) -> None:
    client: ModelClient = models(serve(Rule(reply="{n}")))

    async def work() -> list[str]:
        await client.close()
        order = []
        for i in range(2):
            order.append((await client.ask(replace(BASE, prompt=f"p@{i}"))).text)
            await client.close()
        async with client:
            order.append((await client.ask(replace(BASE, prompt="p@9"))).text)
            await client.close()
        return order

    assert asyncio.run(work()) == ["1", "2", "3"]


def test_ledger_by_role_recording_and_question(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(Rule(when="fail", status=400), Rule(reply="12345678"))
    client: ModelClient = models(server)
    ask(
        client,
        replace(BASE, tags=RequestTags("r1", "q1")),
        replace(BASE, role=Role.JUDGE, prompt="judge@1", tags=RequestTags("r1", "q2")),
        replace(BASE, parts=(TextPart("fail"),), tags=RequestTags("r2", "q2")),
    )
    ledger = client.ledger
    assert ledger.total(role=Role.READER).usage.frames == 1
    assert ledger.total(recording="r1").asked == 2
    failed = ledger.total(question="q2", role=Role.READER)
    assert (failed.asked, failed.failed, failed.usage.tokens_in) == (1, 1, 0)
    assert ledger.total(recording="r1").usage.tokens_out == 4
    assert set(ledger.by_role()) == {Role.READER, Role.JUDGE}


def test_shared_context_first_is_counted_as_cached(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    captions = "A mug is on the table. " * 40
    server = serve(Rule(reply="ok"))
    client: ModelClient = models(server)
    for text in ("Where is the mug?", "Who took it?"):
        last = ask(client, Request(Role.READER, (TextPart(captions), TextPart(text)), "r@1"))[0]
    assert last.usage.tokens_cached >= len(captions) // 4
    assert client.ledger.total().usage.tokens_cached == last.usage.tokens_cached
