"""Stems, and the terms that texts are indexed under.

The terms of a text are the Snowball stem of each token, by script; and for text that is
recognisably German, Spanish, French, Italian or Portuguese, the stems of that language as well,
marked so that they never meet an English term.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from egomem.text.languages import language_of
from egomem.text.tokenise import normalise, tokens

if TYPE_CHECKING:
    import Stemmer

_LATIN = "\u024f"
# Letters that are no letter and an accent to Unicode, and are left out or replaced in writing.
_BASES = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h"}
)
_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_NUKTA = str.maketrans(dict.fromkeys("\u093c\u09bc\u0a3c\u0abc\u0b3c"))
_BY_SCRIPT = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    import Stemmer

    return Stemmer.Stemmer(language)


@lru_cache(maxsize=65536)
def _stem(token: str) -> str:
    first = token[0]
    if first <= _LATIN:
        if not token.isascii():
            token = "".join(
                c for c in unicodedata.normalize("NFD", token) if not unicodedata.combining(c)
            ).translate(_BASES)
        # A code or a number is itself.
        return _stemmer("english").stemWord(token) if token.isalpha() else token
    token = token.translate(_NUKTA) or token  # often left out
    for low, high, language in _BY_SCRIPT:
        if low <= first <= high:
            return _stemmer(language).stemWord(token) or token
    return token


def stems(tokens: list[str]) -> list[str]:
    """One stem for each token, by script: Latin letters as English and without accents, Cyrillic as
    Russian, and so on.
    """
    return [sys.intern(_stem(token)) for token in tokens]


def respelled(word: str) -> str:
    """A word of `tokens` with umlauts and their kin as two letters: `schluessel`."""
    return word if word.isascii() else unicodedata.normalize("NFC", word).translate(_DIGRAPHS)


def terms(text: str) -> tuple[list[str], int]:
    """The terms that a text is indexed under and searched by, and its length in tokens.

    The extra stems of a recognised language, and of umlauts as two letters, do not count towards
    the length.
    """
    words = tokens(text)
    result = stems(words)
    if not text.isascii():
        others = ((word, respelled(word)) for word in words if not word.isascii())
        result += stems([other for word, other in others if other != word])
    language = language_of(normalise(text) if not text.isascii() else text, words)
    if language:
        stemmer = _stemmer(language)
        result += [
            f"{stemmer.stemWord(word)}\u00b7{language[:2]}"
            for word in words
            if word[0] <= _LATIN and word.isalpha()
        ]
    return result, len(words)
