"""Which lines stand for a stretch of time: greedy coverage of its words, spread over its time.

A greedy choice for a sum of covered words is within 1 - 1/e of the best one (Lin and Bilmes, 2011,
monotone submodular summarisation). The weights are our reconstruction; nothing is random.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from egomem.ingest.digests.parts import Part, Statement, kept_ids

_ALIKE = 0.4
"""Jaccard overlap of stems from which two lines tell of one activity."""
_GAP_S = 120.0
"""Seconds without a like line after which an activity has ended."""
_COVERED = 0.15
"""What a word counts that a chosen line has already."""
_NEW_TIME = 1.6
"""By how much a line counts more where no chosen line lies near it."""
_FIGURES = 1.5
"""By how much a word with figures counts more: a price or a number is lost for good."""


_OF_SOURCE = {"speech": 0.7, "screen_text": 0.8, "object": 0.5}
"""What a line of a source counts: most of what is said tells little of what was done."""


@dataclass(frozen=True)
class Episode:
    """Lines of one activity or one utterance that follow each other: `head` stands for them."""

    head: Part
    end: float
    ids: tuple[str, ...]
    count: int = 1

    @property
    def seconds(self) -> float:
        return max(self.end - self.head.start, 0.0)

    def statement(self) -> Statement:
        head = self.head
        return Statement(
            head.start,
            max(self.end, head.end),
            head.text,
            kept_ids(self.ids),
            head.speaker,
            head.offset,
            head.source,
        )


def episodes(parts: Sequence[Part]) -> list[Episode]:
    """The parts with repeated activities merged ("cooking, 10:05-10:40"), in order of time.

    Words that different people speak are never merged, nor is a line with figures that the other
    lacks: two prices are two things.
    """
    current: dict[tuple[str, str], Episode] = {}
    closed: list[Episode] = []
    for part in parts:
        if not part.stems:
            continue
        stream = part.source, part.speaker
        episode = current.get(stream)
        if episode is not None and _goes_on(episode, part):
            current[stream] = replace(
                episode,
                end=max(episode.end, part.end),
                ids=(*episode.ids, *part.ids),
                count=episode.count + 1,
            )
            continue
        if episode is not None:
            closed.append(episode)
        current[stream] = Episode(part, part.end, part.ids)
    return sorted((*closed, *current.values()), key=lambda e: (e.head.start, e.end, e.head.text))


def _goes_on(episode: Episode, part: Part) -> bool:
    a, b = episode.head.stems, part.stems
    if part.start - episode.end > _GAP_S or _figures(a) != _figures(b):
        return False
    return len(a & b) >= _ALIKE * len(a | b)


def _figures(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if any(map(str.isdecimal, w)))


def choose(parts: Sequence[Part], count: int) -> list[Statement]:
    """At most `count` lines that stand for the parts, in order of time."""
    return [episode.statement() for episode in chosen_episodes(episodes(parts), count)]


def chosen_episodes(pool: Sequence[Episode], count: int) -> list[Episode]:
    """At most `count` episodes that stand for all, in the order given."""
    if len(pool) <= count:
        return list(pool)
    weights = _weights(pool)
    # Equal numbers of lines, not of minutes: a gap in the recording needs no line.
    edges = [pool[len(pool) * k // count].head.start for k in range(1, count)]
    bins = [bisect_right(edges, episode.head.start) for episode in pool]
    covered: set[str] = set()
    used_bins: Counter[int] = Counter()
    chosen: list[int] = []
    rest = set(range(len(pool)))
    while rest and len(chosen) < count:
        best = max(rest, key=lambda i: (_gain(pool[i], weights, covered, used_bins[bins[i]]), -i))
        rest.discard(best)
        chosen.append(best)
        covered |= pool[best].head.stems
        used_bins[bins[best]] += 1
    return [pool[i] for i in sorted(chosen)]


def _gain(episode: Episode, weights: Mapping[str, float], covered: set[str], in_bin: int) -> float:
    words = sum(weights[s] * (_COVERED if s in covered else 1.0) for s in episode.head.stems)
    gain = words / math.sqrt(episode.head.length + 4) * _OF_SOURCE.get(episode.head.source, 1.0)
    gain *= 1 + 0.3 * math.log1p(episode.seconds / 60) + 0.1 * math.log(episode.count)
    return gain * (_NEW_TIME if not in_bin else 1 / (1 + in_bin))


def _weights(pool: Sequence[Episode]) -> dict[str, float]:
    """What each stem counts: most where it is neither in a single line nor in all."""
    frequency = Counter(s for episode in pool for s in episode.head.stems)
    n = len(pool)
    return {
        stem: math.log1p(df)
        * math.log1p(n / df)
        * (_FIGURES if any(map(str.isdecimal, stem)) else 1.0)
        for stem, df in frequency.items()
    }
