from __future__ import annotations

import pytest

from egomem.observe.object_tracks import CountChange, find_presences


def presences(counts: list[int], sure: list[int] | None = None, hold: float = 1.5):  # type: ignore[no-untyped-def]
    looks = [k in (sure or ()) for k in range(len(counts))]
    return find_presences(counts, [1.0] * len(counts), looks, hold)


def test_the_bottles_of_the_shared_clip() -> None:
    (bottles,) = presences([3, 3, 2, 2, 2, 3, 3, 1, 1])
    assert (bottles.first, bottles.past, bottles.low, bottles.high) == (0, 9, 1, 3)
    assert bottles.changes == (
        CountChange(1, 2, 3, 2),
        CountChange(4, 5, 2, 3),
        CountChange(6, 7, 3, 1),
    )


def test_one_missed_look_is_no_change() -> None:
    for flicker in ([2, 2, 1, 2, 2], [2, 2, 0, 2, 2], [2, 2, 5, 2, 2]):
        (there,) = presences(flicker)
        assert (there.first, there.past, there.low, there.high, there.changes) == (0, 5, 2, 2, ())


def test_a_change_through_unsteady_looks_spans_them() -> None:
    (there,) = presences([3, 3, 2, 3, 1, 1])
    assert there.changes == (CountChange(1, 4, 3, 1),)


def test_a_single_look_counts_only_where_it_is_sure() -> None:
    assert presences([0, 0, 1, 0, 0]) == []
    (there,) = presences([0, 0, 1, 0, 0], sure=[2])
    assert (there.first, there.past) == (2, 3)
    assert there.changes == (CountChange(1, 2, 0, 1), CountChange(2, 3, 1, 0))


def test_a_thing_that_is_there_all_along_neither_appears_nor_leaves() -> None:
    (there,) = presences([1, 1, 1])
    assert there.changes == ()


def test_a_gap_that_holds_parts_two_presences() -> None:
    first, second = presences([1, 1, 0, 0, 1, 1])
    assert (first.past, second.first) == (2, 4)
    assert first.changes == (CountChange(1, 2, 1, 0),)
    assert second.changes == (CountChange(3, 4, 0, 1),)


def test_numbers_that_never_hold_are_a_range_without_changes() -> None:
    (there,) = presences([1, 2, 3, 1])
    assert (there.low, there.high, there.changes) == (1, 3, ())


def test_a_still_picture_holds_in_one_look() -> None:
    (there,) = find_presences([2], [10.0], [False], 1.5)
    assert (there.low, there.high) == (2, 2)


@pytest.mark.parametrize("counts", [[], [0], [0, 0, 0]])
def test_nothing_is_nothing(counts: list[int]) -> None:
    assert presences(counts) == []
