"""Decoding every packet in order, and using only the frames that decoded intact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import av
from av.container.input import InputContainer
from av.video.stream import VideoStream

from egomem.errors import MediaError, reason
from egomem.media.container import DecodeError, is_cut_off, open_media, video_streams
from egomem.media.display_clock import DisplayClock, Timing, frame_step
from egomem.media.joined import demux, is_transport_stream

MAX_HEAD_PACKETS = 64
"""Packets after which a stream without a frame counts as undecodable."""

ORDER_CHECK_FRAMES = 16
"""Frames by which it shows whether PTS are in display order."""

IndexedPicture = tuple[int, int, av.VideoFrame]
"""The index of a requested time, the picture's display time in ticks, the picture."""

CUT_OFF = "the file ends before its last packets"


@dataclass(frozen=True, slots=True)
class StreamTiming:
    """A video stream and how it is timed.

    `start` is the display time of its first frame, `step` the usual time between frames, both in
    ticks.
    """

    path: Path
    index: int
    timing: Timing
    start: int
    step: int


@dataclass
class DecodeStats:
    """How decoding goes; times in ticks.

    `fed` counts packets given to the decoder, `decoded` frames that came out intact. `last` is the
    time of the last intact frame. `lost` holds the times of the intact frames before and after each
    stretch that was lost, None where there is none. `not_pruned` is why all packets were decoded,
    where pruning was intended.
    """

    fed: int = 0
    decoded: int = 0
    failed: int = 0
    cause: str = ""
    last: int | None = None
    lost: list[tuple[int | None, int | None]] = field(default_factory=list)
    not_pruned: str = ""

    def record_failure(self, cause: str) -> None:
        self.failed += 1
        self.cause = self.cause or cause
        if not self.is_losing:
            self.lost.append((self.last, None))

    @property
    def is_losing(self) -> bool:
        """Whether the last stretch that was lost has no intact frame after it yet."""
        return bool(self.lost) and self.lost[-1][1] is None

    def record_frame(self, ticks: int) -> None:
        self.decoded += 1
        if self.is_losing:
            self.lost[-1] = (self.lost[-1][0], ticks)
        self.last = ticks


@dataclass
class OpenVideo:
    """An open video stream, at its beginning.

    It is passed on rather than opened again: to open one, FFmpeg decodes some of its frames.
    """

    container: InputContainer
    stream: VideoStream
    packets: Iterator[av.Packet[VideoStream]]


def open_video(path: Path, index: int | None = None) -> OpenVideo:
    """A file's video stream, by default the one to use. Raises MediaError where there is none.

    It decodes on one thread, which takes the least CPU time: parallel work is over files.
    """
    container = open_media(path)
    streams = [s for s in video_streams(container) if index in (None, s.index)]
    if not streams:
        container.close()
        raise MediaError(f"{path.name} has no video")
    stream = streams[0]
    stream.thread_type = "NONE"
    stream.thread_count = 1
    return OpenVideo(container, stream, demux(container, stream))


def first_frame(opened: OpenVideo, path: Path) -> tuple[Timing, av.VideoFrame, int]:
    """How a stream's frames are timed, its first displayed frame, and its time in ticks.

    Leaves the stream at its beginning. Raises MediaError where no frame there can be decoded.
    """
    stream = opened.stream
    packets: list[av.Packet[VideoStream]] = []
    frames: list[av.VideoFrame] = []
    failure = ""
    # Where a decoder reorders frames but the PTS of its packets ascend, they may be no display
    # times: some tools write decoding times there. Then frames leave the decoder in another order
    # than that of their PTS, which takes several frames to show.
    frames_needed = 1
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
                frames_needed = ORDER_CHECK_FRAMES if stamps == sorted(stamps) else 1
            if len(frames) >= frames_needed or len(packets) >= MAX_HEAD_PACKETS + frames_needed:
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
        clock.add_packet(packet)
    # The packets are decoded again from the start, so the stream need not be opened again.
    stream.codec_context.flush_buffers()
    opened.packets = chain(packets, opened.packets)
    return timing, frames[0], clock.time(frames[0])


def intact_frames(
    stream_timing: StreamTiming,
    stats: DecodeStats,
    opened: OpenVideo | None = None,
    *,
    begin: int | None = None,
    keys_only: bool = False,
) -> Iterator[tuple[int, av.VideoFrame]]:
    """Display times (ticks) and frames, in display order; only frames that decoded intact.

    After a packet that fails, or a frame that the decoder had to conceal errors in, all frames up
    to the next key frame are dropped: they refer to what is damaged. `begin` is the PTS of the key
    frame to begin at. `keys_only` leaves out all but key frames, and decodes each by itself.
    """
    opened = opened or open_video(stream_timing.path, stream_timing.index)
    stream = opened.stream
    # Packets are dropped here and not by the demuxer, which gives MP4 key frames wrong times then
    # (FFmpeg 8).
    one_by_one = keys_only and stream_timing.timing == "display"
    clock = DisplayClock(stream_timing.timing, stream_timing.step)
    with opened.container:
        trusted = True
        for packet in _packets(opened, stream_timing.path, begin, stats):
            if (one_by_one or not trusted) and not packet.is_keyframe:
                continue
            if not trusted:
                stream.codec_context.flush_buffers()
                clock.reset()
                trusted = True
            clock.add_packet(packet)
            stats.fed += 1
            try:
                if packet.is_corrupt:
                    raise av.error.InvalidDataError(0, "a packet is incomplete")
                frames = packet.decode()
                if one_by_one:
                    frames += stream.codec_context.decode(None)
                    stream.codec_context.flush_buffers()
            except DecodeError as error:
                stats.record_failure(reason(error))
                trusted = False
                continue
            for frame in frames:
                ticks = clock.time(frame)
                if frame.is_corrupt:
                    stats.record_failure("a frame is damaged")
                    trusted = False
                    break
                # Frames must be in display order: the frame on screen at a time is the last before.
                if stats.last is not None and ticks <= stats.last:
                    stats.record_failure("display times go back")
                    continue
                stats.record_frame(ticks)
                if not keys_only or frame.key_frame:
                    yield ticks, frame


def _packets(
    opened: OpenVideo, path: Path, begin: int | None, stats: DecodeStats
) -> Iterator[av.Packet[VideoStream]]:
    """The stream's packets from the key frame at `begin` to the end, or to where reading fails."""
    packets = opened.packets
    # FFmpeg seeks in transport streams by guessing, and may land behind the key frame, or in
    # another one of joined parts: they are read from the beginning.
    if begin is not None and not is_transport_stream(opened.container):
        try:
            opened.container.seek(begin, stream=opened.stream)
        except DecodeError:
            opened.container.seek(0)
        packets = demux(opened.container, opened.stream)
    before_begin = begin is not None  # seeking may land on an earlier key frame
    while True:
        try:
            packet = next(packets, None)
        except DecodeError as error:
            stats.record_failure(reason(error))
            return
        if packet is None:
            if is_cut_off(opened.container, opened.stream, path):
                stats.record_failure(CUT_OFF)
            return
        before_begin = before_begin and not (packet.is_keyframe and packet.pts == begin)
        if not before_begin:
            yield packet


def decode_all(
    stream_timing: StreamTiming,
    limits: Sequence[int],
    stats: DecodeStats,
    opened: OpenVideo | None = None,
    begin: int | None = None,
) -> Iterator[IndexedPicture]:
    """For each limit (ticks, ascending) the last picture with a display time <= it.

    There is none for a limit within a stretch that was lost, or after the last picture's end.
    """
    on_screen: av.VideoFrame | None = None
    since = end = losses = 0
    index = 0
    for ticks, frame in intact_frames(stream_timing, stats, opened, begin=begin):
        while index < len(limits) and limits[index] < ticks:
            nothing_lost = losses == len(stats.lost)
            if on_screen is not None and (nothing_lost or limits[index] < end):
                yield index, since, on_screen
            index += 1
        if index == len(limits):
            return
        on_screen, since, losses = frame, ticks, len(stats.lost)
        end = since + (frame.duration or stream_timing.step)
    # Durations are rounded, so an intact last frame gets a step of grace.
    last_limit = end + (0 if stats.is_losing else stream_timing.step)
    while index < len(limits) and on_screen is not None and limits[index] < last_limit:
        yield index, since, on_screen
        index += 1
