"""Where in time a question points: its anchor event, a clock time, a part of the recording."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from egomem.answer.extractive.question import ParsedQuestion
from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.timeline import Span

FULL = 0.999
"""An anchor is found where one observation holds all its words (up to rounding)."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The event that a question is placed by: its observation, or a bare time.

    `line` and `span` as of `IndexedObservation`; `coverage` of the anchor's words (1.0 for a bare
    time).
    """

    line: str
    span: Span
    seen: IndexedObservation | None
    coverage: float

    @property
    def sure(self) -> bool:
        return self.coverage >= FULL


def find_anchor(scene: ViewIndex, ask: ParsedQuestion, *, slack: float) -> Anchor | None:
    """The observation that holds most of the anchor's words.

    With a time ("at 1:33"), it is looked for within `slack` seconds of it, nearest first; where
    none holds the words there, the bare time is the anchor. Without a time, the earliest of equals
    counts for "after" and "while", as the first time that it happened; the latest for "last".
    """
    if not scene.seen or (ask.relation is None and ask.at is None):
        return None
    coverage = coverages(scene, ask.anchor) if ask.anchor else [0.0] * len(scene.seen)
    if ask.at is not None:
        near = [
            (c, -_away(s, ask.at), i)
            for i, (c, s) in enumerate(zip(coverage, scene.seen, strict=True))
            if c > 0 and _away(s, ask.at) <= slack
        ]
        if near:
            top = max(c for c, _, _ in near)
            c, _, i = max(entry for entry in near if entry[0] >= top - 1e-9)
            return Anchor(scene.seen[i].line, scene.seen[i].span, scene.seen[i], c)
        return _bare(scene, ask.at)
    top = max(coverage, default=0.0)
    if not top:
        return None
    matching = [i for i, c in enumerate(coverage) if c >= top - 1e-9]
    i = matching[-1] if ask.which == "last" else matching[0]
    return Anchor(scene.seen[i].line, scene.seen[i].span, scene.seen[i], top)


def _bare(scene: ViewIndex, at: float) -> Anchor | None:
    """A time of a recording, on the line of the observation nearest to it."""
    nearest = min(scene.seen, key=lambda s: _away(s, at))
    if nearest.observation.recording is None:
        return None
    moved = nearest.span.start + (at - nearest.observation.span.start)
    return Anchor(nearest.line, Span(moved, moved), None, 1.0)


def _away(seen: IndexedObservation, at: float) -> float:
    """Seconds between a time of the recording and an observation; 0 inside it."""
    span = seen.observation.span
    return max(0.0, span.start - at, at - span.end)


def gaps(scene: ViewIndex, anchor: Anchor, relation: str) -> list[float]:
    """Seconds from the anchor's end to what comes after it (or from what came before it), else inf.

    Counted from end to start, never between middles: events have a length. What overlaps the
    anchor counts for "after" where it ends later, for "before" where it began earlier, and for
    "while" always.
    """
    found = []
    for s in scene.seen:
        gap = math.inf
        if s.line == anchor.line and s is not anchor.seen:
            if relation == "after" and s.span.end > anchor.span.end:
                gap = max(0.0, s.span.start - anchor.span.end)
            elif relation == "before" and s.span.start < anchor.span.start:
                gap = max(0.0, anchor.span.start - s.span.end)
            elif relation == "while" and s.span.overlaps(anchor.span):
                gap = 0.0
        found.append(gap)
    return found


def part_weights(scene: ViewIndex, part: str, *, width: float) -> list[float]:
    """1 at the start, middle or end, falling off by `width` (a share of the recording's length)."""
    ends: dict[str | None, tuple[float, float]] = {}
    for s in scene.seen:
        low, high = ends.get(s.observation.recording, (math.inf, -math.inf))
        ends[s.observation.recording] = (min(low, s.span.start), max(high, s.span.end))
    aim = {"start": 0.0, "middle": 0.5, "end": 1.0}[part]
    weights = []
    for s in scene.seen:
        low, high = ends[s.observation.recording]
        place = (s.span.middle - low) / (high - low) if high > low else aim
        weights.append(math.exp(-abs(place - aim) / width))
    return weights


def first_of(seen: Sequence[IndexedObservation]) -> IndexedObservation:
    return min(seen, key=lambda s: (s.span.start, s.span.end))
