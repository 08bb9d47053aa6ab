"""What a run may spend, and what it has spent: looked at before every request that is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from egomem.errors import EgomemError
from egomem.models import LedgerTotal, ModelSpec, Request, Role, estimate_tokens
from egomem.models.prices import check_priced, price
from egomem.observe.caption_cost import TOKENS_OUT
from egomem.records import Usage


class BudgetExhausted(EgomemError):
    """The budget does not allow the next request; nothing was sent for it."""

    def __init__(self, why: str, option: str) -> None:
        again = f"raise {option} and run the same command again; it goes on where it stopped"
        super().__init__(why, again)


Kind = tuple[str, Role, bool]
"""A model, a role, and whether there are pictures: requests of a kind cost about alike."""


class RunBudget:
    """Holds a run to `budget` US dollars and `max_requests`, all its calls together.

    `earlier` and `requests_earlier` are what calls before this one have spent. A request that
    might go over waits until those under way are done, as only then their price is known; so does
    the second of a kind for the first, from which the guess at the others' price is mended.
    `closed` says why nothing more is sent; None while there is room.
    """

    def __init__(self, *, budget: float | None = None, max_requests: int | None = None) -> None:
        self.budget = budget
        self.max_requests = max_requests
        self.earlier = Usage()
        self.requests_earlier = 0
        self.closed: BudgetExhausted | None = None
        self.unpriced = 0
        self.estimated = 0.0
        self._spent = Usage()
        self._sent = 0
        self._under_way: list[tuple[Kind, float]] = []
        self._guessed: dict[Kind, float] = {}
        self._paid: dict[Kind, float] = {}
        self._ended = asyncio.Event()

    def add_earlier(self, totals: Iterable[LedgerTotal]) -> None:
        """Take what earlier calls have spent, from their ledger."""
        for total in totals:
            self.earlier += total.usage
            self.requests_earlier += total.usage.requests
            self.estimated += total.estimated

    def spent(self) -> Usage:
        """What the HTTP attempts of this call took."""
        return self._spent

    def check_prices(self, specs: Iterable[str]) -> None:
        """Raise ConfigError where a price is not known: no budget could be held then."""
        if self.budget is None:
            return
        for name in dict.fromkeys(specs):
            check_priced(
                ModelSpec.parse(name), "limit the number of requests instead: --max-requests"
            )

    @asynccontextmanager
    async def hold(
        self, request: Request, spec: ModelSpec
    ) -> AsyncIterator[Callable[[Usage], None]]:
        """Count one HTTP attempt while it is under way; yields what is to be told its usage.

        Raises BudgetExhausted where it may not go.
        """
        kind = str(spec), request.role, bool(request.images)
        guess = 0.0
        if self.budget is not None:
            usage = Usage(tokens_in=estimate_tokens(request), tokens_out=TOKENS_OUT)
            guess = price(spec, usage) or 0.0
        while self._under_way and (self._first(kind) or self._over(self._likely(kind, guess))):
            await self._ended.wait()
        self.closed = self.closed or self._over(self._likely(kind, guess))
        if self.closed:
            raise self.closed
        self._sent += 1
        request_price = kind, self._likely(kind, guess)
        self._under_way.append(request_price)
        usages: list[Usage] = []
        try:
            yield usages.append
        finally:
            self._under_way.remove(request_price)
            self._book(request_price, guess, sum(usages, Usage()))
            ended, self._ended = self._ended, asyncio.Event()
            ended.set()

    def _book(self, request_price: tuple[Kind, float], guess: float, usage: Usage) -> None:
        """Count what an attempt took. One of unknown cost counts as what it was likely to cost."""
        kind, likely = request_price
        if not usage.requests:
            self._sent -= 1  # no server was reached
            return
        self._spent += usage
        self.unpriced += usage.without_price
        if usage.without_price:
            self.estimated += likely
        if usage.without_price or usage.cost:
            paid = likely if usage.without_price else usage.cost or 0.0
            self._guessed[kind] = self._guessed.get(kind, 0.0) + guess
            self._paid[kind] = self._paid.get(kind, 0.0) + paid

    def _first(self, kind: Kind) -> bool:
        """Whether the first request of a kind is under way, so that its price is to be known."""
        unknown = self.budget is not None and kind not in self._guessed
        return unknown and any(other == kind for other, _ in self._under_way)

    def _likely(self, kind: Kind, guess: float) -> float:
        """A guess, raised by what those of its kind have cost over theirs."""
        guessed = self._guessed.get(kind)
        # Never below the guess: one cheap reply says little, and going over is worse than stopping
        # early.
        return guess * max(1.0, self._paid.get(kind, 0.0) / guessed) if guessed else guess

    def _over(self, likely: float) -> BudgetExhausted | None:
        """Why a request of that price is too much; None where it is not."""
        requests = self.requests_earlier + self._sent
        if self.max_requests is not None and requests >= self.max_requests:
            return BudgetExhausted(
                f"all of --max-requests {self.max_requests} are sent", "--max-requests"
            )
        if self.budget is None:
            return None
        money = (self.earlier.cost or 0.0) + (self._spent.cost or 0.0) + self.estimated
        estimate = f", ${self.estimated:.4f} of it estimated" if self.estimated else ""
        if money >= self.budget:
            return BudgetExhausted(
                f"the budget of ${self.budget:.2f} is spent (${money:.4f}{estimate})", "--budget"
            )
        if money + sum(likely for _, likely in self._under_way) + likely > self.budget:
            return BudgetExhausted(
                f"the next request, about ${likely:.4f}, would go over the budget of "
                f"${self.budget:.2f} (${money:.4f} spent{estimate})",
                "--budget",
            )
        return None
