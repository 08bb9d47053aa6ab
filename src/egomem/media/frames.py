"""The pictures on screen at wanted times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Self

from av.video.stream import VideoStream

from egomem.errors import MediaError, UsageError
from egomem.media.clock import DisplayClock, Timing, frame_step
from egomem.media.container import DecodeError, open_media, pixel_aspect, reason, video_streams
from egomem.media.facts import Facts
from egomem.media.frame import Frame, Painter
from egomem.media.probe import first_frame


@dataclass(frozen=True, slots=True)
class Report:
    """How the decoding of a stream went, so far.

    `decoded` counts frames that came out of the decoder, `fed` the packets it was given, `failed`
    those it could not decode. `decoded_until` is the time of the last good frame where decoding
    ended early, else None; `cause` is the decoder's word for why.
    """

    decoded: int = 0
    fed: int = 0
    failed: int = 0
    decoded_until: float | None = None
    cause: str = ""


def frames(
    path: str | Path,
    times: Iterable[float],
    *,
    side: int | None = None,
    facts: Facts | None = None,
) -> FrameReader:
    """The frames on screen at `times` (ascending seconds from the first displayed frame).

    The frame at t is the last one with a display time <= t; after the last frame it is the last
    one. One Frame comes for each wanted time; times that fall on the same picture share its array.
    `side` limits the longer side in pixels. `facts` of the same file save a look at its head.

    The stream ends early at the first packet that cannot be decoded: see `FrameReader.report`.
    Raises MediaError where no frame can be decoded, UsageError where times do not ascend.
    """
    return FrameReader(path, times, side=side, facts=facts)


class FrameReader(Iterator[Frame]):
    """An iterator of frames that can say how decoding went; also a context manager."""

    def __init__(
        self,
        path: str | Path,
        times: Iterable[float],
        *,
        side: int | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._path = Path(path)
        self._times = list(times)
        if any(b < a for a, b in zip(self._times, self._times[1:], strict=False)):
            raise UsageError("the wanted times must ascend")
        if self._times and self._times[0] < 0:
            raise UsageError(f"no frame is on screen at {self._times[0]:g} s", "times begin at 0")
        self._painter = Painter(side)
        self._facts = facts
        self.report = Report()
        self._frames = self._run()

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

    def _run(self) -> Iterator[Frame]:
        if not self._times:
            return
        index, timing, start = self._head()
        yield from self._sequential(index, timing, start)

    def _head(self) -> tuple[int, Timing, int]:
        with open_media(self._path) as container:
            if self._facts is not None:
                if self._facts.video is None:
                    raise MediaError(f"{self._path.name} has no video")
                video = self._facts.video
                base = container.streams[video.index].time_base
                assert base is not None
                return video.index, video.timing, round(Fraction(video.start) / base)
            streams = video_streams(container)
            if not streams:
                raise MediaError(f"{self._path.name} has no video")
            timing, _, start = first_frame(self._path, streams[0].index)
            return streams[0].index, timing, start

    def _sequential(self, index: int, timing: Timing, start: int) -> Iterator[Frame]:
        with open_media(self._path) as container:
            stream = container.streams[index]
            assert isinstance(stream, VideoStream) and stream.time_base is not None
            stream.thread_count = 1
            base, aspect = stream.time_base, pixel_aspect(stream)
            clock = DisplayClock(timing, frame_step(stream))
            wanted = iter(self._times)
            target = next(wanted, None)
            shown = None
            until = 0.0
            try:
                for packet in container.demux(stream):
                    clock.fed(packet)
                    for frame in packet.decode():
                        time = float((clock.time(frame) - start) * base)
                        image = None
                        while target is not None and shown is not None and target < time:
                            image = self._painter(shown, aspect) if image is None else image
                            yield Frame(until, target, image)
                            target = next(wanted, None)
                        shown, until = frame, time
                        if target is None:
                            return
            except DecodeError as error:
                self.report = Report(failed=1, decoded_until=until, cause=reason(error))
                return
            image = None
            while target is not None and shown is not None:
                image = self._painter(shown, aspect) if image is None else image
                yield Frame(until, target, image)
                target = next(wanted, None)
