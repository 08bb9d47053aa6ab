"""Cut a recording into windows, and choose the times to look at."""

from __future__ import annotations

from math import inf

from egomem.errors import UsageError
from egomem.timeline.span import Span

_TOLERANCE_S = 1e-6
"""A remainder below this is a rounding error, not a window."""


def windows(duration: float, length: float) -> list[Span]:
    """Consecutive half-open windows of `length` seconds that cover `[0, duration)` exactly once.

    The last one may be shorter. A recording of exactly k windows has k, an empty one none. Source:
    CapMem's consecutive 30 s and 60 s windows.
    """
    if not 0 < length < inf:
        raise UsageError(
            f"a window needs a finite length above 0 s, not {length:g}", "try --window 30"
        )
    # The tolerance keeps 90.0000001 s from having a fourth window of 30 s with nothing in it.
    count = max(0, int((duration - _TOLERANCE_S) // length) + 1) if duration > _TOLERANCE_S else 0
    return [Span(k * length, min((k + 1) * length, duration)) for k in range(count)]


def sample_times(span: Span, fps: float) -> list[float]:
    """The times `k / fps` within the half-open span; a span shorter than a step has its start.

    Steps count from the recording's second 0, so that neighbouring windows share a grid.
    """
    if not 0 < fps < inf:
        raise UsageError(f"a sampling rate must be finite and above 0 frames a second, not {fps:g}")
    # The ceiling, without a float's .9999 giving a step before the span.
    first = int(-(-(span.start - _TOLERANCE_S) * fps // 1))
    last = int(-(-(span.end - _TOLERANCE_S) * fps // 1))
    times = [k / fps for k in range(max(first, 0), last)]
    return times or ([span.start] if span.length > 0 else [])


def uniform_times(span: Span, count: int) -> list[float]:
    """`count` times at the centres of equal parts of the span (methods: CapMem's verifier, F1)."""
    return [span.start + (k + 0.5) * span.length / count for k in range(count)]
