"""How many requests a server gets at once: fewer while it says that it is busy, then more again."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ConcurrencyLimiter:
    """Additive increase, multiplicative decrease, as in TCP (RFC 5681).

    Starts at `max_slots` and never exceeds it. Halves when the server answers 429 or 503, once for
    all requests that were in flight together; grows by about one for each round of successes.
    """

    def __init__(self, max_slots: int) -> None:
        self.max_slots = max_slots
        self.limit = float(max_slots)
        self.active = 0
        self.has_answered = False  # a server that never did is likely not running
        self._open_at = 0.0
        self._cut_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for one of the slots allowed now; yields the loop time at which it was got."""
        loop = asyncio.get_running_loop()
        while True:
            if (pause := self._open_at - loop.time()) > 0:
                await asyncio.sleep(pause)
            elif self.active < int(self.limit):
                break
            else:
                turn: asyncio.Future[None] = loop.create_future()
                self._waiting.append(turn)
                try:
                    await turn
                except asyncio.CancelledError:
                    if turn.done() and not turn.cancelled():
                        self._wake()  # the slot offered to this request goes to the next one
                    raise
        self.active += 1
        try:
            yield loop.time()
        finally:
            self.active -= 1
            self._wake()

    def record_success(self) -> None:
        self.has_answered = True
        self.limit = min(float(self.max_slots), self.limit + 1.0 / self.limit)
        self._wake()

    def record_busy(self, started: float, wait: float) -> None:
        """Slow down: the server refused a request of `started`. Sends nothing for `wait` s."""
        now = asyncio.get_running_loop().time()
        self._open_at = max(self._open_at, now + wait)
        # Requests sent before the last cut tell nothing about the limit since.
        if started > self._cut_at:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = now

    def _wake(self) -> None:
        free = int(self.limit) - self.active
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
