"""Finding out what a media file holds, without decoding more of it than a few frames."""

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

MAX_FULL_SCAN_BYTES = 64 << 20
"""Bytes. Of a file up to this size all packets are read, of a longer one the head and the tail."""

TAIL_S = 10.0
"""Seconds before the stated end from which the packets of a long file are read."""

MAX_STEP_DEVIATION = 0.05
"""Share of the usual step by which a step differs in a stream of variable frame rate."""

MIN_SOUND_OVERHANG_S = 1.0
"""Seconds of sound after the last picture that make a recording longer than its video; less is the
padding of a sound codec's last block."""


def probe(path: str | Path) -> MediaInfo:
    """The facts of a media file. Raises MediaError with one line where it cannot be used.

    Reads the packets of a file up to 64 MiB, the head and the tail of a longer one, and decodes
    only the first frames; damage that shows in the decoder alone is found by `frames`.
    """
    path = Path(path)
    with open_media(path) as container:
        faults: list[str] = []
        streams = video_streams(container)
        video = decoded_until = None
        broken = ""
        if streams:
            try:
                video, decoded_until = _video_info(container, streams[0], path, faults)
            except MediaError as error:
                broken = error.message
    # Reading to the end leaves some demuxers unable to go back, so sound gets a fresh container.
    with open_media(path) as container:
        begin = Fraction(video.start) if video else None
        sounds = [_audio_info(s, begin) for s in audio_streams(container)]
        if video:
            duration = video.duration
            ends = [s.start + s.duration for s in sounds if s.duration is not None]
            if ends and max(ends) > duration + MIN_SOUND_OVERHANG_S:
                faults.append(f"sound goes on for {max(ends) - duration:.1f} s after the video")
                duration = max(ends)
        else:
            length = _sound_duration(path, sounds[0].index) if sounds else None
            if length is None:
                raise MediaError(
                    broken or f"{path.name} holds neither video nor sound that can be decoded",
                    "try to play it; if no player can, the recording is lost",
                )
            duration = sounds[0].duration or length
        if broken:
            faults.append(f"the video cannot be used: {broken}")
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
            decoded_until=decoded_until,
            faults=tuple(faults),
        )


@dataclass
class PacketSummary:
    """What reading packets without decoding tells of a stream; times in ticks."""

    count: int = 0
    first: int | None = None
    end: int | None = None
    last: int | None = None
    corrupt: bool = False
    unstated: bool = False
    times: list[int] = field(default_factory=list)

    @property
    def steps(self) -> list[int]:
        ordered = sorted(self.times)
        return [b - a for a, b in pairwise(ordered)]


def read_packets(container: InputContainer, stream: VideoStream, step: int) -> PacketSummary:
    """Reads the packets of a stream from here to the end, or to the first that is damaged."""
    seen = PacketSummary()
    shown: tuple[int, int] | None = None
    try:
        for packet in container.demux(stream):
            if packet.is_corrupt:
                seen.corrupt = True
                break
            if not packet.size or packet.is_discard:
                continue
            seen.count += 1
            stamp = packet.pts if packet.pts is not None else packet.dts
            seen.unstated = seen.unstated or packet.pts is None
            if stamp is None:
                continue
            if seen.count <= 2048:
                seen.times.append(stamp)
            if shown is None or stamp > shown[0]:
                shown = (stamp, packet.duration or 0)
            seen.first = stamp if seen.first is None else min(seen.first, stamp)
    except DecodeError:
        seen.corrupt = True
    if shown is not None:
        steps = seen.steps
        seen.last = shown[0]
        seen.end = shown[0] + (shown[1] or (round(statistics.median(steps)) if steps else step))
    return seen


def _video_info(
    container: InputContainer, stream: VideoStream, path: Path, faults: list[str]
) -> tuple[VideoInfo, float | None]:
    base = stream.time_base
    assert base is not None
    step = frame_step(stream)
    stated = stream.frames
    with (opened := open_video(path, stream.index)).container:
        timing, first, start = first_frame(opened, path)
    if first.is_corrupt:
        track = StreamTiming(path, stream.index, timing, start, step)
        if next(intact_frames(track, DecodeStats()), None) is None:
            raise MediaError(
                f"no frame of {path.name} can be decoded without damage",
                "try to play it; if no player can, the recording is lost",
            )
        faults.append("the first frames are damaged")
    turn, sane = orientation(first)
    if not sane:
        faults.append("the rotation stored in the file makes no sense; it is not applied")
    if timing == "count":
        faults.append("the file states no usable display times; frames are counted instead")
    if start * base < 0:
        faults.append(f"display times begin at {float(start * base):.3f} s")

    whole = path.stat().st_size <= MAX_FULL_SCAN_BYTES or container.duration is None
    seen = PacketSummary()
    if not whole:
        seen = _tail_packets(container, stream, step)
        whole = seen.end is None or seen.corrupt
    if whole:
        with open_media(path) as again:
            seen = read_packets(again, again.streams[stream.index], step)  # type: ignore[arg-type]
    if seen.end is None or seen.first is None:
        duration = float(step * base)
    else:
        # Where PTS are missing the ends are DTS, which run ahead of the display by a constant.
        duration = float((seen.end - (seen.first if seen.unstated else start)) * base)
    frames: int | None = seen.count if whole else stated or None

    decoded_until = None
    if seen.corrupt or is_cut_off(stream, path.stat().st_size):
        decoded_until = float(((seen.last or start) - start) * base)
        duration = max(duration, float(stream.duration * base) if stream.duration else 0.0)
        faults.append(
            f"the file is cut off or damaged: {seen.count} of {stated or 'unknown many'} frames"
            f" are there, the last at {decoded_until:.3f} s"
        )
    elif whole and stated and stated != seen.count:
        faults.append(f"the header says {stated} frames, there are {seen.count}")

    steps = seen.steps
    middle = statistics.median(steps) if steps else 0
    variable = any(abs(s - middle) > max(2, MAX_STEP_DEVIATION * middle) for s in steps)
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
        variable_rate=variable,
        timing=timing,
    ), decoded_until


def is_cut_off(stream: VideoStream, size: int) -> bool:
    """True where the file's own index points past its end."""
    entries = stream.index_entries
    return len(entries) > 0 and entries[-1].pos + entries[-1].size > size


def _tail_packets(container: InputContainer, stream: VideoStream, step: int) -> PacketSummary:
    """The packets of the last seconds; an `end` of None where the file cannot be sought in."""
    assert stream.time_base is not None
    assert container.duration is not None
    stated = container.duration / av.time_base
    end = (stated - TAIL_S) / stream.time_base + (stream.start_time or 0)
    try:
        container.seek(max(0, int(end)), stream=stream)
    except DecodeError:
        return PacketSummary()
    return read_packets(container, stream, step)


def _audio_info(stream: AudioStream, start: Fraction | None) -> AudioInfo:
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
    """Seconds of a sound stream, read from its packets; None where none of it can be decoded."""
    with open_media(path) as container:
        stream = container.streams[index]
        base = stream.time_base or Fraction(1)
        first = end = None
        decoded = False
        try:
            for packet in container.demux(stream):
                decoded = decoded or bool(packet.decode())
                if packet.pts is not None and packet.size:
                    first = packet.pts if first is None else first
                    end = packet.pts + (packet.duration or 0)
        except DecodeError:
            pass  # what came before is what there is
        return float((end - first) * base) if decoded and first is not None and end else None


def _unused_streams(container: InputContainer, used: VideoInfo | None) -> Iterator[OtherStream]:
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


def _creation_time(container: InputContainer) -> str | None:
    """The creation time as written; Apple's key is preferred, for it carries the zone."""
    for key in ("com.apple.quicktime.creationdate", "creation_time", "date"):
        if value := container.metadata.get(key):
            return value
    return next(
        (s.metadata["creation_time"] for s in container.streams if "creation_time" in s.metadata),
        None,
    )
