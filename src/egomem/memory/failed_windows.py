"""Windows whose observation failed: the model refused, was cut off, or its reply was unreadable.

Such a window counts as finished, so that no request is paid for twice. It is stored as a mark among
the finished work; the reply itself is not stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from egomem.memory.reader import Completed, MemoryReader
from egomem.memory.view import View, view_of
from egomem.timeline import Span, format_span

_MARK = "gap "
_TOLERANCE = 1e-5
"""By how much of it a time in a mark may be rounded."""


class FailedWindow(NamedTuple):
    """A window without observations. `status` is that of the last reply; `tokens` is the limit at
    which it was cut off.
    """

    span: Span
    status: str
    tokens: int | None = None

    def __str__(self) -> str:
        return f"{format_span(self.span)} {self.status}"


def window_unit(span: Span) -> str:
    """The name of a window among the finished work on a recording."""
    return f"{span.start:g}-{span.end:g}"


def to_completed(recording: str, track: str, gap: FailedWindow) -> Completed:
    """The mark of a failed window; the caller marks the window itself as finished, too."""
    limit = "" if gap.tokens is None else f"@{gap.tokens}"
    return Completed(recording, track, f"{_MARK}{gap.status}{limit} {window_unit(gap.span)}")


def from_completed(done: Iterable[Completed], track: str) -> list[FailedWindow]:
    """The failed windows among a recording's finished work, in order of time.

    Of several marks for one window the decisive one counts: that without a token limit, as such a
    window is never retried, else the one with the highest limit.
    """
    by_place: dict[str, FailedWindow] = {}
    for _, track_id, name in done:
        if track_id != track or not name.startswith(_MARK):
            continue
        outcome, _, place = name.removeprefix(_MARK).partition(" ")
        status, _, limit = outcome.partition("@")
        start, _, end = place.partition("-")
        gap = FailedWindow(Span(float(start), float(end)), status, int(limit) if limit else None)
        if place not in by_place or _limit(gap) > _limit(by_place[place]):
            by_place[place] = gap
    return sorted(by_place.values())


def _limit(gap: FailedWindow) -> float:
    return inf if gap.tokens is None else gap.tokens


def failed_windows(store: MemoryReader, recording: str, track: str) -> list[FailedWindow]:
    """A recording's windows that a track failed on and has no observation of, in time order."""
    marked = from_completed(store.completed(recording), track)
    if not marked:
        return []
    observations = view_of(store).observations(recording=recording, tracks=[track])
    filled = {window_unit(o.span) for o in observations}
    return [gap for gap in marked if window_unit(gap.span) not in filled]


def failed_windows_by_track(store: MemoryReader, recording: str) -> dict[str, list[FailedWindow]]:
    """Track -> its failed windows of a recording; tracks without any are left out."""
    tracks = {d.track for d in store.completed(recording) if d.unit.startswith(_MARK)}
    by_track = {track: failed_windows(store, recording, track) for track in sorted(tracks)}
    return {track: windows for track, windows in by_track.items() if windows}


def failed_windows_in_view(view: View, track: str) -> dict[str, list[FailedWindow]]:
    """Recording -> the failed windows of a track that had ended by the time of a view."""
    by_recording = {}
    for r in view.recordings():
        end = r.duration * (1 + _TOLERANCE)
        ended = [g for g in failed_windows(view.store, r.id, track) if g.span.end <= end]
        if ended:
            by_recording[r.id] = ended
    return by_recording
