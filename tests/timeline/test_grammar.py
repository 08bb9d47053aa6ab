"""What people write is read as what they mean, and the grammar says which kind of time it is."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.errors import TimeError
from egomem.timeline import (
    DEFAULT_CONVENTIONS,
    RecordingTime,
    Span,
    find_times,
    read_moment,
    read_start,
    read_time,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 15, 0, tzinfo=BERLIN)
"""A Wednesday."""


def wall(text: str, now: datetime = NOW, **options: object) -> tuple[str, str]:
    """The stretch that a text is read as, as local `day hour:minute:second` of Berlin."""
    when = read_time(text, now=now, zone=BERLIN, day_one=date(2026, 3, 1), **options)  # type: ignore[arg-type]
    assert when.kind == "wall", when
    assert when.instants is not None
    return tuple(  # type: ignore[return-value]
        t.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M:%S")
        for t in (when.instants.start, when.instants.end)
    )


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("75:30", 4530, 4530),
        ("1:02:03", 3723, 3723),
        ("0:07", 7, 7),
        ("1:02.5", 62.5, 62.5),
        ("12.5s", 12.5, 12.5),
        ("3 min 20 s", 200, 200),
        ("3m20s", 200, 200),
        ("1h 2m", 3720, 3720),
        ("an hour and a half", 5400, 5400),
        ("3 minutes in", 180, 180),
        ("at the 3 minute mark", 180, 180),
        ("1:02-1:05", 62, 65),
        ("1:02 – 1:05", 62, 65),
        ("from 1:02 to 1:05", 62, 65),
        ("between 59:00 and 1:01:00", 3540, 3660),
        ("3 to 5 min", 180, 300),
        ("the first five minutes", 0, 300),
        ("before 5:00", 0, 300),
        ("５：３０", 330, 330),
    ],
)
def test_times_of_a_recording(text: str, start: float, end: float) -> None:
    when = read_time(text)
    assert when.kind == "recording"
    assert when.span == Span(start, end)
    assert when.is_point == (start == end)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("10 am", "2026-03-04 10:00:00"),
        ("10:30am", "2026-03-04 10:30:00"),
        ("10.30 a.m.", "2026-03-04 10:30:00"),
        ("12 am", "2026-03-04 00:00:00"),
        ("12:05 pm", "2026-03-04 12:05:00"),
        ("noon", "2026-03-04 12:00:00"),
        ("noon yesterday", "2026-03-03 12:00:00"),
        ("midnight", "2026-03-04 00:00:00"),
        ("two o'clock", "2026-03-04 14:00:00"),
        ("four o'clock", "2026-03-03 16:00:00"),  # four has not come yet today
        ("at four", "2026-03-03 16:00:00"),
        ("at eight", "2026-03-04 08:00:00"),
        ("half past ten", "2026-03-04 10:30:00"),
        ("a quarter to one pm", "2026-03-04 12:45:00"),
        ("quarter to 12 pm", "2026-03-04 11:45:00"),
        ("ten past two", "2026-03-04 14:10:00"),
        ("yesterday at 4:15", "2026-03-03 16:15:00"),
        ("yesterday at 04:15", "2026-03-03 04:15:00"),
        ("4 in the afternoon yesterday", "2026-03-03 16:00:00"),
        ("2 in the morning", "2026-03-04 02:00:00"),
        ("9 this morning", "2026-03-04 09:00:00"),
        ("last night at 11", "2026-03-03 23:00:00"),
        ("last night at 2:30", "2026-03-04 02:30:00"),
        ("an hour ago", "2026-03-04 14:00:00"),
        ("half an hour ago", "2026-03-04 14:30:00"),
        ("an hour and a half ago", "2026-03-04 13:30:00"),
        ("a couple of minutes ago", "2026-03-04 14:58:00"),
        ("a few minutes ago", "2026-03-04 14:57:00"),
        ("now", "2026-03-04 15:00:00"),
        ("1:56 pm on 8 May, 2023", "2023-05-08 13:56:00"),
        ("May 8th 2023 at 13:56", "2023-05-08 13:56:00"),
        ("last Tuesday at ten past four", "2026-03-03 16:10:00"),
        ("2026-03-02T08:10", "2026-03-02 08:10:00"),
        ("2026-03-02 08:10:05", "2026-03-02 08:10:05"),
        ("2026-03-02T08:10+03:00", "2026-03-02 06:10:00"),
        ("2026-03-02T08:10Z", "2026-03-02 09:10:00"),
        ("2026-03-02 08:10 America/New_York", "2026-03-02 14:10:00"),
    ],
)
def test_instants_of_the_wall_clock(text: str, at: str) -> None:
    assert wall(text) == (at, at)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("10 to 11 am", "2026-03-04 10:00:00", "2026-03-04 11:00:00"),
        ("10-11 am", "2026-03-04 10:00:00", "2026-03-04 11:00:00"),
        ("from ten to eleven am", "2026-03-04 10:00:00", "2026-03-04 11:00:00"),
        ("11 to 1 pm", "2026-03-04 11:00:00", "2026-03-04 13:00:00"),
        ("from 9 to 5", "2026-03-04 09:00:00", "2026-03-04 17:00:00"),
        ("from 11 pm to 1 am", "2026-03-03 23:00:00", "2026-03-04 01:00:00"),
        ("10:30 until 11:15 yesterday", "2026-03-03 10:30:00", "2026-03-03 11:15:00"),
        ("between lunch and four", "2026-03-04 13:30:00", "2026-03-04 16:00:00"),
        ("between breakfast and lunch", "2026-03-04 09:00:00", "2026-03-04 12:00:00"),
        ("from morning to evening", "2026-03-04 05:00:00", "2026-03-04 22:00:00"),
        ("from Monday to Wednesday", "2026-03-02 00:00:00", "2026-03-05 00:00:00"),
        ("yesterday evening", "2026-03-03 18:00:00", "2026-03-03 22:00:00"),
        ("this morning", "2026-03-04 05:00:00", "2026-03-04 12:00:00"),
        ("early this morning", "2026-03-04 05:00:00", "2026-03-04 08:30:00"),
        ("late yesterday afternoon", "2026-03-03 15:00:00", "2026-03-03 18:00:00"),
        ("in the evening", "2026-03-03 18:00:00", "2026-03-03 22:00:00"),
        ("the morning of 2 March", "2026-03-02 05:00:00", "2026-03-02 12:00:00"),
        ("last night", "2026-03-03 18:00:00", "2026-03-04 05:00:00"),
        ("tonight", "2026-03-04 18:00:00", "2026-03-05 05:00:00"),
        ("today", "2026-03-04 00:00:00", "2026-03-05 00:00:00"),
        ("earlier today", "2026-03-04 00:00:00", "2026-03-04 15:00:00"),
        ("the day before yesterday", "2026-03-02 00:00:00", "2026-03-03 00:00:00"),
        ("last Tuesday", "2026-03-03 00:00:00", "2026-03-04 00:00:00"),
        ("last Wednesday", "2026-02-25 00:00:00", "2026-02-26 00:00:00"),
        ("on Wednesday", "2026-03-04 00:00:00", "2026-03-05 00:00:00"),
        ("Friday last week", "2026-02-27 00:00:00", "2026-02-28 00:00:00"),
        ("last weekend", "2026-02-28 00:00:00", "2026-03-02 00:00:00"),
        ("this weekend", "2026-03-07 00:00:00", "2026-03-09 00:00:00"),
        ("at the weekend", "2026-02-28 00:00:00", "2026-03-02 00:00:00"),
        ("5 days ago", "2026-02-27 00:00:00", "2026-02-28 00:00:00"),
        ("last week", "2026-02-23 00:00:00", "2026-03-02 00:00:00"),
        ("two weeks ago", "2026-02-16 00:00:00", "2026-02-23 00:00:00"),
        ("last month", "2026-02-01 00:00:00", "2026-03-01 00:00:00"),
        ("3 months ago", "2025-12-01 00:00:00", "2026-01-01 00:00:00"),
        ("8 May", "2025-05-08 00:00:00", "2025-05-09 00:00:00"),  # May has not come yet this year
        ("in May 2023", "2023-05-01 00:00:00", "2023-06-01 00:00:00"),
        ("in 2022", "2022-01-01 00:00:00", "2023-01-01 00:00:00"),
        ("2026-03-02", "2026-03-02 00:00:00", "2026-03-03 00:00:00"),
        ("the last two hours", "2026-03-04 13:00:00", "2026-03-04 15:00:00"),
        ("in the past hour", "2026-03-04 14:00:00", "2026-03-04 15:00:00"),
        ("since noon", "2026-03-04 12:00:00", "2026-03-04 15:00:00"),
        ("after lunch", "2026-03-04 13:30:00", "2026-03-04 15:00:00"),
        ("after 4 pm yesterday", "2026-03-03 16:00:00", "2026-03-04 00:00:00"),
        ("before 10 am", "2026-03-04 00:00:00", "2026-03-04 10:00:00"),
        ("around noon", "2026-03-04 11:45:00", "2026-03-04 12:15:00"),
        ("about five years ago", "2021-01-01 00:00:00", "2022-01-01 00:00:00"),
        ("DAY2", "2026-03-02 00:00:00", "2026-03-03 00:00:00"),
        ("DAY2 evening", "2026-03-02 18:00:00", "2026-03-02 22:00:00"),
        ("2026-03-02T08:10Z/2026-03-02T09:00Z", "2026-03-02 09:10:00", "2026-03-02 10:00:00"),
        ("last Friday between 2 and 3 pm", "2026-02-27 14:00:00", "2026-02-27 15:00:00"),
        ("yesterday from 10 to 11 am", "2026-03-03 10:00:00", "2026-03-03 11:00:00"),
        ("on Monday, from nine to five", "2026-03-02 09:00:00", "2026-03-02 17:00:00"),
        ("on Monday from 11 pm to 1 am", "2026-03-02 23:00:00", "2026-03-03 01:00:00"),
        ("2 March from 08:10 to 09:20", "2026-03-02 08:10:00", "2026-03-02 09:20:00"),
        ("this morning between 8 and 9", "2026-03-04 08:00:00", "2026-03-04 09:00:00"),
        ("yesterday between lunch and four", "2026-03-03 13:30:00", "2026-03-03 16:00:00"),
        ("yesterday before lunch", "2026-03-03 00:00:00", "2026-03-03 12:00:00"),
        ("on Monday after 5 pm", "2026-03-02 17:00:00", "2026-03-03 00:00:00"),
        ("Tuesday around noon", "2026-03-03 11:45:00", "2026-03-03 12:15:00"),
        ("last March", "2025-03-01 00:00:00", "2025-04-01 00:00:00"),
        ("last February", "2026-02-01 00:00:00", "2026-03-01 00:00:00"),
        ("this March", "2026-03-01 00:00:00", "2026-04-01 00:00:00"),
    ],
)
def test_stretches_of_the_wall_clock(text: str, start: str, end: str) -> None:
    assert wall(text) == (start, end)


def test_egolife_times_are_hours_minutes_seconds_and_a_frame() -> None:
    when = read_time("DAY1 11210217", zone=BERLIN, day_one=date(2026, 3, 1))
    at = datetime(2026, 3, 1, 11, 21, 2, 850_000, tzinfo=BERLIN)
    assert when.instants is not None
    assert when.instants.start == when.instants.end == at
    hundredths = replace(DEFAULT_CONVENTIONS, frames_per_second=100)
    when = read_time("DAY1-11210250", zone=BERLIN, day_one=date(2026, 3, 1), conventions=hundredths)
    assert when.instants is not None
    assert when.instants.start == at.replace(microsecond=500_000)
    when = read_time("DAY1 11210250", zone=BERLIN, day_one=date(2026, 3, 1))
    assert when.instants is not None
    assert when.instants.start == at.replace(microsecond=500_000), "50 is no frame of 20"
    frames = replace(DEFAULT_CONVENTIONS, frames_per_second=20)
    with pytest.raises(TimeError, match="frame 50, but a second has 20"):
        read_time("DAY1 11210250", zone=BERLIN, day_one=date(2026, 3, 1), conventions=frames)
    with pytest.raises(TimeError, match="HHMMSSFF"):
        read_time("DAY1 11610217", zone=BERLIN, day_one=date(2026, 3, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1:2:3:4", "4 parts"),
        ("1:05-1:02", "before it starts"),
        ("1:75:00", "60 or more"),
        ("0:75", "60 or more"),
        ("13 pm", "not a time"),
        ("30 February 2025", "no day 30"),
        ("2026-02-30", "cannot be"),
        ("2026-03-02T25:00Z", "cannot be"),
        ("10", "cannot read"),
        ("four apples", "cannot read"),
        ("", "no time"),
        ("recently", "names no time"),
        ("99999999999 years ago", "outside the calendar"),
        ("last week at noon", "needs one day"),
        ("DAY0", "count from DAY1"),
        ("yesterday at 25:10", "no hour 25"),
        ("from 3 min to 4 pm", "other of the clock"),
        ("from 4 pm today to 3 pm yesterday", "before it starts"),
        ("2026-03-02 08:10 Europe/Atlantis", "not a time zone"),
    ],
)
def test_what_cannot_be_is_said_to_be_so(text: str, message: str) -> None:
    with pytest.raises(TimeError, match=message) as raised:
        read_time(text, now=NOW, day_one=date(2026, 3, 1))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday evening", "question's time"),
        ("an hour ago", "question's time"),
        ("10 am", "zone is not known"),
        ("8 May 2023", "zone is not known"),
        ("DAY1 11210217", "first day"),
    ],
)
def test_what_is_missing_is_named(text: str, message: str) -> None:
    with pytest.raises(TimeError, match=message):
        read_time(text)


def test_a_bare_time_is_of_the_recording_unless_habits_say_otherwise() -> None:
    assert read_time("10:30", now=NOW).span == Span(630, 630)
    assert "add am or pm" in read_time("10:30", now=NOW).note
    clock = replace(DEFAULT_CONVENTIONS, bare="wall")
    assert wall("10:30", conventions=clock) == ("2026-03-04 10:30:00",) * 2
    assert read_time("75:30", now=NOW, conventions=clock).span == Span(4530, 4530)


def test_habits_can_be_changed() -> None:
    late = replace(DEFAULT_CONVENTIONS, parts={**DEFAULT_CONVENTIONS.parts, "lunch": (14, 16)})
    assert wall("after lunch yesterday", conventions=late)[0] == "2026-03-03 16:00:00"
    early = replace(DEFAULT_CONVENTIONS, waking=3, around=timedelta(minutes=5), few=4)
    assert wall("at four", conventions=early)[0] == "2026-03-04 04:00:00"
    assert wall("around noon", conventions=early)[0] == "2026-03-04 11:55:00"
    assert wall("a few minutes ago", conventions=early)[0] == "2026-03-04 14:56:00"


# -- days of 23 and 25 hours ---------------------------------------------------------------------

SPRING = datetime(2026, 3, 29, 12, 0, tzinfo=BERLIN)
AUTUMN = datetime(2026, 10, 25, 12, 0, tzinfo=BERLIN)


@pytest.mark.parametrize(("now", "hours"), [(NOW, 24), (SPRING, 23), (AUTUMN, 25)])
def test_a_day_is_as_long_as_it_was(now: datetime, hours: int) -> None:
    when = read_time("today", now=now)
    assert when.instants is not None
    assert when.instants.seconds == hours * 3600
    assert when.instants.span.length == hours * 3600


def test_hours_ago_are_hours_that_passed() -> None:
    assert wall("11 hours ago", SPRING)[0] == "2026-03-29 00:00:00"
    when = read_time("10 hours ago", now=AUTUMN)
    assert when.instants is not None
    assert when.instants.start.astimezone(UTC) == datetime(2026, 10, 25, 1, tzinfo=UTC)


def test_a_time_that_the_clocks_jump_over_does_not_exist() -> None:
    with pytest.raises(TimeError, match=r"02:30 on 2026-03-29 does not exist.*jump to 03:00"):
        read_time("2:30 am", now=SPRING)
    assert wall("3:30 am", SPRING)[0] == "2026-03-29 03:30:00"
    (cue,) = find_times("Where was I at 2:30 am today?", now=SPRING)
    assert cue.unresolved
    assert "does not exist" in cue.problem


def test_a_time_that_occurs_twice_is_the_first_and_a_stretch_holds_both() -> None:
    when = read_time("2:30 am", now=AUTUMN)
    assert when.instants is not None
    assert when.instants.start.utcoffset() == timedelta(hours=2)
    assert "twice" in when.note
    stretch = read_time("from 1 am to 2:30 am", now=AUTUMN)
    assert stretch.instants is not None
    assert stretch.instants.seconds == 2.5 * 3600


def test_a_part_of_the_day_that_ends_in_an_hour_that_occurs_twice_holds_both() -> None:
    conventions = replace(
        DEFAULT_CONVENTIONS, parts={**DEFAULT_CONVENTIONS.parts, "night": (22, 26.5)}
    )
    when = read_time("the night of 24 October", now=AUTUMN, conventions=conventions)
    assert when.instants is not None
    assert when.instants.seconds == 5.5 * 3600


def test_a_day_whose_midnight_does_not_exist_begins_at_the_jump() -> None:
    beirut = ZoneInfo("Asia/Beirut")
    now = datetime(2024, 3, 31, 12, tzinfo=beirut)
    when = read_time("today", now=now)
    assert when.instants is not None
    assert when.instants.start.hour == 1
    assert when.instants.seconds == 23 * 3600


def test_relative_words_are_read_in_the_recordings_zone() -> None:
    asked = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)
    when = read_time("today", now=asked, zone=ZoneInfo("Asia/Tokyo"))
    assert when.instants is not None
    assert when.instants.start.isoformat() == "2026-03-05T00:00:00+09:00"


# -- sentences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "cues"),
    [
        ("What did I eat for lunch yesterday?", ["lunch yesterday"]),
        ("Where was I at four yesterday, before the meeting?", ["four yesterday"]),
        ("Did I lock up at 10:30 am or at noon?", ["10:30 am", "noon"]),
        ("What happened between 1:02 and 1:05?", ["between 1:02 and 1:05"]),
        ("Was I in an hour ago, or last Tuesday night?", ["an hour ago", "last Tuesday night"]),
        ("What did I do at 3 min 20 s?", ["3 min 20 s"]),
        ("What did she say after dinner?", ["after dinner"]),
        ("Was it late yesterday afternoon?", ["late yesterday afternoon"]),
        ("Who may I ask in May?", ["May"]),
        ("What did I read the other day?", ["the other day"]),
        ("What was on DAY1 11210217?", ["DAY1 11210217"]),
        ("What was at 11210217 on DAY1?", ["11210217 on DAY1"]),
        ("Is 25:99:00 a time?", ["25:99:00"]),
        ("I bought 2 yesterday", ["yesterday"]),
        ("On Sunday 2 friends came", ["Sunday"]),
        ("昨日 at 10:30 am", ["10:30 am"]),
        ("At 4 houses I met 3 people", []),
        ("Did he march on in a second?", []),
        ("How long did it take, 3 minutes or 5 minutes?", []),
        ("Between two and four apples from 2 to 3", []),
        ("What did I do last Friday between 2 and 3 pm?", ["last Friday between 2 and 3 pm"]),
        ("Did I eat yesterday between two and four apples?", ["yesterday"]),
        ("Where was I yesterday before I left?", ["yesterday"]),
        ("Was I out last week after lunch?", ["last week", "after lunch"]),
        ("Was yesterday from 1:02 to 1:05 pm dull?", ["yesterday from 1:02 to 1:05 pm"]),
        ("from the fridge to the table the second time", []),
        ("Good morning, said the last person at the club", []),
        ("Is the ratio 16:9 or 4:3?", []),
        ("Cut it into about 1-inch pieces, one by one.", []),
        ("She moved about five years ago, around here", ["about five years ago"]),
    ],
)  # fmt: skip
def test_cues_in_a_sentence(sentence: str, cues: list[str]) -> None:
    mentions = find_times(sentence, now=NOW)
    assert [sentence[slice(*cue.text_span)] for cue in mentions] == [cue.text for cue in mentions]
    assert [cue.text for cue in mentions] == cues


def test_a_cue_without_a_clock_is_unresolved_and_says_why() -> None:
    (cue,) = find_times("What did I do last Tuesday morning?")
    assert (cue.text, cue.kind) == ("last Tuesday morning", "unresolved")
    assert "question's time" in cue.problem
    (cue,) = find_times("What did I do on 8 May 2023?")
    assert "zone" in cue.problem


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    for now in (None, NOW):
        for cue in find_times(text, now=now):
            assert text[slice(*cue.text_span)] == cue.text
        with suppress(TimeError):
            read_time(text, now=now)


_WORDS = st.sampled_from(
    re.split(
        " +",
        "at on in the from to between and - , yesterday today last this Tuesday evening lunch noon "
        "four 10 10:30 1:2:3:4 am pm an hour ago half past quarter 8 May 2023 DAY1 11210217 first "
        "week 99999 minutes before after since around 2026-03-29 02:30 Europe/Berlin 30 February Z "
        "early a few",
    )
)


@given(st.lists(_WORDS, max_size=9).map(" ".join))
def test_no_order_of_time_words_breaks_the_reader(text: str) -> None:
    for now in (None, SPRING):
        for cue in find_times(text, now=now):
            assert text[slice(*cue.text_span)] == cue.text
            assert cue.unresolved == bool(cue.problem)


# -- starts and moments --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-03-02T08:10+01:00", "2026-03-02T08:10:00+01:00"),
        ("2026-03-02T08:10Z", "2026-03-02T08:10:00+00:00"),
        ("2026-03-02 08:10 Europe/Berlin", "2026-03-02T08:10:00+01:00"),
        ("2026-07-02T08:10:05.25+02:00[Europe/Berlin]", "2026-07-02T08:10:05.250000+02:00"),
    ],
)
def test_starts(text: str, iso: str) -> None:
    assert read_start(text).isoformat() == iso


def test_a_start_keeps_its_named_zone_and_may_be_given_one() -> None:
    assert read_start("2026-03-02 08:10 Europe/Berlin").tzinfo == BERLIN
    assert read_start("2026-03-02 08:10", zone=BERLIN).tzinfo == BERLIN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-03-02T08:10", "has no zone"),
        ("2026-03-02", "cannot read the start"),
        ("yesterday", "cannot read the start"),
        ("2026-03-02T08:10+01:00 or so", "cannot read the start"),
        ("2026-03-29T02:30 Europe/Berlin", "does not exist"),
        ("2026-03-02T08:10+02:00[Europe/Berlin]", "is not that of Europe/Berlin"),
        ("", "cannot read the start"),
    ],
)
def test_starts_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(TimeError, match=message):
        read_start(text)


def test_moments() -> None:
    assert read_moment("75:30", recording="walk") == RecordingTime("walk", 4530)
    assert read_moment("1:02-1:05", recording="walk") == RecordingTime("walk", 65)
    assert read_moment("10:30", now=NOW) == datetime(2026, 3, 4, 10, 30, tzinfo=BERLIN)
    assert read_moment("yesterday", now=NOW) == datetime(2026, 3, 4, tzinfo=BERLIN)
    with pytest.raises(TimeError, match="not which one's"):
        read_moment("75:30", now=NOW)


def test_a_naive_question_time_is_refused() -> None:
    with pytest.raises(TimeError, match="no zone"):
        read_time("an hour ago", now=datetime(2026, 3, 4))


def test_the_zone_of_the_question_is_enough() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    when = read_time("noon", now=datetime(2026, 3, 4, 15, tzinfo=east))
    assert when.instants is not None
    assert when.instants.start.utcoffset() == timedelta(hours=5, minutes=30)
