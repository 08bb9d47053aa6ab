"""Which observations digests are made of, and in which windows they lie."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from egomem.hashing import hash_json
from egomem.ingest.digests.levels import Level, WindowKey, window_of
from egomem.memory.exchange import ObservationKey
from egomem.records import Recording, Track

SOURCES = frozenset(("caption", "speech", "screen_text", "sound", "gaze", "motion", "place"))
"""What digests tell of. Detected objects are told where a recording has no caption."""

Windows = dict[WindowKey, list[ObservationKey]]


def material(keys: Iterable[ObservationKey], tracks: Iterable[Track]) -> list[ObservationKey]:
    """The observations to make digests of.

    Two tracks of captions say the same things twice, so that one is taken of each recording:
    captions by a model before composed ones, then the track that covers most time, then the shorter
    window; others count where it has nothing. What another recording has decides nothing here, or
    adding it would change all digests.
    """
    by_recording: dict[str, list[ObservationKey]] = defaultdict(list)
    for key in keys:
        if key.source != "digest" and key.recording is not None:
            by_recording[key.recording].append(key)
    by_id = {track.id: track for track in tracks}
    chosen: list[ObservationKey] = []
    for keys_here in by_recording.values():
        captions = _captions(keys_here, by_id)
        sources = SOURCES - {"caption"} if captions else (SOURCES - {"caption"}) | {"object"}
        chosen += captions
        chosen += (key for key in keys_here if key.source in sources)
    return chosen


def _captions(keys: Sequence[ObservationKey], by_id: Mapping[str, Track]) -> list[ObservationKey]:
    """The captions of one track, and those of others where it has none."""
    main = _caption_track(keys, by_id)
    captions = sorted((k for k in keys if k.source == "caption"), key=lambda k: (k.start, k.end))
    of_main = [k for k in captions if k.track == main]
    if len(of_main) == len(captions):
        return captions
    starts = [k.start for k in of_main]
    ends = list(accumulate((k.end for k in of_main), max))

    def is_alone(key: ObservationKey) -> bool:
        before = bisect_left(starts, key.end) - 1
        return before < 0 or ends[before] <= key.start

    return [k for k in captions if k.track == main or is_alone(k)]


def _caption_track(keys: Sequence[ObservationKey], by_id: Mapping[str, Track]) -> str | None:
    covered: dict[str, float] = defaultdict(float)
    for key in keys:
        if key.source == "caption":
            covered[key.track] += key.end - key.start

    def rank(id: str) -> tuple[bool, float, float, str]:
        track = by_id.get(id)
        composed = track is not None and track.observer == "composed"
        return composed, -covered[id], (track.window if track else None) or 0.0, id

    return min(covered, key=rank, default=None)


def windows_of_level(
    keys: Iterable[ObservationKey], recordings: Mapping[str, Recording], level: Level
) -> Windows:
    """The windows of a level that hold an observation, in order of their names."""
    windows: Windows = defaultdict(list)
    zeros = {id: _steady_zero(recording) for id, recording in recordings.items()}
    by_bucket: dict[tuple[str, str, int], WindowKey] = {}
    for key in keys:
        recording = recordings.get(key.recording or "")
        if recording is None:
            continue
        zero = zeros[recording.id]
        if zero is None:
            windows[window_of(key, recording, level)].append(key)
            continue
        # Of equal windows one is worked out: calendars are slow, and there may be a million keys.
        bucket = recording.id, key.wearer, int((zero + key.start) // level.seconds)
        window = by_bucket.get(bucket)
        if window is None:
            window = by_bucket[bucket] = window_of(key, recording, level)
        windows[window].append(key)
    return {window: windows[window] for window in sorted(windows, key=str)}


def _steady_zero(recording: Recording) -> float | None:
    """Second 0 of a recording on the wearer's wall, in seconds; None where its zone's offset
    changes while it runs, or it has no clock."""
    clock = recording.clock
    if clock is None:
        return None
    offsets = {clock.at(t).utcoffset() for t in (0.0, recording.duration, 2 * recording.duration)}
    offset = offsets.pop()
    if offsets or offset is None:
        return None
    return clock.start.timestamp() + offset.total_seconds()


def basis_of(ids: Iterable[str]) -> str:
    """What tells whether a digest is of what is in its window now."""
    return hash_json(sorted(ids))[:16]
