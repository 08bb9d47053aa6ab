"""The exact attributes of a text: names, numbers, prices, clock times and dates, quoted words.

Each has a value in a normal form, so that "twelve", "12" and "12.0" are one number, and "€3.50" and
"3.50 euros" one price. It concludes nothing: what is not plainly one of these is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from egomem.claims.lexicon import word_set
from egomem.claims.reading import QUOTED, quote_form
from egomem.text import normalise

AttributeKind = Literal["price", "time", "number", "quote", "name"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One exact attribute: `value` in its normal form, `text` as it was written."""

    kind: AttributeKind
    value: str
    text: str


_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "dozen": 12}
_NUMBER_WORD = "|".join((*_UNITS, *_TENS, *_SCALES))
_IN_WORDS = rf"(?:{_NUMBER_WORD})(?:(?:[ -]| and )(?:{_NUMBER_WORD})){{0,8}}"
_WORDS = re.compile(rf"\b{_IN_WORDS}\b", re.IGNORECASE)
_PRONOUNS = word_set("one zero")
"""Alone they mostly count nothing: "the red one"."""
# Repetitions are bounded, so that noise is read in linear time.
_FIGURE = r"(?:\d{1,3}(?:[, \u202f]\d{3}){1,4}(?:\.\d{1,9})?|\d{1,15}(?:[.,]\d{1,9})?)"
_CURRENCIES = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "usd": "USD",
    "dollar": "USD", "dollars": "USD", "bucks": "USD", "£": "GBP", "gbp": "GBP", "¥": "CNY",
    "元": "CNY", "cny": "CNY", "rmb": "CNY", "yuan": "CNY", "kuai": "CNY", "yen": "JPY",
    "jpy": "JPY", "₹": "INR", "inr": "INR", "rupee": "INR", "rupees": "INR", "chf": "CHF",
    "franc": "CHF", "francs": "CHF", "₩": "KRW", "won": "KRW", "₽": "RUB", "cent": "cent",
    "cents": "cent", "pence": "pence", "kr": "kr",
}  # fmt: skip
_SIGN = "[€$£¥₹₩₽]"
_CURRENCY_WORD = "|".join(
    word for word in sorted(_CURRENCIES, key=len, reverse=True) if re.fullmatch("[a-z]+", word)
)
# "Won" and "kr" are words of their own: only a figure makes them money.
_PRICE = re.compile(
    rf"(?P<sign>{_SIGN})\s?(?P<a>{_FIGURE})"
    rf"|(?<![\w.,])(?P<b>{_FIGURE}|{_IN_WORDS})\s?"
    rf"(?P<word>{_SIGN}|元|(?:{_CURRENCY_WORD})\b)",
    re.IGNORECASE,
)
_HALF_DAY = r"(?P<half>[ap])\.?m\b\.?"
_CLOCK = re.compile(
    rf"(?<![\d:.])(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:])(?:\s?{_HALF_DAY})?"
    r"|(?<![\d:.])(?P<h2>1[0-2]|0?[1-9])(?:\.(?P<m2>[0-5]\d))?\s?(?P<half2>[ap])\.?m\b\.?"
    rf"|(?P<part>half past|quarter past|quarter to)\s(?P<h3>\d{{1,2}}|{'|'.join(_UNITS)})\b"
    rf"|\b(?P<h4>\d{{1,2}}|{'|'.join(_UNITS)})\so['’]?clock\b"
    r"|\b(?P<named>noon|midnight)\b",
    re.IGNORECASE,
)
_MONTHS = "january february march april may june july august september october november december"
_MONTH = "|".join(_MONTHS.split())
_WEEKDAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
# "May" and "March" are words of their own: a number makes them dates.
_DATE = re.compile(
    r"\b(?P<iso>\d{4}-\d{2}-\d{2})\b"
    rf"|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month>{_MONTH})\b"
    rf"|\b(?P<month2>{_MONTH})\s(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b"
    rf"|\b(?P<weekday>{_WEEKDAYS})\b",
    re.IGNORECASE,
)
_LETTER = "a-z\u00c0-\u024f"
_CODE = re.compile(
    rf"(?<!\w)(?=[{_LETTER}/-]{{0,20}}\d)(?=[\d/-]{{0,20}}[{_LETTER}])[{_LETTER}\d]{{1,30}}(?:[-/][{_LETTER}\d]{{1,30}}){{0,6}}(?!\w)",
    re.IGNORECASE,
)
"""A run of letters and figures of the Latin script; others are written without spaces."""
_DIGITS = re.compile(rf"(?<![\w.])(?:{_FIGURE})(?:\s?%|(?![\w]))")
_MEASURE = re.compile(
    r"(?P<n>\d+(?:\.\d+)?)(?:kg|g|mg|km|m|cm|mm|l|ml|cl|h|s|ms|min|mins|w|kw|kb|mb|gb|tb|v|hz|x|k)"
)
_MAY_COUNT = re.compile(
    rf"\d|[€元]|\b(?:{_NUMBER_WORD}|noon|midnight|{_WEEKDAYS})\b", re.IGNORECASE
)
"""Most sentences hold no number at all, and are not looked through for each form."""
_SMALL = re.compile(r"\b[a-z][\w'-]*")
_CAPITAL = re.compile(r"[^\W\d_][\w'’-]*")
_NO_NAMES = word_set(
    "i i'm i've i'll i'd ok okay tv mr mrs ms dr the a an and but or so if yes no oh well hey hi "
    "wow hmm um uh it it's that's let's what who where when why how this that these those he she "
    "they we you my your his her our their me us him them there here then now not do don't"
)
_SENTENCE_END = '.!?…:;\n“”"«»„[](){}•*-–—|/'


class _Form(NamedTuple):
    """A pattern of a kind, and the normal form of what it matches ("" for none of the kind)."""

    kind: AttributeKind
    pattern: re.Pattern[str]
    value: Callable[[re.Match[str]], str]


def attributes(text: str, names: Collection[str] | None = None) -> tuple[Attribute, ...]:
    """The exact attributes of a text, each value of a kind once, in order of kind.

    A word with a capital is a name where it is one of `names` (see `names_in`); without these,
    where it stands in the middle of a sentence.
    """
    by_value: dict[tuple[AttributeKind, str], Attribute] = {}
    for attribute in _read(text, names):
        by_value.setdefault((attribute.kind, attribute.value), attribute)
    return tuple(by_value.values())


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """The words that are names: with a capital in the middle of a sentence, and seldom without."""
    capital: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for text in texts:
        capital.update(word for name in _names(text, None) for word in name.split())
        small.update(word for word in _SMALL.findall(text))
    return frozenset(word for word, n in capital.items() if n > small[word.lower()])


def same_value(a: Attribute, b: Attribute) -> bool:
    """True where two attributes say the same.

    A clock time without am or pm is that of either half of the day; "Ana" is "Ana Lopez".
    """
    if a.kind != b.kind:
        return False
    if a.value == b.value:
        return True
    if a.kind == "time":
        (clock, _, half), (other, _, other_half) = a.value.partition(" "), b.value.partition(" ")
        return clock == other and not (half and other_half)
    if a.kind == "name":
        words, others = set(a.value.split()), set(b.value.split())
        return words <= others or others <= words
    return False


def _read(text: str, names: Collection[str] | None) -> Iterator[Attribute]:
    for raw in QUOTED.findall(text):
        if quote := quote_form(raw):
            yield Attribute("quote", quote, raw)
    # Quoted words are the quotation's, and no name or number beside it.
    rest = QUOTED.sub(" ¤ ", text)
    for form in _FORMS if _MAY_COUNT.search(text) else ():
        for match in form.pattern.finditer(rest):
            if value := form.value(match):
                yield Attribute(form.kind, value, match[0].strip())
        # What was read as a price must not be read as a number again.
        rest = form.pattern.sub(_blank_if(form), rest)
    for name in _names(rest, names):
        yield Attribute("name", normalise(name), name)


def _blank_if(form: _Form) -> Callable[[re.Match[str]], str]:
    return lambda match: " ¤ " if form.value(match) else match[0]


def _price(match: re.Match[str]) -> str:
    amount = match["a"] or match["b"]
    unit = _CURRENCIES[(match["sign"] or match["word"]).lower()]
    number = _figure(amount) if amount[0].isdecimal() else _plain(_worded(amount))
    return f"{number} {unit}"


def _clock(match: re.Match[str]) -> str:
    if match["named"]:
        return "12:00 pm" if match["named"].lower() == "noon" else "12:00 am"
    hour_text = next(match[name] for name in ("h", "h2", "h3", "h4") if match[name])
    hour = int(hour_text) if hour_text.isdecimal() else _UNITS[hour_text.lower()]
    minute = int(match["m"] or match["m2"] or 0)
    half = (match["half"] or match["half2"] or "").lower()
    if part := (match["part"] or "").lower():
        minute = 30 if part == "half past" else 15 if part == "quarter past" else 45
        hour -= part == "quarter to"
    if hour > 24 or (match["h3"] and hour > 12):
        return ""
    if not half and (hour > 12 or (hour == 0 and match["h"])):
        half = "p" if 12 < hour < 24 else "a"
    return f"{hour % 12 or 12}:{minute:02d}" + (f" {half}m" if half else "")


def _date(match: re.Match[str]) -> str:
    if match["iso"]:
        return match["iso"]
    if match["weekday"]:
        return match["weekday"].lower()
    month = (match["month"] or match["month2"]).lower()
    return f"{int(match['day'] or match['day2'])} {month}"


def _code(match: re.Match[str]) -> str:
    """A code (B-17, 204c) or an ordinal; a measure is its number and unit."""
    text = normalise(match[0])
    if measure := _MEASURE.fullmatch(text):
        return _plain(float(measure["n"]))
    return text


def _figure(text: str) -> str:
    """A number in figures in its plain form: 1,200 is 1200, and 3,50 is 3.5."""
    percent = " %" if "%" in text else ""
    digits = re.sub(r"[ \u202f%]", "", text)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    return _plain(float(digits.replace(",", "."))) + percent


def _digits(match: re.Match[str]) -> str:
    return _figure(normalise(match[0]))


def _words(match: re.Match[str]) -> str:
    words = match[0].lower()
    return "" if words in _PRONOUNS else _plain(_worded(words))


def _worded(text: str) -> float:
    """A number in words: "two hundred and five" is 205, "twenty-three" 23."""
    total = part = 0
    for word in re.split(r"[\s-]+", text.lower()):
        if word in _SCALES and _SCALES[word] >= 1000:
            total, part = total + (part or 1) * _SCALES[word], 0
        elif word in _SCALES:
            part = (part or 1) * _SCALES[word]
        else:
            part += _UNITS.get(word, _TENS.get(word, 0))
    return float(total + part)


def _plain(number: float) -> str:
    return f"{number:.15g}"


_FORMS = (
    _Form("price", _PRICE, _price),
    _Form("time", _DATE, _date),
    _Form("time", _CLOCK, _clock),
    _Form("number", _CODE, _code),
    _Form("number", _DIGITS, _digits),
    _Form("number", _WORDS, _words),
)


def _names(text: str, names: Collection[str] | None) -> Iterator[str]:
    """Runs of words with a capital that are of `names`, or in the middle of a sentence (None).

    Text in capitals throughout tells no names.
    """
    if text.upper() == text:
        return
    run: list[str] = []
    end = 0
    for match in _CAPITAL.finditer(text):
        word, between = match[0].replace("’", "'").rstrip("-'"), text[end : match.start()]
        word = word.removesuffix("'s")
        begins = not end or any(sign in between for sign in _SENTENCE_END)
        is_name = (
            word[:1].isupper()
            and (word in names if names is not None else not begins)
            and word.lower() not in _NO_NAMES
            and _DATE.fullmatch(word) is None
        )
        if run and (between != " " or not is_name):
            yield " ".join(run)
            run = []
        if is_name:
            run.append(word)
        end = match.start() + len(match[0])
    if run:
        yield " ".join(run)
