"""An HTTP transport that encodes images while it writes a request's body, and checks replies.

A chat client turns every image into base64 inside a string inside a JSON body: several copies at
once, for each waiting request. Here the client sees a placeholder of 64 letters for each image, and
the transport replaces the placeholders while it writes, one image at a time. With 256 requests of
12 frames in flight that takes a third of the memory (bench/client.py).
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

from egomem.errors import ConfigError
from egomem.models.reported_usage import ReportedUsage
from egomem.models.servers import shown_address
from egomem.models.wire import MAX_BODY_BYTES, check_body

# Each write passes through four layers of client, so writes are of this size or more.
_BLOCK_BYTES = 1 << 16
_PLACEHOLDER = re.compile(rb"egomemBytes[0-9a-f]{53}")


def placeholder(sha256: str) -> bytes:
    """48 bytes whose base64 is `egomemBytes` and the first 53 digits of a hash.

    The client encodes them as it would an image; they come out of that as plain letters.
    """
    return base64.b64decode("egomemBytes" + sha256[:53])


@dataclass
class HttpExchange:
    """One attempt: the bytes behind its placeholders, and what came of it.

    `sent`: a server was reached, so it may have done the work, whatever came back. `usage` is what
    it says that the work took. `problem` says why its reply cannot be used.
    """

    payloads: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    response: httpx2.Response | None = None
    sent: bool = False
    usage: ReportedUsage | None = None
    problem: str = ""

    def add(self, sha256: str, *data: bytes) -> bytes:
        """Register bytes to be sent; returns their placeholder.

        Several pieces are sent as base64 with commas between them (a list of frames).
        """
        stand_in = placeholder(sha256)
        self.payloads[base64.b64encode(stand_in)] = data
        return stand_in


EXCHANGE: ContextVar[HttpExchange | None] = ContextVar("exchange", default=None)


class _LateBody(httpx2.AsyncByteStream):
    """A JSON body whose placeholders are replaced while it is read."""

    def __init__(self, content: bytes, exchange: HttpExchange) -> None:
        self.pieces: list[bytes | tuple[bytes, ...]] = []
        self.length = 0
        end = 0
        for match in _PLACEHOLDER.finditer(content):
            payload = exchange.payloads.get(match[0])
            if payload is None:
                continue
            self._add(content[end : match.start()])
            self._add(payload)
            end = match.end()
        self._add(content[end:])

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
                        written = bytes(block)
                        block.clear()  # one copy in memory while it is written
                        yield written
        if block:
            yield bytes(block)


def _encoded_length(data: bytes) -> int:
    return 4 * ((len(data) + 2) // 3)


_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.ProxyError,
)
# They describe the body as it was sent, which is read and decoded by now.
_BODY_HEADERS = frozenset(("content-length", "content-encoding", "transfer-encoding"))


async def _read(response: httpx2.Response) -> tuple[bytes, str]:
    """The whole body, decoded, or what is wrong with it."""
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return b"", f"a reply of more than {MAX_BODY_BYTES // 1_000_000} MB"
    except httpx2.DecodingError:
        return b"", "a reply whose compression is broken"
    finally:
        await response.aclose()
    return bytes(body), ""


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Writes the images into the body; checks the reply, and notes what the request took.

    Clients raise errors of their own for a response that they cannot read, without its body, and
    some die of it; here each reply becomes one that they can read.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = EXCHANGE.get()
        # The client computed the length of the body with placeholders in it.
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
        # Cancelled from here on, nobody knows how far the server has got.
        if exchange is not None:
            exchange.sent = True
        try:
            response = await self._inner.handle_async_request(request)
        except _NEVER_SENT:
            if exchange is not None:
                exchange.sent = False
            raise
        content, problem = await _read(response)
        checked = check_body(content)
        response = httpx2.Response(
            response.status_code,
            headers=[(n, v) for n, v in response.headers.multi_items() if n not in _BODY_HEADERS],
            content=checked.content,
            extensions=response.extensions,
            request=request,
        )
        if exchange is not None:
            exchange.response = response
            exchange.usage = checked.usage
            exchange.problem = problem or checked.problem
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


@cache  # loading the certificates is slow
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def http_client(url: str, connect: float = 10.0) -> httpx2.AsyncClient:
    """An HTTP client without read timeout (the caller has a deadline) or limit of connections.

    `connect`: seconds to connect in. A proxy is taken from the environment, but never for this
    machine itself: a local model server is not behind it. Raises ConfigError for an impossible one.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxy = None
    if host not in ("localhost", "127.0.0.1", "::1") and not proxy_bypass(host):
        proxies = getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
    try:
        _ = proxy and urlsplit(proxy).port  # raises ValueError for one that cannot exist
        inner = httpx2.AsyncHTTPTransport(
            verify=_ssl_context(),
            proxy=proxy,
            # How many requests are sent at once is the concurrency limiter's affair.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
        )
    except (ValueError, ImportError, httpx2.InvalidURL) as error:
        raise _proxy_error(parts.scheme, proxy or "", error) from None
    return httpx2.AsyncClient(
        transport=CheckedTransport(inner), timeout=httpx2.Timeout(None, connect=connect)
    )


def _proxy_error(scheme: str, proxy: str, error: Exception) -> ConfigError:
    name = f"{scheme.upper()}_PROXY or ALL_PROXY"
    if isinstance(error, ImportError):
        return ConfigError(
            f"the proxy {shown_address(proxy)} is a SOCKS proxy, which needs a further package",
            f"run: pip install socksio; or set {name} to an HTTP proxy",
        )
    return ConfigError(
        f"the proxy {shown_address(proxy)} cannot be used ({type(error).__name__})",
        f"set {name} to an address such as http://HOST:3128, or unset it",
    )


def response_body(response: httpx2.Response | None) -> bytes:
    """The response's body, as far as it was read."""
    if response is None:
        return b""
    try:
        return response.content
    except httpx2.ResponseNotRead:
        return b""
