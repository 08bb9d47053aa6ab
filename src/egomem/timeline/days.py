"""Days, weeks, months and years: today, last Tuesday, DAY1, 8 May 2023, 5 days ago."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, timedelta

from egomem.errors import TimeError
from egomem.timeline.clock_times import is_egolife_time
from egomem.timeline.durations import DurationParser, ParseResult
from egomem.timeline.expressions import ClockTime, TimeExpression, UnresolvedError, month, week
from egomem.timeline.wordlists import MONTHS, WEEKDAYS

_ONE_DAY = timedelta(days=1)


class DayParser(DurationParser):
    def day(self, i: int) -> ParseResult:
        """A day, week, month or year."""
        if i >= len(self.tokens):
            return None
        token = self.tokens[i]
        if token.kind == "iso":
            return _iso(token.text), i + 1
        try:
            if token.kind == "day":
                return self._numbered_day(i)
            return self._named_day(i) or self._date(i)
        except UnresolvedError as missing:
            # Read again as if it were 1970, for how far the words reach.
            fixed_context = replace(
                self.context, now=datetime(1970, 1, 1), zone=None, day_one=date.min
            )
            result = DayParser(self.tokens, fixed_context).day(i)
            return (
                (TimeExpression(problem=str(missing), evident=result[0].evident), result[1])
                if result
                else None
            )

    def _numbered_day(self, i: int) -> ParseResult:
        number = int(re.sub(r"\D", "", self.word(i)))
        if self.context.day_one is None:
            raise UnresolvedError("it counts from the first day, whose date is not known")
        if number < 1:
            raise TimeError("days count from DAY1")
        first = self.context.day_one + (number - 1) * _ONE_DAY
        after = i + 1 if self.word(i + 1) in ("-", "_") and is_egolife_time(self.word(i + 2)) else i
        return TimeExpression(days=(first, first + _ONE_DAY), evident=True), after + 1

    def _named_day(self, i: int) -> ParseResult:
        """A day relative to the question's day."""

        def today() -> date:
            return self.context.today

        def one(day: date) -> TimeExpression:
            return TimeExpression(days=(day, day + _ONE_DAY), evident=True)

        word, then = self.word(i), self.word(i + 1)
        if word in ("today", "yesterday", "tomorrow"):
            return one(
                today() + {"today": 0, "yesterday": -1, "tomorrow": 1}[word] * _ONE_DAY
            ), i + 1
        if word == "tonight":
            return replace(one(self._night()), part="tonight"), i + 1
        if self.words(i, "last", "night"):
            return replace(one(today() - _ONE_DAY), part="tonight"), i + 2
        if self.words(i, "day", "before", "yesterday"):
            return one(today() - 2 * _ONE_DAY), i + 3
        if word in ("last", "this", "past") and then in WEEKDAYS:
            # "last Tuesday week" is not "last Tuesday".
            if self.words(i + 2, "week"):
                return None
            if word == "this":
                return one(week(today())[0] + WEEKDAYS[then] * _ONE_DAY), i + 2
            return one(_weekday_before(today(), WEEKDAYS[then])), i + 2
        if word in ("last", "this") and then in ("week", "month", "year"):
            return TimeExpression(
                days=_period(today(), then, int(word == "last")), evident=True
            ), i + 2
        if word in ("last", "this") and then in MONTHS:
            year = today().year - int(word == "last" and MONTHS[then] >= today().month)
            return TimeExpression(days=month(year, MONTHS[then]), evident=True), i + 2
        if word == "weekend" or (word in ("last", "this") and then == "weekend"):
            saturday = week(today())[0] + 5 * _ONE_DAY
            # A bare "weekend" looks back, as everything remembered lies in the past.
            if word == "last" or (word == "weekend" and saturday > today()):
                saturday -= timedelta(days=7)
            days = (saturday, saturday + 2 * _ONE_DAY)
            return TimeExpression(days=days, evident=word != "weekend"), i + 1 + int(
                word != "weekend"
            )
        # "sun", "sat" and "wed" are words of their own: an abbreviation counts only after "on".
        if word in WEEKDAYS and (len(word) > 3 or self.word(i - 1) == "on"):
            if self.words(i + 1, "last", "week"):
                return one(week(today())[0] + (WEEKDAYS[word] - 7) * _ONE_DAY), i + 3
            return one(_weekday_before(today() + _ONE_DAY, WEEKDAYS[word])), i + 1
        if (duration := self.duration(i)) and self.word(duration[2]) in ("ago", "earlier"):
            amount, unit, j = duration
            if unit.calendar and amount == int(amount):
                return TimeExpression(
                    days=_period(today(), unit.calendar, int(amount)), evident=True
                ), j + 1
        return None

    def _night(self) -> date:
        """The day on which the current night, or else the next one, began."""
        now = self.context.need_now()
        ends = self.context.conventions.parts["night"][1] - 24
        return now.date() - _ONE_DAY if now.hour < ends else now.date()

    def _date(self, i: int) -> ParseResult:
        """8 May 2023; May 8th, 2023; May 2023; in May; in 2023. Without a year, the last begun."""
        number, j = self._day_of_month(i)
        if self.word(j) == "of":
            j += 1
        if number is None and j == i and self.word(i - 1) in ("in", "since", "during"):
            year, after = self._year(i)
            if year is not None:
                return TimeExpression(
                    days=(date(year, 1, 1), date(year + 1, 1, 1)), evident=True
                ), after
        name, j = MONTHS.get(self.word(j).rstrip(".")), j + 1
        if name is None or (number is None and j != i + 1):
            return None
        if number is None:
            number, after = self._day_of_month(j)
            is_year = number is None or self.tokens[j].text == str(self._year(j)[0])
            if is_year:
                year, after = self._year(j)
                # "may" and "march" are verbs, too: alone they are months only after such a word.
                if year is None and self.word(i - 1) not in ("in", "last", "since"):
                    return None
                year = year or self._latest_year(name, 1)
                return TimeExpression(days=month(year, name), evident=True), after
            j = after
        year, after = self._year(j + 1 if self.word(j) == "," else j)
        if year is None:
            year, after = self._latest_year(name, number or 1), j
        try:
            day = date(year, name, number or 1)
        except ValueError:
            raise TimeError(f"there is no day {number} in month {name} of {year}") from None
        return TimeExpression(days=(day, day + _ONE_DAY), evident=True), after

    def _day_of_month(self, i: int) -> tuple[int | None, int]:
        if i < len(self.tokens) and re.fullmatch(r"\d{1,2}", self.word(i)):
            suffix = self.word(i + 1) in ("st", "nd", "rd", "th") and self.tokens[i + 1].glued
            return int(self.word(i)), i + 1 + int(suffix)
        return None, i

    def _year(self, i: int) -> tuple[int | None, int]:
        if i < len(self.tokens) and re.fullmatch(r"(19|20)\d\d", self.word(i)):
            return int(self.word(i)), i + 1
        return None, i

    def _latest_year(self, name: int, number: int) -> int:
        today = self.context.today
        return today.year - int((name, number) > (today.month, today.day))


def _iso(text: str) -> TimeExpression:
    """An ISO 8601 date, or date and time with or without an offset."""
    text = text.replace("/", "-").replace(",", ".")
    match = re.fullmatch(r"([\d-]{10})(?:[Tt_ ]+([\d:.]+)\s?(.*))?", text)
    assert match is not None
    try:
        day = date.fromisoformat(match[1])
        if not match[2]:
            return TimeExpression(days=(day, day + _ONE_DAY), evident=True)
        offset = "+00:00" if match[3].upper() in ("Z", "UTC") else match[3]
        # datetime has microseconds; finer digits (nanoseconds of some logs) are cut off.
        clock = re.sub(r"(\.\d{6})\d+", r"\1", match[2])
        local = datetime.fromisoformat(f"{match[1]}T{clock}{offset}")
    except ValueError as error:
        raise TimeError(f"{text} cannot be: {error}") from None
    if local.tzinfo is not None:
        return TimeExpression(absolute=(local, local), evident=True)
    seconds = local.second + local.microsecond / 1e6
    clock_shown = ClockTime(local.hour, local.minute, seconds, exact=True)
    return TimeExpression(days=(day, day + _ONE_DAY), clock=clock_shown, evident=True)


def _weekday_before(day: date, weekday: int) -> date:
    """The latest such weekday before a day."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def _period(today: date, unit: str, back: int) -> tuple[date, date]:
    """The calendar day, week, month or year that lies `back` of them before today's."""
    if unit == "day":
        return today - back * _ONE_DAY, today - (back - 1) * _ONE_DAY
    if unit == "week":
        return week(today - timedelta(days=7 * back))
    if unit == "month":
        return month(today.year, today.month - back)
    return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)
