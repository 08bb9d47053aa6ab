"""Subtitle files -> rows: speech, and places where cues are telemetry."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from egomem.ingest.readers.options import ImportOptions
from egomem.ingest.readers.rows import Row, SummarisedSkip
from egomem.media import LineWarning, Telemetry, positions, read_subtitles, split_telemetry
from egomem.observe.asr_filter import SegmentFilter, SpeechSegment
from egomem.text import plural


def subtitle_rows(text: str, options: ImportOptions, problems: list[LineWarning]) -> Iterator[Row]:
    """The rows of SRT or WebVTT; cues that cannot be used are rows, too, with the reason."""
    cues, warnings = read_subtitles(text)
    problems += [warning for warning in warnings if not warning.lost]
    yield from ((warning.line, warning.message) for warning in warnings if warning.lost)
    cues, readings = split_telemetry(cues)
    looped = SegmentFilter().loops([SpeechSegment(c.span.start, c.span.end, c.text) for c in cues])
    if looped:
        problems.append(LineWarning(0, dropped_line(len(looped), "repetition")))
    for place, cue in enumerate(cues):
        if place in looped:
            yield cue.line, SummarisedSkip("repetition")
            continue
        row: dict[str, Any] = {"start": cue.span.start, "end": cue.span.end, "text": cue.text}
        yield cue.line, row | ({"speaker": cue.speaker} if cue.speaker else {})
    yield from _places(readings, options, problems)


def dropped_line(count: int, why: str) -> str:
    return f"{plural(count, 'segment')} dropped as not spoken ({why})"


def _places(
    readings: list[Telemetry], options: ImportOptions, problems: list[LineWarning]
) -> Iterator[Row]:
    if not readings:
        return
    places = list(positions(readings))
    unplaced = [reading for reading in readings if not reading.is_placed]
    line = f"{plural(len(readings), 'cue')} of telemetry: no speech"
    line += f"; read as {plural(len(places), 'place')}" if places else ""
    line += f", {len(unplaced)} without a position passed over" if unplaced else ""
    problems.append(LineWarning(0, line))
    start = _start(readings, options, problems)
    for reading in unplaced:
        yield reading.line, SummarisedSkip("telemetry without a position")
    for reading in places:
        row: dict[str, Any] = {
            "start": reading.span.start,
            "end": reading.span.end,
            "text": _text(reading),
            "source": "place",
            "data": _data(reading),
        }
        yield reading.line, row | ({"recording_start": start} if start else {})


def _start(
    readings: list[Telemetry], options: ImportOptions, problems: list[LineWarning]
) -> str | None:
    """When the recording began, as most cues say; None without a zone to read it in."""
    zeros = [r.clock - timedelta(seconds=r.span.start) for r in readings if r.clock]
    if not zeros:
        return None
    start = min(zeros, key=lambda zero: abs(zero - statistics.median_low(zeros)))
    if options.zone is None:
        hint = f"the telemetry says {start.isoformat(' ', 'seconds')} for its beginning"
        problems.append(LineWarning(0, f"{hint}, without a zone; give --zone to place it in time"))
        return None
    return start.isoformat()


def _text(reading: Telemetry) -> str:
    parts = [f"at {reading.latitude:.5f}, {reading.longitude:.5f}"]
    parts += [f"{reading.height:g} m above the start"] if reading.height is not None else []
    parts += [f"altitude {reading.altitude:g} m"] if reading.altitude is not None else []
    return ", ".join(parts)


def _data(reading: Telemetry) -> Mapping[str, Any]:
    values = {
        "latitude": reading.latitude,
        "longitude": reading.longitude,
        "altitude": reading.altitude,
        "height": reading.height,
    }
    data: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    return data | ({"settings": reading.settings} if reading.settings else {})
