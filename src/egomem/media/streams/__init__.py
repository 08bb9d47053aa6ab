"""Streams beside a recording: gaze, motion, position. Read in flat memory, in SI units.

`read_streams` reads those of a recording at once. Of a single one, `open_stream` opens a file,
`place` sets its clock against the recording, `Stream.samples` yields its samples in seconds of the
recording, and `survey` tells what it holds and what is wrong with it.
"""

from egomem.media.streams.alignment import Alignment, ClockKind
from egomem.media.streams.beside import FileKind, streams_beside
from egomem.media.streams.describe import describe, details
from egomem.media.streams.gpmf_track import embedded_streams
from egomem.media.streams.of_recording import (
    PlacedStream,
    RecordingStreams,
    StreamFile,
    files_to_read,
    read_streams,
)
from egomem.media.streams.open import open_stream
from egomem.media.streams.place import RecordingClock, device_start, place
from egomem.media.streams.problems import ProblemLog, StreamProblem
from egomem.media.streams.samples import UNITS, Samples, StreamKind
from egomem.media.streams.stream import Stream
from egomem.media.streams.survey import StreamInfo, survey

__all__ = [
    "UNITS",
    "Alignment",
    "ClockKind",
    "FileKind",
    "PlacedStream",
    "ProblemLog",
    "RecordingClock",
    "RecordingStreams",
    "Samples",
    "Stream",
    "StreamFile",
    "StreamInfo",
    "StreamKind",
    "StreamProblem",
    "describe",
    "details",
    "device_start",
    "embedded_streams",
    "files_to_read",
    "open_stream",
    "place",
    "read_streams",
    "streams_beside",
    "survey",
]
