"""The streams of one recording: found or given, opened, placed, surveyed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from egomem.errors import MediaError
from egomem.hashing import FINGERPRINT_LENGTH, hash_json
from egomem.media.streams.alignment import Alignment
from egomem.media.streams.beside import FileKind
from egomem.media.streams.calibrated import in_picture
from egomem.media.streams.calibration import Calibration, read_calibration
from egomem.media.streams.open import open_stream
from egomem.media.streams.place import RecordingClock, place
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import Samples, StreamKind
from egomem.media.streams.stream import Stream
from egomem.media.streams.survey import StreamInfo, survey
from egomem.timeline import Span


class StreamFile(NamedTuple):
    """A stream's file as the user names it, or as it was found; or a calibration of its gaze.

    `start`: the second of the recording at which its first sample lies, where the user says so.
    """

    kind: FileKind
    path: str | Path
    start: float | None = None


@dataclass(frozen=True, slots=True)
class PlacedStream:
    """A stream that is placed on its recording, and what its survey told."""

    stream: Stream
    alignment: Alignment | None
    info: StreamInfo
    duration: float

    @property
    def kind(self) -> StreamKind:
        return self.stream.kind

    def samples(self, span: Span | None = None) -> Iterator[Samples]:
        """Yield its samples in seconds of the recording, within it (and within `span`)."""
        return self.stream.samples(self.alignment, span=self._within(span))

    def load(self, span: Span | None = None) -> Samples:
        """All of `samples` at once: for short streams, and for stretches of long ones."""
        return self.stream.load(self.alignment, span=self._within(span))

    def _within(self, span: Span | None) -> Span:
        whole = Span(0.0, self.duration)
        if span is None:
            return whole
        return span.clip(whole) or Span(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RecordingStreams:
    """The streams of a recording.

    `placed` can be used; `infos` are of all that could be opened; `faults`: a line for each that
    could not be, or cannot be placed.
    """

    placed: tuple[PlacedStream, ...] = ()
    infos: tuple[StreamInfo, ...] = ()
    faults: tuple[str, ...] = ()

    def of(self, kind: StreamKind) -> PlacedStream | None:
        """The stream of a kind that can be used; None where there is none."""
        return next((placed for placed in self.placed if placed.kind == kind), None)


def read_streams(
    files: Sequence[StreamFile],
    recording: RecordingClock,
    *,
    surveyed: Sequence[StreamInfo] = (),
) -> RecordingStreams:
    """Open, place and survey the streams of a recording; each fault is a line, the rest goes on.

    `surveyed`: results of earlier surveys; a file that has not changed since is not read again.
    """
    faults: list[str] = []
    streams: list[Stream] = []
    calibration: Calibration | None = None
    for file in files:
        try:
            if file.kind == "calibration":
                calibration = read_calibration(Path(file.path))
            else:
                streams.append(open_stream(file.path, file.kind))
        except MediaError as error:
            faults.append(f"{file.kind}: {error}")
    if calibration is not None:
        streams = [in_picture(stream, calibration) for stream in streams]
    basis = _basis(files, recording)
    unchanged = {info.kind: info for info in surveyed if info.basis == basis}
    alignments: list[Alignment | str | None] = [None] * len(streams)
    if any(stream.kind not in unchanged for stream in streams):
        starts = {
            file.kind: file.start
            for file in files
            if file.start is not None and file.kind != "calibration"
        }
        alignments = place(streams, recording, starts)
    placed: list[PlacedStream] = []
    infos: list[StreamInfo] = []
    for stream, alignment in zip(streams, alignments, strict=True):
        info = unchanged.get(stream.kind)
        if info is None:
            try:
                info = _surveyed(stream, alignment, recording, basis)
            except MediaError as error:
                faults.append(f"{stream.kind}: {error}")
                continue
        infos.append(info)
        if info.fault:
            faults.append(f"{stream.kind}: {stream.path.name} is not used: {info.fault}")
        else:
            placed.append(PlacedStream(stream, info.alignment, info, recording.duration))
    return RecordingStreams(tuple(placed), tuple(infos), tuple(faults))


def _surveyed(
    stream: Stream, alignment: Alignment | str | None, recording: RecordingClock, basis: str
) -> StreamInfo:
    log = ProblemLog()
    fault = alignment if isinstance(alignment, str) else ""
    placement = alignment if isinstance(alignment, Alignment) else None
    info = survey(stream, placement, duration=recording.duration, problems=log)
    if not info.samples:
        fault = "no sample can be used" + (f" ({log.problems[0]})" if log.problems else "")
    elif placement is not None and info.outside == info.samples:
        fault = (
            f"its clock does not fit: it lies from {info.start:.1f} to {info.end:.1f} s of a "
            f"recording of {recording.duration:.1f} s"
        )
    return info.model_copy(update={"fault": fault, "basis": basis})


def _basis(files: Sequence[StreamFile], recording: RecordingClock) -> str:
    """What the survey of streams rests on, as a hash: the files, and what places them."""
    clock = recording.clock.start.isoformat() if recording.clock else None
    return hash_json(
        [
            [[file.kind, str(file.path), file.start, *_stat(Path(file.path))] for file in files],
            [recording.duration, clock, recording.device_start],
        ]
    )[:FINGERPRINT_LENGTH]


def _stat(path: Path) -> tuple[int, int]:
    """Size and time of the last change of a file; zeros where it is not there."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_mtime_ns


def files_to_read(beside: Mapping[FileKind, Path], named: Sequence[StreamFile]) -> list[StreamFile]:
    """The files to read: those that the user names, and of other kinds those beside it."""
    kinds = {file.kind for file in named}
    beside_files = [StreamFile(kind, path) for kind, path in beside.items() if kind not in kinds]
    return [
        file._replace(path=Path(file.path).expanduser().resolve())
        for file in (*named, *beside_files)
    ]
