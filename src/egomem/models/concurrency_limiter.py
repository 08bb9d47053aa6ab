"""How many requests a server gets at once: fewer when it says that it is busy, then more again."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ConcurrencyLimiter:
    """Additive increase, multiplicative decrease, as in TCP (RFC 5681).

    Starts at `most` and never exceeds it; halves, at most once for the requests that were under way
    together, when the server answers 429 or 503; grows by about one for each round of successes.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.active = 0
        self.reached = False  # has this server ever answered?
        self._open_at = 0.0
        self._cut_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """One place among those allowed now; gives the time at which it was had."""
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
                        self._wake()  # the place that was offered to us is the next one's
                    raise
        self.active += 1
        try:
            yield loop.time()
        finally:
            self.active -= 1
            self._wake()

    def went_well(self) -> None:
        self.reached = True
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
        self._wake()

    def busy(self, started: float, wait: float) -> None:
        """The server said no to a request that began at `started`; nothing is sent for `wait` s."""
        now = asyncio.get_running_loop().time()
        self._open_at = max(self._open_at, now + wait)
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
