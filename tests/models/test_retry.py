"""When a request is sent again, on a clock that only waiting moves: exact and at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from selectors import DefaultSelector, SelectorKey
from typing import Any

import pytest

from egomem.models import (
    ErrorKind,
    ImagePart,
    Limits,
    Reply,
    Request,
    RequestPolicy,
    Role,
    TextPart,
)
from egomem.models.concurrency_limiter import ConcurrencyLimiter
from egomem.models.http_errors import FailedAttempt
from egomem.models.retry import MAX_BACKOFF_S, send_with_retries
from egomem.records import Status, Usage

REQUEST = Request(Role.READER, (TextPart("Where are the keys?"),), "test@1")
ANSWER = Reply(status=Status.PARSED, text="B", usage=Usage(requests=1))
BUSY = FailedAttempt(ErrorKind.SERVER, "HTTP 503: warming up", retry=True, busy=True)


class VirtualClock(asyncio.SelectorEventLoop):
    """An event loop whose time jumps to the next timer instead of passing."""

    def __init__(self) -> None:
        clock = self

        class Selector(DefaultSelector):
            def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
                clock.now += timeout or 0.0
                return super().select(0)

        self.now = 0.0
        super().__init__(Selector())

    def time(self) -> float:
        return self.now


class Server:
    """Gives the outcomes in turn, the last one for ever; a number is a hang of so many seconds."""

    def __init__(self, *outcomes: Reply | FailedAttempt | float) -> None:
        self.outcomes = [*outcomes]
        self.sent_at: list[float] = []
        self.requests: list[Request] = []

    async def attempt(self, request: Request) -> Reply | FailedAttempt:
        self.sent_at.append(round(asyncio.get_running_loop().time(), 3))
        self.requests.append(request)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, float):
            await asyncio.sleep(outcome)
            return ANSWER
        return outcome


@pytest.fixture(autouse=True)
def _no_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: (low + high) / 2)


@pytest.fixture
def send() -> Callable[..., tuple[Reply, float]]:
    """The reply to a request, and the seconds that it took."""

    def run(
        server: Server,
        request: Request = REQUEST,
        *,
        limits: Limits | None = None,
        has_answered: bool = True,
        **policy: Any,
    ) -> tuple[Reply, float]:
        async def work() -> tuple[Reply, float]:
            limiter = ConcurrencyLimiter(4)
            limiter.has_answered = has_answered
            reply = await send_with_retries(
                request,
                server.attempt,
                policy=RequestPolicy(**policy),
                limits=limits or Limits(),
                limiter=limiter,
            )
            return reply, round(asyncio.get_running_loop().time(), 3)

        with asyncio.Runner(loop_factory=VirtualClock) as runner:
            return runner.run(work())

    return run


Send = Callable[..., tuple[Reply, float]]


def test_six_attempts_with_doubling_waits(send: Send) -> None:
    server = Server(BUSY)
    reply, seconds = send(server)
    assert (reply.status, reply.fault, reply.attempts) == (Status.ERROR, ErrorKind.SERVER, 6)
    assert server.sent_at == [0, 1, 3, 7, 15, 31]
    assert seconds == 31
    assert reply.detail == "HTTP 503: warming up"


def test_a_wait_has_a_bound(send: Send) -> None:
    server = Server(BUSY)
    send(server, max_attempts=9, deadline=1000)
    waits = [
        later - earlier for earlier, later in zip(server.sent_at, server.sent_at[1:], strict=False)
    ]
    assert waits == [1, 2, 4, 8, 16, MAX_BACKOFF_S, MAX_BACKOFF_S, MAX_BACKOFF_S]


def test_a_reply_ends_it(send: Send) -> None:
    server = Server(BUSY, BUSY, ANSWER)
    reply, seconds = send(server)
    assert (reply.text, reply.attempts, reply.usage.seconds) == ("B", 3, seconds)


def test_a_final_error_is_not_sent_again(send: Send) -> None:
    server = Server(FailedAttempt(ErrorKind.KEY, "the key was not accepted"), ANSWER)
    reply, _ = send(server)
    assert (reply.fault, len(server.requests)) == (ErrorKind.KEY, 1)


def test_one_deadline_over_all_attempts(send: Send) -> None:
    """C5: timeout 30 with two retries took 91 s. Here 30 s are 30 s."""
    server = Server(1000.0)
    reply, seconds = send(server, deadline=30)
    assert (reply.status, reply.fault, seconds) == (Status.ERROR, ErrorKind.DEADLINE, 30)
    assert "no reply within 30 s" in reply.detail
    server = Server(BUSY, 20.0, BUSY)
    reply, seconds = send(server, deadline=15)
    assert (server.sent_at, seconds) == ([0, 1], 15)
    assert reply.detail == (
        "no reply within 15 s; last: HTTP 503: warming up; raise EGOMEM_DEADLINE"
    )


def test_a_wait_past_the_deadline_is_not_begun(send: Send) -> None:
    server = Server(BUSY)
    reply, seconds = send(server, deadline=10)
    assert (server.sent_at, seconds) == ([0, 1, 3, 7], 7)
    assert (reply.fault, reply.status) == (ErrorKind.SERVER, Status.ERROR)
    assert "the next attempt is 8 s away" in reply.detail


def test_what_the_server_asks_for_is_the_least(send: Send) -> None:
    limited = FailedAttempt(ErrorKind.RATE, "HTTP 429", retry=True, busy=True, retry_after=40.0)
    server = Server(limited, ANSWER)
    reply, _ = send(server)
    assert (server.sent_at, reply.text) == ([0, 40], "B")
    daily = limited._replace(retry_after=3600.0, detail="daily limit")
    server = Server(daily)
    reply, seconds = send(server)
    assert (reply.fault, server.sent_at, seconds) == (ErrorKind.RATE, [0], 0)
    assert "3600 s" in reply.detail
    assert "daily limit" in reply.detail


def test_a_server_that_never_answered_gets_two_attempts(send: Send) -> None:
    refused = FailedAttempt(ErrorKind.CONNECTION, "no answer", retry=True)
    assert send(Server(refused), has_answered=False)[0].attempts == 2
    assert send(Server(refused), has_answered=True)[0].attempts == 6
    assert send(Server(BUSY), has_answered=False)[0].attempts == 6, "a 503 is an answer"


def test_images_are_left_out_only_where_that_is_allowed(send: Send) -> None:
    images = tuple(ImagePart(b"\xff\xd8", float(i)) for i in range(8))
    request = Request(Role.READER, (*images, TextPart("What?")), "test@1")
    too_many = FailedAttempt(ErrorKind.IMAGES, "too many images")
    reply, _ = send(Server(too_many, ANSWER), request)
    assert (reply.fault, reply.attempts) == (ErrorKind.IMAGES, 1)
    server = Server(too_many, too_many._replace(max_images=3), ANSWER)
    reply, seconds = send(server, request, limits=Limits(fit=True))
    assert [len(r.images) for r in server.requests] == [8, 4, 3]
    assert (reply.text, reply.dropped, reply.usage.frames, seconds) == ("B", 5, 3, 0)


def test_a_schema_that_is_refused_costs_no_wait(send: Send) -> None:
    rejected = FailedAttempt(ErrorKind.REQUEST, "HTTP 400", schema_rejected=True)
    reply, seconds = send(Server(rejected, ANSWER), max_attempts=1)
    assert (reply.text, reply.attempts, seconds) == ("B", 2, 0)


def test_jitter_is_half_to_one_and_a_half_of_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: low)
    assert RequestPolicy(backoff=4).pause(3) == 8
    monkeypatch.setattr(random, "uniform", lambda low, high: high)
    assert RequestPolicy(backoff=4).pause(3) == 24
