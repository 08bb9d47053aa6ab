"""The times that a question names, as each recording's own clocks tell them.

"29 March" or "10 am" is the local time of where a recording was made: a wearer travels, and clocks
change. A zone that the question names holds for all recordings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egomem.memory import View
from egomem.records import Recording
from egomem.timeline import Span

if TYPE_CHECKING:
    from egomem.timeline import TimeMention

Floats = NDArray[np.float64]


def zones_of(recordings: Iterable[Recording]) -> list[tzinfo]:
    """The zones in which recordings were made, each once, the latest recording's first."""
    starts = (r.clock.start for r in recordings if r.clock)
    clocks = sorted(starts, key=datetime.timestamp, reverse=True)
    zones = {str(start.tzinfo): start.tzinfo for start in clocks}
    return [zone for zone in zones.values() if zone is not None]


def span_there(mention: TimeMention, recording: Recording | None) -> Span | None:
    """The stretch (POSIX seconds) that words name where a recording was made; None for none."""
    zone = recording.clock.start.tzinfo if recording and recording.clock else None
    instants = mention.instants_in(zone)
    return instants.span if instants else None


def spans_by_line(view: View, mention: TimeMention) -> tuple[Floats, Floats]:
    """Starts and ends (POSIX seconds) of what words name, by the number of each timeline.

    NaN where they name nothing: a time that the clocks there skip.
    """
    catalog = view.filter.catalog
    starts = np.full(int(catalog.numbers.max(initial=0)) + 1, math.nan)
    ends = starts.copy()
    for number, id in zip(catalog.numbers.tolist(), catalog.ids, strict=True):
        recording = catalog.by_id.get(id) if id is not None else None
        if (span := span_there(mention, recording)) is not None:
            starts[number], ends[number] = span.start, span.end
    return starts, ends


def narrowed(view: View, mention: TimeMention, margin: float) -> View:
    """The part of a view that a time names, `margin` seconds on each side included."""
    wide = timedelta(seconds=margin)

    def bounds(zone: tzinfo | None) -> tuple[datetime, datetime] | None:
        instants = mention.instants_in(zone)
        return (instants.start - wide, instants.end + wide) if instants else None

    return view.narrow(between=bounds)
