"""Results of reading times, and the conventions for words that are ambiguous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Literal

from egomem.errors import TimeError
from egomem.timeline.day_parts import HOURS
from egomem.timeline.span import Span


@dataclass(frozen=True, slots=True)
class Instants:
    """A half-open stretch `[start, end)` of wall-clock time; `start == end` is one instant.

    Both are aware datetimes. Raises TimeError where one has no zone or end < start.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.start.utcoffset() is None or self.end.utcoffset() is None:
            raise TimeError("a stretch of wall-clock time needs two times with a zone")
        if self.seconds < 0:
            raise TimeError(
                f"a time cannot end ({self.end.isoformat()}) before it starts "
                f"({self.start.isoformat()})"
            )

    @property
    def seconds(self) -> float:
        """Elapsed seconds, also across a change of the clocks."""
        return self.end.timestamp() - self.start.timestamp()

    @property
    def span(self) -> Span:
        """The same stretch in POSIX seconds, as on the wearer's timeline."""
        return Span(self.start.timestamp(), self.end.timestamp())


Relation = Literal["at", "before", "after"]


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time that was read: recording time, wall clock, or one that could not be resolved.

    Exactly one of `span` (seconds of a recording), `instants` (wall clock) and `problem` (why it
    could not be resolved) is set. `text` is the part matched, `text_span` its character offsets in
    the input. `note` says how an ambiguous time was read. `relation` is "after" or "before" where
    the words say so. The stretch already reflects it, except for "after 5:00" of a recording, which
    is the point 5:00, because the end of the recording is not known here. `by_zone` holds, by the
    zones' names, the stretches of zones in which the words name another one.
    """

    text: str
    text_span: tuple[int, int]
    span: Span | None = None
    instants: Instants | None = None
    problem: str = ""
    note: str = ""
    relation: Relation = "at"
    by_zone: tuple[tuple[str, Instants | None], ...] = ()

    def instants_in(self, zone: tzinfo | None) -> Instants | None:
        """The stretch that the words name where the clocks are those of `zone`.

        "29 March" is a day of each place that has one of its own. None where there is no such time.
        """
        return dict(self.by_zone).get(str(zone), self.instants)

    @property
    def kind(self) -> Literal["recording", "wall", "unresolved"]:
        if self.span is not None:
            return "recording"
        return "wall" if self.instants is not None else "unresolved"

    @property
    def unresolved(self) -> bool:
        return self.span is None and self.instants is None

    @property
    def is_point(self) -> bool:
        """True for one instant ("10:30 am", "an hour ago"), False for a stretch ("yesterday")."""
        if self.span is not None:
            return self.span.start == self.span.end
        return self.instants is not None and self.instants.seconds == 0


@dataclass(frozen=True, slots=True)
class Conventions:
    """What words mean where nothing else decides. All of it is our reconstruction; change it with
    `dataclasses.replace`.

    `parts`: hours of the local day `[from, to)`; a part may run past 24 into the next day. `bare`:
    what `10:30` is when nothing marks it as a clock time (am, pm, a day, a zone): a time of the
    recording (10 min 30 s), or of the day. `waking`: an hour from 1 to 12 without am or pm is the
    one within the twelve hours from here ("at four" is 16:00, "at eight" 08:00).
    `frames_per_second`: base of the last two digits of an EgoLife time HHMMSSFF; EgoRAG's text says
    20, egagent reads centiseconds (100), and None takes 20 unless the time goes beyond. `around`:
    half width of "around noon". `few`: the number in "a few minutes ago".
    """

    parts: Mapping[str, tuple[float, float]] = field(default_factory=lambda: HOURS)
    bare: Literal["recording", "wall"] = "recording"
    waking: int = 7
    frames_per_second: int | None = None
    around: timedelta = timedelta(minutes=15)
    few: int = 3


DEFAULT_CONVENTIONS = Conventions()
