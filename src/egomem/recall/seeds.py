"""From ranked windows to the ones that are shown: distinct ones, seeds, neighbours.

Windows are named by their index in `windows`; `ranked` is best first.
"""

from __future__ import annotations

from collections.abc import Sequence

from egomem.recall.moments import Window


def distinct(ranked: Sequence[int], windows: Sequence[Window]) -> list[int]:
    """Without windows all of whose observations a better one has: a long caption is found once."""
    shown: list[frozenset[str]] = []
    kept = []
    holding: dict[str, list[int]] = {}
    for i in ranked:
        ids = frozenset(o.id for o in windows[i].observations)
        near = {n for id in ids for n in holding.get(id, ())}
        if any(ids <= shown[n] for n in near):
            continue
        for id in ids:
            holding.setdefault(id, []).append(len(shown))
        shown.append(ids)
        kept.append(i)
    return kept


def choose(
    ranked: Sequence[int], windows: Sequence[Window], *, most: int, apart: float
) -> list[int]:
    """The first `most` windows whose centres are `apart` seconds or more from those before them.

    Windows of two recordings are never near each other.
    """
    seeds: list[int] = []
    for i in ranked:
        if len(seeds) >= most:
            break
        if not apart or all(not _near(windows[i], windows[s], apart) for s in seeds):
            seeds.append(i)
    return seeds


def beside(seed: int, windows: Sequence[Window], each_side: int) -> list[int]:
    """The windows that adjoin a seed, earlier ones first, up to `each_side` a side; a gap ends the
    row. Windows are in order of recording and time, so neighbours stand next to each other."""
    found: list[int] = []
    for step in (-1, 1):
        edge = seed
        for _ in range(each_side):
            beyond = edge + step
            if not 0 <= beyond < len(windows):
                break
            first, second = sorted((edge, beyond))
            if not _adjoin(windows[first], windows[second]):
                break
            found.append(beyond)
            edge = beyond
    return found


def _adjoin(earlier: Window, later: Window) -> bool:
    return earlier.line == later.line and abs(later.span.start - earlier.span.end) < 1e-6


def _near(a: Window, b: Window, apart: float) -> bool:
    return a.line == b.line and abs(a.span.middle - b.span.middle) < apart
