"""Times, prices and measures: the same amount in another spelling names the same option.

`€8.40`, `8,40 €` and `8.40 euros` are one price, `2:20 pm`, `14.20` and `14h20` one time. A sign or
unit that differs makes another amount, and one that is left out may leave several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "a": 1, "an": 1,
}  # fmt: skip
_UNITS: dict[str, tuple[str, float]] = {
    name: (kind, factor)
    for kind, factor, names in (
        ("USD", 1, "$ usd dollar dollars us$"),
        ("EUR", 1, "€ eur euro euros"),
        ("GBP", 1, "£ gbp pound pounds"),
        ("CNY", 1, "¥ cny rmb yuan jpy yen 元"),
        ("seconds", 1, "s sec secs second seconds 秒"),
        ("seconds", 60, "min mins minute minutes 分钟"),
        ("seconds", 3600, "h hr hrs hour hours 小时"),
        ("days", 1, "day days"),
        ("percent", 1, "% percent 百分之"),
        ("celsius", 1, "°c celsius degrees degree °"),
        ("fahrenheit", 1, "°f fahrenheit"),
        ("metres", 1, "m metre metres meter meters"),
        ("metres", 0.01, "cm centimetre centimetres centimeter centimeters"),
        ("metres", 1000, "km kilometre kilometres kilometer kilometers"),
        ("grams", 1, "g gram grams"),
        ("grams", 1000, "kg kilo kilos kilogram kilograms"),
        ("litres", 1, "l litre litres liter liters"),
        ("litres", 0.001, "ml millilitre millilitres milliliter milliliters"),
    )
    for name in names.split()
}

_NUMBER = r"\d[\d,.]*\d|\d"
_WORD = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_PREFIX = r"us\$|[$€£¥]|\b(?:usd|eur|gbp|cny|rmb)\b"
_HOUR = rf"(?:\d{{1,2}}|{_WORD})"
_HALF = r"(?:a\.?\s?m\b\.?|p\.?\s?m\b\.?|in the (?:morning|afternoon|evening)|at night)"
_CLOCK = re.compile(
    r"(?<![\w.,:])(?:"
    rf"(?P<past>half|quarter|a quarter|\d{{1,2}}|{_WORD})\s+(?P<way>past|to)\s+"
    rf"(?P<of>{_HOUR})(?!\w)"
    rf"(?:\s*(?P<past_half>{_HALF}))?"
    r"|(?P<h>\d{1,2})\s?(?P<sep>[:.h])\s?(?P<m>[0-5]\d)(?![\d:.]\d)(?!\d)"
    rf"(?:\s*(?P<half>{_HALF}))?"
    rf"|(?P<hour>{_HOUR})\s*(?:o'clock(?:\s*(?P<o_half>{_HALF}))?|(?P<only_half>{_HALF}))"
    r"|(?:12\s+)?(?P<name>noon|midday|midnight)\b"
    r")",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    rf"(?P<minus>(?<![\w.,%)])(?:-|−|minus\s+)|(?<![\w.,]))\+?(?:"
    rf"(?P<sign>{_PREFIX})\s*(?P<priced>{_NUMBER})"
    r"|(?P<part>half an?|a half|(?:a\s+)?quarter of an?|three quarters of an?)\s+"
    rf"(?P<part_unit>{_UNIT})(?!\w)"
    rf"|(?P<number>{_NUMBER}|\b(?:{_WORD})\b)(?P<half>\s+and a half)?"
    rf"\s*(?P<unit>°\s?c\b|°\s?f\b|per\s?cent\b|{_UNIT})(?!\w)"
    r"(?:\s*(?:celsius|fahrenheit|c\b))?(?P<unit_half>\s+and a half)?)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\s*(?P<minus>-|−|minus\s+)?\+?(?P<number>{_NUMBER})\s*[.!]?\s*", re.I)
_HEDGE = re.compile(
    r"(?:\b(?:at|about|around|roughly|approximately|approx|circa|ca|nearly|almost|exactly|just|it|is|"
    r"was|for|by)\b|[\s.,~≈'\"()])+",
    re.IGNORECASE,
)
_OPTION_TOKEN = "amountofoption{}"


class Amount(NamedTuple):
    """`kind`: "clock" or a unit, "" where none is written. `values`: one, or both halves of a day
    in minutes where a clock time does not say which. `number` is the one written before a unit."""

    kind: str
    values: frozenset[float]
    number: float = float("nan")


class AmountMatcher:
    """The options that are an amount and nothing else, and what in a reply means one of them.

    `tokens` maps an option to the word that stands for it in a rewritten reply.
    """

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        self._amounts = {
            index: amount for index, text in enumerate(texts) if (amount := _only_amount(text))
        }
        if len(self._amounts) < 2:
            self._amounts = {}
        kinds = {amount.kind for amount in self._amounts.values()}
        self._has_clock = "clock" in kinds
        self._has_measure = bool(kinds - {"clock"})
        self._numeric_labels = any(label.isdecimal() for label in labels)
        self.tokens = {index: _OPTION_TOKEN.format(index) for index in self._amounts}

    def rewrite(self, text: str) -> str:
        """The text with the word of the option meant in the place of each amount that means one."""
        if not self._amounts:
            return text
        bare = _BARE.fullmatch(text)
        if bare and self._has_measure and not self._numeric_labels:
            number = _number(bare["number"], bare["minus"])
            token = self._token(Amount("", frozenset({number}), number))
            if token:
                return token
        if self._has_clock:
            text = _CLOCK.sub(lambda match: self._token(_clock(match)) or match[0], text)
        if self._has_measure:
            text = _MEASURE.sub(lambda match: self._token(_measure(match)) or match[0], text)
        return text

    def _token(self, amount: Amount | None) -> str:
        """The word of the one option of this amount; "" where none or several are."""
        if amount is None:
            return ""
        matches = [i for i, option in self._amounts.items() if _is_same(amount, option)]
        # "7:10 pm" is 19:10 rather than 7:10, which may be in the morning.
        exact = [i for i in matches if self._amounts[i].values == amount.values]
        matches = (amount.kind and exact) or matches
        return f" {self.tokens[matches[0]]} " if len(matches) == 1 else ""


def _only_amount(text: str) -> Amount | None:
    """The amount that a text is, words such as `about` aside."""
    for pattern, read in ((_CLOCK, _clock), (_MEASURE, _measure)):
        match = pattern.search(text)
        if match and not _HEDGE.sub("", text[: match.start()] + text[match.end() :]):
            # "2.5" alone is a number; with "%" it is no time.
            amount = read(match)
            if amount is not None and (pattern is _MEASURE or match["sep"] != "."):
                return amount
    return None


def _is_same(amount: Amount, option: Amount) -> bool:
    if amount.kind == "":
        return amount.number == option.number
    return amount.kind == option.kind and bool(amount.values & option.values)


def _clock(match: re.Match[str]) -> Amount | None:
    if match["name"]:
        noon = match["name"].lower() != "midnight"
        return Amount("clock", frozenset({720.0 if noon else 0.0}))
    is_exact = False
    if match["of"]:
        words = {"half": 30, "quarter": 15, "a quarter": 15}
        past = match["past"].lower()
        minutes = words.get(past, _NUMBERS.get(past, int(past) if past.isdecimal() else 60))
        hour, half = _hour(match["of"]), match["past_half"]
        if minutes >= 60:
            return None
        total = hour * 60 + (minutes if match["way"].lower() == "past" else -minutes)
    elif match["hour"]:
        half = match["o_half"] or match["only_half"]
        total = _hour(match["hour"]) * 60
    else:
        half = match["half"]
        hour = int(match["h"])
        total = hour * 60 + int(match["m"])
        is_exact = hour > 12 or hour == 0 or match["h"].startswith("0") or match["sep"] == "h"
    if total >= 25 * 60:
        return None
    if half:
        written = half.lower()
        is_morning = "morning" in written or re.match(r"a\.?\s?m", written) is not None
        total = total % 720 + (0 if is_morning else 720)
        return Amount("clock", frozenset({float(total % 1440)}))
    if is_exact:
        return Amount("clock", frozenset({float(total % 1440)}))
    return Amount("clock", frozenset({float(total % 720), float(total % 720 + 720)}))


def _hour(written: str) -> int:
    return int(written) if written.isdecimal() else _NUMBERS[written.lower()]


def _measure(match: re.Match[str]) -> Amount | None:
    if match["part"]:
        kind, factor = _UNITS[match["part_unit"].lower()]
        part = match["part"].lower()
        share = 0.5 if "half" in part else 0.75 if "three" in part else 0.25
        return Amount(kind, frozenset({factor * share}))
    if match["priced"]:
        kind, factor = _UNITS[match["sign"].lower()]
        price = _number(match["priced"], match["minus"])
        return Amount(kind, frozenset({price}), price)
    unit = re.sub(r"\s", "", match["unit"].lower())
    kind, factor = _UNITS["percent" if unit == "percent" else unit]
    number = _number(match["number"], match["minus"])
    number += 0.5 if match["half"] or match["unit_half"] else 0.0
    return Amount(kind, frozenset({round(number * factor, 6)}), number)


def _number(written: str, minus: str | None) -> float:
    """A number in digits or words; a comma before three digits groups, any other is a point."""
    word = _NUMBERS.get(written.lower())
    if word is not None:
        value = float(word)
    else:
        plain = re.sub(r",(?=\d{3}(?!\d))", "", written).replace(",", ".")
        try:
            value = float(plain)
        except ValueError:
            return float("nan")
    return -value if minus else value
