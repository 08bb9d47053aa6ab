"""One attempt at a request: a reply with a status, or what stood in the way.

Imports pydantic-ai, so it is imported when the first request is sent.
"""

from __future__ import annotations

from typing import Any

import httpx2

from egomem.errors import EgomemError
from egomem.models import http_errors, pydantic_ai_adapter
from egomem.models.prices import price
from egomem.models.reply import ErrorKind, Reply
from egomem.models.reply_parsing import parse_reply
from egomem.models.request import Request, VideoPart
from egomem.models.roles import SERVERS, ModelSpec
from egomem.models.transport import HttpExchange, response_body


async def send_once(
    model: Any, request: Request, spec: ModelSpec, key: str | None, *, prompted: bool
) -> Reply | http_errors.FailedAttempt:
    """Send a request once. `key` is the server's key, to be kept out of every message."""
    exchange = HttpExchange()
    try:
        said = await pydantic_ai_adapter.send_request(model, request, exchange, prompted=prompted)
    except (TimeoutError, EgomemError):
        raise
    except Exception as error:
        # Whatever the body of a strange server breaks inside a client is a fault of this request,
        # not of the run. The exception itself is dropped: it holds headers.
        return _failed_attempt(error, exchange.response, request, spec, key)
    found = parse_reply(said.raw, said.reasoning, said.finish, request.schema, said.refusal)
    usage = said.usage
    if usage.cost is None:
        usage = usage.model_copy(update={"cost": price(spec, usage, said.model)})
    return Reply(
        status=found.status,
        text=found.text,
        raw=said.raw,
        reasoning=found.reasoning,
        data=found.data,
        source=found.source,
        logprobs=said.logprobs,
        finish=said.finish,
        fault=found.fault,
        detail=found.detail,
        usage=usage,
        model=said.model or spec.model,
        server=spec.server,
        frames=tuple(i.time for i in request.images if i.time is not None),
    )


def _failed_attempt(
    error: Exception,
    response: httpx2.Response | None,
    request: Request,
    spec: ModelSpec,
    key: str | None,
) -> http_errors.FailedAttempt:
    server = SERVERS[spec.server]
    if response is None:
        if _is_network_error(error):
            return http_errors.explain_connection(server.title, spec.url, error, key)
        why = http_errors.redacted(f"{type(error).__name__}: {error}", key)
        return http_errors.FailedAttempt(
            ErrorKind.REQUEST, f"this cannot be sent to {server.title}: {why}"
        )
    if response.status_code >= 400:
        return http_errors.explain_status(
            response.status_code,
            response.headers,
            response_body(response),
            role=request.role.value,
            server=server,
            key=key,
            images=len(request.images),
            video=any(isinstance(part, VideoPart) for part in request.parts),
        )
    return http_errors.explain_body(
        server.title, response_body(response), key, type(error).__name__
    )


def _is_network_error(error: BaseException | None) -> bool:
    """Clients wrap what the network said in exceptions of their own, twice or thrice."""
    while error is not None:
        if isinstance(error, (OSError, httpx2.TransportError)):
            return True
        error = error.__cause__ or error.__context__
    return False
