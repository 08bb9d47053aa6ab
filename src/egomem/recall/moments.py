"""The windows that recall looks for: what a view holds, grouped by time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from egomem.defaults import DEFAULT_WINDOW
from egomem.errors import UsageError
from egomem.records import Observation
from egomem.timeline import Span

_NOTHING = 1e-6
"""Seconds. An overlap below this is a rounding error."""


@dataclass(frozen=True)
class MomentWindow:
    """One window of one recording, or one digest (`recording` is None, POSIX seconds).

    `observations` are in time order, each of them overlapping the span, no text twice.
    """

    recording: str | None
    wearer: str
    span: Span
    observations: tuple[Observation, ...]

    @cached_property
    def text(self) -> str:
        return "\n".join(o.text for o in self.observations)

    @property
    def line(self) -> tuple[str, str]:
        """The timeline that the window lies on: its recording's, or its wearer's."""
        return (self.recording or "", self.wearer)


def spans_of(observation: Observation, length: float) -> list[Span]:
    """The windows `[k * length, (k + 1) * length)` that an observation overlaps.

    A point lies in one window. A digest is a window of its own: cut into the windows of the day it
    covers, it would make every one of them alike.
    """
    return [Span(start, end) for start, end in _bounds(observation, length)]


def _bounds(observation: Observation, length: float) -> list[tuple[float, float]]:
    span = observation.span
    # POSIX seconds: a digest is of a wearer's day and no recording's window.
    if observation.recording is None:
        return [(span.start, span.end)]
    # A caption of 30 to 60 s must not count in the window before it because its start is
    # 29.9999999.
    first = math.floor((span.start + _NOTHING) / length)
    # A span of no length, such as a look of a detector, still lies in one window.
    last = max(first, math.ceil((span.end - _NOTHING) / length) - 1)
    return [(k * length, (k + 1) * length) for k in range(first, last + 1)]


def windows_of(
    observations: Iterable[Observation],
    length: float = DEFAULT_WINDOW,
    durations: Mapping[str, float] | None = None,
) -> list[MomentWindow]:
    """The windows of `length` seconds that hold an observation, by recording and time.

    An observation is in every window it overlaps; windows without any are not made. Equal texts
    within a window are kept once (the earliest), so that two tracks that say the same count once.
    The last window of a recording ends where the recording does, if `durations` (seconds) tell.
    """
    if length <= 0:
        raise UsageError(f"a window needs a length above 0 s, not {length:g}", "try --window 30")
    by_window: dict[tuple[str, str, tuple[float, float]], list[Observation]] = {}
    for o in sorted(observations, key=_in_order):
        for bounds in _bounds(o, length):
            by_window.setdefault((o.recording or "", o.wearer, bounds), []).append(o)
    ends = durations or {}
    return [
        MomentWindow(
            recording or None, wearer, _cut(Span(*bounds), ends.get(recording)), _distinct(all)
        )
        for (recording, wearer, bounds), all in sorted(by_window.items(), key=lambda item: item[0])
    ]


def _distinct(observations: list[Observation]) -> tuple[Observation, ...]:
    if len(observations) == 1:
        return tuple(observations)
    texts: dict[str, Observation] = {}
    for o in observations:
        texts.setdefault(_bare(o.text), o)
    return tuple(texts.values())


def _cut(span: Span, duration: float | None) -> Span:
    if duration is None or span.end <= duration:
        return span
    # An observation past the recording's stated end (an imported transcript that runs on) keeps its
    # window as it is.
    return span.clip(Span(0.0, duration)) or span


def _in_order(o: Observation) -> tuple[str, str, float, float, str]:
    return (o.recording or "", o.wearer, o.span.start, o.span.end, o.id)


def _bare(text: str) -> str:
    # Two captioners, or a caption and its import, often differ in no more than the last dot.
    return " ".join(text.casefold().split()).rstrip(".!")
