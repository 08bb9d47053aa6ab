"""Whether a text is WebVTT by the standard, to check what egomem writes."""

from __future__ import annotations

import re

from egomem.media import LineWarning

_STRICT_TIME = r"(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}"
_STRICT = re.compile(rf"({_STRICT_TIME})[ \t]+-->[ \t]+({_STRICT_TIME})(?:[ \t]+(\S.*))?")
_SETTINGS = re.compile(
    r"vertical:(rl|lr)|line:-?\d+(\.\d+)?%?(,(start|center|end))?|align:(start|center|end|left|right)"
    r"|position:\d+(\.\d+)?%(,(line-left|center|line-right))?|size:\d+(\.\d+)?%|region:\S+"
)


def validate_webvtt(text: str) -> list[LineWarning]:
    """What is wrong with a WebVTT text by the standard (W3C WebVTT); [] where nothing is.

    Checks the header, the form and order of times, cue settings, and blocks that belong to no cue.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    faults = []
    if not re.match(r"WEBVTT([ \t]|$)", lines[0]):
        faults.append(LineWarning(1, "the first line is not WEBVTT"))
    if len(lines) > 1 and lines[1].strip():
        faults.append(LineWarning(2, "no blank line below the header"))
    last, cue_seen, number = -1.0, False, 2
    for block in "\n".join(lines[2:]).split("\n\n"):
        rows = block.split("\n")
        first = number + 1
        number += len(rows) + 1
        while rows and not rows[0]:
            rows, first = rows[1:], first + 1
        if not rows or not any(rows) or re.match(r"NOTE([ \t]|$)", rows[0]):
            continue
        if re.match(r"(STYLE|REGION)[ \t]*$", rows[0]):
            if cue_seen:
                faults.append(LineWarning(first, f"{rows[0].strip()} after the first cue"))
            continue
        at = 0 if "-->" in rows[0] else 1
        if at >= len(rows) or "-->" not in rows[at]:
            faults.append(LineWarning(first, "a block without times"))
            continue
        cue_seen = True
        last = _check_times(rows[at], first + at, last, faults)
    return faults


def _check_times(line: str, number: int, last: float, faults: list[LineWarning]) -> float:
    """Checks a line of times; returns the start that the next cue may not lie before."""
    match = _STRICT.fullmatch(line)
    if not match:
        faults.append(
            LineWarning(number, f"the times {line.strip()!r} are not of the form [HH:]MM:SS.mmm")
        )
        return last
    start, end = _seconds(match[1]), _seconds(match[2])
    if end <= start:
        faults.append(LineWarning(number, "the cue does not end after it starts"))
    if start < last:
        faults.append(LineWarning(number, "the cue starts before the one above it"))
    faults += [
        LineWarning(number, f"unknown cue setting {setting!r}")
        for setting in (match[3] or "").split()
        if not _SETTINGS.fullmatch(setting)
    ]
    return max(start, last)


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds
