"""Cutting a reply into tokens, so that a label or an option's text is found whole or not at all.

Latin letters and digits that touch are one token (`B2`, `USB`), a time or a decimal is one
(`10:45`, `3.5`), a character of a script without spaces is one (`答案是B` gives 答 案 是 B), any
other run of letters is one, and so is every sign.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_NO_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")


@lru_cache(maxsize=4096)
def char_class(char: str) -> str:
    """`latin` (digits too), `single` (no spaces in its script), `word`, `mark`, `space`, `sign`."""
    category = unicodedata.category(char)
    if category[0] == "M":
        return "mark"
    if char.isspace():
        return "space"
    if category[0] == "N":
        return "latin" if char.isascii() else "word"
    if category[0] != "L":
        return "sign"
    name = unicodedata.name(char, "")
    if name.startswith("LATIN"):
        return "latin"
    return "single" if name.startswith(_NO_SPACES) else "word"


def is_spaced(char: str) -> bool:
    """True for a letter or digit of a script that puts spaces between words."""
    return char_class(char) in ("latin", "word")


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Lower case, without the accents of Latin letters."""
    out: list[str] = []
    for char in unicodedata.normalize("NFKC", text.casefold()):
        base = unicodedata.normalize("NFD", char)
        out.append(base[0] if len(base) > 1 and char_class(base[0]) == "latin" else char)
    return "".join(out)


def tokenize(text: str) -> list[str]:
    """The tokens of a text, white space among them: joined, they are the text."""
    tokens: list[str] = []
    last = ""
    for at, char in enumerate(text):
        now = char_class(char)
        joined = (
            (now == "mark" and last not in ("", "space", "sign"))
            or (now == last and now in ("latin", "word", "space"))
            or _inside_number(text, at)
        )
        if joined:
            tokens[-1] += char
            last = "latin" if _inside_number(text, at) else last
        else:
            tokens.append(char)
            last = now
    return tokens


def _inside_number(text: str, at: int) -> bool:
    """A colon, point or comma between two digits."""
    return (
        text[at] in ":.,"
        and 0 < at < len(text) - 1
        and text[at - 1].isdecimal()
        and text[at + 1].isdecimal()
    )
