"""The frames on screen at requested times."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Self

import av

from egomem.errors import MediaError, UsageError
from egomem.media.bitstream import UnsafeToPrune
from egomem.media.container import pixel_aspect
from egomem.media.decode import (
    DecodeStats,
    IndexedPicture,
    OpenVideo,
    StreamTiming,
    decode_all,
    first_frame,
    intact_frames,
    open_video,
)
from egomem.media.display_clock import frame_step
from egomem.media.frame import Frame, Orientation, RgbConverter, RgbImage, orientation
from egomem.media.info import MediaInfo
from egomem.media.prune import Pruner

ROUNDING_S = 1e-6
"""A requested time this little before a display time counts as that time: floats are rounded."""


@dataclass(frozen=True, slots=True)
class DecodeReport:
    """How decoding has gone so far; times in seconds.

    `fed` counts packets given to the decoder, `decoded` the frames that came out, `failed` packets
    and frames that were damaged; `cause` is the first failure. `decoded_until` is the time of the
    last intact frame where the stream's end could not be decoded, else None. `lost` are stretches
    without intact frames: the times of the frames before and after. `not_pruned` is why all packets
    were decoded, where pruning was not safe.
    """

    fed: int = 0
    decoded: int = 0
    failed: int = 0
    cause: str = ""
    decoded_until: float | None = None
    lost: tuple[tuple[float | None, float | None], ...] = ()
    not_pruned: str = ""


@dataclass(frozen=True, slots=True)
class TimeBase:
    """Converts a stream's ticks into seconds of the recording, and back."""

    start: int
    base: Fraction

    def seconds(self, ticks: int) -> float:
        return float((ticks - self.start) * self.base)

    def limit(self, seconds: float) -> int:
        """The last tick at or before a time."""
        # Exact fractions: in floats a time on a frame boundary may fall before the frame.
        return math.floor(Fraction(seconds + ROUNDING_S) / self.base) + self.start


RequestedPicture = tuple[float, int, av.VideoFrame]
"""A requested time, the display time (ticks) of the picture on screen then, the picture."""

PictureSource = Callable[
    [StreamTiming, TimeBase, DecodeStats, OpenVideo], Iterator[RequestedPicture]
]


def frames(
    path: str | Path,
    times: Iterable[float],
    *,
    side: int | None = None,
    info: MediaInfo | None = None,
    prune: bool = True,
) -> FrameReader:
    """The frames on screen at `times` (ascending seconds from the first displayed frame).

    The frame at t is the last one with a display time <= t. One Frame comes for each time; times
    that fall on the same picture share its array (see `distinct`). No frame comes for a time after
    the last picture's end, nor for one where the stream is damaged: no gap is filled.
    `FrameReader.report` says what was lost.

    `side` limits the longer side in pixels. `info` of the same file saves decoding its first frame
    twice. `prune=False` decodes every packet; the pictures are the same. Raises MediaError where no
    frame can be decoded, UsageError where times do not ascend from 0.
    """
    requested = list(times)
    if any(b < a for a, b in pairwise(requested)):
        raise UsageError("the times of frames do not ascend", "sort them")
    if requested and not 0 <= requested[0] <= requested[-1] < math.inf:
        raise UsageError(f"no frame is on screen at {requested[0]:g} s", "times begin at 0")

    def source(
        timing: StreamTiming, base: TimeBase, stats: DecodeStats, opened: OpenVideo
    ) -> Iterator[RequestedPicture]:
        limits = [base.limit(time) for time in requested]
        for index, ticks, picture in _pictures(timing, limits, stats, opened, prune):
            yield requested[index], ticks, picture

    return FrameReader(path, source if requested else _no_pictures, side=side, info=info)


def key_frames(
    path: str | Path, *, side: int | None = None, info: MediaInfo | None = None
) -> FrameReader:
    """The key frames of a file, each at its own time: the cheapest overview of it.

    The encoder stored them whole, often one to ten seconds apart, so nothing else is decoded.
    Arguments and errors are those of `frames`.
    """

    def source(
        timing: StreamTiming, base: TimeBase, stats: DecodeStats, opened: OpenVideo
    ) -> Iterator[RequestedPicture]:
        for ticks, picture in intact_frames(timing, stats, opened, keys_only=True):
            yield base.seconds(ticks), ticks, picture

    return FrameReader(path, source, side=side, info=info)


class FrameReader(Iterator[Frame]):
    """An iterator of frames that reports how decoding went; also a context manager."""

    def __init__(
        self, path: str | Path, source: PictureSource, *, side: int | None, info: MediaInfo | None
    ) -> None:
        self._path = Path(path)
        self._side = side
        self._stats = DecodeStats()
        self._base = TimeBase(0, Fraction(1))
        self._frames = self._run(source, info)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Frame:
        return next(self._frames)

    def close(self) -> None:
        """Close the file; no more frames come."""
        self._frames.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def report(self) -> DecodeReport:
        """How decoding has gone so far."""
        stats = self._stats
        last = self._seconds(stats.last)
        return DecodeReport(
            fed=stats.fed,
            decoded=stats.decoded,
            failed=stats.failed,
            cause=stats.cause,
            decoded_until=last if stats.is_losing else None,
            lost=tuple((self._seconds(a), self._seconds(b)) for a, b in stats.lost),
            not_pruned=stats.not_pruned,
        )

    def _seconds(self, ticks: int | None) -> float | None:
        return None if ticks is None else self._base.seconds(ticks)

    def _run(self, source: PictureSource, info: MediaInfo | None) -> Generator[Frame]:
        timing, opened, turn = _open(self._path, info)
        time_base = opened.stream.time_base
        convert = RgbConverter(self._side, turn, pixel_aspect(opened.stream))
        assert time_base is not None
        self._base = TimeBase(timing.start, time_base)
        last: tuple[int, RgbImage] | None = None
        for requested, ticks, picture in source(timing, self._base, self._stats, opened):
            # Several requested times may fall on one picture: it is converted once.
            if last is None or last[0] != ticks:
                last = ticks, convert(picture)
            yield Frame(self._base.seconds(ticks), requested, last[1])
        # A file that yields nothing at all is an error; a damaged stretch is a line in the report.
        if last is None and self._stats.failed and self._stats.last is None:
            raise MediaError(
                f"no frame of {self._path.name} can be decoded ({self._stats.cause})",
                "try to play it; if no player can, the recording is lost",
            )


def _open(path: Path, info: MediaInfo | None) -> tuple[StreamTiming, OpenVideo, Orientation]:
    """The video stream to decode, how it is timed, and how to turn its pictures upright."""
    video = info.video if info else None
    opened = open_video(path, video.index if video else None)
    assert opened.stream.time_base is not None
    if video is not None:
        timing, start = video.timing, round(Fraction(video.start) / opened.stream.time_base)
        turn = Orientation.of(video.rotation, video.mirrored)
    else:
        timing, first, start = first_frame(opened, path)
        turn, _ = orientation(first)
    step = frame_step(opened.stream)
    return StreamTiming(path, opened.stream.index, timing, start, step), opened, turn


def _pictures(
    timing: StreamTiming, limits: Sequence[int], stats: DecodeStats, opened: OpenVideo, prune: bool
) -> Iterator[IndexedPicture]:
    """Pruned decoding for as long as it is safe, full decoding for the rest."""
    done, anchor = 0, None
    unread: OpenVideo | None = opened
    if prune and timing.timing == "display":
        pruner = Pruner(timing, limits, stats)
        try:
            for picture in pruner.pictures(opened):
                done = picture[0] + 1  # before the yield: a failure after it must not repeat it
                yield picture
            return
        except UnsafeToPrune as unsafe:
            stats.not_pruned, anchor, unread = str(unsafe), pruner.anchor, None
    for index, ticks, frame in decode_all(timing, limits[done:], stats, unread, anchor):
        yield index + done, ticks, frame


def _no_pictures(
    timing: StreamTiming, base: TimeBase, stats: DecodeStats, opened: OpenVideo
) -> Iterator[RequestedPicture]:
    return iter(())
