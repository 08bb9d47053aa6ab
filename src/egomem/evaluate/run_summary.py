"""What a run did, and where it stands while it goes on."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import Field

from egomem.evaluate.bias_gate import BiasGate
from egomem.evaluate.captions import Uncaptioned
from egomem.records import Record, Status, Usage
from egomem.text import plural


class RunSummary(Record):
    """What a run did. `asked` cells were answered now, `kept` were finished before, `left` are not
    answered.

    `asked_again` says why cells were answered anew: part -> how many. `spent` is what this process
    really sent, `spent_in_all` what all of the run's processes did. `uncaptioned` are windows that
    have no caption, and are not asked about again. `halted` says why it stopped before its end (a
    budget), `remedy` how to go on; "" where it came to its end.
    """

    cells: int
    asked: int = 0
    kept: int = 0
    left: int = 0
    by_status: dict[str, int] = Field(default_factory=dict)
    asked_again: dict[str, int] = Field(default_factory=dict)
    gates: tuple[BiasGate, ...] = ()
    stopped: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    uncaptioned: tuple[Uncaptioned, ...] = ()
    halted: str = ""
    remedy: str = ""
    seconds: float = 0.0
    spent: Usage = Usage()
    spent_in_all: Usage = Usage()
    unpriced: int = 0

    @property
    def errors(self) -> int:
        return self.by_status.get(Status.ERROR.value, 0)


RECENT = 64
"""The latest windows or cells whose pace tells the time left."""


@dataclass
class RunProgress:
    """Where a run stands. `stage` is `captions` or `answers`; `total` counts windows or cells, and
    `done` those that are finished, `errors` among them."""

    stage: str
    total: int
    done: int = 0
    errors: int = 0
    began: float = field(default_factory=time.monotonic)
    spent: Usage = field(default_factory=Usage)
    last_error: str = ""
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def advance(self, error: str = "") -> None:
        """One more is finished, with an `error` or without."""
        self.done += 1
        self.errors += bool(error)
        self.last_error = error or self.last_error
        self.recent.append(time.monotonic())

    @property
    def rate(self) -> float:
        """A second, over the latest ones.

        Replies out of the cache come in a burst, and a setting with frames takes many times as long
        as one without: the pace since the beginning says little about what is left.
        """
        now = time.monotonic()
        if len(self.recent) < RECENT:
            return self.done / max(1e-9, now - self.began)
        return (len(self.recent) - 1) / max(1e-9, now - self.recent[0])

    def line(self) -> str:
        """`answers 120 / 400, 3.1 a second, 1:30 left, $0.0123, 2 errors`"""
        bound = "at least " if self.spent.unpriced else ""
        money = "price unknown" if self.spent.cost is None else f"{bound}${self.spent.cost:.4f}"
        money = f", {money}" if self.spent.requests else ""
        errors = f", {plural(self.errors, 'error')}" if self.errors else ""
        seconds = round((self.total - self.done) / self.rate) if self.done else 0
        time_left = f", {_clock(seconds)} left" if seconds else ""
        head = f"{self.stage} {self.done} / {self.total}, {self.rate:.1f} a second"
        return f"{head}{time_left}{money}{errors}"


def _clock(seconds: int) -> str:
    """`4:05` minutes, or `2:04:05` hours."""
    minutes, hours = seconds // 60 % 60, seconds // 3600
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


OnProgress = Callable[[RunProgress], None]
OnNote = Callable[[str], None]
