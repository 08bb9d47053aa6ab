"""A model server for tests and first tries: OpenAI's protocol on loopback, scripted, deterministic.

    with FakeServer(Script(rules=(Rule(status=429, retry_after=1, times=1), Rule(reply="B")))) as s:
        Models({"all": f"openai-compatible:fake@{s.url}"})

Rules are tried in order; the first one that matches and is not used up answers. See
docs/reference/models.md for the script file.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from egomem.errors import ConfigError
from egomem.testing.scripted_replies import (
    ReceivedRequest,
    Rule,
    Script,
    build_completion,
    count_tokens,
    example_value,
    parse_request,
    requested_schema,
)

HOST = "127.0.0.1"

__all__ = ["ReceivedRequest", "Rule", "Script", "ScriptedServer"]


@dataclass
class _ServerState:
    script: Script
    answer: Callable[[ReceivedRequest], str | None] | None
    seen: list[ReceivedRequest] = field(default_factory=list)
    used: dict[int, int] = field(default_factory=dict)
    under_way: int = 0
    most_under_way: int = 0


class ScriptedServer:
    """The server in a thread of its own, between `start` and `stop` (or as a context manager).

    `answer` is asked for a reply's text before the rules are; None leaves it to them.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        answer: Callable[[ReceivedRequest], str | None] | None = None,
        port: int = 0,
    ) -> None:
        self._state = _ServerState(script or Script(), answer)
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped: asyncio.Event | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/v1"

    @property
    def seen(self) -> list[ReceivedRequest]:
        """The chat requests so far, refused ones too."""
        return self._state.seen

    @property
    def most_under_way(self) -> int:
        return self._state.most_under_way

    def start(self) -> Self:
        ready = threading.Event()
        failed: list[OSError] = []

        async def run() -> None:
            self._loop = asyncio.get_running_loop()
            self._stopped = asyncio.Event()
            try:
                server = await listen(self._state, self._port)
            except OSError as error:
                failed.append(error)
                ready.set()
                return
            self._port = server.sockets[0].getsockname()[1]
            ready.set()
            await self._stopped.wait()
            server.close()

        self._thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        self._thread.start()
        ready.wait()
        if failed:
            why = os.strerror(failed[0].errno or 0)
            raise ConfigError(f"port {self._port} cannot be used ({why})", "name another --port")
        return self

    def stop(self) -> None:
        if self._loop and self._stopped and self._thread and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


async def listen(state: _ServerState, port: int) -> asyncio.Server:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await _serve_request(state, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away: for a server that is no fault
        except asyncio.CancelledError:
            pass  # the server stops; asyncio's streams report a cancelled connection as a crash
        finally:
            writer.close()

    return await asyncio.start_server(connected, HOST, port, limit=1 << 20)


async def _serve_request(
    state: _ServerState, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Answer one request; False where the connection ends."""
    head = await reader.readline()
    if not head:
        return False
    method, target, _ = head.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    content = await reader.readexactly(int(headers.get("content-length", 0)))
    path = target.split("?", 1)[0]
    if path in state.script.pages:
        return await _write_response(writer, 200, state.script.pages[path])
    if path.endswith("/models") and method == "GET":
        listed: JsonValue = [{"id": state.script.model, "object": "model", "owned_by": "egomem"}]
        return await _write_response(writer, 200, {"object": "list", "data": listed})
    if not path.endswith("/chat/completions") or method != "POST":
        return await _write_response(
            writer, 404, _error_body(f"there is nothing at {method} {path}")
        )
    try:
        seen = parse_request(path, headers, json.loads(content))
    except (ValueError, KeyError, TypeError) as error:
        return await _write_response(writer, 400, _error_body(f"unreadable request: {error!r}"))
    state.under_way += 1
    state.most_under_way = max(state.most_under_way, state.under_way)
    try:
        return await _serve_chat(state, seen, writer)
    finally:
        state.under_way -= 1


async def _serve_chat(
    state: _ServerState, seen: ReceivedRequest, writer: asyncio.StreamWriter
) -> bool:
    script = state.script
    earlier = state.seen[-16:]
    state.seen.append(seen)
    number = len(state.seen)
    tokens = count_tokens(seen)
    if script.concurrent is not None and state.under_way > script.concurrent:
        return await _write_response(writer, 429, _error_body("too many requests at once"))
    if seen.body.get("stream"):
        return await _write_response(writer, 400, _error_body("this server does not stream"))
    if script.max_images is not None and len(seen.images) > script.max_images:
        said = f"{len(seen.images)} images were sent, at most {script.max_images} images are taken"
        return await _write_response(writer, 400, _error_body(said))
    if script.context is not None and tokens > script.context:
        said = f"the request has {tokens} tokens, the maximum context length is {script.context}"
        return await _write_response(writer, 400, _error_body(said, "context_length_exceeded"))
    rule = _next_rule(state, seen, number)
    await asyncio.sleep(script.delay + rule.delay)
    if rule.fault == "drop":
        return False
    if rule.fault == "echo":
        told = "; ".join(f"{name}: {value}" for name, value in seen.headers.items())
        return await _write_response(writer, 401, _error_body(f"not accepted; you sent {told}"))
    if rule.fault == "html":
        return await _write_response(writer, 200, "<html><body>Bad gateway</body></html>")
    if rule.status != 200 or rule.fault == "error_body":
        return await _write_response(
            writer, rule.status, _error_body(rule.error), retry_after=rule.retry_after
        )
    done = build_completion(script, rule, seen, number, tokens, earlier)
    return await _write_response(writer, 200, done, cut=rule.fault == "cut")


def _next_rule(state: _ServerState, seen: ReceivedRequest, number: int) -> Rule:
    if state.answer is not None and (said := state.answer(seen)) is not None:
        return Rule(reply=said)
    for index, rule in enumerate(state.script.rules):
        used = state.used.get(index, 0)
        if rule.when in seen.text and (rule.times == 0 or used < rule.times):
            state.used[index] = used + 1
            return rule
    schema = requested_schema(seen.body)
    if schema is not None:
        return Rule(reply=json.dumps(example_value(schema, schema)))
    return Rule(reply="Reply {n} to {images} images, request {hash}.")


def _error_body(message: str, code: str = "") -> dict[str, JsonValue]:
    return {"error": {"message": message, "type": "scripted", "code": code or None}}


async def _write_response(
    writer: asyncio.StreamWriter,
    status: int,
    value: JsonValue,
    *,
    retry_after: float | None = None,
    cut: bool = False,
) -> bool:
    """Send an answer; a string goes out as HTML, anything else as JSON."""
    html = isinstance(value, str)
    body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    head = [
        f"HTTP/1.1 {status} Scripted",
        f"content-type: {'text/html' if html else 'application/json'}",
        f"content-length: {len(body)}",
    ]
    if retry_after is not None:
        head.append(f"retry-after: {retry_after:g}")
    writer.write("\r\n".join([*head, "", ""]).encode() + (body[: len(body) // 2] if cut else body))
    await writer.drain()
    return not cut
