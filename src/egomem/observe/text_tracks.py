"""Lines of text read in single frames -> what stood there, from when to when."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

from egomem.timeline import Span

MIN_SIMILARITY = 0.8
"""Share of matching characters above which two readings are of one line (our reconstruction)."""

MAX_DISTANCE = 0.25
"""How far a line's centre may move between two keyframes, in picture sides: a worn camera sways."""

MAX_MISSED = 1
"""Keyframes in a row that may miss a line before it counts as gone."""

Orientation = Literal["upright", "upside down", "mirrored", "mirrored upside down"]

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, each 0-1 of the picture's width or height."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line as read in one frame; `score` is the recogniser's, 0-1."""

    text: str
    score: float
    box: Box
    orientation: Orientation = "upright"


@dataclass(frozen=True, slots=True)
class OcrResult:
    """The lines of one keyframe: its span (until the next), its true time."""

    span: Span
    time: float
    lines: Sequence[TextLine]


@dataclass(slots=True)
class TextTrack:
    """One line that stood in the picture: its readings over time."""

    span: Span
    last_seen: int
    readings: list[TextLine] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def best(self) -> TextLine:
        """The reading that most keyframes agree on, weighed by score; its best-scored instance."""
        votes: defaultdict[str, float] = defaultdict(float)
        for line in self.readings:
            # One sharp frame can be misread; several that agree are seldom.
            votes[line.text] += line.score
        text = max(votes, key=lambda t: votes[t])
        return max((r for r in self.readings if r.text == text), key=lambda r: r.score)


def track_lines(results: Sequence[OcrResult]) -> list[TextTrack]:
    """Join the lines of consecutive keyframes that agree in text and place, by appearance."""
    tracks: list[TextTrack] = []
    for look, result in enumerate(results):
        # A recogniser misses a line now and then; a new track for each return would tell of a sign
        # that comes and goes.
        active = [s for s in tracks if look - s.last_seen <= MAX_MISSED + 1]
        pairs = [
            (similarity(line, s.readings[-1]), i, j)
            for i, line in enumerate(result.lines)
            for j, s in enumerate(active)
        ]
        matched: set[int] = set()
        used_tracks: set[int] = set()
        # The best pairs first: in order of lines, a line could take the track of its neighbour.
        for score, i, j in sorted(pairs, key=lambda p: -p[0]):
            if score <= 0 or i in matched or j in used_tracks:
                continue
            matched.add(i)
            used_tracks.add(j)
            _extend(active[j], result, look, result.lines[i])
        for i, line in enumerate(result.lines):
            if i not in matched:
                tracks.append(TextTrack(result.span, look, [line], [result.time]))
    return tracks


def _extend(track: TextTrack, result: OcrResult, look: int, line: TextLine) -> None:
    track.span = Span(track.span.start, result.span.end)
    track.last_seen = look
    track.readings.append(line)
    track.times.append(result.time)


def similarity(a: TextLine, b: TextLine) -> float:
    """Above 0 if two readings may be of one line: same digits, near-identical text, near place.

    Digits must agree exactly: a clock that ticks is not one line.
    """
    distance = math.dist(_centre(a.box), _centre(b.box))
    if distance > MAX_DISTANCE or _digits(a.text) != _digits(b.text):
        return 0.0
    # `autojunk` drops characters that are frequent in long texts, which in one line are its
    # letters.
    same = SequenceMatcher(None, _plain(a.text), _plain(b.text), autojunk=False).ratio()
    return same * (1 - distance) if same >= MIN_SIMILARITY else 0.0


def _centre(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _digits(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def _plain(text: str) -> str:
    return "".join(text.casefold().split())
