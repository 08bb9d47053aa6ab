"""A stretch of time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from egomem.errors import TimeError


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open `[start, end)` in seconds; `start == end` is a point.

    Seconds count from a recording's first displayed frame, or are POSIX seconds on the wearer's
    timeline: the record that holds the span says which. Raises TimeError where end < start or a
    bound is not finite.
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise TimeError(f"a span needs two finite times, not {self.start} and {self.end}")
        if self.end < self.start:
            raise TimeError(f"a span cannot end ({self.end} s) before it starts ({self.start} s)")

    @property
    def length(self) -> float:
        return self.end - self.start

    @property
    def middle(self) -> float:
        return (self.start + self.end) / 2

    def __contains__(self, seconds: float) -> bool:
        return self.start <= seconds < self.end or seconds == self.start

    def overlaps(self, other: Span) -> bool:
        """True where the two share a stretch; a point overlaps the span that contains it."""
        # A point has no stretch to share; without this a look of a detector would overlap nothing.
        if self.start == self.end:
            return self.start in other
        if other.start == other.end:
            return other.start in self
        return self.start < other.end and other.start < self.end

    def clip(self, bounds: Span) -> Span | None:
        """The part inside `bounds`, or None where there is none."""
        if not self.overlaps(bounds):
            return None
        return Span(max(self.start, bounds.start), min(self.end, bounds.end))

    def shift(self, seconds: float) -> Span:
        return Span(self.start + seconds, self.end + seconds)
