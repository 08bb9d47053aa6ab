"""How long a benchmark's videos are, where it does not state it and their files are at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from egomem.errors import EgomemError
from egomem.media import probe
from egomem.records import Recording, Video


def video_durations(
    videos: Iterable[Video], recordings: Mapping[str, Recording] | None = None
) -> dict[str, float]:
    """Seconds of each video that states none, by id: those of its recording, else of its file.

    A file that is not there, or cannot be read, has none.
    """
    seconds = {}
    for video in videos:
        recording = (recordings or {}).get(video.id)
        if video.duration is not None:
            continue
        if recording is not None:
            seconds[video.id] = recording.duration
        elif video.path and Path(video.path).is_file():
            try:
                seconds[video.id] = probe(video.path).duration
            except EgomemError:
                continue  # whoever needs the file says what is wrong with it
    return seconds
