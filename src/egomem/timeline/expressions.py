"""What the grammar has read, before it is placed on a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal

from egomem.timeline.mentions import Conventions


class UnresolvedError(Exception):
    """A time that was understood but cannot be placed; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a time is relative to.

    `zone` is where local times are read, `here` (else `zone`) where "today" is counted from.
    """

    now: datetime | None
    zone: tzinfo | None
    day_one: date | None
    conventions: Conventions
    here: tzinfo | None = None

    def need_now(self) -> datetime:
        """The question's time, where it is asked. Raises UnresolvedError."""
        if self.now is None:
            raise UnresolvedError("it is relative to the question's time, which is not known")
        zone = self.here or self.zone
        return self.now if zone is None else self.now.astimezone(zone)

    @property
    def today(self) -> date:
        return self.need_now().date()


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of a clock. `half` is am or pm, where written; `exact` means 24-hour notation."""

    hour: int
    minute: int = 0
    second: float = 0.0
    half: Literal["am", "pm"] | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """One time expression: a day, a part of the day, a clock time, or something absolute.

    `days` is half-open. `elapsed` is `(start, end)` in seconds of a recording. `colon` holds the
    numbers of `10:30` while it is undecided whether that is a clock time. `evident` is False for
    what is a time only because of the words around it.
    """

    days: tuple[date, date] | None = None
    part: str | None = None
    portion: tuple[float, float] = (0.0, 1.0)
    clock: ClockTime | None = None
    colon: tuple[float, ...] = ()
    elapsed: tuple[float, float] | None = None
    absolute: tuple[datetime, datetime] | None = None
    zone: tzinfo | None = None
    problem: str = ""
    evident: bool = False
    bare: bool = False
    """True for a clock time that is only a number, such as the four of "at four"."""
    unit: float = 0.0
    """Seconds of the single unit that an elapsed time was written in, for "3 to 5 min"."""

    @property
    def marked(self) -> bool:
        """True where something makes this a wall-clock time."""
        return bool(
            self.days
            or self.part
            or self.absolute
            or self.zone
            or self.problem
            or (self.clock and not self.colon)
        )


def week(day: date) -> tuple[date, date]:
    """The calendar week (from Monday) that a day lies in."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=7)


def month(year: int, number: int) -> tuple[date, date]:
    """A calendar month; `number` may lie outside 1 to 12 and counts on into other years."""
    first = date(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)
    return first, (first + timedelta(days=31)).replace(day=1)
