"""A tokenizer for replies: a label or an option's text is found as whole tokens or not at all.

One token each: a run of Latin letters and digits (`B2`, `USB`), a time or a decimal (`10:45`,
`3.5`), a character of a script without spaces (`答案是B` gives 答 案 是 B), any other run of
letters, every sign.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_NO_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")


@lru_cache(maxsize=4096)
def char_class(char: str) -> str:
    """The class of a character, which decides what it joins with.

    `latin` (digits too), `single` (its script has no spaces), `word`, `mark`, `space` or `sign`.
    """
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
    """Whether a character is a letter or digit of a script that puts spaces between words."""
    return char_class(char) in ("latin", "word")


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """The text in lower case, without the accents of Latin letters.

    Accents of other scripts stay: й is another letter than и.
    """
    folded: list[str] = []
    for char in unicodedata.normalize("NFKC", text.casefold()):
        # Only Latin accents are optional in writing: jose is José, but и is not й.
        base = unicodedata.normalize("NFD", char)
        folded.append(base[0] if len(base) > 1 and char_class(base[0]) == "latin" else char)
    return "".join(folded)


def tokenize(text: str) -> list[str]:
    """The tokens of a text, white space included: joined, they are the text again."""
    tokens: list[str] = []
    last_class = ""
    for position, char in enumerate(text):
        its_class = char_class(char)
        inside_number = _is_inside_number(text, position)
        joins = (
            (its_class == "mark" and last_class not in ("", "space", "sign"))
            or (its_class == last_class and its_class in ("latin", "word", "space"))
            or inside_number
        )
        if joins:
            tokens[-1] += char
            # What follows the point of 3.5 belongs to the same number.
            last_class = "latin" if inside_number else last_class
        else:
            tokens.append(char)
            last_class = its_class
    return tokens


def _is_inside_number(text: str, position: int) -> bool:
    """Whether a character is a colon, point or comma between two digits."""
    return (
        text[position] in ":.,"
        and 0 < position < len(text) - 1
        and text[position - 1].isdecimal()
        and text[position + 1].isdecimal()
    )
