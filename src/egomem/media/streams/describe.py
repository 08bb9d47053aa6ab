"""A stream in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from egomem.media.streams.survey import StreamInfo
from egomem.text import plural
from egomem.timeline import format_time

_CLOCKS = {
    "recording": "seconds of the recording",
    "wall": "wall clock",
    "local": "wall clock of no named zone",
    "device": "device time",
    None: "no times",
}


def describe(info: StreamInfo) -> str:
    """A stream in a line: file, form, rate, coverage, gaps, clock."""
    rate = [f"{info.rate:.4g} Hz"] if info.rate else []
    parts = [info.format, plural(info.samples, "sample"), *rate]
    if info.start is not None and info.end is not None:
        parts.append(f"{_time(info, info.start)} to {_time(info, info.end)}")
    if info.gap_count:
        parts.append(f"{plural(info.gap_count, 'gap')} ({info.gap_s:.1f} s)")
    parts.append(_CLOCKS[info.clock])
    return f"{Path(info.path).name}: {', '.join(parts)}"


def details(info: StreamInfo, max_gaps: int = 3) -> Iterator[str]:
    """Lines on how a stream is placed, how it was read, its gaps and its faults."""
    if info.fault:
        yield f"not used: {info.fault}"
    elif info.placed_by:
        at = f"its {info.origin:.3f} s is second 0" if info.origin else ""
        yield f"placed by {info.placed_by}{f' ({at})' if at and info.clock == 'device' else ''}"
    yield from info.notes
    if info.gaps:
        spans = (f"{_time(info, g.start)} to {_time(info, g.end)}" for g in info.gaps[:max_gaps])
        more = f" and {info.gap_count - max_gaps} more" if info.gap_count > max_gaps else ""
        yield f"no samples from {', '.join(spans)}{more}"
    yield from map(str, info.problems)


def _time(info: StreamInfo, seconds: float) -> str:
    # Before it is placed, a stream's times are of its own clock and no times of the recording.
    if (info.origin is None and info.clock != "recording") or seconds < 0:
        return f"{seconds:.3f} s"
    return format_time(round(seconds, 2))
