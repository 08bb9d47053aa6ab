"""CapMem's seeds and neighbours: exact, at the edges too (faults F7)."""

from __future__ import annotations

import pytest

from egomem.recall import CAPMEM, search, windows_of
from egomem.recall.seeds import beside, choose

from .conftest import observation


def windows(*starts: float, length: float = 30.0, recording: str = "r"):
    return windows_of([observation(recording, s, s + 1, f"at {s}") for s in starts], length)


def test_adjacent_30_s_windows_are_suppressed_and_60_s_windows_are_not():
    row = windows(0, 30, 60, 90)
    assert choose(range(4), row, most=3, apart=45.0) == [0, 2]
    row = windows(0, 60, 120, length=60.0)
    assert choose(range(3), row, most=3, apart=45.0) == [0, 1, 2]


def test_exactly_45_s_apart_is_far_enough():
    row = windows(0, 45, length=45.0)
    assert choose([1, 0], row, most=3, apart=45.0) == [1, 0]


def test_windows_of_two_recordings_are_never_near():
    row = windows(0) + windows(0, recording="s")
    assert choose([0, 1], row, most=3, apart=45.0) == [0, 1]
    assert beside(0, row, 1) == []


def test_edge_windows_have_one_neighbour():
    row = windows(0, 30, 60)
    assert beside(0, row, 1) == [1]
    assert beside(1, row, 1) == [0, 2]
    assert beside(2, row, 1) == [1]
    assert beside(0, row, 2) == [1, 2]


def test_a_gap_is_no_neighbour():
    assert beside(0, windows(0, 60), 1) == []


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("best", [0, 2, -1])
def test_at_most_three_seeds_and_nine_windows_none_twice(film, count, best):
    texts = [f"walks past tree {i}" for i in range(count)]
    best %= count
    texts[best] = "finds the red mug"
    hits = search(film(*texts).view(), "Where is the red mug?", profile="capmem")
    seeds = [h for h in hits if h.seed]
    assert hits[0].span.start == 30 * best
    assert len(seeds) <= 3
    assert len(hits) <= 9
    assert len({h.span for h in hits}) == len(hits)
    assert all(0 <= h.span.start < 30 * count for h in hits)
    for i, a in enumerate(seeds):
        assert all(abs(a.span.middle - b.span.middle) >= 45 for b in seeds[:i])
    for h in hits:
        assert h.seed or any(abs(h.span.middle - s.span.middle) == 30 for s in seeds)


def test_equal_scores_go_to_the_earlier_window(film):
    hits = search(film("a mug", "", "a mug", "", "a mug").view(), "mug", profile="capmem")
    assert [h.span.start for h in hits if h.seed] == [0, 60, 120]


def test_capmems_recipe_is_what_the_methods_say():
    assert dict(CAPMEM.weights) == {"bm25": 0.45, "hash": 0.25, "overlap": 0.20, "time": 0.10}
    assert (CAPMEM.k1, CAPMEM.b, CAPMEM.hash_dimensions) == (1.5, 0.75, 1024)
    assert (CAPMEM.seeds, CAPMEM.apart, CAPMEM.neighbours) == (3, 45.0, 1)


def test_the_score_is_the_weighted_sum_of_the_parts_on_their_min_max(film):
    view = film("red mug", "blue mug on a table", "a wall", "a red wall at the end").view()
    hits = search(view, "the red mug at the end", profile="capmem", k=9)
    assert len(hits) == 4
    for hit in hits:
        total = 0.0
        for name, weight in CAPMEM.weights.items():
            scores = [h.parts[name] for h in hits]
            low, high = min(scores), max(scores)
            total += weight * ((hit.parts[name] - low) / (high - low) if high > low else 0)
        assert hit.score == pytest.approx(total)
