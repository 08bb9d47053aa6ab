from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.models.concurrency_limiter import ConcurrencyLimiter


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def inner() -> None:
        await asyncio.wait_for(work(), 10)

    asyncio.run(inner())


@settings(max_examples=30)
@given(st.integers(1, 5), st.lists(st.sampled_from(["ok", "busy", "fail", "cancel"]), max_size=25))
def test_never_more_than_allowed_and_nobody_is_forgotten(max_slots: int, fates: list[str]) -> None:
    async def work() -> None:
        limiter = ConcurrencyLimiter(max_slots)
        inside = highest = 0

        async def send(fate: str) -> None:
            nonlocal inside, highest
            async with limiter.slot() as started:
                inside += 1
                highest = max(highest, inside)
                try:
                    await asyncio.sleep(0)
                finally:
                    inside -= 1
                if fate == "busy":
                    limiter.record_busy(started, 0.0)
                elif fate == "ok":
                    limiter.record_success()

        tasks = [asyncio.create_task(send(fate)) for fate in fates]
        await asyncio.sleep(0)
        for task, fate in zip(tasks, fates, strict=True):
            if fate == "cancel":
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert highest <= max_slots
        assert (limiter.active, inside) == (0, 0)
        assert 1.0 <= limiter.limit <= max_slots

    run(work)


def test_one_round_of_refusals_halves_once_and_successes_restore() -> None:
    async def work() -> None:
        limiter = ConcurrencyLimiter(16)
        started = asyncio.get_running_loop().time()
        for _ in range(16):  # all were sent before any was refused
            limiter.record_busy(started, 0.0)
        assert limiter.limit == 8
        await asyncio.sleep(0.001)
        limiter.record_busy(asyncio.get_running_loop().time(), 0.0)
        assert limiter.limit == 4
        for _ in range(5):  # about one more for each round of successes
            limiter.record_success()
        assert 4.9 < limiter.limit < 5.2
        for _ in range(400):
            limiter.record_success()
        assert limiter.limit == 16

    run(work)


def test_a_wait_that_the_server_asks_for_holds_for_all() -> None:
    async def work() -> None:
        limiter = ConcurrencyLimiter(4)
        loop = asyncio.get_running_loop()
        refused_at = loop.time()
        limiter.record_busy(refused_at, 0.15)

        async def send() -> float:
            async with limiter.slot() as started:
                return started

        assert min(await asyncio.gather(send(), send(), send())) >= refused_at + 0.15

    run(work)
