"""Windows that were watched and of which nothing could be told: the model refused, was cut off, or
said nothing that can be read.

Such a window is finished, so that nobody is asked, and paid, for it again. It is kept as a mark of
finished work beside the others; what was said in the place of an observation is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from egomem.memory.store import Completed, Store
from egomem.memory.view import View
from egomem.timeline import Span, format_span

_MARK = "gap "
_TOLERANCE = 1e-5
"""By how much of it a time in a mark may be rounded."""


class FailedWindow(NamedTuple):
    """`status` is that of the last reply. `tokens`: where it was cut off."""

    span: Span
    status: str
    tokens: int | None = None

    def __str__(self) -> str:
        return f"{format_span(self.span)} {self.status}"


def window_unit(span: Span) -> str:
    """How a window is named among the finished work on a recording."""
    return f"{span.start:g}-{span.end:g}"


def to_completed(recording: str, track: str, gap: FailedWindow) -> Completed:
    """The mark of a gap; the window itself is marked as finished, too."""
    limit = "" if gap.tokens is None else f"@{gap.tokens}"
    return Completed(recording, track, f"{_MARK}{gap.status}{limit} {window_unit(gap.span)}")


def from_completed(done: Iterable[Completed], track: str) -> list[FailedWindow]:
    """The gaps among what is finished of a recording, in order of time; of a window with several,
    the last: that with no limit, as such a window is not shown again, or else the highest one."""
    found: dict[str, FailedWindow] = {}
    for _, own, name in done:
        if own != track or not name.startswith(_MARK):
            continue
        said, _, place = name.removeprefix(_MARK).partition(" ")
        status, _, limit = said.partition("@")
        start, _, end = place.partition("-")
        gap = FailedWindow(Span(float(start), float(end)), status, int(limit) if limit else None)
        if place not in found or _limit(gap) > _limit(found[place]):
            found[place] = gap
    return sorted(found.values())


def _limit(gap: FailedWindow) -> float:
    return inf if gap.tokens is None else gap.tokens


def failed_windows(store: Store, recording: str, track: str) -> list[FailedWindow]:
    """The windows of a recording that a track has nothing of, in order of time."""
    found = from_completed(store.done(recording), track)
    if not found:
        return []
    held = store.view().observations(recording=recording, tracks=[track])
    filled = {window_unit(o.span) for o in held}
    return [gap for gap in found if window_unit(gap.span) not in filled]


def failed_windows_by_track(store: Store, recording: str) -> dict[str, list[FailedWindow]]:
    """Track -> the windows of a recording that it has nothing of; only tracks that have such."""
    tracks = {d.track for d in store.done(recording) if d.unit.startswith(_MARK)}
    found = {track: failed_windows(store, recording, track) for track in sorted(tracks)}
    return {track: held for track, held in found.items() if held}


def failed_windows_in_view(view: View, track: str) -> dict[str, list[FailedWindow]]:
    """Recording -> the gaps of a track that lie in a view: those that had ended by then."""
    found = {}
    for r in view.recordings():
        passed = r.duration * (1 + _TOLERANCE)
        past = [g for g in failed_windows(view.store, r.id, track) if g.span.end <= passed]
        if past:
            found[r.id] = past
    return found
