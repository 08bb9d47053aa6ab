"""The streams beside a recording: which files they are, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import JsonValue, ValidationError

from egomem.ingest.job import STREAMS
from egomem.ingest.sources import MEDIA_SUFFIXES
from egomem.ingest.start_times import find_start
from egomem.media import MediaInfo
from egomem.media.streams import (
    FileKind,
    RecordingClock,
    RecordingStreams,
    StreamFile,
    StreamInfo,
    describe,
    details,
    device_start,
    embedded_streams,
    files_to_read,
    read_streams,
    streams_beside,
)
from egomem.records import Recording
from egomem.timeline import read_start


def stored_streams(recording: Recording) -> list[StreamInfo]:
    """What the memory keeps of a recording's streams."""
    values = recording.facts.get(STREAMS)
    infos = []
    for value in values if isinstance(values, list) else ():
        try:
            infos.append(StreamInfo.model_validate(value))
        except ValidationError:
            # Of another version: it is surveyed again, or its file is gone and it tells nothing.
            continue
    return infos


def streams_of(
    path: Path, recording: Recording, named: Sequence[StreamFile], *, find: bool = True
) -> RecordingStreams:
    """The streams of a recording: those that are named, and those in it or beside it where `find`
    is set.

    What the memory knows of files that have not changed is not read again.
    """
    beside: dict[FileKind, Path] = {}
    if find:
        # What lies beside it was made for it, and goes before what the camera itself wrote.
        beside = dict.fromkeys(embedded_streams(path), path)
        beside |= streams_beside(path, alone=is_alone(path))
    files = files_to_read(beside, named)
    if not files:
        return RecordingStreams()
    clock = RecordingClock(
        duration=recording.duration, clock=recording.clock, device_start=device_start(path)
    )
    return read_streams(files, clock, surveyed=stored_streams(recording))


def device_start_of(recording: Recording) -> float | None:
    """The time on its device's own clock (s) of a recording's second 0: by its streams, else as its
    video holds it; None where neither tells."""
    for info in stored_streams(recording):
        if info.clock == "device" and info.origin is not None and not info.assumed:
            return info.origin
    return device_start(recording.path) if recording.path else None


def streams_for_probe(
    path: Path, facts: MediaInfo, named: Sequence[StreamFile], start: str | None = None
) -> RecordingStreams:
    """The streams of a file that is in no memory; `start`: when it began, with its zone."""
    instant = read_start(start) if start else None
    recording = Recording(
        id="",
        name=path.name,
        duration=facts.duration,
        clock=find_start(path, facts, given=instant).clock,
    )
    return streams_of(path, recording, named)


def is_alone(path: Path) -> bool:
    """Whether a recording is the only one of its folder, so that what lies there is its own."""
    try:
        files = [p for p in path.parent.iterdir() if p.suffix.lower() in MEDIA_SUFFIXES]
    except OSError:
        return False
    return len(files) <= 1


def with_streams(recording: Recording, infos: Iterable[StreamInfo]) -> Recording:
    """The recording with these streams among its facts; those of other kinds stay."""
    by_kind = {info.kind: info for info in (*stored_streams(recording), *infos)}
    if not by_kind:
        return recording
    values: list[JsonValue] = [info.model_dump(mode="json") for info in by_kind.values()]
    return recording.model_copy(update={"facts": {**recording.facts, STREAMS: values}})


def stream_notes(recording: Recording, streams: RecordingStreams) -> list[str]:
    """Lines on the streams that the memory did not know so."""
    stored = stored_streams(recording)
    lines = []
    for info in streams.infos:
        if info not in stored:
            lines.append(f"{info.kind}: {describe(info)}")
            lines += [f"  {line}" for line in details(info)]
    return lines
