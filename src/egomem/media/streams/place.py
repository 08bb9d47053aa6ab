"""Setting the clocks of streams against their recording: what is known, and what is a guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import numpy as np

from egomem.errors import MediaError
from egomem.media.container import open_media
from egomem.media.streams.alignment import Alignment
from egomem.media.streams.csv_stream import CsvStream
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import StreamKind
from egomem.media.streams.stream import Stream
from egomem.timeline import Clock

MAX_LENGTH_DIFFERENCE_S = 2.0
"""Seconds by which a stream of an unknown clock may be longer or shorter than its recording to be
taken as having begun with it (our choice)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingClock:
    """What is known of a recording's time.

    `duration` in seconds. `clock`: its instant of second 0. `device_start`: the time on its
    device's own clock at second 0 (s).
    """

    duration: float
    clock: Clock | None = None
    device_start: float | None = None


def place(
    streams: Sequence[Stream],
    recording: RecordingClock,
    starts: Mapping[StreamKind, float] | None = None,
) -> list[Alignment | str | None]:
    """The alignment of each stream; a line on why where nothing places it, None of points.

    `starts`: by kind, the second of the recording at which the stream's first sample lies, as the
    user says.
    Streams that count one device's own time share what ties it to the recording.
    """
    tie = _device_tie(streams, recording)
    return [
        None
        if stream.clock is None
        else _place(stream, recording, tie, (starts or {}).get(stream.kind))
        for stream in streams
    ]


def _place(
    stream: Stream, recording: RecordingClock, tie: Alignment | None, start: float | None
) -> Alignment | str:
    if start is not None:
        begin = next(stream.samples(), None)
        if begin is None:
            return "it has no sample with a time"
        return Alignment(
            float(begin.times[0]) - start, f"given: its first sample is at {start:g} s"
        )
    if stream.clock == "recording":
        return Alignment(0.0, "it counts seconds of the recording")
    if stream.clock in ("wall", "local"):
        if recording.clock is None:
            return "it has the wall clock's times, and when the recording began is not known"
        instant = recording.clock.start
        if stream.clock == "local":
            local = instant.replace(tzinfo=UTC)
            return Alignment(local.timestamp(), "the wall clock in the recording's zone")
        return Alignment(instant.timestamp(), "the wall clock")
    return tie if tie is not None else _by_length(stream, recording)


def _by_length(stream: Stream, recording: RecordingClock) -> Alignment | str:
    first, last = _ends(stream)
    if first is None or last is None:
        return "it has no sample with a time"
    if abs(last - first - recording.duration) > MAX_LENGTH_DIFFERENCE_S:
        return (
            f"it counts its device's own time, which nothing ties to the recording; it is "
            f"{last - first:.1f} s long, the recording {recording.duration:.1f} s"
        )
    return Alignment(
        first, "a guess: both are equally long, so it began with the recording", assumed=True
    )


def _ends(stream: Stream) -> tuple[float | None, float | None]:
    first = last = None
    for samples in stream.samples(problems=ProblemLog()):
        first = float(samples.times[0]) if first is None else first
        last = float(samples.times[-1])
    return first, last


def _device_tie(streams: Sequence[Stream], recording: RecordingClock) -> Alignment | None:
    """What ties the device's own time to the recording, where anything does."""
    if recording.device_start is not None:
        return Alignment(
            recording.device_start, "the device's times of the frames, which the video holds"
        )
    if recording.clock is None:
        return None
    begin = recording.clock.start.timestamp()
    for stream in streams:
        if not isinstance(stream, CsvStream) or stream.clock != "device":
            continue
        pairs = stream.wall_pairs()
        if pairs is not None:
            device_times, posix = pairs
            return Alignment(
                float(np.median(device_times - (posix - begin))),
                f"{stream.path.name} tells the wall clock beside the device's own time",
            )
    return None


def device_start(path: str | Path) -> float | None:
    """The time on the device's own clock (s) of a video's first frame, where it holds that.

    `vrs_to_mp4` of projectaria_tools writes the device's times of all frames, in nanoseconds, into
    the file's description.
    """
    try:
        with open_media(path) as container:
            text = container.metadata.get("description", "")
    except MediaError:
        return None
    first = text.strip().lstrip("[").partition(",")[0].strip().rstrip("]")
    return int(first) * 1e-9 if first.isdigit() and len(first) <= 19 and "," in text else None
