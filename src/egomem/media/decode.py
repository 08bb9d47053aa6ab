"""Plain decoding: every packet in order, and trust only in what decoded well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import av
from av.container.input import InputContainer
from av.video.stream import VideoStream

from egomem.errors import MediaError, reason
from egomem.media.container import DecodeError, open_media, video_streams
from egomem.media.display_clock import DisplayClock, Timing, frame_step

MAX_HEAD_PACKETS = 64
"""Packets in which the first frame has to come."""

ORDER_CHECK_FRAMES = 16
"""Frames that show whether PTS are in display order."""

IndexedPicture = tuple[int, int, av.VideoFrame]
"""The number of a wanted time, the picture's display time in ticks, the picture."""


@dataclass(frozen=True, slots=True)
class StreamTiming:
    """The video stream to decode: which, how it is timed, the time of its first frame and the
    usual step between frames (ticks)."""

    path: Path
    index: int
    timing: Timing
    start: int
    step: int


@dataclass
class DecodeStats:
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


@dataclass
class OpenVideo:
    """A video stream that can be read from its beginning. Opening is dear: FFmpeg decodes frames to
    learn of the stream, so it is done once where possible."""

    container: InputContainer
    stream: VideoStream
    packets: Iterator[av.Packet[VideoStream]]


def open_video(path: Path, index: int | None = None) -> OpenVideo:
    """A file's video stream, by default the one to use, set to decode on one thread: the least CPU
    time. Raises MediaError where there is none."""
    container = open_media(path)
    streams = [s for s in video_streams(container) if index in (None, s.index)]
    if not streams:
        container.close()
        raise MediaError(f"{path.name} has no video")
    stream = streams[0]
    stream.thread_type = "NONE"
    stream.thread_count = 1
    return OpenVideo(container, stream, container.demux(stream))


def first_frame(opened: OpenVideo, path: Path) -> tuple[Timing, av.VideoFrame, int]:
    """How a stream's frames are timed, its first displayed frame, and that one's time in ticks.

    Leaves the stream at its beginning. Raises MediaError where nothing there can be decoded.
    """
    stream = opened.stream
    packets: list[av.Packet[VideoStream]] = []
    frames: list[av.VideoFrame] = []
    failure = ""
    # Where a decoder reorders frames but the PTS of its packets ascend, they may not be display
    # times: some tools write decoding times there. Then frames come out of the order of their PTS.
    enough = 1
    reorders = stream.codec_context.has_b_frames
    try:
        for packet in opened.packets:
            packets.append(packet)
            try:
                frames += packet.decode()
            except DecodeError as error:
                failure = failure or reason(error)
                if frames:
                    break
            if frames and reorders:
                stamps = [p.pts for p in packets if p.size and p.pts is not None]
                enough = ORDER_CHECK_FRAMES if stamps == sorted(stamps) else 1
            if len(frames) >= enough or len(packets) >= MAX_HEAD_PACKETS + enough:
                break
    except DecodeError as error:
        failure = failure or reason(error)
    if not frames:
        raise MediaError(
            f"no frame of {path.name} can be decoded ({failure or 'the stream is empty'})",
            "try to play it; if no player can, the recording is lost",
        )
    times = [f.pts for f in frames]
    ordered = None not in times and times == sorted(times, key=lambda t: t or 0)
    timing: Timing = "display" if ordered and len(set(times)) == len(times) else "count"
    clock = DisplayClock(timing, frame_step(stream))
    for packet in packets:
        clock.fed(packet)
    stream.codec_context.flush_buffers()
    opened.packets = chain(packets, opened.packets)
    return timing, frames[0], clock.time(frames[0])


def intact_frames(
    track: StreamTiming,
    tally: DecodeStats,
    opened: OpenVideo | None = None,
    *,
    begin: int | None = None,
    keys_only: bool = False,
) -> Iterator[tuple[int, av.VideoFrame]]:
    """Display times (ticks) and frames, in display order; only frames that decoded well.

    After a packet that fails, or a frame that the decoder had to patch, nothing is trusted until
    decoding begins anew at the next key frame. `begin` is the PTS of a key frame to begin at.
    `keys_only` leaves out all but key frames, and decodes each by itself.
    """
    opened = opened or open_video(track.path, track.index)
    stream = opened.stream
    # A demuxer that is told to discard other packets gives MP4 key frames wrong times (FFmpeg 8).
    alone = keys_only and track.timing == "display"
    clock = DisplayClock(track.timing, track.step)
    with opened.container:
        trusted = True
        for packet in _packets(opened, begin, tally):
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
    opened: OpenVideo, begin: int | None, tally: DecodeStats
) -> Iterator[av.Packet[VideoStream]]:
    """The stream's packets from the key frame at `begin`, to the end or to where reading fails."""
    packets = opened.packets
    if begin is not None:
        try:
            opened.container.seek(begin, stream=opened.stream)
        except DecodeError:
            opened.container.seek(0)
        packets = opened.container.demux(opened.stream)
    waiting = begin is not None
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


def decode_all(
    track: StreamTiming,
    limits: Sequence[int],
    tally: DecodeStats,
    opened: OpenVideo | None = None,
    begin: int | None = None,
) -> Iterator[IndexedPicture]:
    """For each limit (ticks, ascending) the last picture with a display time <= it.

    There is none for a limit in a lost stretch, or after the end of the last picture.
    """
    shown: av.VideoFrame | None = None
    at = end = losses = 0
    k = 0
    for ticks, frame in intact_frames(track, tally, opened, begin=begin):
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
