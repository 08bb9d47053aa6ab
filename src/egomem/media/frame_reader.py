"""The pictures on screen at wanted times."""

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
"""Seconds. A wanted time this little before a display time is a rounding error."""


@dataclass(frozen=True, slots=True)
class DecodeReport:
    """How decoding has gone so far.

    `fed` counts packets given to the decoder, `decoded` the frames that came out, `failed` packets
    and frames that were damaged; `cause` is the first failure. `decoded_until` is the time of the
    last good frame where the stream's end could not be decoded, else None. `lost` are stretches
    without good frames: the times of the good frames before and after. `plain` says why all
    packets were decoded, where pruning was not safe.
    """

    fed: int = 0
    decoded: int = 0
    failed: int = 0
    cause: str = ""
    decoded_until: float | None = None
    lost: tuple[tuple[float | None, float | None], ...] = ()
    plain: str = ""


@dataclass(frozen=True, slots=True)
class TimeBase:
    """Seconds of the recording from a stream's ticks, and back."""

    start: int
    base: Fraction

    def __call__(self, ticks: int) -> float:
        return float((ticks - self.start) * self.base)

    def limit(self, seconds: float) -> int:
        """The last tick that is not after a time."""
        return math.floor(Fraction(seconds + ROUNDING_S) / self.base) + self.start


RequestedPicture = tuple[float, int, av.VideoFrame]
"""A wanted time, the display time (ticks) of the picture on screen then, the picture."""

PictureSource = Callable[
    [StreamTiming, TimeBase, DecodeStats, OpenVideo], Iterator[RequestedPicture]
]


def frames(
    path: str | Path,
    times: Iterable[float],
    *,
    side: int | None = None,
    facts: MediaInfo | None = None,
    prune: bool = True,
) -> FrameReader:
    """The frames on screen at `times` (ascending seconds from the first displayed frame).

    The frame at t is the last one with a display time <= t. One Frame comes for each wanted time;
    times that fall on the same picture share its array (see `distinct`). No frame comes for a time
    after the last picture's end, nor for one where the stream is damaged: nothing is filled in.
    `FrameReader.report` tells what was lost.

    `side` limits the longer side in pixels. `facts` of the same file save a look at its head.
    `prune=False` decodes every packet; the pictures are the same.
    Raises MediaError where no frame can be decoded, UsageError where times do not ascend from 0.
    """
    wanted = list(times)
    if any(b < a for a, b in pairwise(wanted)):
        raise UsageError("the wanted times must ascend")
    if wanted and not 0 <= wanted[0] <= wanted[-1] < math.inf:
        raise UsageError(f"no frame is on screen at {wanted[0]:g} s", "times begin at 0")

    def source(
        track: StreamTiming, seconds: TimeBase, tally: DecodeStats, opened: OpenVideo
    ) -> Iterator[RequestedPicture]:
        limits = [seconds.limit(t) for t in wanted]
        for number, ticks, picture in _pictures(track, limits, tally, opened, prune):
            yield wanted[number], ticks, picture

    return FrameReader(path, source if wanted else _no_pictures, side=side, facts=facts)


def key_frames(
    path: str | Path, *, side: int | None = None, facts: MediaInfo | None = None
) -> FrameReader:
    """The frames that the encoder stored whole, each at its own time: the cheapest look at a file.

    How far apart they are is the encoder's choice, often one to ten seconds. Nothing else is
    decoded. Arguments and errors are those of `frames`.
    """

    def source(
        track: StreamTiming, seconds: TimeBase, tally: DecodeStats, opened: OpenVideo
    ) -> Iterator[RequestedPicture]:
        for ticks, picture in intact_frames(track, tally, opened, keys_only=True):
            yield seconds(ticks), ticks, picture

    return FrameReader(path, source, side=side, facts=facts)


class FrameReader(Iterator[Frame]):
    """An iterator of frames that can say how decoding went; also a context manager."""

    def __init__(
        self, path: str | Path, source: PictureSource, *, side: int | None, facts: MediaInfo | None
    ) -> None:
        self._path = Path(path)
        self._side = side
        self._tally = DecodeStats()
        self._seconds = TimeBase(0, Fraction(1))
        self._frames = self._run(source, facts)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Frame:
        return next(self._frames)

    def close(self) -> None:
        self._frames.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def report(self) -> DecodeReport:
        tally, of = self._tally, self._seconds
        last = None if tally.last is None else of(tally.last)
        return DecodeReport(
            fed=tally.fed,
            decoded=tally.decoded,
            failed=tally.failed,
            cause=tally.cause,
            decoded_until=last if tally.losing else None,
            lost=tuple(
                (None if a is None else of(a), None if b is None else of(b)) for a, b in tally.lost
            ),
            plain=tally.plain,
        )

    def _run(self, source: PictureSource, facts: MediaInfo | None) -> Generator[Frame]:
        track, opened, turn = _open(self._path, facts)
        base = opened.stream.time_base
        paint = RgbConverter(self._side, turn, pixel_aspect(opened.stream))
        assert base is not None
        self._seconds = TimeBase(track.start, base)
        shown: tuple[int, RgbImage] | None = None
        for wanted, ticks, picture in source(track, self._seconds, self._tally, opened):
            if shown is None or shown[0] != ticks:
                shown = ticks, paint(picture)
            yield Frame(self._seconds(ticks), wanted, shown[1])
        if shown is None and self._tally.failed and self._tally.last is None:
            raise MediaError(
                f"no frame of {self._path.name} can be decoded ({self._tally.cause})",
                "try to play it; if no player can, the recording is lost",
            )


def _open(path: Path, facts: MediaInfo | None) -> tuple[StreamTiming, OpenVideo, Orientation]:
    """The video stream to decode, how it is timed, and how its pictures are turned."""
    video = facts.video if facts else None
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
    track: StreamTiming, limits: Sequence[int], tally: DecodeStats, opened: OpenVideo, prune: bool
) -> Iterator[IndexedPicture]:
    """Pruned decoding for as long as it is safe, and plain decoding for the rest."""
    done, anchor = 0, None
    unread: OpenVideo | None = opened
    if prune and track.timing == "display":
        pruner = Pruner(track, limits, tally)
        try:
            for picture in pruner.pictures(opened):
                done = picture[0] + 1
                yield picture
            return
        except UnsafeToPrune as unsafe:
            tally.plain, anchor, unread = str(unsafe), pruner.anchor, None
    for number, ticks, frame in decode_all(track, limits[done:], tally, unread, anchor):
        yield number + done, ticks, frame


def _no_pictures(
    track: StreamTiming, seconds: TimeBase, tally: DecodeStats, opened: OpenVideo
) -> Iterator[RequestedPicture]:
    return iter(())
