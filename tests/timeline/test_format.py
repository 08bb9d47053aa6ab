"""The formatter is the inverse of the grammar."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.errors import TimeError
from egomem.timeline import (
    Instants,
    Span,
    find_times,
    format_instant,
    format_instants,
    format_span,
    format_time,
    format_when,
    read_time,
)

SECONDS = st.integers(0, 10**9).map(lambda thousandths: thousandths / 1000)
ZONES = st.sampled_from(
    [ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata"), ZoneInfo("America/St_Johns")]
    + [timezone(timedelta(minutes=m)) for m in (-720, -1, 0, 345, 840)]
)
INSTANTS = st.datetimes(
    datetime(1850, 1, 1), datetime(2200, 1, 1), timezones=ZONES, allow_imaginary=False
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (7, "0:07"),
        (62.5, "1:02.5"),
        (4530, "1:15:30"),
        (59.9996, "1:00"),
        (3599.9996, "1:00:00"),
        (0.004, "0:00.004"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_what_is_no_time_is_not_written(seconds: float) -> None:
    with pytest.raises(TimeError):
        format_time(seconds)


def test_an_instant_without_a_zone_is_not_written() -> None:
    with pytest.raises(TimeError):
        format_instant(datetime(2026, 3, 2))


@given(SECONDS)
def test_a_time_comes_back(seconds: float) -> None:
    assert read_time(format_time(seconds)).span == Span(seconds, seconds)


@given(SECONDS, SECONDS)
def test_a_span_comes_back(one: float, other: float) -> None:
    span = Span(min(one, other), max(one, other))
    assert read_time(format_span(span)).span == span
    assert [cue.span for cue in find_times(f"What happened at {format_span(span)}?")] == [span]


@given(INSTANTS)
def test_an_instant_comes_back(instant: datetime) -> None:
    when = read_time(format_instant(instant))
    assert when.instants is not None
    assert when.instants.start.isoformat() == instant.isoformat()
    assert when.is_point


@given(INSTANTS, st.timedeltas(timedelta(0), timedelta(days=3)))
def test_a_stretch_comes_back(start: datetime, length: timedelta) -> None:
    end = start + length
    if end.timestamp() < start.timestamp():
        return
    stretch = Instants(start, end)
    when = read_time(format_instants(stretch))
    assert when.instants is not None
    assert when.instants.start.isoformat() == start.isoformat()
    assert when.instants.seconds == stretch.seconds
    assert read_time(format_when(when)).instants is not None
