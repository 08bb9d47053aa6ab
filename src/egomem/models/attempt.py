"""One attempt at a request: a reply with a status, or how the attempt failed.

Imports httpx2, so it is imported when the first request is sent.
"""

from __future__ import annotations

from typing import Any

import httpx2

from egomem.errors import EgomemError
from egomem.models import chat_completions, http_errors
from egomem.models.completion import Completion
from egomem.models.http_errors import FailedAttempt
from egomem.models.prices import is_priced, price
from egomem.models.reply import ErrorKind, Reply
from egomem.models.reply_parsing import parse_reply
from egomem.models.request import Request, VideoPart
from egomem.models.roles import ModelSpec
from egomem.models.servers import SERVERS
from egomem.models.transport import HttpExchange, response_body
from egomem.records import Usage


async def send_once(
    model: Any,
    request: Request,
    spec: ModelSpec,
    key: str | None,
    exchange: HttpExchange,
    *,
    schema_in_words: bool,
) -> Reply | FailedAttempt:
    """Send a request once. `key` is the server's key, kept out of every message.

    `schema_in_words`: describe the JSON schema in the prompt, for servers that refuse it as a
    parameter. `FailedAttempt.schema_rejected` is set only where the schema was a parameter.
    `exchange` is filled with what came over the wire; the caller reads from it what was spent.
    """
    try:
        completion = await _send(model, request, exchange, schema_in_words)
    except (TimeoutError, EgomemError):
        raise
    except Exception as error:
        # Whatever the body of a strange server breaks inside a client is an error of this request,
        # not of the run. The exception itself is dropped: it holds headers.
        failed = _failed_attempt(error, exchange, request, spec, key)
        if request.schema is None or schema_in_words:
            failed = failed._replace(schema_rejected=False)
        return failed
    parsed = parse_reply(
        completion.raw,
        completion.reasoning,
        completion.finish,
        request.schema,
        completion.refusal,
    )
    return Reply(
        status=parsed.status,
        text=parsed.text,
        raw=completion.raw,
        reasoning=parsed.reasoning,
        data=parsed.data,
        source=parsed.source,
        logprobs=completion.logprobs,
        finish=completion.finish,
        fault=parsed.fault,
        detail=parsed.detail,
        model=completion.model or spec.model,
        server=spec.server,
        frames=tuple(i.time for i in request.images if i.time is not None),
    )


async def _send(
    model: Any, request: Request, exchange: HttpExchange, schema_in_words: bool
) -> Completion:
    if isinstance(model, chat_completions.ChatServer):
        return await chat_completions.send_request(
            model, request, exchange, schema_in_words=schema_in_words
        )
    # Loads pydantic-ai, which takes more than a second: not for a server that needs none of it.
    from egomem.models import pydantic_ai_adapter

    return await pydantic_ai_adapter.send_request(
        model, request, exchange, schema_in_words=schema_in_words
    )


def _failed_attempt(
    error: Exception,
    exchange: HttpExchange,
    request: Request,
    spec: ModelSpec,
    key: str | None,
) -> FailedAttempt:
    server, response = SERVERS[spec.server], exchange.response
    if response is None:
        if _is_network_error(error):
            return http_errors.explain_connection(server.title, spec.url, error, key)
        problem = http_errors.redacted(f"{type(error).__name__}: {error}", key)
        return FailedAttempt(ErrorKind.REQUEST, f"this cannot be sent to {server.title}: {problem}")
    if exchange.problem:
        detail = f"{server.title} answered with {exchange.problem}"
        return FailedAttempt(ErrorKind.SERVER, detail)
    status, body, images = response.status_code, response_body(response), len(request.images)
    if 300 <= status < 400:
        return http_errors.explain_redirect(status, response.headers.get("location", ""), server)
    role = request.role.value
    if status >= 400:
        return http_errors.explain_status(
            status,
            response.headers,
            body,
            role=role,
            server=server,
            key=key,
            images=images,
            video=any(isinstance(part, VideoPart) for part in request.parts),
        )
    return http_errors.explain_body(
        body, type(error).__name__, role=role, server=server, key=key, images=images
    )


def _is_network_error(error: BaseException | None) -> bool:
    # Clients wrap the network's exception in two or three of their own.
    while error is not None:
        if isinstance(error, (OSError, httpx2.TransportError)):
            return True
        error = error.__cause__ or error.__context__
    return False


def usage_of(exchange: HttpExchange, spec: ModelSpec) -> Usage:
    """What one attempt took: one request, its tokens and its cost as far as they are known.

    Nothing where no server was reached. A server that refuses a request (4xx) charges nothing for
    it; any other reply without a usage has an unknown cost.
    """
    if not exchange.sent:
        return Usage()
    reported = exchange.usage
    if reported is None:
        refused = exchange.response is not None and 300 <= exchange.response.status_code < 500
        return Usage(requests=1, cost=0.0 if refused and is_priced(spec) else None)
    usage = Usage(
        requests=1,
        tokens_in=reported.tokens_in,
        tokens_cached=reported.tokens_cached,
        tokens_out=reported.tokens_out,
    )
    cost = reported.cost
    if cost is None and reported.has_tokens:
        cost = price(spec, usage, reported.model)
    return usage.model_copy(update={"cost": cost})
