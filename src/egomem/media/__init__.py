"""Reading media files: what a file holds, its frames, its sound; subtitles. Knows no models.

Time is seconds from the first displayed frame, from the file's display times (PTS) and never from
a frame's number.
"""

from egomem.media.audio_reader import AudioBlock, AudioReader, audio
from egomem.media.boxes import draw_boxes
from egomem.media.clip import Clip, clip_suffix, cut_clip
from egomem.media.cue import Cue, LineWarning
from egomem.media.file_hash import content_hash
from egomem.media.frame import Frame, RgbImage, distinct
from egomem.media.frame_reader import DecodeReport, FrameReader, frames, key_frames
from egomem.media.info import AudioInfo, MediaInfo, OtherStream, VideoInfo
from egomem.media.jpeg import jpeg, thumbnail
from egomem.media.probe import probe
from egomem.media.subtitle_writer import write_srt, write_webvtt
from egomem.media.subtitles import read_subtitles
from egomem.media.telemetry import Telemetry, positions, split_telemetry

__all__ = [
    "AudioBlock",
    "AudioInfo",
    "AudioReader",
    "Clip",
    "Cue",
    "DecodeReport",
    "Frame",
    "FrameReader",
    "LineWarning",
    "MediaInfo",
    "OtherStream",
    "RgbImage",
    "Telemetry",
    "VideoInfo",
    "audio",
    "clip_suffix",
    "content_hash",
    "cut_clip",
    "distinct",
    "draw_boxes",
    "frames",
    "jpeg",
    "key_frames",
    "positions",
    "probe",
    "read_subtitles",
    "split_telemetry",
    "thumbnail",
    "write_srt",
    "write_webvtt",
]
