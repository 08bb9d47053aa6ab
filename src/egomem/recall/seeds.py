"""From ranked windows to the ones that are shown: distinct ones, seeds, neighbours.

Windows are named by their index in `windows`; `ranked` is best first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from heapq import heapify, heappop, heappush

from egomem.recall.corpus import Corpus, Scores
from egomem.recall.moments import MomentWindow

REPEATED = 0.5
"""What a window keeps of its score where a better one holds all its observations: a long caption is
found once, and its other windows later, as the evidence may lie in any of them."""


def varied(ranked: Sequence[int], total: Scores, corpus: Corpus, *, same: float) -> Iterator[int]:
    """Windows best first, where one beside a better one counts less for saying the same.

    A neighbour of a chosen window loses `same` of its score times the share of words that the two
    have in common. One whose observations all are in a chosen window keeps REPEATED of its score.
    """
    windows = corpus.windows
    # A heap, as a choice changes the scores of its neighbours alone: sorting anew for each hit
    # takes as long as the search.
    queue = [(-total[i], rank, i) for rank, i in enumerate(ranked)]
    heapify(queue)
    score = dict(zip(ranked, total[list(ranked)].tolist(), strict=True))
    ids = cache(lambda i: frozenset(o.id for o in windows[i].observations))
    words = corpus.words
    while queue:
        minus, rank, i = heappop(queue)
        if i not in score:
            continue
        # Its score has fallen since it was put in: it goes back with the new one.
        if -minus > score[i]:
            heappush(queue, (-score[i], rank, i))
            continue
        yield i
        del score[i]
        for n in beside(i, windows, 1):
            if n in score:
                # Of the smaller one: a short caption that is wholly in a long one says nothing new.
                common = len(words(n) & words(i)) / max(1, min(len(words(n)), len(words(i))))
                score[n] *= 1 - same * common
        for n in _shared(i, windows):
            # Nothing in it that the better one does not show, but the evidence may lie in it.
            if n in score and ids(n) <= ids(i):
                score[n] *= REPEATED


def _shared(i: int, windows: Sequence[MomentWindow]) -> Iterator[int]:
    """The other windows that observations of a window reach into."""
    window = windows[i]
    first = min(o.span.start for o in window.observations)
    last = max(o.span.end for o in window.observations)
    for step in (-1, 1):
        n = i + step
        while 0 <= n < len(windows) and windows[n].line == window.line:
            if windows[n].span.end <= first or windows[n].span.start >= last:
                break
            yield n
            n += step


def choose(
    ranked: Iterable[int], windows: Sequence[MomentWindow], *, most: int, apart: float
) -> list[int]:
    """The first `most` windows whose centres are `apart` seconds or more from those before them.

    Windows of two recordings are never near each other.
    """
    seeds: list[int] = []
    for i in ranked:
        if len(seeds) >= most:
            break
        # CapMem says 45 s and not from where to where; between centres, adjacent windows of 30 s
        # exclude each other and those of 60 s do not.
        if not apart or all(not _near(windows[i], windows[s], apart) for s in seeds):
            seeds.append(i)
    return seeds


def beside(seed: int, windows: Sequence[MomentWindow], each_side: int) -> list[int]:
    """The windows that adjoin a seed, earlier ones first, up to `each_side` a side; a gap ends the
    row. Windows are in order of recording and time, so neighbours stand next to each other."""
    neighbours: list[int] = []
    for step in (-1, 1):
        edge = seed
        for _ in range(each_side):
            beyond = edge + step
            if not 0 <= beyond < len(windows):
                break
            first, second = sorted((edge, beyond))
            # A stretch in which nothing was observed has no window: what follows it is no
            # neighbour.
            if not _adjoin(windows[first], windows[second]):
                break
            neighbours.append(beyond)
            edge = beyond
    return neighbours


def _adjoin(earlier: MomentWindow, later: MomentWindow) -> bool:
    return earlier.line == later.line and abs(later.span.start - earlier.span.end) < 1e-6


def _near(a: MomentWindow, b: MomentWindow, apart: float) -> bool:
    return a.line == b.line and abs(a.span.middle - b.span.middle) < apart
