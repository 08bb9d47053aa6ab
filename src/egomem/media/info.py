"""What a media file holds: its streams, its duration, its defects."""

from __future__ import annotations

from typing import Literal

from egomem.records import Record
from egomem.timeline import format_time


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
    local time as UTC, so it is a hint and no clock. `capture_fps` is the rate at which slow motion
    or a time lapse was filmed, where the file tells it. `decoded_until` is the time of the last
    intact frame where the file is known to be damaged, else None. `faults` are sentences.
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
    capture_fps: float | None = None
    decoded_until: float | None = None
    faults: tuple[str, ...] = ()

    @property
    def real_speed(self) -> float:
        """Seconds of real time in a second of the file: below 1 in slow motion, 1 where unknown."""
        played = self.video.fps if self.video else None
        if not self.capture_fps or not played:
            return 1.0
        speed = played / self.capture_fps
        # Rates of 29.97 and 30, or of a phone that could not keep up, are no slow motion.
        return speed if not 0.75 < speed < 1.34 else 1.0

    @property
    def speed_note(self) -> str:
        """A sentence on slow motion or a time lapse; "" where real time is that of the file."""
        if self.real_speed == 1 or self.video is None:
            return ""
        kind = "slow motion" if self.real_speed < 1 else "a time lapse"
        return (
            f"{kind}: filmed at {self.capture_fps:g} frames a second, played at "
            f"{self.video.fps:g}; its {format_time(self.duration)} are "
            f"{format_time(self.duration * self.real_speed)} of real time, and times of day are "
            "right at its start only"
        )
