"""Zones as people name them, and times in them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from egomem.errors import TimeError
from egomem.timeline import find_times, format_when, zone_of
from egomem.timeline.local_times import find_local_times

ROME, LIMA = ZoneInfo("Europe/Rome"), ZoneInfo("America/Lima")
NOW = datetime(2026, 10, 26, 12, 0, tzinfo=ROME)


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"), ("UTC", "UTC"), ("+05:30", "UTC+05:30"),
        ("UTC-3", "UTC-03:00"), ("Lisbon", "Europe/Lisbon"), ("new york", "America/New_York"),
        ("CEST", "Europe/Berlin"), ("Pacific", "America/Los_Angeles"),
    ],
)  # fmt: skip
def test_names_of_zones(name: str, zone: str) -> None:
    assert str(zone_of(name)) == zone


@pytest.mark.parametrize("name", ["Nowhere", "+99:00", "", "dinner"])
def test_what_is_no_zone(name: str) -> None:
    with pytest.raises(TimeError, match="is not a time zone"):
        zone_of(name)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("at 10 am Lima time", "2026-10-25T10:00:00-05:00"),
        ("at 9 pm on Sunday, New York time", "2026-10-25T21:00:00-04:00"),
        ("at 10:00 UTC+2", "2026-10-26T10:00:00+02:00"),
        ("at 10 am (UTC-5)", "2026-10-25T10:00:00-05:00"),
        ("at 3 pm JST yesterday", "2026-10-25T15:00:00+09:00"),
        ("yesterday in Tokyo time", "2026-10-25T00:00:00+09:00/2026-10-26T00:00:00+09:00"),
        ("at 10 am dinner time", "2026-10-26T10:00:00+01:00"),
        ("at 10:30 Asia/Kolkata", "2026-10-26T10:30:00+05:30"),
    ],
)
def test_a_zone_named_with_a_time_is_heeded(text: str, read: str) -> None:
    (mention,) = find_times(f"What did I do {text}?", now=NOW)
    assert format_when(mention) == read


def day_in(text: str, zone: ZoneInfo) -> str | None:
    (mention,) = find_local_times(text, [ROME, LIMA], now=NOW)
    instants = mention.instants_in(zone)
    return instants.start.isoformat() if instants else None


def test_a_day_and_an_hour_are_those_of_each_place() -> None:
    assert day_in("on 24 October", ROME) == "2026-10-24T00:00:00+02:00"
    assert day_in("on 24 October", LIMA) == "2026-10-24T00:00:00-05:00"
    # "Yesterday" is counted from where the question is asked: at this time it is Sunday in Lima.
    late = NOW.replace(hour=3)
    (mention,) = find_local_times("yesterday", [ROME, LIMA], now=late)
    there = mention.instants_in(LIMA)
    assert there is not None
    assert there.start.isoformat() == "2026-10-25T00:00:00-05:00"


def test_an_instant_or_a_named_zone_is_one_time_everywhere() -> None:
    for text in ("an hour ago", "at 10 am Tokyo time", "2026-10-24T10:00+02:00", "at 12.5s"):
        (mention,) = find_local_times(text, [ROME, LIMA], now=NOW)
        assert mention.by_zone == ()


def test_an_hour_that_is_skipped_here_may_exist_elsewhere() -> None:
    spring = datetime(2026, 3, 30, 12, 0, tzinfo=ROME)
    (mention,) = find_local_times("at 2:30 am on 29 March", [ROME, LIMA], now=spring)
    assert mention.instants_in(ROME) is None
    there = mention.instants_in(LIMA)
    assert there is not None
    assert there.start.isoformat() == "2026-03-29T02:30:00-05:00"
    assert "does not exist in Europe/Rome" in mention.note
    (alone,) = find_local_times("at 2:30 am on 29 March", [ROME], now=spring)
    assert alone.unresolved
