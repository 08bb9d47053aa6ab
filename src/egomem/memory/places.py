"""Where observations lie in time, also those of chapters without a clock."""

from __future__ import annotations

from egomem.memory.view import View
from egomem.records import Observation


def place_of(view: View, o: Observation) -> tuple[str, float]:
    """The timeline of an observation and the second of it at which it starts.

    Two observations can be put in order where their timelines are equal: the wearer's, "", in POSIX
    seconds, where the clock is known; else that of the recording's first chapter.
    """
    if (when := view.when(o)) is not None:
        return "", when.timestamp()
    recording = o.recording or ""
    first, zero = view.filter.catalog.chapter_places.get(recording, (recording, 0.0))
    return first, zero + o.span.start
