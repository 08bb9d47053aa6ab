"""From ranked windows to the ones that are shown: seeds, suppression, neighbours (CapMem)."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.recall.moments import Window


def choose(ranked: Sequence[Window], *, most: int | None, apart: float) -> list[Window]:
    """The first `most` windows whose centres are `apart` seconds or more from those before them.

    Windows of two recordings are never near each other.
    """
    seeds: list[Window] = []
    for window in ranked:
        if most is not None and len(seeds) >= most:
            break
        if not apart or all(not _near(window, seed, apart) for seed in seeds):
            seeds.append(window)
    return seeds


def beside(seed: Window, windows: Sequence[Window], each_side: int) -> list[Window]:
    """The windows that adjoin a seed on its timeline, up to `each_side` a side; a gap ends the row."""
    line = [w for w in windows if w.line == seed.line]
    found: list[Window] = []
    for forward in (False, True):
        edge = seed
        for _ in range(each_side):
            touching = [w for w in line if _touch(edge, w) == forward and _adjoin(edge, w)]
            if not touching:
                break
            edge = touching[0]
            found.append(edge)
    return found


def _adjoin(a: Window, b: Window) -> bool:
    return abs(a.span.start - b.span.end) < 1e-6 or abs(b.span.start - a.span.end) < 1e-6


def _touch(edge: Window, other: Window) -> bool:
    """True where the other lies after the edge."""
    return other.span.start > edge.span.start


def _near(a: Window, b: Window, apart: float) -> bool:
    return a.line == b.line and abs(a.span.middle - b.span.middle) < apart
