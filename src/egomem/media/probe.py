"""Probing a media file: what it holds, without decoding more than a few of its frames."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container.input import InputContainer
from av.video.stream import VideoStream

from egomem.errors import MediaError
from egomem.media.container import (
    DecodeError,
    audio_streams,
    codec_name,
    is_cover_art,
    open_media,
    pixel_aspect,
    video_streams,
)
from egomem.media.decode import DecodeStats, StreamTiming, first_frame, intact_frames, open_video
from egomem.media.display_clock import frame_step
from egomem.media.frame import display_size, orientation
from egomem.media.info import AudioInfo, MediaInfo, OtherStream, VideoInfo
from egomem.media.joined import count_joints, demux

MAX_FULL_SCAN_BYTES = 64 << 20
"""All packets of a file up to this size are read; of a larger one only its head and tail."""

TAIL_S = 10.0
"""Seconds before the end stated in the header from which the tail is read."""

MAX_STEP_DEVIATION = 0.05
"""Share of the median step between frames; steps differ by more in a variable frame rate."""

MAX_TIMES = 2048
"""Packets by whose times it is decided whether the frame rate varies."""

MIN_SOUND_OVERHANG_S = 1.0
"""Seconds of sound after the last picture that make a recording longer than its video. Less is the
padding of a sound codec's last block."""


def probe(path: str | Path) -> MediaInfo:
    """What a media file holds. Raises MediaError where it holds nothing that can be decoded.

    Reads the packets of a file up to 64 MiB, the head and the tail of a larger one, and decodes
    only the first frames: damage that only decoding shows is found by `frames`.
    """
    path = Path(path)
    with open_media(path) as container:
        faults: list[str] = []
        streams = video_streams(container)
        video = decoded_until = None
        video_error = ""
        if streams:
            try:
                video, decoded_until = _video_info(container, streams[0], path, faults)
            except MediaError as error:
                video_error = error.message
    # Some demuxers cannot go back after reading to the end, so sound gets a fresh container.
    with open_media(path) as container:
        begin = Fraction(video.start) if video else None
        sounds = [_audio_info(s, begin) for s in audio_streams(container)]
        if video:
            duration = video.duration
            ends = [s.start + s.duration for s in sounds if s.duration is not None]
            # A camera may stop filming before it stops recording sound: speech is there to hear.
            if ends and max(ends) > duration + MIN_SOUND_OVERHANG_S:
                faults.append(f"sound goes on for {max(ends) - duration:.1f} s after the video")
                duration = max(ends)
        else:
            length = _sound_duration(path, sounds[0].index) if sounds else None
            if length is None:
                raise MediaError(
                    video_error or f"{path.name} holds neither video nor sound that can be decoded",
                    "try to play it; if no player can, the recording is lost",
                )
            stated = None if count_joints(path) else sounds[0].duration
            duration = stated or length
        if video_error:
            faults.append(f"the video cannot be used: {video_error}")
        return MediaInfo(
            path=str(path),
            bytes=path.stat().st_size,
            container=container.format.name,
            duration=duration,
            video=video,
            audio=tuple(sounds),
            subtitles=tuple(
                OtherStream(
                    index=s.index, kind="subtitle", codec=codec_name(s), language=s.language
                )
                for s in container.streams.subtitles
            ),
            other=tuple(_unused_streams(container, video)),
            cover_art=any(is_cover_art(s) for s in container.streams.video),
            created=_creation_time(container),
            capture_fps=_capture_fps(container),
            decoded_until=decoded_until,
            faults=tuple(faults),
        )


@dataclass
class PacketSummary:
    """What the packets of a stream tell without decoding; times in ticks.

    `first` and `last` are the first and the last display time, `end` the end of the last picture.
    `corrupt`: nothing usable comes any more. `lost` are stretches that cannot be decoded, each from
    the last intact picture to the next key frame. `hidden` counts packets that an edit list hides.
    `missing_pts`: some packets have decoding times only. `times` are those of the first packets.
    """

    count: int = 0
    hidden: int = 0
    lost: list[tuple[int, int]] = field(default_factory=list)
    first: int | None = None
    end: int | None = None
    last: int | None = None
    corrupt: bool = False
    missing_pts: bool = False
    times: list[int] = field(default_factory=list)

    @property
    def steps(self) -> list[int]:
        """Ticks from each picture to the next."""
        return [b - a for a, b in pairwise(sorted(self.times))]


def read_packets(container: InputContainer, stream: VideoStream, step: int) -> PacketSummary:
    """A summary of a stream's packets from here to the end, or to where nothing intact follows."""
    summary = PacketSummary()
    last_duration = 0
    intact: int | None = None  # the last picture before the damage, while there is some
    intact_count: int | None = None
    try:
        for packet in demux(container, stream):
            if not packet.size:
                continue
            if packet.is_discard:
                summary.hidden += 1
                continue
            summary.count += 1
            stamp = packet.pts if packet.pts is not None else packet.dts
            if packet.is_corrupt:
                if not summary.corrupt:
                    intact, intact_count = summary.last, summary.count - 1
                summary.corrupt = True
            elif summary.corrupt and packet.is_keyframe and stamp is not None:
                summary.lost.append((stamp if intact is None else intact, stamp))
                summary.corrupt, intact, intact_count = False, None, None
            summary.missing_pts = summary.missing_pts or packet.pts is None
            if stamp is None:
                continue
            if summary.count <= MAX_TIMES:
                summary.times.append(stamp)
            if summary.last is None or stamp > summary.last:
                summary.last, last_duration = stamp, packet.duration or 0
            summary.first = stamp if summary.first is None else min(summary.first, stamp)
    except DecodeError:
        summary.corrupt = True
    if summary.corrupt and intact_count is not None:
        summary.last, summary.count, last_duration = intact, intact_count, 0
    if summary.last is not None:
        steps = summary.steps
        usual_step = round(statistics.median(steps)) if steps else step
        summary.end = summary.last + (last_duration or usual_step)
    return summary


def _video_info(
    container: InputContainer, stream: VideoStream, path: Path, faults: list[str]
) -> tuple[VideoInfo, float | None]:
    """A video stream, and the time up to which it can be decoded; adds to `faults`."""
    base = stream.time_base
    assert base is not None
    step = frame_step(stream)
    stated_frames = stream.frames
    with (opened := open_video(path, stream.index)).container:
        timing, first, start = first_frame(opened, path)
    # Damage at the start is common (a ring buffer that was cut); the rest may be intact.
    if first.is_corrupt:
        stream_timing = StreamTiming(path, stream.index, timing, start, step)
        if next(intact_frames(stream_timing, DecodeStats()), None) is None:
            raise MediaError(
                f"no frame of {path.name} can be decoded without damage",
                "try to play it; if no player can, the recording is lost",
            )
        faults.append("the first frames are damaged")
    turn, is_possible = orientation(first)
    if not is_possible:
        faults.append("the rotation stored in the file makes no sense; it is not applied")
    if timing == "count":
        faults.append("the file has no usable display times; frames are counted instead")
    if start * base < 0:
        faults.append(f"display times begin at {float(start * base):.3f} s")

    joints = count_joints(path)
    if joints:
        faults.append(
            f"{joints + 1} parts were joined; the times of each go on where the last one ended"
        )
    read_whole = (
        path.stat().st_size <= MAX_FULL_SCAN_BYTES or container.duration is None or joints > 0
    )
    packets = PacketSummary()
    if not read_whole:
        packets = _tail_packets(container, stream, step)
        read_whole = packets.end is None or packets.corrupt  # the tail tells nothing reliable
    if read_whole:
        with open_media(path) as again:
            packets = read_packets(again, again.streams[stream.index], step)  # type: ignore[arg-type]
    if packets.end is None or packets.first is None:
        duration = float(step * base)
    else:
        # Decoding times run ahead of display times by a constant, so they start at their own first.
        zero = packets.first if packets.missing_pts else start
        duration = float((packets.end - zero) * base)
    frames: int | None = packets.count if read_whole else stated_frames or None

    decoded_until = None
    for before, after in packets.lost:
        faults.append(
            f"damaged from {float((before - start) * base):.3f} s to "
            f"{float((after - start) * base):.3f} s; what lies outside is used"
        )
    if packets.corrupt or is_cut_off(stream, path.stat().st_size):
        last = start if packets.last is None else packets.last
        decoded_until = float((last - start) * base)
        duration = max(duration, float(stream.duration * base) if stream.duration else 0.0)
        faults.append(
            f"the file is cut off or damaged: {packets.count} of {stated_frames or 'unknown many'}"
            f" frames are there, the last at {decoded_until:.3f} s"
        )
    elif read_whole and stated_frames not in (0, packets.count, packets.count + packets.hidden):
        faults.append(f"the header says {stated_frames} frames, there are {packets.count}")

    steps = packets.steps
    median = statistics.median(steps) if steps else 0
    variable_rate = any(abs(s - median) > max(2, MAX_STEP_DEVIATION * median) for s in steps)
    width, height = display_size(first.width, first.height, pixel_aspect(stream), turn)
    rate = stream.average_rate or stream.guessed_rate
    return VideoInfo(
        index=stream.index,
        codec=codec_name(stream) or "unknown",
        width=width,
        height=height,
        rotation=turn.degrees,
        mirrored=turn.mirrored,
        pixel_format=first.format.name,
        fps=round(float(rate), 6) if rate else None,
        frames=frames,
        start=float(start * base),
        duration=duration,
        variable_rate=variable_rate,
        timing=timing,
    ), decoded_until


def is_cut_off(stream: VideoStream, size: int) -> bool:
    """Whether the file's index points past the end of the file."""
    entries = stream.index_entries
    return len(entries) > 0 and entries[-1].pos + entries[-1].size > size


def _tail_packets(container: InputContainer, stream: VideoStream, step: int) -> PacketSummary:
    """A summary of the packets of the last seconds; `end` is None where the file has no seeking."""
    assert stream.time_base is not None
    assert container.duration is not None
    stated_duration = container.duration / av.time_base
    start = (stated_duration - TAIL_S) / stream.time_base + (stream.start_time or 0)
    try:
        container.seek(max(0, int(start)), stream=stream)
    except DecodeError:
        return PacketSummary()
    return read_packets(container, stream, step)


def _audio_info(stream: AudioStream, start: Fraction | None) -> AudioInfo:
    """A sound stream; `start` is the first displayed frame's time on the file's own clock (s)."""
    base = stream.time_base or Fraction(1, stream.rate)
    begin = (stream.start_time or 0) * base
    return AudioInfo(
        index=stream.index,
        codec=codec_name(stream) or "unknown",
        rate=stream.rate,
        channels=stream.channels,
        start=float(begin - (start if start is not None else begin)),
        duration=float(stream.duration * base) if stream.duration else None,
        language=stream.language,
    )


def _sound_duration(path: Path, index: int) -> float | None:
    """Seconds of a sound stream, by its packets; None where none of it can be decoded."""
    with open_media(path) as container:
        stream = container.streams[index]
        base = stream.time_base or Fraction(1)
        first = end = None
        decoded = False
        try:
            for packet in demux(container, stream):
                decoded = decoded or bool(packet.decode())
                if packet.pts is not None and packet.size:
                    first = packet.pts if first is None else first
                    end = packet.pts + (packet.duration or 0)
        except DecodeError:
            pass  # the sound up to here counts
        return float((end - first) * base) if decoded and first is not None and end else None


def _unused_streams(container: InputContainer, used: VideoInfo | None) -> Iterator[OtherStream]:
    """Cover art, further video streams, data streams."""
    for stream in container.streams:
        if stream.type in ("audio", "subtitle") or (used and stream.index == used.index):
            continue
        if is_cover_art(stream):
            yield OtherStream(index=stream.index, kind="cover art", codec=codec_name(stream))
        elif isinstance(stream, VideoStream) and stream.codec_context is not None:
            size = f"{stream.codec_context.width}x{stream.codec_context.height}"
            yield OtherStream(index=stream.index, kind="video", codec=codec_name(stream), note=size)
        else:
            yield OtherStream(index=stream.index, kind=stream.type, codec=codec_name(stream))


def _capture_fps(container: InputContainer) -> float | None:
    """The rate at which Android phones filmed slow motion or a time lapse."""
    try:
        rate = float(container.metadata.get("com.android.capture.fps", ""))
    except ValueError:
        return None
    return rate if 0 < rate < 1e5 else None


def _creation_time(container: InputContainer) -> str | None:
    """The creation time as written. Apple's key comes first: it has a time zone."""
    for key in ("com.apple.quicktime.creationdate", "creation_time", "date"):
        if value := container.metadata.get(key):
            return value
    return next(
        (s.metadata["creation_time"] for s in container.streams if "creation_time" in s.metadata),
        None,
    )
