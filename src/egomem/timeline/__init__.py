"""Time is one type: spans in a recording, clocks that place recordings, moments to look back from.

Within a recording, time is seconds from its first displayed frame. Across recordings it is the
wearer's timeline: instants, known only where a recording's clock is known. What people write is
read by one grammar, which says which of the two it is, and written by one formatter.
"""

from egomem.timeline.clock import Clock, Moment, RecordingTime
from egomem.timeline.format import (
    format_instant,
    format_instants,
    format_span,
    format_time,
    format_when,
)
from egomem.timeline.grammar import find_times, read_moment, read_start, read_time
from egomem.timeline.local import zone_of
from egomem.timeline.span import Span
from egomem.timeline.when import HABITS, Habits, Instants, When
from egomem.timeline.windows import sample_times, uniform_times, windows

__all__ = [
    "HABITS",
    "Clock",
    "Habits",
    "Instants",
    "Moment",
    "RecordingTime",
    "Span",
    "When",
    "find_times",
    "format_instant",
    "format_instants",
    "format_span",
    "format_time",
    "format_when",
    "read_moment",
    "read_start",
    "read_time",
    "sample_times",
    "uniform_times",
    "windows",
    "zone_of",
]
