"""The words of time expressions, and the tokeniser for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from egomem.timeline.day_parts import PARTS

_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_ALIKE = str.maketrans("‐‑‒–—―−〜’\u00a0\u202f\u2009\u3000", "--------'    ")
"""One character for one, so that offsets stay those of the text as written."""

_PATTERN = re.compile(
    r"""
      (?P<iso>\d{4}([-/])\d{2}\2\d{2}(?:[Tt_ ]+\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?
          (?:\s?(?:Z\b|UTC\b|[+-]\d{2}:?\d{2}(?::?\d{2})?))?)?(?![\d:]))
    | (?P<zone>\[?\b(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|
          Pacific|Etc|US)(?:/[A-Za-z0-9_+-]+)+\]?|\bUTC\b|\bZ\b)
    | (?P<day>\bday[\s_-]?\d{1,4}(?!\d))
    | (?P<colon>\d+(?::\d+)+(?:\.\d+|,\d{3}(?!\d))?)
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<word>[ap]\.\s?m\b\.?|[^\W\d_]+(?:'[^\W\d_]+)*)
    | (?P<mark>\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Token(NamedTuple):
    kind: str
    text: str
    """Casefolded, with typographic variants made plain."""
    start: int
    end: int
    glued: bool
    """No space before it."""


def tokens(text: str) -> list[Token]:
    """The tokens of a text, with their character offsets. Takes any text."""
    plain = text.translate(_WIDE).translate(_ALIKE)
    result = []
    last = 0
    for match in _PATTERN.finditer(plain):
        kind = match.lastgroup or "mark"
        word = match.group() if kind in ("iso", "zone") else match.group().casefold()
        result.append(Token(kind, word, match.start(), match.end(), match.start() == last))
        last = match.end()
    return result


@dataclass(frozen=True, slots=True)
class Unit:
    seconds: float
    """0 for a unit of the calendar."""
    calendar: str = ""


_UNITS: dict[str, Unit] = {
    "s sec secs second seconds": Unit(1),
    "min mins minute minutes": Unit(60),
    "h hr hrs hour hours": Unit(3600),
    "day days": Unit(0, "day"),
    "week weeks": Unit(0, "week"),
    "month months": Unit(0, "month"),
    "year years": Unit(0, "year"),
}
UNITS = {word: unit for words, unit in _UNITS.items() for word in words.split()}
SHORT_UNITS = {"m": Unit(60)}
"""Read only where glued to a number or after another unit: "3m 20s"."""

NUMBERS = {
    word: value
    for value, words in {
        1: "a an one", 2: "two couple", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven",
        8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 15: "fifteen", 20: "twenty",
        30: "thirty", 40: "forty", 45: "forty-five", 50: "fifty", 60: "sixty", 90: "ninety",
    }.items()
    for word in words.split()
}  # fmt: skip

WEEKDAYS = {
    word: day
    for day, words in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thurs", "friday fri",
         "saturday sat", "sunday sun")
    )
    for word in words.split()
}  # fmt: skip

MONTHS = {
    word: month
    for month, words in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
         "august aug", "september sep sept", "october oct", "november nov", "december dec"), 1
    )
    for word in words.split()
}  # fmt: skip

STARTS = frozenset((
    *NUMBERS, *WEEKDAYS, *MONTHS, *PARTS, "half", "quarter", "few", "first", "last", "past", "this",
    "that", "the", "early", "late", "earlier", "now", "right", "just", "today", "yesterday",
    "tomorrow", "tonight", "day", "weekend", "noon", "midday", "noontime", "midnight", "from",
    "between", "before", "until", "till", "after", "since", "shortly", "at", "on", "in", "during",
    "by", "around", "about", "over", "within",
))  # fmt: skip
"""Every word that a time can begin with."""

VAGUE = (
    ("a", "while", "ago"),
    ("some", "time", "ago"),
    ("a", "moment", "ago"),
    ("the", "other", "day"),
    ("recently",),
    ("lately",),
)
"""Cues that name no time that could be worked out."""
