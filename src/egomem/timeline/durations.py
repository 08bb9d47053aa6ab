"""Words at a token, and durations: "20", "half an", "an hour and a half"."""

from __future__ import annotations

from egomem.timeline.expressions import Context, TimeExpression
from egomem.timeline.wordlists import NUMBERS, SHORT_UNITS, UNITS, Token, Unit

ParseResult = tuple[TimeExpression, int] | None
"""What was read, and the index of the token after it."""


class DurationParser:
    """Reads words and durations. `idiom` is False inside "from X to Y", where "ten to eleven" is a
    range and not 10:50.
    """

    def __init__(self, tokens: list[Token], context: Context) -> None:
        self.tokens = tokens
        self.context = context
        self.idiom = True
        self._read: dict[tuple[int, bool], ParseResult] = {}

    def word(self, i: int) -> str:
        return self.tokens[i].text if i < len(self.tokens) else ""

    def words(self, i: int, *expected: str) -> bool:
        return all(self.word(i + k) == word for k, word in enumerate(expected))

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
            return float(self.context.conventions.few), after + 1
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
        # "5 m" may be five metres; "5m" beside a time is minutes.
        return SHORT_UNITS.get(self.word(i)) if glued else None

    def duration(self, i: int) -> tuple[float, Unit, int] | None:
        """A duration: `(amount in the last unit or seconds, unit, next token)`.

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
        # A month has no fixed number of seconds to add to.
        if unit.calendar:
            return amount, unit, j
        seconds, smallest = amount * unit.seconds, unit
        # Only ever smaller units: "3 min 20 s" is one duration, "20 s 3 min" are two.
        while more := self.amount(j + 1 if self.word(j) in ("and", ",") else j):
            part = self.unit(more[1])
            if part is None or part.calendar or part.seconds >= smallest.seconds:
                break
            seconds, smallest, j = seconds + more[0] * part.seconds, part, more[1] + 1
        return seconds, smallest if smallest is unit else Unit(0), j
