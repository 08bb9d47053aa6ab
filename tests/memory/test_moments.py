from datetime import UTC, datetime

import pytest

from egomem.errors import TimeError
from egomem.memory import Store
from egomem.memory.moments import bounds_of
from egomem.records import Recording
from egomem.timeline import Clock, Span

START = datetime(2025, 7, 4, 9, 0, tzinfo=UTC)


@pytest.fixture
def memory(store: Store) -> Store:
    store.put_recording(Recording(id="r1", name="walk.mp4", duration=90.0, clock=Clock(START)))
    store.put_recording(Recording(id="r2", name="shop.mp4", duration=40.0))
    return store


def test_seconds_of_a_recording_are_a_span_and_an_open_end_is_endless(memory: Store) -> None:
    assert bounds_of(memory, None, None, "r2") == (None, None)
    assert bounds_of(memory, "0:07", "0:31", "r2") == (Span(7, 31), None)
    assert bounds_of(memory, None, "0:31", "r2") == (Span(0, 31), None)
    span, between = bounds_of(memory, "0:07", None, "r2")
    assert span is not None
    assert (span.start, between) == (7, None)
    assert span.end > 1e9


def test_clock_times_are_two_instants(memory: Store) -> None:
    first, last = "2025-07-04 09:00:20+00:00", "2025-07-04 09:01+00:00"
    instants = (START.replace(second=20), START.replace(minute=1))
    assert bounds_of(memory, first, last, None) == (None, instants)
    span, between = bounds_of(memory, first, None, None)
    assert span is None
    assert between is not None
    assert (between[0], between[1].year) == (instants[0], 9999)


def test_a_day_is_the_whole_day_as_first_and_as_last_time(memory: Store) -> None:
    _, between = bounds_of(memory, "2025-07-04", "2025-07-04", None)
    assert between == (START.replace(hour=0), START.replace(day=5, hour=0))


def test_seconds_without_their_recording_are_refused(memory: Store) -> None:
    for start, end in (("walk.mp4 0:07", None), ("walk.mp4 0:07", "2025-07-04 09:01+00:00")):
        with pytest.raises(TimeError, match="seconds of a recording"):
            bounds_of(memory, start, end, None)
