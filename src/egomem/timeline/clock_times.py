"""Clock times: 10:30, 10 am, four o'clock, half past three, EgoLife's HHMMSSFF."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from egomem.errors import TimeError
from egomem.timeline.durations import DurationParser, ParseResult
from egomem.timeline.expressions import ClockTime, TimeExpression
from egomem.timeline.wordlists import MONTHS, NUMBERS

_EGOLIFE_TIME = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d[0-5]\d(\d\d)")
_FRAMES = 20
_HUNDREDTHS = 100


class ClockTimeParser(DurationParser):
    def clock_time(self, i: int, dated: bool = False) -> ParseResult:
        """A clock time: 10:30, 10 am, four o'clock, half past three, an EgoLife HHMMSSFF."""
        if i >= len(self.tokens):
            return None
        token = self.tokens[i]
        if token.kind == "colon":
            return self._colon(i)
        dated = dated or any(token.kind == "day" for token in self.tokens[i + 1 : i + 3])
        if dated and is_egolife_time(token.text):
            return TimeExpression(
                clock=egolife_time(token.text, self.context.conventions.frames_per_second)
            ), i + 1
        # Before plain hours: "ten past ten" must not be read as "ten".
        if self.idiom and (idiom := self._idiom(i)):
            return idiom
        if written_with_h := self._hours_and_minutes(i):
            return written_with_h
        half = self._half(i + 1)
        if half and (match := re.fullmatch(r"(\d{1,2})(?:\.(\d\d))?", token.text)):
            clock = ClockTime(int(match[1]), int(match[2] or 0), half=half)
            return TimeExpression(clock=_checked(clock, token.text), evident=True), i + 2
        hour = int(token.text) if re.fullmatch(r"\d{1,2}", token.text) else NUMBERS.get(token.text)
        if hour is None or token.text in ("a", "an", "couple") or hour > 24:
            return None
        if half:
            return TimeExpression(
                clock=_checked(ClockTime(hour, half=half), token.text), evident=True
            ), i + 2
        if self.word(i + 1) in ("o'clock", "uhr"):
            half = self._half(i + 2)
            clock = ClockTime(hour, half=half, exact=hour > 12 or hour == 0)
            return TimeExpression(clock=clock, evident=True), i + (3 if half else 2)
        if self.unit(i + 1) or self.word(i + 1) in MONTHS or self.word(i + 1) == "%":
            return None
        exact = hour > 12 or hour == 0 or token.text.startswith("0")
        return TimeExpression(clock=ClockTime(hour, exact=exact), bare=True), i + 1

    def _colon(self, i: int) -> ParseResult:
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
        clock = ClockTime(
            int(parts[0]), int(parts[1]), parts[2] if len(parts) == 3 else 0.0, half, exact
        )
        if half:
            return TimeExpression(clock=_checked(clock, text), evident=True), i + 2
        return TimeExpression(clock=clock, colon=parts, evident=True), i + 1

    def _hours_and_minutes(self, i: int) -> ParseResult:
        """17h30, 9.15 Uhr, 0930 hours: spellings of the 24-hour clock without a colon."""
        text, after = self.word(i), self.tokens[i + 1 : i + 3]
        glued = [token.text for token in after if token.glued]
        if re.fullmatch(r"\d{1,2}", text) and len(glued) == 2 and glued[0] == "h":
            # "1h30" is as often a length: before four o'clock it is left alone.
            match, end = re.fullmatch(r"(0?[4-9]|[12]\d)h(\d\d)", text + "".join(glued)), i + 3
        elif self.word(i + 1) in ("hours", "hrs"):
            match, end = re.fullmatch(r"(\d\d)(\d\d)", text), i + 2
        elif self.word(i + 1) == "uhr":
            match, end = re.fullmatch(r"(\d{1,2})\.(\d\d)", text), i + 2
        else:
            return None
        if match is None or int(match[1]) > 24 or int(match[2]) > 59:
            return None
        clock = ClockTime(int(match[1]), int(match[2]), exact=True)
        return TimeExpression(clock=clock, evident=True), end

    def _half(self, i: int) -> Literal["am", "pm"] | None:
        half = re.sub(r"[.\s]", "", self.word(i))
        return "am" if half == "am" else "pm" if half == "pm" else None

    def _idiom(self, i: int) -> ParseResult:
        """Half past three, (a) quarter to four, ten past ten."""
        j = i + 1 if self.words(i, "a", "quarter") else i
        words = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
        minutes = words.get(self.word(j))
        # "5 to six" may be a range, "5 past six" is none.
        if self.word(j) in ("5", "10", "20", "25") and self.word(j + 1) == "past":
            minutes = int(self.word(j))
        if minutes is None or self.word(j + 1) not in ("past", "to"):
            return None
        before = self.word(j + 1) == "to"
        if not (clock := self.clock_time(j + 2)) or clock[0].colon or (before and minutes == 30):
            return None
        expression, after = clock
        assert expression.clock is not None
        hour, half = expression.clock.hour, expression.clock.half
        if expression.clock.minute or not 1 <= hour <= 12:
            return None
        if before:
            hour, minutes = (hour - 2) % 12 + 1, 60 - minutes
            if half and hour == 11:
                half = "am" if half == "pm" else "pm"
        return TimeExpression(clock=ClockTime(hour, minutes, half=half), evident=True), after


def is_egolife_time(text: str) -> bool:
    return re.fullmatch(r"\d{8}", text) is not None


def egolife_frame_base(times: Iterable[str]) -> int:
    """What the last two digits of times HHMMSSFF count to: 20 frames, or 100 hundredths.

    The releases say nothing, but a file tells: its digits go to 19 (in places to 20), or to 99.
    Give all times of a file, so that each of them is read alike; what is no time tells nothing.
    """
    matches = (_EGOLIFE_TIME.fullmatch(text) for text in times)
    return _HUNDREDTHS if any(m and int(m[1]) > _FRAMES for m in matches) else _FRAMES


def egolife_time(text: str, base: int | None = None) -> ClockTime:
    """Read an EgoLife time HHMMSSFF: 11210217 is 11:21:02 and frame 17 of `base` a second.

    Without a base, the time itself tells it, as a file does (`egolife_frame_base`). A frame equal
    to the base is the next second's first: the data set counts 1 to 20 in places. Raises TimeError.
    """
    if base is None:
        base = egolife_frame_base((text,))
    hour, minute, second, frame = (int(text[k : k + 2]) for k in (0, 2, 4, 6))
    if hour > 23 or minute > 59 or second > 59:
        raise TimeError(f"{text} is not a time HHMMSSFF")
    if frame > base:
        raise TimeError(
            f"{text} has frame {frame}, but a second has {base}",
            "set another frame base, such as 100 for hundredths",
        )
    return ClockTime(hour, minute, second + frame / base, exact=True)


def _checked(clock: ClockTime, text: str) -> ClockTime:
    if not 1 <= clock.hour <= 12 or clock.minute > 59:
        raise TimeError(
            f"{text} {clock.half} is not a time", "an hour before am or pm is from 1 to 12"
        )
    return clock
