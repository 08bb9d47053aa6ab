"""Opening a media file, and choosing among its streams."""

from __future__ import annotations

from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container.input import InputContainer
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from egomem.errors import MediaError, reason
from egomem.media.motion_photo import FileTail, moving_part

DecodeError = (av.error.FFmpegError, EOFError)
"""What PyAV raises for data that cannot be read or decoded."""


def open_media(path: str | Path) -> InputContainer:
    """An open container. Raises MediaError where the file is absent, empty or not media."""
    path = Path(path)
    if not path.exists():
        raise MediaError(f"there is no file {path}", "check the path")
    if path.is_dir():
        raise MediaError(f"{path} is a folder, not a media file")
    try:
        size = path.stat().st_size
        if size == 0:
            raise MediaError(f"{path.name} is empty (0 bytes)", "copy it again from the camera")
        # Old cameras write metadata in other encodings than UTF-8.
        begin = moving_part(path)
        source = str(path) if begin is None else FileTail(path, begin)
        container = av.open(source, "r", metadata_errors="replace")
    except PermissionError as error:
        raise MediaError(f"{path} cannot be read", "check its permissions") from error
    except (*DecodeError, OSError, ValueError) as error:
        raise MediaError(
            f"{path.name} is not a media file, or its header is damaged ({reason(error)})",
            "try to play it; a recording that was cut off may need its camera's repair",
        ) from error
    if container.format.name == "tty":  # FFmpeg takes any text file for a terminal recording
        container.close()
        raise MediaError(f"{path.name} is a text file, not a media file")
    return container


def is_cover_art(stream: Stream) -> bool:
    """Whether a video stream is a still picture beside the recording, such as a thumbnail."""
    return bool(stream.disposition & (Disposition.attached_pic | Disposition.timed_thumbnails))


def video_streams(container: InputContainer) -> list[VideoStream]:
    """The video streams that can be decoded, the one to use first; cover art is none of them."""
    usable = [s for s in container.streams.video if not is_cover_art(s) and is_decodable(s)]
    return sorted(usable, key=lambda s: (not s.disposition & Disposition.default, s.index))


def audio_streams(container: InputContainer) -> list[AudioStream]:
    """The sound streams that can be decoded, the one to use first."""
    usable = [s for s in container.streams.audio if is_decodable(s)]
    return sorted(usable, key=lambda s: (not s.disposition & Disposition.default, s.index))


def is_decodable(stream: Stream) -> bool:
    return getattr(stream, "codec_context", None) is not None


def codec_name(stream: Stream) -> str | None:
    """The codec's name (`av1`, not the name of the decoder `libdav1d`)."""
    context = getattr(stream, "codec_context", None)
    return context.codec.canonical_name if context is not None else None


def pixel_aspect(stream: VideoStream) -> float:
    """A pixel's width over its height; 1 where the file gives none, or an absurd one."""
    aspect = stream.sample_aspect_ratio
    value = float(aspect) if aspect else 1.0
    return value if 0.1 < value < 10 else 1.0


def is_cut_off(container: InputContainer, stream: Stream, path: Path) -> bool:
    """Whether the index of a file names packets of the stream that lie past the file's end.

    Only MP4 and its kin have an index of all packets; for others this is False.
    """
    # FFmpeg ends a stream without an error where a file stops exactly between two packets, so half
    # a recording would pass for a whole one. The stated duration proves nothing: many tools write
    # a wrong one into files that are whole.
    if "mp4" not in container.format.name.split(","):
        return False
    entries = stream.index_entries
    if not len(entries):
        return False
    # Packets are stored in decoding order, so the last is the first to be lost.
    last = entries[len(entries) - 1]
    return last.pos + last.size > path.stat().st_size
