"""What places a recording on its wearer's timeline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from egomem.errors import TimeError

ClockSource = Literal["given", "sidecar", "container", "filename", "import"]

_YEARS = (1800, 9000)
"""Starts outside of them are slips, and their ends may be no dates that Python knows."""


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """The instant of a recording's second 0, in the zone where it was recorded.

    A recording whose instant or zone is not known has no Clock: it is never silently UTC, and it
    has a timeline of its own. `source` says where the start came from.
    """

    start: datetime
    source: ClockSource = "given"

    def __post_init__(self) -> None:
        if self.start.utcoffset() is None:
            raise TimeError(
                f"the start {self.start.isoformat()} has no zone",
                "write it with an offset, such as 2026-03-02T08:10+01:00",
            )
        if not _YEARS[0] <= self.start.year <= _YEARS[1]:
            raise TimeError(
                f"no recording began in the year {self.start.year}",
                "a start is a date and time such as 2026-03-02T08:10+01:00",
            )

    def at(self, seconds: float) -> datetime:
        """The instant of a second of the recording, in the recording's zone."""
        instant = self.start.astimezone(UTC) + timedelta(seconds=seconds)
        return instant.astimezone(self.start.tzinfo)

    def seconds(self, instant: datetime) -> float:
        """The second of the recording at an instant (negative before it starts)."""
        # In UTC: Python subtracts and compares two times of one zone by what the clock on the wall
        # says, which is an hour off where a clock change lies between them.
        return (instant.astimezone(UTC) - self.start.astimezone(UTC)).total_seconds()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Clock):
            return NotImplemented
        # By the instant: the same start written in two zones is one clock.
        return (self.start.astimezone(UTC), self.source) == (
            other.start.astimezone(UTC),
            other.source,
        )

    def __hash__(self) -> int:
        return hash((self.start.astimezone(UTC), self.source))


@dataclass(frozen=True, slots=True)
class RecordingTime:
    """A point within one recording: seconds from its first displayed frame."""

    recording: str
    seconds: float


Moment = datetime | RecordingTime
"""The point that a question looks back from: an aware instant, or a second of one recording.

From an instant, all recordings with a known clock can be ordered; those without one cannot be
placed before it and are left out. From a second of a recording without a clock, only that
recording can be seen.
"""
