"""Plain decoding: every packet in order, and trust only in what decoded well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import av
from av.container.input import InputContainer
from av.video.stream import VideoStream

from egomem.media.clock import DisplayClock, Timing
from egomem.media.container import DecodeError, open_media, reason

Picture = tuple[int, int, av.VideoFrame]
"""The number of a wanted time, the picture's display time in ticks, the picture."""


@dataclass(frozen=True, slots=True)
class Track:
    """The video stream to decode: which, how it is timed, the time of its first frame and the
    usual step between frames (ticks)."""

    path: Path
    index: int
    timing: Timing
    start: int
    step: int


@dataclass
class Tally:
    """What decoding met; times in ticks.

    `last` is the time of the last good frame. `lost` holds, for each stretch that was lost, the
    times of the good frames before and after it: None where there is none. `plain` says why
    everything was decoded, where that was not the plan.
    """

    fed: int = 0
    decoded: int = 0
    failed: int = 0
    cause: str = ""
    last: int | None = None
    lost: list[tuple[int | None, int | None]] = field(default_factory=list)
    plain: str = ""

    def fail(self, cause: str) -> None:
        self.failed += 1
        self.cause = self.cause or cause
        if not self.losing:
            self.lost.append((self.last, None))

    @property
    def losing(self) -> bool:
        return bool(self.lost) and self.lost[-1][1] is None

    def good(self, ticks: int) -> None:
        self.decoded += 1
        if self.losing:
            self.lost[-1] = (self.lost[-1][0], ticks)
        self.last = ticks


def open_video(track: Track) -> tuple[InputContainer, VideoStream]:
    """A container and its video stream, set to decode on one thread: see `bench/frames.py`."""
    container = open_media(track.path)
    stream = container.streams[track.index]
    assert isinstance(stream, VideoStream)
    stream.thread_type = "NONE"
    stream.thread_count = 1
    return container, stream


def good_frames(
    track: Track, tally: Tally, begin: int | None = None, *, keys_only: bool = False
) -> Iterator[tuple[int, av.VideoFrame]]:
    """Display times (ticks) and frames, in display order; only frames that decoded well.

    After a packet that fails, or a frame that the decoder had to patch, nothing is trusted until
    decoding begins anew at the next key frame. `begin` is the PTS of a key frame to begin at.
    `keys_only` leaves out all but key frames, and decodes each by itself.
    """
    container, stream = open_video(track)
    # A demuxer that is told to discard other packets gives MP4 key frames wrong times (FFmpeg 8).
    alone = keys_only and track.timing == "display"
    clock = DisplayClock(track.timing, track.step)
    with container:
        trusted = True
        for packet in _packets(container, stream, begin, tally):
            if (alone or not trusted) and not packet.is_keyframe:
                continue
            if not trusted:
                stream.codec_context.flush_buffers()
                clock.reset()
                trusted = True
            clock.fed(packet)
            tally.fed += 1
            try:
                if packet.is_corrupt:
                    raise av.error.InvalidDataError(0, "a packet is incomplete")
                frames = packet.decode()
                if alone:
                    frames += stream.codec_context.decode(None)
                    stream.codec_context.flush_buffers()
            except DecodeError as error:
                tally.fail(reason(error))
                trusted = False
                continue
            for frame in frames:
                ticks = clock.time(frame)
                if frame.is_corrupt:
                    tally.fail("a frame is damaged")
                    trusted = False
                    break
                if tally.last is not None and ticks <= tally.last:
                    tally.fail("display times go back")
                    continue
                tally.good(ticks)
                if not keys_only or frame.key_frame:
                    yield ticks, frame


def _packets(
    container: InputContainer, stream: VideoStream, begin: int | None, tally: Tally
) -> Iterator[av.Packet[VideoStream]]:
    """The stream's packets from the key frame at `begin`, to the end or to where reading fails."""
    if begin is not None:
        try:
            container.seek(begin, stream=stream)
        except DecodeError:
            container.seek(0)
    waiting = begin is not None
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except DecodeError as error:
            tally.fail(reason(error))
            return
        if packet is None:
            return
        waiting = waiting and not (packet.is_keyframe and packet.pts == begin)
        if not waiting:
            yield packet


def plain(
    track: Track, limits: Sequence[int], tally: Tally, begin: int | None = None
) -> Iterator[Picture]:
    """For each limit (ticks, ascending) the last picture with a display time <= it.

    There is none for a limit in a lost stretch, or after the end of the last picture.
    """
    shown: av.VideoFrame | None = None
    at = end = losses = 0
    k = 0
    for ticks, frame in good_frames(track, tally, begin):
        while k < len(limits) and limits[k] < ticks:
            if shown is not None and (losses == len(tally.lost) or limits[k] < end):
                yield k, at, shown
            k += 1
        if k == len(limits):
            return
        shown, at, losses = frame, ticks, len(tally.lost)
        end = at + (frame.duration or track.step)
    while (
        k < len(limits)
        and shown is not None
        and limits[k] < end + (0 if tally.losing else track.step)
    ):
        yield k, at, shown
        k += 1
