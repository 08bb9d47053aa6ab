"""Times that a captioner wrote, resolved once into times of the recording.

A model that gets frames of [10:30, 11:00) may write 10:42 (a time of the recording), 0:12 (of the
window), or one that is neither. Which of the first two a caption means is decided for all of its
times together. A time outside of the window is kept as it was written and flagged: moving it to the
nearest edge would turn an error into evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import JsonValue

from egomem.observe.caption_lines import caption_lines
from egomem.observe.time_stamps import Stamp, WrittenTime, find_written_times
from egomem.timeline import Span, format_span

TOLERANCE_S = 0.5
"""Seconds by which a written time may miss the window: half of the step of one frame a second."""

TimeBase = Literal["recording", "window"]


class _Reading(NamedTuple):
    """What a caption's times are counted from, and the seconds of a bare number's unit."""

    base: TimeBase
    unit_s: float


_MIN_MILLISECONDS = 1000
"""Bare numbers below this are no milliseconds."""
_READINGS = [_Reading(base, unit_s) for unit_s in (1.0, 0.001) for base in ("recording", "window")]


@dataclass(frozen=True, slots=True)
class TimedCaption:
    """A caption with its times resolved.

    `text`: a line each, led by the recording's time where one is known. `events`: {start, end,
    text}. `outside`: {written, text} of lines whose time is not in the window. `unread`: lines that
    begin with what looks like a time and could not be read. `time_base`: what the written times
    were counted from; None where no time was written, or none fits.
    """

    text: str
    events: tuple[dict[str, JsonValue], ...]
    outside: tuple[dict[str, JsonValue], ...]
    time_base: TimeBase | None
    unread: int = 0


def resolve_times(caption: str, span: Span, frames: Sequence[float] = ()) -> TimedCaption:
    """Resolve the times at the start of a caption's lines; `span` is the window in the recording.

    `frames`: the times of the frames that the captioner was given, for captions that name frames by
    number; one a second from the window's start where there are none. Times within a sentence are
    left alone: a clock on a wall is no time of the recording.
    """
    lines = _without_list_numbers(caption_lines(caption))
    frame_times = list(frames) or [span.start + k for k in range(int(span.length) + 1)]
    # Some captioners count frames from 0 and some from 1.
    first_frame = _first_frame_number(lines, len(frame_times))
    reading = _choose_reading([t for line in lines for t in line.times], span)
    out: list[str] = []
    events: list[dict[str, JsonValue]] = []
    outside: list[dict[str, JsonValue]] = []
    by_frame = False
    for line in lines:
        # A line without a time is still a line of the caption.
        if not line.times:
            out.append(line.text)
            continue
        placed: list[float | None] = []
        for time in line.times:
            if time.unit == "frame":
                index = int(time.value) - first_frame
                placed.append(frame_times[index] if 0 <= index < len(frame_times) else None)
                by_frame = True
            else:
                placed.append(_seconds(time, reading, span) if reading else None)
        start, end = placed[0], placed[-1]
        if (
            start is None
            or end is None
            or not _in(start, span)
            or not _in(end, span)
            or end < start
        ):
            # Not clamped: a time that is not in the window is wrong, and one at its edge would look
            # right.
            outside.append({"written": line.written, "text": line.text})
            out.append(line.text)
            continue
        events.append({"start": start, "end": end, "text": line.text})
        out.append(f"[{format_span(Span(start, end))}] {line.text}")
    base: TimeBase | None = reading.base if reading else "window" if by_frame and events else None
    unread = sum(line.unread for line in lines)
    return TimedCaption("\n".join(out), tuple(events), tuple(outside), base, unread)


def written_times(text: str) -> list[float]:
    """Return all times that a text writes (`1:02:03`, `12.5 s`), in seconds, in order."""
    return find_written_times(text)


def _without_list_numbers(lines: list[Stamp]) -> list[Stamp]:
    """The lines, where `[1]`, `[2]`, `[3]` are the numbers of a list and no times."""
    numbers = [line.times[0].value for line in lines if line.times]
    is_list = numbers == [float(k + 1) for k in range(len(numbers))] and all(
        line.times[0] == line.times[-1] and line.times[0].unit == "number"
        for line in lines
        if line.times
    )
    # A list of events numbered from 1 has the form of seconds; only 1, 2, 3 without a gap is taken
    # for a list.
    if not (numbers and is_list):
        return lines
    return [line._replace(times=(), written="") if line.times else line for line in lines]


def _first_frame_number(lines: Sequence[Stamp], count: int) -> int:
    """1 where frames were counted from one, as the last one's number shows; else 0."""
    numbers = {int(t.value) for line in lines for t in line.times if t.unit == "frame"}
    return 1 if numbers and 0 not in numbers and max(numbers) == count else 0


def _seconds(time: WrittenTime, reading: _Reading, span: Span) -> float | None:
    """A written time in seconds of the recording; None for one before the start of the window."""
    value = time.value * (reading.unit_s if time.unit == "number" else 1.0)
    if value < 0:
        # A dash before a line's first time is a list's mark where the recording's time fits.
        return -value if _in(-value, span) else None
    return value + (span.start if reading.base == "window" else 0.0)


def _choose_reading(times: Sequence[WrittenTime], span: Span) -> _Reading | None:
    """How most of the times fit the window; where several do, the recording's seconds, as asked."""
    times = [time for time in times if time.unit != "frame"]
    # Smaller numbers may be either, and are taken for seconds, as asked for.
    is_long = any(t.unit == "number" and t.value >= _MIN_MILLISECONDS for t in times)
    readings = [reading for reading in _READINGS if reading.unit_s == 1.0 or is_long]
    fits = [sum(_in(_seconds(t, reading, span), span) for t in times) for reading in readings]
    # Some captioners count from the start of their window whatever the prompt says: the reading
    # that most lines fit is theirs. Where both fit, they were asked for the recording's.
    return readings[fits.index(max(fits))] if max(fits) else None


def _in(seconds: float | None, span: Span) -> bool:
    return seconds is not None and span.start - TOLERANCE_S <= seconds <= span.end + TOLERANCE_S
