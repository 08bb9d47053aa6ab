"""Odd replies over real HTTP: each ends in a status for its request alone, and its usage counts."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from egomem.models import (
    ErrorKind,
    InMemoryReplyStore,
    ModelClient,
    Reply,
    Request,
    RequestPolicy,
    Role,
    TextPart,
)
from egomem.models.json_extract import find_json
from egomem.models.reported_usage import ReportedUsage, read_usage
from egomem.models.wire import MAX_DEPTH, check_body, clean_text
from egomem.records import Status

Start = Callable[..., "RawServer"]
USAGE = {"prompt_tokens": 1200, "completion_tokens": 30}


class RawServer:
    """Answers POST with bodies in turn, the last one for ever; counts what it is asked."""

    def __init__(self, *bodies: bytes, status: int = 200, **headers: str) -> None:
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                body = bodies[min(outer.asked, len(bodies) - 1)]
                outer.asked += 1
                self.send_response(status)
                self.send_header("content-type", "application/json")
                for name, value in headers.items():
                    self.send_header(name, value)
                cut = body.startswith(b"CUT")
                self.send_header("content-length", str(len(body) + 500 * cut))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = cut

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[RawServer] = []

    def new(*bodies: Any, **fields: Any) -> RawServer:
        raw = [b if isinstance(b, bytes) else json.dumps(b).encode() for b in bodies]
        servers.append(RawServer(*raw, **fields))
        return servers[-1]

    yield new
    for server in servers:
        server.stop()


def completion(text: Any = "B", **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    body = {"id": "1", "object": "chat.completion", "created": 7, "model": "m", "usage": USAGE}
    finish = {"finish_reason": fields.pop("finish_reason", "stop")}
    return {**body, "choices": [{**choice, **finish}], **fields}


def ask_once(
    server: RawServer,
    text: str = "What is on the table?",
    *,
    name: str = "openai:gpt-4o-mini",
    attempts: int = 3,
    client: ModelClient | None = None,
    **fields: Any,
) -> tuple[Reply, ModelClient]:
    client = client or ModelClient(
        {"all": f"{name}@{server.url}"},
        policy=RequestPolicy(max_attempts=attempts, backoff=0.001, deadline=20),
        cache=InMemoryReplyStore(),
        environ={},
    )
    request = Request(Role.READER, (TextPart(text),), "t@1", **fields)
    return asyncio.run(client.ask(request)), client


ODD: list[tuple[str, Any, str]] = [
    ("half a pair", completion("B \ud83d."), "B \ufffd."),
    ("a whole pair, escaped", completion("B \ud83e\udd64"), "B \N{CUP WITH STRAW}"),
    ("a NUL", completion("B\x00."), "B\ufffd."),
    ("no UTF-8", json.dumps(completion("B Q")).encode().replace(b"Q", b"\xff"), "B \ufffd"),
    ("null id", completion(id=None), "B"),
    ("id a number", completion(id=10**30), "B"),
    ("created a string", completion(created="yesterday"), "B"),
    ("object missing", {k: v for k, v in completion().items() if k != "object"}, "B"),
    ("model a list", completion(model=["m"]), "B"),
    ("finish empty", completion(finish_reason=""), "B"),
    ("finish a number", completion(finish_reason=0), "B"),
    ("usage a string", completion(usage="1230"), "B"),
    ("usage of strings", completion(usage={"prompt_tokens": "12", "completion_tokens": "3"}), "B"),
    ("usage of floats", completion(usage={"prompt_tokens": 12.0, "completion_tokens": 3.0}), "B"),
    ("count of 2^63", completion(usage={"prompt_tokens": 2**63, "completion_tokens": 1}), "B"),
    ("count of 10^5000", b'{"choices":[{"message":{"content":"B"}}],"n":1%s}' % (b"0" * 5000), "B"),
    ("NaN", b'{"choices":[{"message":{"content":"B"}}],"created":NaN,"x":1e999}', "B"),
    ("parts", completion([{"type": "text", "text": "B"}, {"type": "x"}, "."]), "B."),
    ("odd tool calls", {"choices": [{"message": {"content": "B", "tool_calls": 7}}]}, "B"),
    ("odd log-probabilities", {"choices": [{"message": {"content": "B"}, "logprobs": [1]}]}, "B"),
    ("older kind", {"choices": [{"text": "B"}]}, "B"),
    ("byte order mark", b"\xef\xbb\xbf" + json.dumps(completion()).encode(), "B"),
]


@pytest.mark.parametrize(("body", "text"), [o[1:] for o in ODD], ids=[o[0] for o in ODD])
def test_an_odd_reply_is_read(start: Start, body: Any, text: str) -> None:
    reply, client = ask_once(start(body))
    assert (reply.status, reply.text) == (Status.PARSED, text)
    assert Reply.model_validate_json(reply.model_dump_json()) == reply
    assert client.ledger.total().usage.requests == 1


UNUSABLE: list[tuple[str, Any]] = [
    ("deep body", b'{"z":' * 40_000 + b"1" + b"}" * 40_000),
    ("deep list", b"[" * 90_000),
    ("deep but readable", b'{"z":' * (MAX_DEPTH + 5) + b"1" + b"}" * (MAX_DEPTH + 5)),
    ("choices null", completion(choices=None)),
    ("choices of null", completion(choices=[None])),
    ("empty choices", completion(choices=[])),
    ("a number", b"17"),
    ("nothing", b""),
    ("message null", completion(choices=[{"message": None}])),
    ("cut", b"CUT" + json.dumps(completion()).encode()),
]


@pytest.mark.parametrize("body", [u[1] for u in UNUSABLE], ids=[u[0] for u in UNUSABLE])
def test_an_unusable_reply_is_a_status_and_the_next_try_is_not_poisoned(
    start: Start, body: Any
) -> None:
    server = start(body, completion("C"))
    reply, client = ask_once(server, attempts=1)
    assert reply.status in (Status.ERROR, Status.UNPARSABLE)
    assert reply.detail
    again, _ = ask_once(server, client=client)
    assert (again.status, again.text, again.cached) == (Status.PARSED, "C", False)


def test_deep_json_in_the_text_is_no_data(start: Start) -> None:
    schema = {"type": "object"}
    deep = '{"a":' * 30_000 + "1" + "}" * 30_000
    reply, _ = ask_once(start(completion(deep)), schema=schema)
    assert (reply.status, reply.data) == (Status.UNPARSABLE, None)
    almost = '{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1)
    assert find_json(almost, schema).value is None
    odd = find_json('{"a": "x\\ud83d", "n": 1%s, "x": NaN}' % ("0" * 30))
    assert odd.value == {"a": "x\ufffd", "n": None, "x": None}


def test_usage_counts_for_each_attempt(start: Start) -> None:
    """Two that are unusable, one that is empty, one that is read: four are paid."""
    pytest.importorskip("genai_prices")
    server = start(
        completion(choices=[]), completion(choices=None), completion(choices=[]), completion()
    )
    reply, client = ask_once(server, attempts=9)
    one, _ = ask_once(start(completion()))
    assert (reply.text, server.asked, reply.usage.requests) == ("B", 4, 4)
    assert one.usage.cost
    assert reply.usage.cost == pytest.approx(4 * one.usage.cost)
    total = client.ledger.total()
    assert (total.asked, total.usage.requests, total.usage.tokens_in) == (1, 4, 4800)
    assert (total.unpriced, total.estimated) == (0, 0.0)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "lots",
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": -4, "completion_tokens": -2},
        {"prompt_tokens": 10**30},
    ],
)
def test_usage_that_is_not_stated_is_unknown_and_estimated(start: Start, usage: Any) -> None:
    pytest.importorskip("genai_prices")
    reply, client = ask_once(start(completion(usage=usage)))
    assert (reply.usage.requests, reply.usage.cost, reply.usage.tokens_in) == (1, None, 0)
    total = client.ledger.total()
    assert (total.usage.cost, total.unpriced) == (None, 1)
    assert 0 < total.estimated < 0.01


def test_lost_and_cut_replies_count_as_unknown(start: Start) -> None:
    pytest.importorskip("genai_prices")
    server = start(b"CUT" + json.dumps(completion()).encode(), completion())
    reply, client = ask_once(server)
    assert (reply.text, server.asked) == ("B", 2)
    total = client.ledger.total()
    assert (total.usage.requests, total.unpriced) == (2, 1)
    assert total.usage.cost
    assert total.estimated > 0


def test_what_never_reached_a_server_is_not_counted(start: Start) -> None:
    server = start(completion())
    server.stop()
    reply, client = ask_once(server)
    assert (reply.fault, client.ledger.total().usage.requests) == (ErrorKind.CONNECTION, 0)


def test_a_schema_that_is_refused_counts_as_a_request(start: Start) -> None:
    refusal = {"error": {"code": 400, "message": "response_format is unknown"}}
    server = start(refusal, completion('{"a": 1}'))
    reply, client = ask_once(server, schema={"type": "object"})
    assert (reply.data, server.asked, reply.usage.requests) == ({"a": 1}, 2, 2)
    assert client.ledger.total().usage.requests == 2


def test_a_cancelled_request_is_booked(start: Start) -> None:
    class Refused(Exception):
        pass

    server = start(completion(choices=[]))
    client = ModelClient(
        {"all": f"openai:gpt-4o-mini@{server.url}"},
        policy=RequestPolicy(max_attempts=50, backoff=0.2),
        environ={},
    )

    async def give_up() -> None:
        request = Request(Role.READER, (TextPart("?"),), "t@1")
        task = asyncio.create_task(client.ask(request))
        while not server.asked:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(give_up())
    assert client.ledger.total().usage.tokens_in == 1200 * server.asked


def test_a_redirect_is_not_followed(start: Start) -> None:
    other = start(completion())
    server = start({}, status=307, location=other.url + "/chat/completions?key=abc123")
    reply, _ = ask_once(server)
    assert (reply.status, other.asked, server.asked) == (Status.ERROR, 0, 1)
    assert other.url in reply.detail
    assert "abc123" not in reply.detail


@pytest.mark.parametrize(
    ("body", "usage"),
    [
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 2}}, (9, 0, 2, None)),
        (
            {"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}},
            (9, 4, 0, None),
        ),
        ({"usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}}, (9, 5, 0, None)),
        (
            {"usage": {"input_tokens": 9, "cache_read_input_tokens": 6, "output_tokens": 1}},
            (15, 6, 1, None),
        ),
        (
            {"usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2,
                               "thoughtsTokenCount": 3}},
            (8, 0, 5, None),
        ),
        ({"usage": {"total_tokens": 30, "completion_tokens": 10}}, (20, 0, 10, None)),
        ({"usage": {"prompt_tokens": 9, "cost": 0.25}}, (9, 0, 0, 0.25)),
        ({"usage": {"prompt_tokens": 9, "cost": -0.25}}, (9, 0, 0, None)),
        ({"usage": {"prompt_tokens": 9, "cost": "0.5"}}, (9, 0, 0, 0.5)),
        ({"usage": {"prompt_tokens": True, "completion_tokens": [3]}}, None),
        ({"error": {"usage": {"prompt_tokens": 3}}}, (3, 0, 0, None)),
        ({}, None),
    ],
)  # fmt: skip
def test_usage_in_the_words_of_each_provider(
    body: dict[str, Any], usage: tuple[int, int, int, float | None] | None
) -> None:
    assert read_usage(body) == (usage and ReportedUsage(*usage))


def test_checks_leave_good_bodies_alone() -> None:
    assert clean_text("zwölf \N{CUP WITH STRAW} 漢") == "zwölf \N{CUP WITH STRAW} 漢"
    checked = check_body(b"<html>no JSON</html>")
    assert checked == (b"<html>no JSON</html>", None, "")
    nested = {"a": [{"b": {"c": [1, 2.5, None, True, "x"]}}]}
    assert json.loads(check_body(json.dumps(nested).encode()).content) == nested
