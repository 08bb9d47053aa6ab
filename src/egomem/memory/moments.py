"""Moments as people write them, read against what a memory holds."""

from __future__ import annotations

from datetime import datetime

from egomem.memory.reader import MemoryReader
from egomem.timeline import Moment, RecordingTime


def moment_of(store: MemoryReader, text: Moment | str | None) -> Moment | None:
    """The moment that a text names: a wall clock, or "street.mp4 1:20", a second of a recording.

    In a memory of one recording its name may be left out. Relative times count from `latest_end`.
    A moment is returned as it is. Raises TimeError where the text cannot be read.
    """
    if not isinstance(text, str):
        return text
    from egomem.timeline import read_moment  # the grammar takes a tenth of the time of opening

    recordings = store.recordings()
    for recording in recordings:
        for name in (recording.name, recording.id):
            if text.startswith(name + " "):
                moment = read_moment(text[len(name) :].strip(), recording=recording.id)
                # "day.mp4 yesterday" names no second of the recording; it is read as a whole below.
                if isinstance(moment, RecordingTime):
                    return moment
    only = recordings[0].id if len(recordings) == 1 else None
    return read_moment(text, now=latest_end(store), recording=only)


def latest_end(store: MemoryReader) -> datetime | None:
    """When the last recording of known clock ended, which "yesterday" counts from; else None."""
    ends = (r.instant(r.duration) for r in store.recordings())
    return max((end for end in ends if end is not None), default=None)
