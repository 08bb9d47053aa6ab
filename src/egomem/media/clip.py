"""A clip of a recording: its own packets from a key frame on, or encoded anew where that fails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from egomem.errors import MediaError
from egomem.media.container import DecodeError, audio_streams, open_media, video_streams
from egomem.media.frame_reader import frames
from egomem.media.info import MediaInfo
from egomem.media.probe import probe
from egomem.timeline import Span

MP4_CODECS = frozenset(("h264", "hevc", "av1", "vp9", "mpeg4", "aac", "mp3", "opus", "alac", "ac3"))
"""What an MP4 file can hold; the rest goes into Matroska."""
MAX_CLIP_FPS = 30.0
"""Frames per second of a clip that is encoded anew."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A clip that was written. `span` is what it shows (s of the recording): it may begin before
    what was asked for, at the key frame before it. `encoded`: it was encoded anew, without sound.
    """

    path: Path
    span: Span
    encoded: bool


def clip_suffix(info: MediaInfo) -> str:
    """The suffix of a clip of a file, by what its codecs fit into."""
    codecs = {info.video.codec} if info.video else set()
    codecs |= {s.codec for s in info.audio[:1]}
    if codecs <= MP4_CODECS:
        return ".mp4" if info.video else ".m4a"
    return ".mkv" if info.video else ".mka"


def cut_clip(path: str | Path, span: Span, target: Path, info: MediaInfo | None = None) -> Clip:
    """Write what a recording shows in `span` (s) to `target`, without encoding where possible.

    Nothing at or past the span's end is in it. Raises MediaError where nothing can be decoded.
    """
    info = info or probe(path)
    try:
        begun = _copy(Path(path), info, span, target)
    except (*DecodeError, ValueError, _CannotCopyError):
        if info.video is None:
            raise MediaError(f"no sound of {info.path} at {span.start:g} s can be cut") from None
        begun = _encode(path, info, span, target)
        return Clip(target, Span(begun, span.end), True)
    return Clip(target, Span(begun, span.end), False)


class _CannotCopyError(Exception):
    pass


def _copy(path: Path, info: MediaInfo, span: Span, target: Path) -> float:
    """Copies packets; returns the second at which the clip begins."""
    if info.video and info.video.timing == "count":  # the packets say no times
        raise _CannotCopyError
    with open_media(path) as source, av.open(str(target), "w") as out:
        videos, sounds = video_streams(source), audio_streams(source)
        # The same stream that frames are read from: seconds count from its first picture.
        main: Any = videos[0] if videos else sounds[0]
        chosen: list[Any] = [main, *(sounds[:1] if videos else ())]
        zero = info.video.start if info.video else float((main.start_time or 0) * main.time_base)
        outputs = {s.index: out.add_stream_from_template(s) for s in chosen}
        source.seek(
            math.floor((Fraction(span.start) + Fraction(zero)) / main.time_base), stream=main
        )
        begun: float | None = None
        open_streams = {s.index for s in chosen}
        for packet in source.demux(chosen):
            index = packet.stream.index
            if packet.dts is None or packet.pts is None or index not in open_streams:
                continue
            at = float(packet.pts * packet.time_base) - zero
            if begun is None:
                if index != main.index or not packet.is_keyframe:
                    continue
                begun = at
                if begun > span.start + 0.001 and span.start > 0 and info.video:
                    raise _CannotCopyError
            # In the order of decoding, what follows a late picture may rest on it.
            if at >= span.end:
                open_streams.discard(index)
                if not open_streams:
                    break
                continue
            if at < begun:  # such as pictures that rest on the key frame before
                continue
            shift = round((begun + zero) / packet.time_base)
            packet.pts -= shift
            packet.dts -= shift
            packet.stream = outputs[index]
            out.mux(packet)
    if begun is None:
        raise _CannotCopyError
    return begun


def _encode(path: str | Path, info: MediaInfo, span: Span, target: Path) -> float:
    rate = min(info.video.fps or MAX_CLIP_FPS, MAX_CLIP_FPS) if info.video else MAX_CLIP_FPS
    count = max(1, math.floor(span.length * rate))
    times = [span.start + k / rate for k in range(count)]
    with av.open(str(target), "w") as out:
        stream: Any = None
        for k, frame in enumerate(frames(path, times, info=info)):
            even = frame.image[: frame.image.shape[0] // 2 * 2, : frame.image.shape[1] // 2 * 2]
            if stream is None:
                stream = out.add_stream("libx264", rate=Fraction(rate).limit_denominator(1001))
                stream.height, stream.width = even.shape[:2]
                stream.pix_fmt = "yuv420p"
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="rgb24")
            picture.pts, picture.time_base = k, 1 / stream.codec_context.framerate
            out.mux(stream.encode(picture))
        if stream is None:
            raise MediaError(f"no picture of {info.path} at {span.start:g} s can be decoded")
        out.mux(stream.encode(None))
    return span.start
