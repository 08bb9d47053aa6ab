"""Times that a captioner wrote, resolved once into times of the recording.

A model that gets frames of [10:30, 11:00) may write 10:42 (a time of the recording), 0:12 (of the
window), or one that is neither. Which of the first two a caption means is decided for all of its
times together. A time outside of the window is kept as it was written and flagged: moving it to the
nearest edge would turn an error into evidence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import JsonValue

from egomem.timeline import Span, format_span

TOLERANCE_S = 0.5
"""Seconds by which a written time may miss the window: half of the step of one frame a second."""

_CLOCK = r"\d{1,3}(?::\d{1,2}){1,2}(?:[.,]\d{1,3})?"
_SECONDS = r"\d{1,5}(?:\.\d{1,3})?\s?s(?:ec(?:onds?)?)?"
_TIME = rf"(?:{_CLOCK}|{_SECONDS})"
_LINE = re.compile(
    rf"^[\s>*•\-–#]*(?P<open>[\[(<*]*)\s*(?P<first>{_TIME})"
    rf"(?:\s*(?:-|–|—|to|until|\.\.)\s*(?P<last>{_TIME}))?\s*(?P<close>[\])>*]*)"
    r"(?P<sep>\s*[:\-–—.,]?\s*)(?P<text>.*)$",
    re.IGNORECASE,
)
_ANY = re.compile(rf"(?<![\d:.]){_TIME}(?![\d:])", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|#{1,6}\s+)+")

TimeBase = Literal["recording", "window"]


class WrittenLine(NamedTuple):
    """One line of a caption. `written` is the time as it stands there, "" where there is none."""

    written: str
    times: tuple[float, ...]
    text: str


@dataclass(frozen=True, slots=True)
class TimedCaption:
    """A caption with its times resolved.

    `text`: a line each, led by the recording's time where one is known. `events`: {start, end,
    text}. `outside`: {written, text} of lines whose time is not in the window. `time_base`: what
    the written times were counted from; None where no time was written, or none fits.
    """

    text: str
    events: tuple[dict[str, JsonValue], ...]
    outside: tuple[dict[str, JsonValue], ...]
    time_base: TimeBase | None


def resolve_times(caption: str, span: Span) -> TimedCaption:
    """Resolve the times at the start of a caption's lines; `span` is the window in the recording.

    Times within a sentence are left alone: a clock on a wall is no time of the recording.
    """
    lines = [_line(line) for line in caption.splitlines() if line.strip()]
    frame = _frame([t for line in lines for t in line.times], span)
    shift = span.start if frame == "window" else 0.0
    out: list[str] = []
    events: list[dict[str, JsonValue]] = []
    outside: list[dict[str, JsonValue]] = []
    for line in lines:
        if not line.text:
            continue
        if not line.times:
            out.append(line.text)
            continue
        start, end = line.times[0] + shift, line.times[-1] + shift
        if frame is None or not (_in(start, span) and _in(end, span)) or end < start:
            outside.append({"written": line.written, "text": line.text})
            out.append(line.text)
            continue
        events.append({"start": start, "end": end, "text": line.text})
        out.append(f"[{format_span(Span(start, end))}] {line.text}")
    return TimedCaption("\n".join(out), tuple(events), tuple(outside), frame)


def written_times(text: str) -> list[float]:
    """Return all times that a text writes (`1:02:03`, `12.5 s`), in seconds, in order."""
    return [_seconds(match[0]) for match in _ANY.finditer(text)]


def _line(line: str) -> WrittenLine:
    match = _LINE.match(line)
    if not match or not any((match["open"], match["sep"].strip(), match["close"], match["last"])):
        return WrittenLine("", (), _BULLET.sub("", line).strip().strip("*"))
    written = [t for t in (match["first"], match["last"]) if t]
    return WrittenLine(
        "-".join(written), tuple(_seconds(t) for t in written), match["text"].strip("* ")
    )


def _seconds(written: str) -> float:
    """`1:02:03.5` or `12.5 s` in seconds, with any number of minutes."""
    if ":" not in written:
        return float(re.sub(r"[^\d.]", "", written))
    total = 0.0
    for part in written.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return total


def _frame(times: list[float], span: Span) -> TimeBase | None:
    """What most of the times were counted from; where both fit, the recording, as was asked."""
    of_recording = sum(_in(t, span) for t in times)
    of_window = sum(_in(t + span.start, span) for t in times)
    if not of_recording and not of_window:
        return None
    return "recording" if of_recording >= of_window else "window"


def _in(seconds: float, span: Span) -> bool:
    return span.start - TOLERANCE_S <= seconds <= span.end + TOLERANCE_S
