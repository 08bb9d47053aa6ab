"""Gaps between a wearer's recordings, and recordings that claim the same time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from egomem.records import Recording
from egomem.timeline import format_instant, format_time

TOLERANCE_S = 1.0
"""Seconds. Gaps and overlaps up to this are rounding of camera clocks and lengths."""


@dataclass(frozen=True, slots=True)
class CoverageGap:
    """Time of a wearer that no recording covers, between two that do."""

    before: Recording
    after: Recording
    start: datetime
    end: datetime

    def __str__(self) -> str:
        length = format_time(round(self.end.timestamp() - self.start.timestamp()))
        return (
            f"{self.before.wearer}: no recording for {length} between {self.before.name} and "
            f"{self.after.name}, from {format_instant(self.start)}"
        )


@dataclass(frozen=True, slots=True)
class Overlap:
    """Time of a wearer that two recordings claim: the start of one of them may be wrong."""

    one: Recording
    other: Recording
    start: datetime
    end: datetime

    def __str__(self) -> str:
        length = format_time(round(self.end.timestamp() - self.start.timestamp()))
        return (
            f"{self.one.wearer}: {self.one.name} and {self.other.name} overlap for {length} "
            f"from {format_instant(self.start)}: two cameras, or is one start wrong?"
        )


def gaps(recordings: Iterable[Recording], *, min_s: float = TOLERANCE_S) -> list[CoverageGap]:
    """Gaps longer than `min_s` s between a wearer's recordings of known clock, in order."""
    result = []
    for of_wearer in _by_wearer(recordings):
        latest = of_wearer[0]
        for after in of_wearer[1:]:
            end, start = _end(latest), _begin(after)
            if (start - end).total_seconds() > min_s:
                result.append(CoverageGap(latest, after, _there(end, latest), _there(start, after)))
            latest = max(latest, after, key=_end)  # a long recording may outlast its successors
    return result


def overlaps(recordings: Iterable[Recording], *, min_s: float = TOLERANCE_S) -> list[Overlap]:
    """Overlaps longer than `min_s` s of two recordings of a wearer, in order."""
    result = []
    for of_wearer in _by_wearer(recordings):
        for number, one in enumerate(of_wearer):
            for other in of_wearer[number + 1 :]:
                start, end = _begin(other), min(_end(one), _end(other))
                if start >= _end(one):
                    break
                if (end - start).total_seconds() > min_s:
                    result.append(Overlap(one, other, _there(start, one), _there(end, one)))
    return result


def _by_wearer(recordings: Iterable[Recording]) -> list[list[Recording]]:
    """The recordings of known clock, by wearer, in order of their starts."""
    placed = sorted((r for r in recordings if r.clock), key=lambda r: (r.wearer, _begin(r)))
    return [list(of_wearer) for _, of_wearer in groupby(placed, key=lambda r: r.wearer)]


def _begin(recording: Recording) -> datetime:
    assert recording.clock is not None
    return recording.clock.at(0).astimezone(UTC)


def _end(recording: Recording) -> datetime:
    return _begin(recording) + timedelta(seconds=recording.duration)


def _there(instant: datetime, recording: Recording) -> datetime:
    """An instant in the zone of a recording."""
    assert recording.clock is not None
    return instant.astimezone(recording.clock.start.tzinfo)
