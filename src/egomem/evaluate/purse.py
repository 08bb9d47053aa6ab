"""What a run may spend, and what it has spent: looked at before every request that is sent."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from egomem.errors import ConfigError, EgomemError
from egomem.models import Models, ModelSpec, Request, Total, estimated_tokens
from egomem.models.prices import price
from egomem.observe.estimate import TOKENS_OUT
from egomem.records import Usage


class Spent(EgomemError):
    """The budget does not allow the next request; nothing was sent for it."""

    def __init__(self, why: str, option: str) -> None:
        again = f"raise {option} and run the same command again; it goes on where it stopped"
        super().__init__(why, again)


class Purse:
    """Holds a run to `budget` US dollars and `max_requests`, all its calls together.

    `earlier` and `requests_earlier` are what calls before this one have spent. A request that
    might go over waits until those under way are done, as only then their price is known.
    `closed` says why nothing more is sent; None while there is room.
    """

    def __init__(self, *, budget: float | None = None, max_requests: int | None = None) -> None:
        self.budget = budget
        self.max_requests = max_requests
        self.earlier = Usage()
        self.requests_earlier = 0
        self.closed: Spent | None = None
        self.unpriced = 0
        self._spent = Usage()
        self._sent = 0
        self._likely: list[float] = []
        self._guessed = 0.0
        self._ended = asyncio.Event()
        self._models: list[Models] = []
        self._counted: Counter[int] = Counter()

    def watch(self, models: Models) -> None:
        """Count what these models spend, too."""
        self._models.append(models)

    def recall(self, totals: Iterable[Total]) -> None:
        """Take what earlier calls have spent, from their ledger."""
        for total in totals:
            self.earlier += total.usage
            self.requests_earlier += total.asked - total.cached

    def spent(self) -> Usage:
        """What this call really sent; each line of a ledger is looked at once."""
        for k, models in enumerate(self._models):
            for entry in models.ledger.entries[self._counted[k] :]:
                self._spent += entry.usage
                self.unpriced += bool(entry.usage.tokens_in) and entry.usage.cost is None
                self._counted[k] += 1
        return self._spent

    def check_prices(self, specs: Iterable[str]) -> None:
        """Raise ConfigError where a price is not known: no budget could be held then."""
        if self.budget is None:
            return
        for spec in dict.fromkeys(specs):
            if price(ModelSpec.parse(spec), Usage(tokens_in=1000, tokens_out=1000)) is None:
                raise ConfigError(
                    f"no price is known for {spec}, so --budget cannot be held",
                    "limit the number of requests instead: --max-requests",
                )

    @asynccontextmanager
    async def hold(self, request: Request, spec: ModelSpec) -> AsyncIterator[None]:
        """Around one request. Raises Spent where it may not be sent."""
        usage = Usage(tokens_in=estimated_tokens(request), tokens_out=TOKENS_OUT)
        guess = price(spec, usage) or 0.0
        likely = guess * self._dearer
        while self._likely and self._over(likely):
            await self._ended.wait()
        self.closed = self.closed or self._over(likely)
        if self.closed:
            raise self.closed
        self._sent += 1
        self._likely.append(likely)
        try:
            yield
        finally:
            # Who waits goes on when the ledger has the price: nothing up to there gives way.
            self._likely.remove(likely)
            self._guessed += guess
            ended, self._ended = self._ended, asyncio.Event()
            ended.set()

    @property
    def _dearer(self) -> float:
        """How much more than guessed the requests so far have cost."""
        spent = self.spent().cost or 0.0
        return max(1.0, spent / self._guessed) if self._guessed else 1.0

    def _over(self, likely: float) -> Spent | None:
        """Why a request of that price is too much; None where it is not."""
        requests = self.requests_earlier + self._sent
        if self.max_requests is not None and requests >= self.max_requests:
            return Spent(f"all of --max-requests {self.max_requests} are sent", "--max-requests")
        if self.budget is None:
            return None
        money = (self.earlier.cost or 0.0) + (self.spent().cost or 0.0)
        if money >= self.budget:
            return Spent(f"the budget of ${self.budget:.2f} is spent (${money:.4f})", "--budget")
        if money + sum(self._likely) + likely > self.budget:
            return Spent(
                f"the next request, about ${likely:.4f}, would go over the budget of "
                f"${self.budget:.2f} (${money:.4f} spent)",
                "--budget",
            )
        return None
