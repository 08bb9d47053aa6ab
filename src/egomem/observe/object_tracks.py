"""Counts of an object, frame by frame -> when it is present, appears and leaves.

A detector misses objects now and then, reports some that are not there, and a worn camera sways:
what does not hold for `hold` seconds is flicker. Our reconstruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise


@dataclass(frozen=True, slots=True)
class CountLevel:
    """A count that held over the keyframes `[first, past)`."""

    first: int
    past: int
    count: int


@dataclass(frozen=True, slots=True)
class CountChange:
    """The count went from `before`, last at keyframe `last`, to `after`, first at `first`."""

    last: int
    first: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Presence:
    """At least one is present over the keyframes `[first, past)`; `changes` are those of its count.

    `low` and `high`: the counts that held, or if none did, those that were detected.
    """

    first: int
    past: int
    low: int
    high: int
    changes: tuple[CountChange, ...]


def find_presences(
    counts: Sequence[int], lengths: Sequence[float], sure: Sequence[bool], hold: float
) -> list[Presence]:
    """Return the stretches in which something is present, in order.

    `counts`, `lengths` (seconds that a keyframe stands for) and `sure` have one entry a keyframe. A
    gap shorter than `hold` is filled; a shorter stretch counts only if a keyframe in it is sure.
    """
    is_present = [count > 0 for count in counts]
    for first, past in _runs(is_present, False):
        # At the ends of a window nothing tells a gap from an absence.
        inside = first > 0 and past < len(is_present)
        if inside and _seconds(lengths, first, past) < hold:
            is_present[first:past] = [True] * (past - first)
    return [
        _presence(counts, lengths, first, past, hold)
        for first, past in _runs(is_present, True)
        if _seconds(lengths, first, past) >= hold or any(sure[first:past])
    ]


def _presence(
    counts: Sequence[int], lengths: Sequence[float], first: int, past: int, hold: float
) -> Presence:
    stable = find_levels(counts, lengths, first, past, hold)
    # Detectors lose one of three bottles for a frame: only counts that held are told.
    values = [level.count for level in stable] or [c for c in counts[first:past] if c]
    at_first = stable[0].count if stable else counts[first]
    at_last = stable[-1].count if stable else counts[past - 1]
    changes = [CountChange(a.past - 1, b.first, a.count, b.count) for a, b in pairwise(stable)]
    if first > 0:
        changes.insert(0, CountChange(first - 1, first, 0, at_first))
    if past < len(counts):
        changes.append(CountChange(past - 1, past, at_last, 0))
    return Presence(first, past, min(values), max(values), tuple(changes))


def find_levels(
    counts: Sequence[int], lengths: Sequence[float], first: int, past: int, hold: float
) -> list[CountLevel]:
    """Return the counts above none that held for `hold` seconds; equal neighbours are one level."""
    stable: list[CountLevel] = []
    look = first
    for count, group in groupby(counts[first:past]):
        end = look + len(list(group))
        if count and _seconds(lengths, look, end) >= hold:
            if stable and stable[-1].count == count:
                stable[-1] = CountLevel(stable[-1].first, end, count)
            else:
                stable.append(CountLevel(look, end, count))
        look = end
    return stable


def _runs(values: Sequence[bool], target: bool) -> list[tuple[int, int]]:
    runs = []
    look = 0
    for value, group in groupby(values):
        end = look + len(list(group))
        if value == target:
            runs.append((look, end))
        look = end
    return runs


def _seconds(lengths: Sequence[float], first: int, past: int) -> float:
    # A stretch of exactly `hold` seconds holds, whatever the rounding of its parts.
    return sum(lengths[first:past]) + 1e-6
