"""Time is one type: spans within a recording, clocks that place recordings, moments to look back from.

Within a recording, time is seconds from its first displayed frame. Across recordings it is the
wearer's timeline: instants, known only where a recording's clock is known.
"""

from egomem.timeline.clock import Clock, Moment, RecordingTime
from egomem.timeline.span import Span
from egomem.timeline.windows import sample_times, uniform_times, windows

__all__ = ["Clock", "Moment", "RecordingTime", "Span", "sample_times", "uniform_times", "windows"]
