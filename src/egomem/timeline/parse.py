"""From tokens to pieces: the words of one time expression. Placing it is `resolve`'s part."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from egomem.errors import TimeError
from egomem.timeline.lexis import (
    MONTHS,
    NUMBERS,
    PARTS,
    SHORT_UNITS,
    STARTS,
    UNITS,
    WEEKDAYS,
    Token,
    Unit,
)
from egomem.timeline.local import zone_of
from egomem.timeline.pieces import Context, Dial, Piece, UnresolvedError, month, week

Read = tuple[Piece, int] | None
"""What was read, and the index of the token after it."""

_LINKS = (("in", "the"), ("of", "the"), ("at",), ("on",), ("in",), ("of",), ("the",), (",",), ())
_ONE_DAY = timedelta(days=1)


class Parser:
    """Reads time expressions at a token. Methods return None where there is none.

    `idiom` is False inside "from X to Y", where "ten to eleven" is a range and not 10:50.
    """

    def __init__(self, found: list[Token], context: Context) -> None:
        self.tokens = found
        self.context = context
        self.idiom = True
        self._read: dict[tuple[int, bool], Read] = {}

    def word(self, i: int) -> str:
        return self.tokens[i].text if i < len(self.tokens) else ""

    def words(self, i: int, *wanted: str) -> bool:
        return all(self.word(i + k) == word for k, word in enumerate(wanted))

    def begins(self, i: int) -> bool:
        """Whether a time could begin at a token; most words are none, and cost little this way."""
        if i >= len(self.tokens):
            return False
        token = self.tokens[i]
        if token.text == "the":
            return self.begins(i + 1)
        return token.text in STARTS if token.kind == "word" else token.kind != "mark"

    def atom(self, i: int) -> Read:
        """One time expression. What was read at a token is kept, as it is asked for again."""
        key = i, self.idiom
        if key not in self._read:
            self._read[key] = self._atom(i) if self.begins(i) else None
        return self._read[key]

    def _atom(self, i: int) -> Read:
        for read in (self.absolute, self.combination, self.elapsed):
            if found := read(i):
                return found
        return None

    def combination(self, i: int) -> Read:
        """A day, a part of it and a clock time, in any order, each at most once."""
        if self.word(i) in ("early", "late") and not self.part(i):
            # "late yesterday afternoon": the word belongs to the part, which follows the day.
            found = self.combination(i + 1)
            halves = (0.0, 0.5) if self.word(i) == "early" else (0.5, 1.0)
            return (
                (replace(found[0], portion=halves), found[1]) if found and found[0].part else None
            )
        whole, j = Piece(), i
        while True:
            for link in _LINKS:
                after = j + len(link)
                if (link and j == i and link != ("the",)) or not self.words(j, *link):
                    continue
                found = self._next(after, whole)
                if found and j > i and found[0].bare and not whole.bare and link != ("at",):
                    found = None
                if found:
                    whole, j = replace(found[0], bare=found[0].bare and link != ("at",)), found[1]
                    break
            else:
                return (whole, j) if j > i else None

    def _next(self, i: int, whole: Piece) -> Read:
        """What may still join a combination at token i."""
        placed = whole.dial or (whole.absolute and whole.evident)
        if placed and not whole.zone and i < len(self.tokens) and self.tokens[i].kind == "zone":
            return replace(whole, zone=zone_of(self.word(i).strip("[]"))), i + 1
        if whole.absolute:
            return None
        if not (whole.days or whole.problem) and (found := self.day(i)):
            piece, j = found
            if not ((piece.part and whole.part) or (piece.dial and whole.dial)):
                return _join(whole, piece), j
        if not whole.part and (found := self.part(i)):
            piece, j = found
            if not (piece.days and whole.days):
                return _join(whole, piece), j
        if not whole.dial and (found := self.dial(i, bool(whole.days or whole.problem))):
            return _join(whole, found[0]), found[1]
        return None

    # -- amounts ---------------------------------------------------------------------------------

    def amount(self, i: int) -> tuple[float, int] | None:
        """A number, in digits or words: "20", "an", "half an", "a couple of", "a few"."""
        if i < len(self.tokens) and self.tokens[i].kind == "number":
            return float(self.word(i)), i + 1
        if self.word(i) == "half":
            return 0.5, i + 2 if self.word(i + 1) in ("a", "an") else i + 1
        if self.words(i, "quarter", "of", "an"):
            return 0.25, i + 3
        after = i + 1 if self.word(i) == "a" else i
        if self.word(after) == "few":
            return float(self.context.habits.few), after + 1
        if self.word(after) == "couple":
            return 2.0, after + (2 if self.word(after + 1) == "of" else 1)
        if self.words(i, "a", "quarter", "of", "an"):
            return 0.25, i + 4
        if self.words(i, "a", "half"):
            return 0.5, i + 2
        if self.word(i) in NUMBERS:
            return float(NUMBERS[self.word(i)]), i + 1
        return None

    def unit(self, i: int) -> Unit | None:
        if self.word(i) in UNITS:
            return UNITS[self.word(i)]
        glued = i < len(self.tokens) and self.tokens[i].glued
        return SHORT_UNITS.get(self.word(i)) if glued else None

    def duration(self, i: int) -> tuple[float, Unit, int] | None:
        """An amount of time: `(amount in the last unit or seconds, unit, next)`.

        Parts add up: "3 min 20 s", "an hour and a half". Calendar units stand alone.
        """
        if not (first := self.amount(i)):
            return None
        amount, j = first
        if not (unit := self.unit(j)):
            return None
        j += 1
        if self.words(j, "and", "a", "half"):
            amount, j = amount + 0.5, j + 3
        if unit.calendar:
            return amount, unit, j
        seconds, smallest = amount * unit.seconds, unit
        while more := self.amount(j + 1 if self.word(j) in ("and", ",") else j):
            part = self.unit(more[1])
            if part is None or part.calendar or part.seconds >= smallest.seconds:
                break
            seconds, smallest, j = seconds + more[0] * part.seconds, part, more[1] + 1
        return seconds, smallest if smallest is unit else Unit(0), j

    # -- absolute and elapsed --------------------------------------------------------------------

    def absolute(self, i: int) -> Read:
        """Times counted from the question's: now, an hour ago, the last two days."""
        if self.word(i) == "now" or self.words(i, "right", "now") or self.words(i, "just", "now"):
            clear = self.word(i) != "now"
            return self._from_now(0, 0, evident=clear), i + (2 if clear else 1)
        if self.words(i, "earlier", "today"):
            return self._today_so_far(), i + 2
        after = i + 1 if self.word(i) == "the" else i
        if self.word(after) in ("last", "past"):
            found = self.duration(after + 1)
            if not found and (unit := self.unit(after + 1)) and self.word(after - 1) == "the":
                found = unit.seconds or 1.0, unit, after + 2
            if found:
                amount, unit, j = found
                return self._back(amount, unit), j
            return None
        if (found := self.duration(i)) and self.word(found[2]) in ("ago", "earlier"):
            amount, unit, j = found
            if not unit.calendar:
                return self._from_now(amount, amount), j + 1
        return None

    def _from_now(self, start: float, end: float, *, evident: bool = True) -> Piece:
        try:
            now = self.context.need_now()
        except UnresolvedError as missing:
            return Piece(problem=str(missing), evident=evident)
        return Piece(absolute=(_before(now, start), _before(now, end)), evident=evident)

    def _today_so_far(self) -> Piece:
        try:
            now = self.context.need_now()
        except UnresolvedError as missing:
            return Piece(problem=str(missing), evident=True)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        return Piece(absolute=(midnight, now), evident=True)

    def _back(self, amount: float, unit: Unit) -> Piece:
        """From `amount` ago until now."""
        if not unit.calendar:
            return self._from_now(amount, 0)
        try:
            now = self.context.need_now()
        except UnresolvedError as missing:
            return Piece(problem=str(missing), evident=True)
        days = {"day": 1, "week": 7, "month": 30, "year": 365}[unit.calendar] * amount
        return Piece(absolute=(now - timedelta(days=days), now), evident=True)

    def elapsed(self, i: int) -> Read:
        """A time of a recording in units: "12.5s", "3 min 20 s", "the first five minutes"."""
        after = i + 1 if self.word(i) == "the" else i
        if self.word(after) == "first":
            found = self.duration(after + 1)
            if not found and (single := self.unit(after + 1)):
                found = single.seconds, single, after + 2
            if not found:
                return None
            seconds, unit, j = found
            return None if unit.calendar else (Piece(elapsed=(0.0, seconds), evident=True), j)
        if not (found := self.duration(after)) or found[1].calendar:
            return None
        seconds, unit, j = found
        marked = self.word(j) in ("in", "into", "mark")
        piece = Piece(elapsed=(seconds, seconds), unit=unit.seconds, evident=marked)
        return piece, j + 1 if marked else j

    # -- days ------------------------------------------------------------------------------------

    def day(self, i: int) -> Read:
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
            known = replace(self.context, now=datetime(1970, 1, 1), zone=None, day_one=date.min)
            found = Parser(self.tokens, known).day(i)
            return (
                (Piece(problem=str(missing), evident=found[0].evident), found[1]) if found else None
            )

    def _numbered_day(self, i: int) -> Read:
        number = int(re.sub(r"\D", "", self.word(i)))
        if self.context.day_one is None:
            raise UnresolvedError("it counts from the first day, whose date is not known")
        if number < 1:
            raise TimeError("days count from DAY1")
        first = self.context.day_one + (number - 1) * _ONE_DAY
        after = i + 1 if self.word(i + 1) in ("-", "_") and self._is_code(i + 2) else i
        return Piece(days=(first, first + _ONE_DAY), evident=True), after + 1

    def _named_day(self, i: int) -> Read:
        """Days relative to the question's."""

        def today() -> date:
            return self.context.today

        def one(day: date) -> Piece:
            return Piece(days=(day, day + _ONE_DAY), evident=True)

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
            if self.words(i + 2, "week"):
                return None
            if word == "this":
                return one(week(today())[0] + WEEKDAYS[then] * _ONE_DAY), i + 2
            return one(_weekday_before(today(), WEEKDAYS[then])), i + 2
        if word in ("last", "this") and then in ("week", "month", "year"):
            return Piece(days=_period(today(), then, int(word == "last")), evident=True), i + 2
        if word in WEEKDAYS and (len(word) > 3 or self.word(i - 1) == "on"):
            if self.words(i + 1, "last", "week"):
                return one(week(today())[0] + (WEEKDAYS[word] - 7) * _ONE_DAY), i + 3
            return one(_weekday_before(today() + _ONE_DAY, WEEKDAYS[word])), i + 1
        if (found := self.duration(i)) and self.word(found[2]) in ("ago", "earlier"):
            amount, unit, j = found
            if unit.calendar and amount == int(amount):
                return Piece(days=_period(today(), unit.calendar, int(amount)), evident=True), j + 1
        return None

    def _night(self) -> date:
        """The day that the night now running, or the next one, began on."""
        now = self.context.need_now()
        ends = self.context.habits.parts["night"][1] - 24
        return now.date() - _ONE_DAY if now.hour < ends else now.date()

    def _date(self, i: int) -> Read:
        """8 May 2023; May 8th, 2023; May 2023; in May; in 2023. Without a year, the last begun."""
        number, j = self._day_of_month(i)
        if self.word(j) == "of":
            j += 1
        if number is None and j == i and self.word(i - 1) in ("in", "since", "during"):
            year, after = self._year(i)
            if year is not None:
                return Piece(days=(date(year, 1, 1), date(year + 1, 1, 1)), evident=True), after
        name, j = MONTHS.get(self.word(j).rstrip(".")), j + 1
        if name is None or (number is None and j != i + 1):
            return None
        if number is None:
            number, after = self._day_of_month(j)
            is_year = number is None or self.tokens[j].text == str(self._year(j)[0])
            if is_year:
                year, after = self._year(j)
                if year is None and self.word(i - 1) not in ("in", "last", "since"):
                    return None
                year = year or self._latest_year(name, 1)
                return Piece(days=month(year, name), evident=True), after
            j = after
        year, after = self._year(j + 1 if self.word(j) == "," else j)
        if year is None:
            year, after = self._latest_year(name, number or 1), j
        try:
            day = date(year, name, number or 1)
        except ValueError:
            raise TimeError(f"there is no day {number} in month {name} of {year}") from None
        return Piece(days=(day, day + _ONE_DAY), evident=True), after

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

    # -- parts of the day and clock times --------------------------------------------------------

    def part(self, i: int) -> Read:
        """Morning, late afternoon, this evening, lunch; noon and midnight are clock times."""
        portion, j = (0.0, 1.0), i
        if self.word(j) in ("early", "late"):
            portion, j = ((0.0, 0.5) if self.word(j) == "early" else (0.5, 1.0)), j + 1
        piece = Piece(portion=portion, evident=j > i)
        if self.word(j) in ("this", "that"):
            if self.word(j) == "this":
                try:
                    today = self.context.today
                    piece = replace(piece, days=(today, today + _ONE_DAY), evident=True)
                except UnresolvedError as missing:
                    piece = replace(piece, problem=str(missing), evident=True)
            j += 1
        elif self.word(j) == "the" and j > i:
            j += 1
        if name := PARTS.get(self.word(j)):
            return replace(piece, part=name), j + 1
        if j == i and self.word(i) in ("noon", "midday", "noontime"):
            return Piece(dial=Dial(12, half="pm"), evident=True), i + 1
        if j == i and self.word(i) == "midnight":
            return Piece(dial=Dial(0, exact=True), evident=True), i + 1
        return None

    def dial(self, i: int, dated: bool = False) -> Read:
        """A clock time: 10:30, 10 am, four o'clock, half past three, an EgoLife HHMMSSFF."""
        if i >= len(self.tokens):
            return None
        token = self.tokens[i]
        if token.kind == "colon":
            return self._colon(i)
        dated = dated or any(token.kind == "day" for token in self.tokens[i + 1 : i + 3])
        if dated and self._is_code(i):
            return Piece(dial=code(token.text, self.context.habits.frames_per_second)), i + 1
        if self.idiom and (found := self._idiom(i)):
            return found
        half = self._half(i + 1)
        if half and (match := re.fullmatch(r"(\d{1,2})(?:\.(\d\d))?", token.text)):
            clock = Dial(int(match[1]), int(match[2] or 0), half=half)
            return Piece(dial=_checked(clock, token.text), evident=True), i + 2
        hour = int(token.text) if re.fullmatch(r"\d{1,2}", token.text) else NUMBERS.get(token.text)
        if hour is None or token.text in ("a", "an", "couple") or hour > 24:
            return None
        if half:
            return Piece(dial=_checked(Dial(hour, half=half), token.text), evident=True), i + 2
        if self.word(i + 1) == "o'clock":
            half = self._half(i + 2)
            clock = Dial(hour, half=half, exact=hour > 12 or hour == 0)
            return Piece(dial=clock, evident=True), i + (3 if half else 2)
        if self.unit(i + 1) or self.word(i + 1) in MONTHS or self.word(i + 1) == "%":
            return None
        exact = hour > 12 or hour == 0 or token.text.startswith("0")
        return Piece(dial=Dial(hour, exact=exact), bare=True), i + 1

    def _colon(self, i: int) -> Read:
        text = self.word(i).replace(",", ".")
        if text.count(":") > 2:
            raise TimeError(f"{text} has {text.count(':') + 1} parts", "write H:MM:SS or M:SS")
        if not re.fullmatch(r"\d+(:\d\d){1,2}(\.\d+)?", text):
            return None
        half = self._half(i + 1)
        parts = tuple(float(part) for part in text.split(":"))
        too_big = parts[-1] >= 60 or (len(parts) == 3 and parts[1] >= 60)
        if too_big:
            raise TimeError(
                f"{text} has 60 or more in a place that ends at 59", "write H:MM:SS or M:SS"
            )
        exact = not half and (text.startswith("0") or parts[0] > 12)
        clock = Dial(
            int(parts[0]), int(parts[1]), parts[2] if len(parts) == 3 else 0.0, half, exact
        )
        if half:
            return Piece(dial=_checked(clock, text), evident=True), i + 2
        return Piece(dial=clock, colon=parts, evident=True), i + 1

    def _half(self, i: int) -> Literal["am", "pm"] | None:
        half = re.sub(r"[.\s]", "", self.word(i))
        return "am" if half == "am" else "pm" if half == "pm" else None

    def _idiom(self, i: int) -> Read:
        """Half past three, (a) quarter to four, ten past ten."""
        j = i + 1 if self.words(i, "a", "quarter") else i
        minutes = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}.get(self.word(j))
        if minutes is None or self.word(j + 1) not in ("past", "to"):
            return None
        before = self.word(j + 1) == "to"
        if not (found := self.dial(j + 2)) or found[0].colon or (before and minutes == 30):
            return None
        piece, after = found
        assert piece.dial is not None
        hour, half = piece.dial.hour, piece.dial.half
        if piece.dial.minute or not 1 <= hour <= 12:
            return None
        if before:
            hour, minutes = (hour - 2) % 12 + 1, 60 - minutes
            if half and hour == 11:
                half = "am" if half == "pm" else "pm"
        return Piece(dial=Dial(hour, minutes, half=half), evident=True), after

    def _is_code(self, i: int) -> bool:
        return re.fullmatch(r"\d{8}", self.word(i)) is not None


def code(text: str, base: int) -> Dial:
    """An EgoLife time HHMMSSFF: 11210217 is 11:21:02 and frame 17 of `base` a second.

    A frame equal to the base is the next second's first, as the data set counts 1 to 20 in places.
    """
    hour, minute, second, frame = (int(text[k : k + 2]) for k in (0, 2, 4, 6))
    if hour > 23 or minute > 59 or second > 59:
        raise TimeError(f"{text} is not a time HHMMSSFF")
    if frame > base:
        raise TimeError(
            f"{text} has frame {frame}, but a second has {base}",
            "set another frame base, such as 100 for hundredths",
        )
    return Dial(hour, minute, second + frame / base, exact=True)


def _iso(text: str) -> Piece:
    """An ISO 8601 date, or date and time with or without an offset."""
    text = text.replace("/", "-").replace(",", ".")
    match = re.fullmatch(r"([\d-]{10})(?:[Tt_ ]+([\d:.]+)\s?(.*))?", text)
    assert match is not None
    try:
        day = date.fromisoformat(match[1])
        if not match[2]:
            return Piece(days=(day, day + _ONE_DAY), evident=True)
        offset = "+00:00" if match[3].upper() in ("Z", "UTC") else match[3]
        clock = re.sub(r"(\.\d{6})\d+", r"\1", match[2])
        there = datetime.fromisoformat(f"{match[1]}T{clock}{offset}")
    except ValueError as error:
        raise TimeError(f"{text} cannot be: {error}") from None
    if there.tzinfo is not None:
        return Piece(absolute=(there, there), evident=True)
    seconds = there.second + there.microsecond / 1e6
    clock_shown = Dial(there.hour, there.minute, seconds, exact=True)
    return Piece(days=(day, day + _ONE_DAY), dial=clock_shown, evident=True)


def _checked(clock: Dial, text: str) -> Dial:
    if not 1 <= clock.hour <= 12 or clock.minute > 59:
        raise TimeError(
            f"{text} {clock.half} is not a time", "an hour before am or pm is from 1 to 12"
        )
    return clock


def _join(one: Piece, other: Piece) -> Piece:
    return Piece(
        days=one.days or other.days,
        part=one.part or other.part,
        portion=other.portion if other.part else one.portion,
        dial=one.dial or other.dial,
        colon=one.colon or other.colon,
        absolute=one.absolute or other.absolute,
        zone=one.zone or other.zone,
        problem=one.problem or other.problem,
        evident=one.evident or other.evident or bool(one.part and other.dial),
        bare=(one.bare or other.bare) and not (one.part or other.part),
    )


def _before(now: datetime, seconds: float) -> datetime:
    """Elapsed seconds before an instant, right across changes of the clocks."""
    return (now.astimezone(UTC) - timedelta(seconds=seconds)).astimezone(now.tzinfo)


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
