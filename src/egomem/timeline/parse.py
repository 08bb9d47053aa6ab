"""From tokens to time expressions. Placing them on a timeline is the task of `resolve`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from egomem.timeline.clock_times import ClockTimeParser
from egomem.timeline.day_parts import PARTS
from egomem.timeline.days import DayParser
from egomem.timeline.durations import ParseResult
from egomem.timeline.expressions import ClockTime, TimeExpression, UnresolvedError
from egomem.timeline.wordlists import STARTS, Unit
from egomem.timeline.zone_names import zone_in, zone_of

_LINKS = (("in", "the"), ("of", "the"), ("at",), ("on",), ("in",), ("of",), ("the",), (",",), ())
_ONE_DAY = timedelta(days=1)


class Parser(DayParser, ClockTimeParser):
    """Reads time expressions at a token. Methods return None where there is none."""

    def begins(self, i: int) -> bool:
        """Whether a time could begin at a token: a cheap test, as most words begin none."""
        if i >= len(self.tokens):
            return False
        token = self.tokens[i]
        if token.text == "the":
            return self.begins(i + 1)
        return token.text in STARTS if token.kind == "word" else token.kind != "mark"

    def atom(self, i: int) -> ParseResult:
        """One time expression. Results are memoised, because the grammar asks for a token
        repeatedly.
        """
        key = i, self.idiom
        if key not in self._read:
            self._read[key] = self._atom(i) if self.begins(i) else None
        return self._read[key]

    def _atom(self, i: int) -> ParseResult:
        for read in (self.absolute, self.combination, self.elapsed):
            if result := read(i):
                return result
        return None

    def combination(self, i: int) -> ParseResult:
        """A day, a part of it and a clock time, in any order, each at most once."""
        if self.word(i) in ("early", "late") and not self.part(i):
            # "late yesterday afternoon": the word belongs to the part, which follows the day.
            result = self.combination(i + 1)
            halves = (0.0, 0.5) if self.word(i) == "early" else (0.5, 1.0)
            return (
                (replace(result[0], portion=halves), result[1])
                if result and result[0].part
                else None
            )
        whole, j = TimeExpression(), i
        while True:
            for link in _LINKS:
                after = j + len(link)
                if (link and j == i and link != ("the",)) or not self.words(j, *link):
                    continue
                result = self._next(after, whole)
                # "yesterday 3 people": a bare number after a day is a count, except after "at".
                if result and j > i and result[0].bare and not whole.bare and link != ("at",):
                    result = None
                if result:
                    whole, j = (
                        replace(result[0], bare=result[0].bare and link != ("at",)),
                        result[1],
                    )
                    break
            else:
                return (whole, j) if j > i else None

    def _next(self, i: int, whole: TimeExpression) -> ParseResult:
        """What may extend a combination at token i."""
        if not whole.zone and i < len(self.tokens) and (named := self._zone(i, whole)):
            return named
        if whole.absolute:
            return None
        if not (whole.days or whole.problem) and (result := self.day(i)):
            expression, j = result
            if not ((expression.part and whole.part) or (expression.clock and whole.clock)):
                return _join(whole, expression), j
        if not whole.part and (result := self.part(i)):
            expression, j = result
            if not (expression.days and whole.days):
                return _join(whole, expression), j
        if not whole.clock and (result := self.clock_time(i, bool(whole.days or whole.problem))):
            return _join(whole, result[0]), result[1]
        return None

    def _zone(self, i: int, whole: TimeExpression) -> ParseResult:
        """The zone of a time that was read: [Europe/Berlin], UTC, New York time, CET."""
        placed = whole.clock or (whole.absolute and whole.evident)
        if placed and self.tokens[i].kind == "zone" and self.word(i + 1) not in ("+", "-"):
            return replace(whole, zone=zone_of(self.word(i).strip("[]"))), i + 1
        # A day or a part of it may have a zone, too: "on 29 March, New York time".
        if not (placed or whole.days or whole.part):
            return None
        j = i + int(self.word(i) == ",")
        j += int(self.word(j) == "in")
        if (named := zone_in([token.text.casefold() for token in self.tokens[j : j + 6]])) is None:
            return None
        return replace(whole, zone=named[0]), j + named[1]

    def part(self, i: int) -> ParseResult:
        """Morning, late afternoon, this evening, lunch; noon and midnight are clock times."""
        portion, j = (0.0, 1.0), i
        if self.word(j) in ("early", "late"):
            portion, j = ((0.0, 0.5) if self.word(j) == "early" else (0.5, 1.0)), j + 1
        expression = TimeExpression(portion=portion, evident=j > i)
        if self.word(j) in ("this", "that"):
            if self.word(j) == "this":
                try:
                    today = self.context.today
                    expression = replace(expression, days=(today, today + _ONE_DAY), evident=True)
                except UnresolvedError as missing:
                    expression = replace(expression, problem=str(missing), evident=True)
            j += 1
        elif self.word(j) == "the" and j > i:
            j += 1
        if name := PARTS.get(self.word(j)):
            return replace(expression, part=name), j + 1
        if j == i and self.word(i) in ("noon", "midday", "noontime"):
            return TimeExpression(clock=ClockTime(12, half="pm"), evident=True), i + 1
        if j == i and self.word(i) == "midnight":
            return TimeExpression(clock=ClockTime(0, exact=True), evident=True), i + 1
        return None

    def absolute(self, i: int) -> ParseResult:
        """Times counted from the question's: now, an hour ago, the last two days."""
        if self.word(i) == "now" or self.words(i, "right", "now") or self.words(i, "just", "now"):
            clear = self.word(i) != "now"
            return self._from_now(0, 0, evident=clear), i + (2 if clear else 1)
        if self.words(i, "earlier", "today"):
            return self._today_so_far(), i + 2
        after = i + 1 if self.word(i) == "the" else i
        if self.word(after) in ("last", "past"):
            duration = self.duration(after + 1)
            # "the last hour" is an hour back from now; "last hour" alone says too little.
            if not duration and (unit := self.unit(after + 1)) and self.word(after - 1) == "the":
                duration = unit.seconds or 1.0, unit, after + 2
            if duration:
                amount, unit, j = duration
                return self._back(amount, unit), j
            return None
        if (duration := self.duration(i)) and self.word(duration[2]) in ("ago", "earlier"):
            amount, unit, j = duration
            # "2 days ago" is a day, which DayParser reads; "2 hours ago" is an instant.
            if not unit.calendar:
                return self._from_now(amount, amount), j + 1
        return None

    def _from_now(self, start: float, end: float, *, evident: bool = True) -> TimeExpression:
        try:
            now = self.context.need_now()
        except UnresolvedError as missing:
            return TimeExpression(problem=str(missing), evident=evident)
        return TimeExpression(absolute=(_before(now, start), _before(now, end)), evident=evident)

    def _today_so_far(self) -> TimeExpression:
        try:
            now = self.context.need_now()
        except UnresolvedError as missing:
            return TimeExpression(problem=str(missing), evident=True)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        return TimeExpression(absolute=(midnight, now), evident=True)

    def _back(self, amount: float, unit: Unit) -> TimeExpression:
        """The stretch from `amount` ago until now."""
        if not unit.calendar:
            return self._from_now(amount, 0)
        try:
            now = self.context.need_now()
        except UnresolvedError as missing:
            return TimeExpression(problem=str(missing), evident=True)
        # "the last month" counts back from now; "last month" is the calendar's, see `DayParser`.
        days = {"day": 1, "week": 7, "month": 30, "year": 365}[unit.calendar] * amount
        return TimeExpression(absolute=(now - timedelta(days=days), now), evident=True)

    def elapsed(self, i: int) -> ParseResult:
        """A time of a recording in units: "12.5s", "3 min 20 s", "the first five minutes"."""
        after = i + 1 if self.word(i) == "the" else i
        if self.word(after) == "first":
            duration = self.duration(after + 1)
            if not duration and (single := self.unit(after + 1)):
                duration = single.seconds, single, after + 2
            if not duration:
                return None
            seconds, unit, j = duration
            return (
                None if unit.calendar else (TimeExpression(elapsed=(0.0, seconds), evident=True), j)
            )
        if not (duration := self.duration(after)) or duration[1].calendar:
            return None
        seconds, unit, j = duration
        marked = self.word(j) in ("in", "into", "mark")
        expression = TimeExpression(elapsed=(seconds, seconds), unit=unit.seconds, evident=marked)
        return expression, j + 1 if marked else j


def _join(one: TimeExpression, other: TimeExpression) -> TimeExpression:
    return TimeExpression(
        days=one.days or other.days,
        part=one.part or other.part,
        portion=other.portion if other.part else one.portion,
        clock=one.clock or other.clock,
        colon=one.colon or other.colon,
        absolute=one.absolute or other.absolute,
        zone=one.zone or other.zone,
        problem=one.problem or other.problem,
        evident=one.evident
        or other.evident
        or bool((one.part and other.clock) or (one.clock and other.part)),
        bare=(one.bare or other.bare) and not (one.part or other.part),
    )


def _before(now: datetime, seconds: float) -> datetime:
    """The instant some elapsed seconds before another, correct across clock changes."""
    return (now.astimezone(UTC) - timedelta(seconds=seconds)).astimezone(now.tzinfo)
