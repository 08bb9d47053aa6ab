"""Words out of text, for every script.

    tokens("The B-17 at 10:30, my wife's.")  ->  the, b-17, b, 17, at, 10:30, 10, 30, my, wife

Text is brought to NFKC and folded in case, so that full-width letters are letters, and digits of
every script are digits. A code such as `B-17`, `10:30` or `km/h` is one token, and so is each of
its parts. Scripts that are written without spaces (Chinese, Japanese, Thai and so on) and Korean,
whose particles stick to its words, give every pair of neighbours, and every character that means
something by itself (not kana or Thai letters). Combining marks belong to their letter.

`terms` is what is searched for: the Snowball stem of each token, by script; and for text that is
recognisably German, Spanish, French, Italian or Portuguese, the stems of that language as well,
marked so that they never meet an English term.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import Stemmer

LONGEST = 64
"""Characters. A longer token is cut: nobody searches for it, and it may be a page of noise."""

# Scripts without spaces between words, and Hangul.
_UNSPACED = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff\u1100-\u11ff\uac00-\ud7a3"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_JOINERS = "-:/.'_@&+#"
_ASCII = re.compile(rf"[a-z0-9]+(?:[{_JOINERS}]+[a-z0-9]+)*")
_PART = re.compile(rf"[^{_JOINERS}]+")
# Letters of the same look or of no look at all: typographic apostrophes and dashes, joiners.
_SAME = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\u2032", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None)
)


@cache
def _any_script() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns for text beyond ASCII: a word, and a run of an unspaced script.

    `\\w` does not hold the combining marks that Hindi and Arabic words contain; they are listed
    from the Unicode tables, once, when the first such text is met.
    """
    marks = "".join(
        chr(c) for c in range(0x300, 0x10000) if unicodedata.category(chr(c)) in ("Mn", "Mc")
    )
    letter = rf"(?:[^\W_]|[{marks}])"
    word = re.compile(rf"{letter}+(?:[{_JOINERS}]+{letter}+)*")
    return word, re.compile(rf"[{_UNSPACED}{marks}]*[{_UNSPACED}][{_UNSPACED}{marks}]*")


@cache
def _digit() -> re.Pattern[str]:
    """A digit of another script."""
    return re.compile(r"[^\D0-9]")


@cache
def _meant() -> re.Pattern[str]:
    """Of unspaced scripts, what means something by itself: Chinese characters, Hangul syllables."""
    return re.compile(
        "[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7a3]"
    )


def normal(text: str) -> str:
    """NFKC, case folded; digits of every script are 0 to 9."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _digit().sub(lambda digit: str(unicodedata.decimal(digit[0])), folded.translate(_SAME))


def phrase(text: str) -> str:
    """`normal`, with single spaces: what two texts are compared as."""
    return " ".join(normal(text).split())


def tokens(text: str) -> list[str]:
    """The words of a text in order; a code is followed by its parts. Never raises."""
    text = normal(text)
    found: list[str] = []
    if text.isascii():
        for word in _ASCII.findall(text):
            _take(word, found)
        return found
    words, unspaced = _any_script()
    for word in words.findall(text):
        at = 0
        for run in unspaced.finditer(word):
            _take(word[at : run.start()].strip(_JOINERS), found)
            _take_run(run.group(), found)
            at = run.end()
        _take(word[at:].strip(_JOINERS), found)
    return found


def _take(word: str, found: list[str]) -> None:
    if word.isalnum():
        found.append(word[:LONGEST])
        return
    if word.endswith("'s"):
        word = word[:-2]
    if not word:
        return
    found.append(word[:LONGEST])
    parts = _PART.findall(word.replace("'", ""))
    if len(parts) > 1:
        found.extend(part[:LONGEST] for part in parts)


def _take_run(run: str, found: list[str]) -> None:
    meant = _meant().match
    found.extend(c for c in run if meant(c) or len(run) == 1)
    found.extend(map("".join, pairwise(run)))


# ---------------------------------------------------------------------------------------- stems

_LATIN = "\u024f"
_BY_SCRIPT = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)

_HINTS = {
    "german": "der die das und ist nicht ein eine einen einem einer mit auf dem den im zu von wo "
    "wer ich mein meine meinen habe liegt steht wann welche welcher sich für über",
    "spanish": "el los las una unos es en con por para que qué dónde donde cuándo mi mis está "
    "están del al lo su sus sobre hay he",
    "french": "le les une et est dans avec pour que qui où quand mon mes sur du au aux des ce "
    "cette je il elle ai",
    "italian": "il gli una è nel nella con per che dove quando mio mia sul sulla della delle "
    "dei ho sono",
    "portuguese": "os uma é na com por para que onde quando meu minha sobre do da dos "
    "das em está não",
}
# Words that English shares with one of the above say nothing.
_ENGLISH = frozenset(
    word
    for line in (
        "the a an and is are was in on at of to with for i my me he she it his her you your where",
        "when what who which did do does not no as from into by up down out that this there have",
        "has had am be been we they their our die per",
    )
    for word in line.split()
)
_LANGUAGE = {
    word: tuple(name for name, words in _HINTS.items() if word in words.split())
    for words in _HINTS.values()
    for word in words.split()
    if word not in _ENGLISH
}
_LETTERS = {"ß": "german", "ä": "german", "ö": "german", "ü": "german", "ñ": "spanish",
            "¿": "spanish", "¡": "spanish", "ã": "portuguese", "õ": "portuguese"}  # fmt: skip


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
            )
        # A code or a number is itself.
        return _stemmer("english").stemWord(token) if token.isalpha() else token
    for low, high, language in _BY_SCRIPT:
        if low <= first <= high:
            return _stemmer(language).stemWord(token) or token
    return token


def stems(tokens: list[str]) -> list[str]:
    """One stem a token, by its script: Latin letters as English and without their accents, Cyrillic
    as Russian, and so on."""
    return [sys.intern(_stem(token)) for token in tokens]


def language_of(text: str, words: list[str]) -> str | None:
    """German, Spanish, French, Italian or Portuguese where function words or letters say so."""
    votes: dict[str, int] = {}
    english = 0
    for word in words:
        if word in _ENGLISH:
            english += 1
        for name in _LANGUAGE.get(word, ()):
            votes[name] = votes.get(name, 0) + 1
    if not text.isascii():
        for letter, name in _LETTERS.items():
            if letter in text:
                votes[name] = votes.get(name, 0) + 2
    if not votes:
        return None
    best = max(sorted(votes), key=lambda name: votes[name])
    return best if votes[best] > english else None


def terms(text: str) -> tuple[list[str], int]:
    """What a text is indexed under and searched by, and its length in tokens.

    The length counts tokens alone: the extra stems of a recognised language do not make a text
    longer.
    """
    words = tokens(text)
    found = stems(words)
    language = language_of(normal(text) if not text.isascii() else text, words)
    if language:
        stemmer = _stemmer(language)
        found += [
            f"{stemmer.stemWord(word)}\u00b7{language[:2]}"
            for word in words
            if word[0] <= _LATIN and word.isalpha()
        ]
    return found, len(words)
