"""Where in time a question points: its anchor event, a clock time, a part of the recording."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.recall import Query
from egomem.recall.query import PART_PLACES, Part
from egomem.timeline import Span

FULL = 0.999
"""An anchor is found where one observation holds all its words (up to rounding)."""


@dataclass(frozen=True, slots=True)
class LocatedAnchor:
    """The event that a question is placed by, where the memory has it: an observation, or a bare
    time.

    `timeline` and `span` as of `IndexedObservation`; `coverage` of the anchor's words (1.0 for a
    bare time).
    """

    timeline: str
    span: Span
    entry: IndexedObservation | None
    coverage: float

    @property
    def sure(self) -> bool:
        return self.coverage >= FULL


def find_anchor(index: ViewIndex, query: Query, *, slack: float) -> LocatedAnchor | None:
    """The observation that holds most of the anchor's words.

    With a time ("at 1:33"), it is looked for within `slack` seconds of it, nearest first; where
    none holds the words there, the bare time is the anchor. Without a time, the earliest of equals
    counts for "after" and "while", as the first time that it happened; the latest for "last".
    """
    entries, at = index.entries, query.at
    if not entries or (query.relation is None and at is None):
        return None
    coverage = coverages(index, query.anchor_words)
    if at is not None:
        near = [
            (c, -_away(entry, at), i)
            for i, (c, entry) in enumerate(zip(coverage, entries, strict=True))
            if c > 0 and _away(entry, at) <= slack
        ]
        if near:
            # Words first, then nearness: what the question names lies seldom exactly at its time.
            top = max(c for c, _, _ in near)
            c, _, i = max(candidate for candidate in near if candidate[0] >= top - 1e-9)
            return LocatedAnchor(entries[i].timeline, entries[i].span, entries[i], c)
        return _bare(index, at)
    top = max(coverage, default=0.0)
    if not top:
        return None
    matching = [entry for c, entry in zip(coverage, entries, strict=True) if c >= top - 1e-9]
    # Entries are in time order, so the ends are the first and the last time.
    entry = matching[-1] if query.order == "last" else matching[0]
    return LocatedAnchor(entry.timeline, entry.span, entry, top)


def _bare(index: ViewIndex, at: float) -> LocatedAnchor | None:
    """A time of a recording, on the timeline of the observation nearest to it."""
    nearest = min(index.entries, key=lambda entry: _away(entry, at))
    if nearest.observation.recording is None:
        return None
    # Through the nearest observation, which lies on both time axes: the recording's and the
    # timeline's.
    moved = nearest.span.start + (at - nearest.observation.span.start)
    return LocatedAnchor(nearest.timeline, Span(moved, moved), None, 1.0)


def _away(entry: IndexedObservation, at: float) -> float:
    """Seconds between a time of the recording and an observation; 0 inside it."""
    span = entry.observation.span
    return max(0.0, span.start - at, at - span.end)


def gaps(index: ViewIndex, anchor: LocatedAnchor, relation: str) -> list[float]:
    """Seconds from the anchor's end to what comes after it (or from what came before it), else inf.

    Counted from end to start, never between middles: events have a length. What overlaps the
    anchor counts for "after" where it ends later, for "before" where it began earlier, and for
    "while" always.
    """
    distances = []
    for entry in index.entries:
        gap = math.inf
        # Across timelines there is no "after".
        if entry.timeline == anchor.timeline and entry is not anchor.entry:
            # A caption of the same window may go on past the event, and tell what came next.
            if relation == "after" and entry.span.end > anchor.span.end:
                gap = max(0.0, entry.span.start - anchor.span.end)
            elif relation == "before" and entry.span.start < anchor.span.start:
                gap = max(0.0, anchor.span.start - entry.span.end)
            elif relation == "while" and entry.span.overlaps(anchor.span):
                gap = 0.0
        distances.append(gap)
    return distances


def part_weights(index: ViewIndex, part: Part, *, width: float) -> list[float]:
    """1 at the start, middle or end, falling off by `width` (a share of the recording's length)."""
    durations = {r.id: r.duration for r in index.matches.view.recordings()}
    return [part_weight(entry, part, durations, width) for entry in index.entries]


def part_weight(
    entry: IndexedObservation, part: Part, durations: Mapping[str, float], width: float
) -> float:
    duration = durations.get(entry.observation.recording or "", 0.0)
    aim = PART_PLACES[part]
    place = entry.observation.span.middle / duration if duration > 0 else aim
    return math.exp(-abs(place - aim) / width)
