"""Words out of text, for every script.

    tokens("The B-17 at 10:30, my wife's.")  ->  the, b-17, b, 17, at, 10:30, 10, 30, my, wife

Text is brought to NFKC and folded in case, so that full-width letters are letters, and digits of
every script are digits. A code such as `B-17`, `10:30` or `km/h` is one token, and so is each of
its parts; an emoji is a word. Scripts that are written without spaces (Chinese, Japanese, Thai and
so on) and Korean, whose particles stick to its words, give every pair of neighbours, and every
character that means something by itself (not kana or Thai letters). Combining marks belong to their
letter.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

MAX_TOKEN_LENGTH = 64
"""Characters. A longer token is cut: nobody searches for it, and it may be a page of noise."""

# Scripts without spaces between words, and Hangul.
_UNSPACED = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff\u1100-\u11ff\uac00-\ud7a3"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_JOINERS = "-:/.'_@&+#"
_ASCII = re.compile(rf"[a-z0-9]+(?:[{_JOINERS}]+[a-z0-9]+)*")
_PART = re.compile(r"[^-:/._@&+#]+")
"""Between joiners: of O'Brien-Smith, O'Brien and Smith."""
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"  # two letters of a flag
    "|[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001f3fa\U0001f400-\U0001faff]"
)
"""Pictures that are words; not the modifiers of skin tone behind them."""
_ELIDED = re.compile(
    "[ldjmtscn]|qu|(?:jus|lors|puis|quoi|quel|pres)qu|(?:d|n|d?a|su|co|que|be)ll|un|sant|gl"
)
"""French and Italian words that lose their last letter before a vowel."""
_CONTRACTED = frozenset({"ll", "ve", "re", "em", "all"})
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
    word = re.compile(rf"{letter}+(?:[{_JOINERS}]+{letter}+)*|{_EMOJI}")
    return word, re.compile(rf"[{_UNSPACED}{marks}]*[{_UNSPACED}][{_UNSPACED}{marks}]*")


@cache
def _digit() -> re.Pattern[str]:
    """A digit of another script."""
    return re.compile(r"[^\D0-9]")


@cache
def _meant() -> re.Pattern[str]:
    """Characters of unspaced scripts that are words by themselves: Chinese, Hangul syllables."""
    return re.compile(
        "[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7a3]"
    )


def normalise(text: str) -> str:
    """NFKC, case folded, digits of every script as 0 to 9."""
    if text.isascii():
        return text.lower()
    # Twice: folding may produce characters that are not in NFKC.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _digit().sub(lambda digit: str(unicodedata.decimal(digit[0])), folded.translate(_SAME))


def normalise_phrase(text: str) -> str:
    """`normalise`, with single spaces: the form in which two texts are compared."""
    return " ".join(normalise(text).split())


def tokens(text: str) -> list[str]:
    """The words of a text in order; a code is followed by its parts. Never raises."""
    text = normalise(text)
    result: list[str] = []
    if text.isascii():
        for word in _ASCII.findall(text):
            _take(word, result)
        return result
    words, unspaced = _any_script()
    for word in words.findall(text):
        at = 0
        for run in unspaced.finditer(word):
            _take(word[at : run.start()].strip(_JOINERS), result)
            _take_run(run.group(), result)
            at = run.end()
        _take(word[at:].strip(_JOINERS), result)
    return result


def _take(word: str, result: list[str]) -> None:
    if word.isalnum():
        result.append(word[:MAX_TOKEN_LENGTH])
        return
    # A possessive is its noun; other parts of a code stay searchable.
    if word.endswith("'s"):
        word = word[:-2]
    if not word:
        return
    result.append(word[:MAX_TOKEN_LENGTH])
    parts = [part.strip("'") for part in _PART.findall(word)]
    if len(parts) > 1:
        result.extend(part[:MAX_TOKEN_LENGTH] for part in parts if part)
    result.extend(bare[:MAX_TOKEN_LENGTH] for part in parts if (bare := _bare(part)))


def _bare(word: str) -> str:
    """The noun of an elision (l'ampoule) or of a Turkish name with its ending (Bursa'da); ""."""
    head, apostrophe, tail = word.partition("'")
    if not apostrophe or any(map(str.isdecimal, word)):
        return ""
    if _ELIDED.fullmatch(head) and len(tail) > 2:
        return tail
    return head if len(head) > 2 and len(tail) > 1 and tail not in _CONTRACTED else ""


def _take_run(run: str, result: list[str]) -> None:
    is_word = _meant().match
    result.extend(c for c in run if is_word(c) or len(run) == 1)
    result.extend(map("".join, pairwise(run)))
