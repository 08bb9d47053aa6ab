"""The number of images that a server's words allow."""

from __future__ import annotations

import re

_N = r"(\d[\d,]*)"
_GAP = r"(?:(?!\d| got| but| and you)[^\n])"
# The best evidence first.
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:at most|no more than|up to|less than or equal to|<=|\bonly)\D{{0,16}}?{_N}",
        rf"limit[-_]mm[-_]per[-_]prompt\W+image\W+{_N}|\bset image={_N}",
        rf"max(?:imum)?\b{_GAP}{{0,60}}?{_N}",
        rf"limit\b{_GAP}{{0,40}}?{_N}",
        rf"(?:limited to|exceeds?(?: the)?(?: \w+){{0,3}}|more than|>|max_images\W+)\D{{0,8}}{_N}",
        rf"{_N}\)?(?: \w+){{0,2}} (?:max\b|maximum|limit|allowed)",
        rf"\[\s*[01]\s*,\s*{_N}\s*\]|between [01] and {_N}|\b[01]\s*[-~–]\s*{_N}",
        rf"最多\D{{0,12}}{_N}|不(?:能|得)?超过\D{{0,6}}{_N}|上限\D{{0,6}}{_N}",
    )
)
_UNIT = re.compile(r"\s*(?:MB|KB|MiB|bytes|px|pixels?|tokens?|x\s?\d|%|s\b)", re.IGNORECASE)
_ONE = re.compile(
    r"(?:only|at most|more than|exactly)(?: \w+){0,2} (?:one|a single) image"
    r"|single image|multiple images",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w.,]*\d)")


def max_images(message: str, images: int) -> int | None:
    """The most images that a server's words allow, where `images` were too many for it; None where
    they name no number.

    A number that the request did not exceed is not what the server complains of.
    """
    for pattern in _LIMITS:
        for match in pattern.finditer(message):
            group = match.lastindex or 0
            number = _value(match[group])
            if 0 < number < images and not _UNIT.match(message, match.end(group)):
                return number
    if images > 1 and _ONE.search(message):
        return 1
    numbers = {
        _value(match[0])
        for match in _NUMBER.finditer(message)
        if not _UNIT.match(message, match.end())
    }
    smaller = {number for number in numbers if 0 < number < images}
    return smaller.pop() if len(smaller) == 1 else None


def _value(digits: str) -> int:
    return int(digits.replace(",", "")[:9])
