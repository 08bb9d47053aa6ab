"""Moments as people write them, read against what a memory holds."""

from __future__ import annotations

from datetime import UTC, datetime

from egomem.errors import TimeError
from egomem.memory.reader import MemoryReader
from egomem.timeline import Moment, RecordingTime, Span

_ENDLESS_S = 1e12


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


def bounds_of(
    store: MemoryReader, start: str | None, end: str | None, recording: str | None
) -> tuple[Span | None, tuple[datetime, datetime] | None]:
    """Two written times as a span of one recording, or as two instants; an open end is infinite.

    At most one of the two is returned; neither, where no time is given. Raises TimeError where a
    time cannot be read, and where seconds of a recording are given without `recording`.
    """
    if start is None and end is None:
        return None, None
    first, last = (
        moment_of(store, text if recording is None else f"{recording} {text}") if text else None
        for text in (start, end)
    )
    if isinstance(first, RecordingTime) or isinstance(last, RecordingTime):
        ends = [first or RecordingTime(recording or "", 0.0), last or RecordingTime("", _ENDLESS_S)]
        if recording is None or not all(isinstance(t, RecordingTime) for t in ends):
            raise TimeError(
                f"{start or ''} to {end or ''} names seconds of a recording",
                "add --recording ID, or write two instants",
            )
        return Span(*(t.seconds for t in ends if isinstance(t, RecordingTime))), None
    # Stored instants are aware, and Python refuses to compare them with naive ones.
    earliest, latest = (bound.replace(tzinfo=UTC) for bound in (datetime.min, datetime.max))
    return None, (first or earliest, last or latest)
