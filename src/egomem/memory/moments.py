"""Moments as people write them, read against what a memory holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Literal

from egomem.errors import TimeError
from egomem.memory.reader import MemoryReader
from egomem.memory.recording_names import find_recording, matching_recordings
from egomem.records import Recording
from egomem.timeline import Moment, RecordingTime, Span

_ENDLESS_S = 1e12


def moment_of(
    store: MemoryReader, text: Moment | str | None, edge: Literal["start", "end"] = "end"
) -> Moment | None:
    """The moment that a text names: a wall clock, or "street.mp4 1:20", a second of a recording.

    The recording is named as in `find_recording`; in a memory of one recording its name may be left
    out. Relative times count from `latest_end`, and a local time is that of where the wearer was
    then. Of a stretch ("yesterday") the `edge` counts. A moment is returned as it is. Raises
    TimeError where the text cannot be read, UsageError where a name means several recordings.
    """
    if not isinstance(text, str):
        return text
    from egomem.timeline import read_moment  # the grammar takes a tenth of the time of opening

    recordings = store.recordings()
    exactly = {name for r in recordings for name in (r.name, r.id)}
    splits = [(text[:i], text[i:].strip()) for i, c in enumerate(text) if c == " "]
    # The longest name first: "my walk 0:45" may be of "my walk.mp4" and not of "my.mp4".
    named = [(name, rest) for name, rest in reversed(splits) if _reads_as_seconds(rest)]
    for name, rest in named:
        if name in exactly:
            return read_moment(rest, recording=find_recording(recordings, name).id, edge=edge)
    only = recordings[0].id if len(recordings) == 1 else None
    now = latest_end(store)
    try:
        moment = read_moment(text, now=now, recording=only, edge=edge)
    except TimeError:
        # Only now: "2026-03-02 10:30" is a time, also where the id of a recording starts like it.
        for name, rest in named:
            if matching_recordings(recordings, name):
                return read_moment(rest, recording=find_recording(recordings, name).id, edge=edge)
        raise
    if now is None or not isinstance(moment, datetime):
        return moment
    return _where_it_was(
        recordings, moment, lambda zone: read_moment(text, now=now, zone=zone, edge=edge)
    )


def _where_it_was(
    recordings: Sequence[Recording], moment: datetime, read: Callable[[tzinfo], Moment]
) -> Moment:
    """A local time read by the clocks of where the wearer was then, not of where they are now.

    That is the zone of the last recording that had begun by then, as that zone tells it.
    """
    # By the instant: datetimes of one zone are compared by their local times.
    clocks = sorted((r.clock.start for r in recordings if r.clock), key=datetime.timestamp)
    zones = {str(start.tzinfo): start.tzinfo for start in reversed(clocks)}
    for name, zone in zones.items():
        try:
            there = read(zone) if zone is not None else moment
        except TimeError:  # the clocks there skip that time
            continue
        if isinstance(there, datetime):
            before = there.timestamp()
            begun = [start for start in clocks if start.timestamp() <= before] or clocks[:1]
            if str(begun[-1].tzinfo) == name:
                return there
    return moment


def _reads_as_seconds(text: str) -> bool:
    """Whether a text names a second of a recording: "day.mp4 yesterday" does not."""
    from egomem.timeline import read_moment

    try:
        return isinstance(read_moment(text, recording="any"), RecordingTime)
    except TimeError:
        return False


def latest_end(store: MemoryReader) -> datetime | None:
    """When the last recording of known clock ended, which "yesterday" counts from; else None."""
    ends = (r.instant(r.duration) for r in store.recordings())
    return max((end for end in ends if end is not None), default=None)


def bounds_of(
    store: MemoryReader, start: str | None, end: str | None, recording: str | None
) -> tuple[Span | None, tuple[datetime, datetime] | None]:
    """Two written times as a span of one recording, or as two instants; an open end is infinite.

    A stretch counts from its beginning as `start`, and to its end as `end`: "2026-03-02" is the
    whole day in both places.

    At most one of the two is returned; neither, where no time is given. Raises TimeError where a
    time cannot be read, and where seconds of a recording are given without `recording`.
    """
    if start is None and end is None:
        return None, None
    edges: tuple[Literal["start", "end"], ...] = ("start", "end")
    first, last = (
        moment_of(store, text if recording is None else f"{recording} {text}", edge)
        if text
        else None
        for text, edge in zip((start, end), edges, strict=True)
    )
    if isinstance(first, RecordingTime) or isinstance(last, RecordingTime):
        ends = [first or RecordingTime(recording or "", 0.0), last or RecordingTime("", _ENDLESS_S)]
        if recording is None or not all(isinstance(t, RecordingTime) for t in ends):
            raise TimeError(
                f"{start or ''} to {end or ''} names seconds of a recording",
                "add --recording NAME, or write two instants",
            )
        return Span(*(t.seconds for t in ends if isinstance(t, RecordingTime))), None
    # Stored instants are aware, and Python refuses to compare them with naive ones.
    earliest, latest = (bound.replace(tzinfo=UTC) for bound in (datetime.min, datetime.max))
    return None, (first or earliest, last or latest)
