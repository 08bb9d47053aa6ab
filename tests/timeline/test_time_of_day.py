"""Which texts name a time of day."""

from __future__ import annotations

import pytest

from egomem.timeline import find_times, names_time_of_day


@pytest.mark.parametrize(
    "text",
    [
        "14:50", "at 3.45 pm", "8 a.m.", "half past eleven", "a quarter to nine", "20 past two",
        "six o'clock", "noon", "midday", "midnight", "noontime", "21h15", "at 0730 hours", "16 Uhr",
        "9.40 Uhr", "5 in the morning", "at seven in the evening",
        "2026-03-02T08:10", "yesterday at ten", "from ten to eleven pm",
    ],
)  # fmt: skip
def test_times_of_day(text: str) -> None:
    assert names_time_of_day(text)
    assert names_time_of_day(f"What was on the table {text}?")


@pytest.mark.parametrize(
    "text",
    [
        "yesterday evening", "around lunch", "for 3 hours", "the first ten minutes", "on page 12",
        "on March 4", "2 hours ago", "after 5 minutes", "at 3 tables", "last Tuesday", "1h30",
        "100 hours", "the second one", "in May",
    ],
)  # fmt: skip
def test_what_is_no_time_of_day(text: str) -> None:
    assert not names_time_of_day(f"What was there {text}?")


@pytest.mark.parametrize(("text", "hour"), [("21h15", 21), ("9.40 Uhr", 9), ("0730 hours", 7)])
def test_spellings_without_a_colon_are_wall_clock_times(text: str, hour: int) -> None:
    (mention,) = find_times(f"at {text}")
    assert "wall-clock" in mention.problem
