"""When a request is sent again: the number of attempts, the waits between them, the deadline."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from egomem.models.concurrency_limiter import ConcurrencyLimiter
from egomem.models.http_errors import FailedAttempt
from egomem.models.limits import Limits, keep_images
from egomem.models.reply import ErrorKind, Reply
from egomem.models.request import Request
from egomem.records import Record, Status

MAX_ATTEMPTS_UNREACHED = 2
"""Attempts at a server that has never answered: it is likely not running at all."""

MAX_BACKOFF_S = 30.0


class RequestPolicy(Record):
    """How requests are sent and retried. Named defaults; our choice.

    `deadline`: seconds for one request, with all its attempts and the waits between them, from the
    moment it first gets a slot. `concurrency`: the most requests sent to one server at once.
    `max_attempts`: how often one request is sent at most, for example while the server answers 503
    (`http_errors.RETRIED_STATUSES`). `backoff`: seconds before the second attempt; each further
    wait is twice as long, with jitter.
    """

    deadline: float = 180.0
    concurrency: int = 8
    max_attempts: int = 6
    backoff: float = 1.0

    def pause(self, attempts: int) -> float:
        """Seconds to wait after so many attempts, unless the server asks for more."""
        # Jitter keeps clients that failed together from all coming back together.
        jitter = random.uniform(0.5, 1.5)
        return min(self.backoff * 2.0 ** (attempts - 1) * jitter, MAX_BACKOFF_S)


Attempt = Callable[[Request], Awaitable[Reply | FailedAttempt]]
"""Sends a request once."""

Permit = Callable[[Request], AbstractAsyncContextManager[object]]
"""Entered before each attempt and left after it; raises to forbid it."""


async def send_with_retries(
    request: Request,
    attempt: Attempt,
    *,
    policy: RequestPolicy,
    limits: Limits,
    limiter: ConcurrencyLimiter,
    permit: Permit = lambda request: nullcontext(),
) -> Reply:
    """The reply to a request: attempts until a reply, a final error or the deadline.

    `limiter` belongs to the server. Where `limits.fit` is set and the server finds the request too
    large, images are left out and counted in the reply's `dropped`. Raises only what `attempt` and
    `permit` raise.
    """
    loop = asyncio.get_running_loop()
    image_count = len(request.images)
    first_sent: float | None = None
    deadline_at = 0.0
    last_error = ""
    attempts = 0

    def finish(reply: Reply) -> Reply:
        seconds = 0.0 if first_sent is None else loop.time() - first_sent
        spent = {"frames": len(request.images), "seconds": seconds}
        return reply.model_copy(
            update={
                "attempts": attempts,
                "dropped": image_count - len(request.images),
                "usage": reply.usage.model_copy(update=spent),
            }
        )

    while True:
        attempts += 1
        try:
            async with (
                permit(request),
                asyncio.timeout_at(deadline_at or None) as timer,
                limiter.slot() as sent_at,
            ):
                if not deadline_at:
                    # Waiting for the first slot is our own doing, so it does not count.
                    first_sent, deadline_at = sent_at, sent_at + policy.deadline
                    timer.reschedule(deadline_at)
                outcome = await attempt(request)
        except TimeoutError:
            return finish(_deadline_reply(ErrorKind.DEADLINE, policy.deadline, last_error))
        if isinstance(outcome, Reply):
            limiter.record_success()
            return finish(outcome)
        last_error = outcome.detail
        limiter.has_answered |= outcome.fault is not ErrorKind.CONNECTION
        # These two are no retries of a request that failed: the next one is another request. They
        # end by themselves, as a schema is dropped once and each turn has fewer images.
        if outcome.schema_rejected:
            continue  # the next attempt asks for JSON in words
        too_large = outcome.fault in (ErrorKind.IMAGES, ErrorKind.CONTEXT)
        if limits.fit and too_large and len(request.images) > 1:
            request = keep_images(request, outcome.max_images or len(request.images) // 2)
            continue
        allowed = policy.max_attempts
        if not limiter.has_answered:
            allowed = min(allowed, MAX_ATTEMPTS_UNREACHED)
        if not outcome.retry or attempts >= allowed:
            return finish(error_reply(outcome.fault, outcome.detail))
        # The server's own wait is the least: no jitter shortens it.
        wait = max(outcome.retry_after or 0.0, policy.pause(attempts))
        if outcome.busy:
            limiter.record_busy(sent_at, outcome.retry_after or 0.0)
        # Sleeping up to a deadline that then ends the request would only cost time.
        if loop.time() + wait >= deadline_at:
            return finish(_deadline_reply(outcome.fault, policy.deadline, last_error, wait))
        await asyncio.sleep(wait)


def error_reply(kind: ErrorKind, detail: str) -> Reply:
    """The reply to a request that failed; what a content filter stopped is refused."""
    status = Status.REFUSED if kind is ErrorKind.FILTER else Status.ERROR
    return Reply(status=status, fault=kind, detail=detail)


def _deadline_reply(kind: ErrorKind, deadline: float, last_error: str, wait: float = 0.0) -> Reply:
    """The reply to a request whose deadline is over, with the last error before it."""
    more = f", and the next attempt is {wait:.0f} s away" if wait else ""
    last = f"; last: {last_error}" if last_error else ""
    return error_reply(kind, f"no reply within {deadline:g} s{more}{last}; raise EGOMEM_DEADLINE")
