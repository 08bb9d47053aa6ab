"""A media file in; facts, frames and sound out. Knows nothing of models.

Time is seconds from the first displayed frame, from the file's display times (PTS) and never from
a frame's number.
"""

from egomem.media.audio import AudioBlock, AudioReader, audio
from egomem.media.digest import content_hash
from egomem.media.facts import AudioFacts, Facts, OtherStream, VideoFacts
from egomem.media.frame import Frame, Image, distinct
from egomem.media.frames import FrameReader, Report, frames, key_frames
from egomem.media.jpeg import jpeg, thumbnail
from egomem.media.probe import probe
from egomem.media.subtitles import (
    Cue,
    LineWarning,
    read_subtitles,
    validate_webvtt,
    write_srt,
    write_webvtt,
)

__all__ = [
    "AudioBlock",
    "AudioFacts",
    "AudioReader",
    "Cue",
    "Facts",
    "Frame",
    "FrameReader",
    "Image",
    "LineWarning",
    "OtherStream",
    "Report",
    "VideoFacts",
    "audio",
    "content_hash",
    "distinct",
    "frames",
    "jpeg",
    "key_frames",
    "probe",
    "read_subtitles",
    "thumbnail",
    "validate_webvtt",
    "write_srt",
    "write_webvtt",
]
