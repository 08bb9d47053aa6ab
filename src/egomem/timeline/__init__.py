"""Time is one type: spans in a recording, clocks that place recordings, moments to look back from.

Within a recording, time is seconds from its first displayed frame. Across recordings it is the
wearer's timeline: instants, known only where a recording's clock is known. One grammar reads what
people write and says which of the two it is; one formatter writes times. Both are imported when
first used, because most of the package needs only the types.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from egomem.timeline.clock import Clock, Moment, RecordingTime
from egomem.timeline.span import Span
from egomem.timeline.windows import sample_times, uniform_times, windows

if TYPE_CHECKING:
    from egomem.timeline.format import (
        format_instant,
        format_instants,
        format_span,
        format_time,
        format_when,
    )
    from egomem.timeline.grammar import find_times, read_moment, read_start, read_time
    from egomem.timeline.mentions import DEFAULT_CONVENTIONS, Conventions, Instants, TimeMention
    from egomem.timeline.time_of_day import names_time_of_day
    from egomem.timeline.zone_names import zone_of

__all__ = [
    "DEFAULT_CONVENTIONS",
    "Clock",
    "Conventions",
    "Instants",
    "Moment",
    "RecordingTime",
    "Span",
    "TimeMention",
    "find_times",
    "format_instant",
    "format_instants",
    "format_span",
    "format_time",
    "format_when",
    "names_time_of_day",
    "read_moment",
    "read_start",
    "read_time",
    "sample_times",
    "uniform_times",
    "windows",
    "zone_of",
]

_LATER = {
    "grammar": ("find_times", "read_moment", "read_start", "read_time"),
    "zone_names": ("zone_of",),
    "time_of_day": ("names_time_of_day",),
    "mentions": ("DEFAULT_CONVENTIONS", "Conventions", "Instants", "TimeMention"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'egomem.timeline' has no attribute {name!r}")
    home = next((home for home, names in _LATER.items() if name in names), "format")
    value = getattr(import_module(f"egomem.timeline.{home}"), name)
    globals()[name] = value
    return value
