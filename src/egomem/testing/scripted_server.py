"""A model server for tests and first tries: OpenAI's protocol on loopback, scripted, deterministic.

    rules = (Rule(status=429, retry_after=1, times=1), Rule(reply="B"))
    with ScriptedServer(Script(rules=rules)) as server:
        ModelClient({"all": server.spec})

Rules are tried in order: the first one that matches and is not used up answers. The script file is
described in docs/reference/testing.md.
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
    requests: list[ReceivedRequest] = field(default_factory=list)
    uses: dict[int, int] = field(default_factory=dict)  # index of a rule -> its answers so far
    in_flight: int = 0
    max_in_flight: int = 0


class ScriptedServer:
    """A scripted server, in a thread of its own from `start` to `stop`; also a context manager.

    `answer` gives a reply's text for a request; where it gives None, the rules answer. Port 0
    takes any free one. Raises ConfigError where the port cannot be used.
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
        """The base of its API, ending in /v1."""
        return f"http://{HOST}:{self._port}/v1"

    @property
    def spec(self) -> str:
        """The model spec of this server, for `ModelClient`, `--model` and settings."""
        return f"openai-compatible:{self._state.script.model}@{self.url}"

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The chat requests so far, refused ones too."""
        return self._state.requests

    @property
    def max_in_flight(self) -> int:
        """The most chat requests that it worked on at once."""
        return self._state.max_in_flight

    def start(self) -> Self:
        """Listen, in a thread of its own; returns the server."""
        ready = threading.Event()
        errors: list[OSError] = []

        async def run() -> None:
            self._loop = asyncio.get_running_loop()
            self._stopped = asyncio.Event()
            try:
                server = await listen(self._state, self._port)
            except OSError as error:
                errors.append(error)
                ready.set()
                return
            self._port = server.sockets[0].getsockname()[1]
            ready.set()
            await self._stopped.wait()
            server.close()

        self._thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        self._thread.start()
        ready.wait()
        if errors:
            problem = os.strerror(errors[0].errno or 0)
            raise ConfigError(f"port {self._port} cannot be used ({problem})", "use another --port")
        return self

    def stop(self) -> None:
        """Close all connections and stop."""
        if self._loop and self._stopped and self._thread and self._thread.is_alive():
            # The event belongs to the loop of the server's thread.
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
            pass  # the client closed the connection: no error of a server
        except asyncio.CancelledError:
            pass  # the server stops; raised further, asyncio would report a crash
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
        models: JsonValue = [{"id": state.script.model, "object": "model", "owned_by": "egomem"}]
        return await _write_response(writer, 200, {"object": "list", "data": models})
    if not path.endswith("/chat/completions") or method != "POST":
        return await _write_response(
            writer, 404, _error_body(f"there is nothing at {method} {path}")
        )
    try:
        request = parse_request(path, headers, json.loads(content))
    except (ValueError, KeyError, TypeError) as error:
        return await _write_response(writer, 400, _error_body(f"unreadable request: {error!r}"))
    state.in_flight += 1
    state.max_in_flight = max(state.max_in_flight, state.in_flight)
    try:
        return await _serve_chat(state, request, writer)
    finally:
        state.in_flight -= 1


async def _serve_chat(
    state: _ServerState, request: ReceivedRequest, writer: asyncio.StreamWriter
) -> bool:
    script = state.script
    # A prefix cache keeps recent requests only.
    earlier = state.requests[-16:]
    state.requests.append(request)
    number = len(state.requests)
    tokens = count_tokens(request)
    if script.concurrent is not None and state.in_flight > script.concurrent:
        return await _write_response(writer, 429, _error_body("too many requests at once"))
    if request.body.get("stream"):
        return await _write_response(writer, 400, _error_body("this server does not stream"))
    if script.max_images is not None and len(request.images) > script.max_images:
        message = (
            f"{len(request.images)} images were sent, at most {script.max_images} images are taken"
        )
        return await _write_response(writer, 400, _error_body(message))
    if script.context is not None and tokens > script.context:
        message = f"the request has {tokens} tokens, the maximum context length is {script.context}"
        return await _write_response(writer, 400, _error_body(message, "context_length_exceeded"))
    rule = _next_rule(state, request, number)
    await asyncio.sleep(script.delay + rule.delay)
    if rule.fault == "drop":
        return False
    if rule.fault == "echo":
        headers = "; ".join(f"{name}: {value}" for name, value in request.headers.items())
        return await _write_response(writer, 401, _error_body(f"not accepted; you sent {headers}"))
    if rule.fault == "html":
        return await _write_response(writer, 200, "<html><body>Bad gateway</body></html>")
    if rule.status != 200 or rule.fault == "error_body":
        return await _write_response(
            writer, rule.status, _error_body(rule.error), retry_after=rule.retry_after
        )
    body = build_completion(script, rule, request, number, tokens, earlier)
    return await _write_response(writer, 200, body, cut=rule.fault == "cut")


def _next_rule(state: _ServerState, request: ReceivedRequest, number: int) -> Rule:
    if state.answer is not None and (text := state.answer(request)) is not None:
        return Rule(reply=text)
    for index, rule in enumerate(state.script.rules):
        uses = state.uses.get(index, 0)
        if rule.when in request.text and (rule.times == 0 or uses < rule.times):
            state.uses[index] = uses + 1
            return rule
    schema = requested_schema(request.body)
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
    # Gateways answer with HTML where clients expect JSON: a case to test.
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
