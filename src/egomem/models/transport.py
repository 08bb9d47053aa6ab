"""Bodies built late: images stand in a request as short marks until its bytes go out.

A chat client turns every image into base64 inside a string inside a JSON body, several copies at
once, for each waiting request. Here the client sees a 64-letter mark for each image; the transport
replaces the marks while it writes, one image at a time. With 256 requests of 12 frames in flight
that takes a third of the memory (bench/client.py).
"""

from __future__ import annotations

import base64
import re
import ssl
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

# A write of this size or more: each write passes through four layers of client.
_BLOCK_BYTES = 1 << 16
_PLACEHOLDER = re.compile(rb"egomemBytes[0-9a-f]{53}")


def placeholder(sha256: str) -> bytes:
    """48 bytes whose base64 is `egomemBytes` and the first 53 digits of a hash."""
    return base64.b64decode("egomemBytes" + sha256[:53])


@dataclass
class HttpExchange:
    """One attempt on the wire: the bytes behind its marks, and what came back."""

    payloads: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    response: httpx2.Response | None = None

    def add(self, sha256: str, *data: bytes) -> bytes:
        """Remember bytes to be sent, and get the mark that stands for them.

        Several pieces are sent as their base64 forms with commas between (a list of frames).
        """
        mark = placeholder(sha256)
        self.payloads[base64.b64encode(mark)] = data
        return mark


EXCHANGE: ContextVar[HttpExchange | None] = ContextVar("exchange", default=None)


class _LateBody(httpx2.AsyncByteStream):
    """A JSON body with the marks replaced while it is read."""

    def __init__(self, content: bytes, exchange: HttpExchange) -> None:
        self.pieces: list[bytes | tuple[bytes, ...]] = []
        self.length = 0
        at = 0
        for mark in _PLACEHOLDER.finditer(content):
            payload = exchange.payloads.get(mark[0])
            if payload is None:
                continue
            self._add(content[at : mark.start()])
            self._add(payload)
            at = mark.end()
        self._add(content[at:])

    def _add(self, piece: bytes | tuple[bytes, ...]) -> None:
        self.pieces.append(piece)
        if isinstance(piece, bytes):
            self.length += len(piece)
        else:
            self.length += sum(_encoded_length(p) for p in piece) + len(piece) - 1

    async def __aiter__(self) -> AsyncIterator[bytes]:
        block = bytearray()
        for piece in self.pieces:
            if isinstance(piece, bytes):
                block += piece
            else:
                for index, data in enumerate(piece):
                    if index:
                        block += b","
                    block += base64.b64encode(data)
                    if len(block) >= _BLOCK_BYTES:
                        whole = bytes(block)
                        block.clear()  # hold one copy while it is written
                        yield whole
        if block:
            yield bytes(block)


def _encoded_length(data: bytes) -> int:
    return 4 * ((len(data) + 2) // 3)


class LateBodyTransport(httpx2.AsyncBaseTransport):
    """Writes the images into the body, and keeps the answer where the caller can look at it."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = EXCHANGE.get()
        if exchange is not None and exchange.payloads:
            body = _LateBody(await request.aread(), exchange)
            headers = request.headers.copy()
            headers["content-length"] = str(body.length)
            request = httpx2.Request(
                request.method,
                request.url,
                headers=headers,
                stream=body,
                extensions=request.extensions,
            )
        response = await self._inner.handle_async_request(request)
        if exchange is not None:
            exchange.response = response
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def http_client(url: str, connect: float = 10.0) -> httpx2.AsyncClient:
    """A client without read timeouts (the caller has a deadline) and with as many connections as
    asked for. A proxy is taken from the environment, but never for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxy = None
    if host not in ("localhost", "127.0.0.1", "::1") and not proxy_bypass(host):
        proxies = getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
    inner = httpx2.AsyncHTTPTransport(
        verify=_ssl_context(),
        proxy=proxy,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
    )
    return httpx2.AsyncClient(
        transport=LateBodyTransport(inner), timeout=httpx2.Timeout(None, connect=connect)
    )


def response_body(response: httpx2.Response | None) -> bytes:
    """The response's body as far as it was read."""
    if response is None:
        return b""
    try:
        return response.content
    except httpx2.ResponseNotRead:
        return b""
