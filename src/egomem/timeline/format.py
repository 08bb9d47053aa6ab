"""Format times: the inverse of the grammar."""

from __future__ import annotations

import math
from datetime import datetime

from egomem.errors import TimeError
from egomem.timeline.mentions import Instants, TimeMention
from egomem.timeline.span import Span


def format_time(seconds: float) -> str:
    """A time of a recording, to the millisecond: `0:07`, `1:02.5`, `1:15:30`.

    Raises TimeError for a negative or infinite time.
    """
    if not math.isfinite(seconds) or seconds < 0:
        raise TimeError(f"{seconds} is not a time of a recording")
    thousandths = round(seconds * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    whole, fraction = divmod(rest, 1000)
    tail = f"{whole:02d}" + (f".{fraction:03d}".rstrip("0") if fraction else "")
    if minutes < 60:
        return f"{minutes}:{tail}"
    return f"{minutes // 60}:{minutes % 60:02d}:{tail}"


def format_span(span: Span) -> str:
    """A span of a recording: `1:02-1:05`; a point is written once."""
    start, end = format_time(span.start), format_time(span.end)
    return start if start == end else f"{start}-{end}"


def format_instant(instant: datetime) -> str:
    """A wall-clock time as ISO 8601 with its offset. Raises TimeError where it has no zone."""
    if instant.utcoffset() is None:
        raise TimeError(f"the time {instant.isoformat()} has no zone")
    return instant.isoformat()


def format_instants(instants: Instants) -> str:
    """A stretch of wall-clock time as an ISO 8601 interval, `start/end`; an instant once."""
    start, end = format_instant(instants.start), format_instant(instants.end)
    return start if instants.seconds == 0 else f"{start}/{end}"


def format_when(when: TimeMention) -> str:
    """What a time was read as; for one that could not be resolved, why."""
    if when.span is not None:
        return format_span(when.span)
    return format_instants(when.instants) if when.instants is not None else when.problem
