"""What a media file holds: its streams, its duration, its defects."""

from __future__ import annotations

from typing import Literal

from egomem.records import Record


class VideoInfo(Record):
    """The video stream that is used.

    `width` and `height` are as displayed: upright, with square pixels. `rotation` is the clockwise
    turn in degrees that makes it upright. `fps` is the average rate. `frames` is the number of
    frames, None where only decoding all of them would tell. `start` is the display time of the
    first frame on the file's own clock, `duration` from there to the end of the last frame (both
    s). `timing` is "count" where the file has no usable display times and frames are counted.
    """

    index: int
    codec: str
    width: int
    height: int
    rotation: int = 0
    mirrored: bool = False
    pixel_format: str | None = None
    fps: float | None = None
    frames: int | None = None
    start: float = 0.0
    duration: float = 0.0
    variable_rate: bool = False
    timing: Literal["display", "count"] = "display"


class AudioInfo(Record):
    """A sound stream. `start` is in seconds from the first displayed frame."""

    index: int
    codec: str
    rate: int
    channels: int
    start: float = 0.0
    duration: float | None = None
    language: str | None = None


class OtherStream(Record):
    """A stream that is listed but not used."""

    index: int
    kind: str
    codec: str | None = None
    language: str | None = None
    note: str = ""


class MediaInfo(Record):
    """A media file: its streams, its duration, and what is wrong with it.

    `duration` is in seconds of display time from the first displayed frame (of the first sound
    where there is no video). `created` is the file's creation time as written in it: cameras mark
    local time as UTC, so it is a hint and no clock. `decoded_until` is the time of the last intact
    frame where the file is known to be damaged, else None. `faults` are sentences.
    """

    path: str
    bytes: int
    container: str
    duration: float
    video: VideoInfo | None = None
    audio: tuple[AudioInfo, ...] = ()
    subtitles: tuple[OtherStream, ...] = ()
    other: tuple[OtherStream, ...] = ()
    cover_art: bool = False
    created: str | None = None
    decoded_until: float | None = None
    faults: tuple[str, ...] = ()
