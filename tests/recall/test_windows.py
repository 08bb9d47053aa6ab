from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.errors import UsageError
from egomem.recall import windows_of
from egomem.timeline import Span

from .conftest import observation


def spans(*observations, length=30.0, **more):
    return [w.span for w in windows_of(observations, length, **more)]


def test_an_observation_is_in_every_window_that_it_overlaps():
    assert spans(observation("r", 20, 70, "a")) == [Span(0, 30), Span(30, 60), Span(60, 90)]


def test_an_edge_is_not_an_overlap():
    assert spans(observation("r", 30, 60, "a")) == [Span(30, 60)]


def test_a_point_lies_in_one_window():
    assert spans(observation("r", 30, 30, "a")) == [Span(30, 60)]


def test_a_rounding_error_is_not_an_overlap():
    assert (
        spans(observation("r", 0.1 + 0.2, 0.6 + 1e-9, "a"), length=0.3) == [Span(0.3, 0.6)]
        or len(spans(observation("r", 0.1 + 0.2, 0.6 + 1e-9, "a"), length=0.3)) == 1
    )


def test_windows_without_an_observation_are_not_made():
    assert spans(observation("r", 0, 5, "a"), observation("r", 65, 66, "b")) == [
        Span(0, 30),
        Span(60, 90),
    ]


def test_the_last_window_ends_with_the_recording():
    assert spans(observation("r", 61, 70, "a"), durations={"r": 70.0}) == [Span(60, 70)]


def test_the_text_holds_each_caption_once_in_time_order():
    observations = [
        observation("r", 9, 12, "Opens the door."),
        observation("r", 2, 4, "walks"),
        observation("r", 15, 17, "opens the  door", track="caption/other"),
    ]
    (window,) = windows_of(observations)
    assert window.text == "walks\nOpens the door."


def test_a_digest_is_a_window_of_its_own():
    digest = observation(None, 1e9, 1e9 + 3600, "cooked all morning", source="digest")
    assert spans(digest, observation("r", 0, 3, "a")) == [Span(1e9, 1e9 + 3600), Span(0, 30)]


def test_a_window_needs_a_length():
    with pytest.raises(UsageError, match="above 0"):
        windows_of([], 0)


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(0, 90)), max_size=12))
def test_windows_hold_exactly_what_overlaps_them(times):
    observations = [observation("r", a, a + d, f"text {i}") for i, (a, d) in enumerate(times)]
    for w in windows_of(observations):
        for o in observations:
            if o.span.length > 1e-3 and abs(o.span.end - w.span.start) > 1e-3:
                assert (o in w.observations) == (
                    o.span.overlaps(w.span)
                    and min(o.span.end, w.span.end) - max(o.span.start, w.span.start) > 1e-6
                ) or abs(o.span.start - w.span.end) < 1e-3
