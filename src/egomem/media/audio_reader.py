"""The sound of a recording: mono samples on the recording's time axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Self

import av
import numpy as np
from numpy.typing import NDArray

from egomem.errors import MediaError, reason
from egomem.media.container import DecodeError, audio_streams, is_cut_off, open_media, video_streams
from egomem.media.decode import first_frame, open_video
from egomem.media.joined import count_joints, demux
from egomem.timeline import Span

MAX_DRIFT_S = 0.05
"""Seconds by which sound may differ from its stamps before silence is added or samples dropped."""


@dataclass(frozen=True, slots=True, eq=False)
class AudioBlock:
    """A stretch of sound.

    `samples` is (n,) float32 in [-1, 1], mono, at `rate` per second. `start` is in seconds from the
    first displayed frame.
    """

    start: float
    rate: int
    samples: NDArray[np.float32]

    @property
    def end(self) -> float:
        """Seconds from the first displayed frame to the end of the block."""
        return self.start + len(self.samples) / self.rate


def audio(
    path: str | Path, *, rate: int = 16000, span: Span | None = None, block: float = 30.0
) -> AudioReader:
    """The sound of a recording in blocks of `block` seconds, mixed to mono.

    Times are those of the video beside it: sound before the first displayed frame is left out, and
    a gap in the sound becomes silence. `span` limits what is read. A file without sound has no
    blocks. Raises MediaError for a file that is not media.
    """
    return AudioReader(path, rate=rate, span=span, block=block)


class AudioReader(Iterator[AudioBlock]):
    """An iterator of sound blocks.

    `failed` counts packets that could not be decoded, so far; `cause` is the first failure. `lost`
    are the stretches without sound that they leave, in seconds; the end of the last one is None
    where no sound could be decoded after it.
    """

    def __init__(self, path: str | Path, *, rate: int, span: Span | None, block: float) -> None:
        self.failed = 0
        self.cause = ""
        self.lost: list[tuple[float, float | None]] = []
        self._blocks = self._run(Path(path), rate, span, block)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AudioBlock:
        return next(self._blocks)

    def _run(self, path: Path, rate: int, span: Span | None, block: float) -> Iterator[AudioBlock]:
        with open_media(path) as container:
            sounds = audio_streams(container)
            if not sounds:
                return
            stream = sounds[0]
            zero = _first_frame_time(path, container, stream)
            begin = max(0.0, span.start) if span else 0.0
            end = span.end if span else float("inf")
            size = max(1, round(block * rate))
            if begin > 0 and not count_joints(path):
                assert stream.time_base is not None
                try:
                    # One second early: codecs need a run-up before their samples are right.
                    container.seek(
                        int((zero + Fraction(begin) - 1) / stream.time_base), stream=stream
                    )
                except DecodeError:
                    container.seek(0)
            pending: list[NDArray[np.float32]] = []
            count = 0  # samples pending
            start: float | None = None  # time of the first of them
            for time, samples in self._pieces(container, stream, path, rate, zero, begin):
                if time >= end:
                    break
                due = begin if start is None else start + count / rate
                if start is None:
                    start = due = max(begin, time)
                gap = round((time - due) * rate)
                if gap > MAX_DRIFT_S * rate:
                    pending.append(np.zeros(gap, np.float32))
                    count += gap
                elif gap < -MAX_DRIFT_S * rate or (time < begin and count == 0):
                    samples = samples[-gap:]
                limit = None if end == float("inf") else round((end - start) * rate) - count
                samples = samples[:limit] if limit is not None else samples
                pending.append(samples)
                count += len(samples)
                while count >= size:
                    joined = np.concatenate(pending)
                    yield AudioBlock(start, rate, joined[:size])
                    pending, count, start = [joined[size:]], count - size, start + size / rate
            if count and start is not None:
                yield AudioBlock(start, rate, np.concatenate(pending))

    def _pieces(
        self,
        container: av.container.InputContainer,
        stream: av.AudioStream,
        path: Path,
        rate: int,
        zero: Fraction,
        start: float,
    ) -> Iterator[tuple[float, NDArray[np.float32]]]:
        """Resampled pieces, each with the time of its first sample; failures before `start`, which
        nobody asked for, are not noted as lost.
        """
        resampler: av.AudioResampler | None = None
        layout: tuple[object, ...] = ()
        begin = expected = 0.0  # when a run of gapless sound begins; when its next frame is due
        produced = 0  # samples of the run
        failed = 0
        for frame in self._frames(container, stream, path):
            time = expected
            if frame.pts is not None and frame.time_base is not None:
                time = float(frame.pts * frame.time_base - zero)
            if self.failed > failed and time > start:
                self.lost.append((max(start, expected), time))
            failed = self.failed
            its_layout = (frame.format.name, frame.layout.name, frame.sample_rate)
            if resampler is None or abs(time - expected) > MAX_DRIFT_S or its_layout != layout:
                # A resampler joins what it gets, so each run of gapless sound has its own.
                for piece in resampler.resample(None) if resampler else []:
                    yield begin + produced / rate, _samples(piece)
                resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
                begin, produced, layout = time, 0, its_layout
            expected = time + frame.samples / frame.sample_rate
            frame.pts = None  # else the resampler fills or cuts gaps by itself
            for piece in resampler.resample(frame):
                yield begin + produced / rate, _samples(piece)
                produced += piece.samples
        for piece in resampler.resample(None) if resampler else []:
            yield begin + produced / rate, _samples(piece)
        if self.failed > failed:
            self.lost.append((max(start, expected), None))

    def _frames(
        self, container: av.container.InputContainer, stream: av.AudioStream, path: Path
    ) -> Iterator[av.AudioFrame]:
        """Decoded frames; packets that fail are counted and left out."""
        packets = demux(container, stream)
        while True:
            try:
                packet = next(packets, None)
                if packet is None:
                    if is_cut_off(container, stream, path):
                        self._record_failure("the file is cut off")
                    return
                decoded = packet.decode()
            except DecodeError as error:
                self._record_failure(reason(error))
                continue
            yield from decoded

    def _record_failure(self, cause: str) -> None:
        self.failed += 1
        self.cause = self.cause or cause


def _samples(frame: av.AudioFrame) -> NDArray[np.float32]:
    return frame.to_ndarray().reshape(-1).astype(np.float32, copy=False)


def _first_frame_time(
    path: Path, container: av.container.InputContainer, stream: av.AudioStream
) -> Fraction:
    """The time of the first displayed frame on the file's own clock: the recording's second 0."""
    for video in video_streams(container)[:1]:
        assert video.time_base is not None
        try:
            with (opened := open_video(path, video.index)).container:
                return first_frame(opened, path)[2] * video.time_base
        except MediaError:
            break
    return (stream.start_time or 0) * (stream.time_base or Fraction(0))
