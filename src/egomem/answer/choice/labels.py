"""Whether a token that spells an option's label is one, or a word, an initial, a grade, a number.

`A` is an article, `I` a pronoun, `B+` a grade, `2 cups` a count. The tests look at the tokens
around a label and at the encoded text before it (see `mentions`). In doubt, a token is no label.
"""

from __future__ import annotations

import re

from egomem.answer.choice import words
from egomem.answer.choice.options import OptionMatcher
from egomem.answer.choice.tokens import char_class, fold, is_spaced
from egomem.answer.choice.words import word_pattern

ONE_LETTER_WORDS = frozenset("aeiouyаеиіоуявксб")
"""Single letters that are words in some language."""

CUE_BEFORE = re.compile(
    f"(?:{word_pattern(words.ANSWER_NOUNS + words.CHOOSING_VERBS)}|{word_pattern(['option'])})"
    f"(?:[\\s:：=—\"'(\\[-]|{word_pattern(words.FILLERS)})*$"
)
"""A cue ("the answer is") at the end of the text before a token."""

_OPTION_BEFORE = re.compile(r"\b(?:options?|choices?)[ :(\"']{1,3}$")

_NEXT_WORD = re.compile(r"[\s\"']*([^\W\d_]+)?")

_JOINING_SIGNS = ("-", "_", "/", "&", "·", "'", "+", ".")
"""Signs that join a letter to a word on its other side (`USB-C`, `N/A`)."""

_TURKISH_SUFFIXES = frozenset(
    f"{stem}{ending}"
    for stem in ("d", "t")
    for ending in ("ir", "ır", "ur", "ür", "e", "a", "en", "an")
) | frozenset(("yi", "yı", "i", "ı", "nin", "nın", "yu", "yü"))
"""Turkish joins suffixes to a label with an apostrophe: `Cevap B'dir`."""


def is_label(
    tokens: list[str], index: int, before: str, label: int, options: OptionMatcher
) -> bool:
    """Whether the token at `index`, which spells an option's label, is that label.

    `before` is the end of the encoded text before it.
    """
    token = tokens[index]
    last = tokens[index - 1] if index else ""
    second_last = tokens[index - 2] if index > 1 else ""
    after = tokens[index + 1] if index + 1 < len(tokens) else ""
    second_after = tokens[index + 2] if index + 2 < len(tokens) else ""

    def is_other_word(other: str) -> bool:
        return _is_word(other) and options.with_label(other) is None

    if (
        token.isupper()
        and _OPTION_BEFORE.search(before)
        and (after not in _JOINING_SIGNS or not second_after.isalnum())
    ):
        return True
    if last == "#" and token.isdecimal():
        return index < 2 or second_last.isspace()
    if last in ("#", "@", "\\") or (last in _JOINING_SIGNS and is_other_word(second_last)):
        return False  # #C, USB-C, N/A
    if (after in _JOINING_SIGNS[:5] and is_other_word(second_after)) or (
        after in ("+", "#", "%", "°") and options.with_label(second_after) is None
    ):
        return False  # D-shaped, B+
    if after == "=" and second_after[:1].isdecimal():
        return True  # A=0.2
    if (
        after == "="
        or (after == " " and second_after == "=")
        or (last == "=" and second_last == " ")
    ):
        return CUE_BEFORE.search(before) is not None
    if last == "." and len(second_last) == 1 and _is_word(second_last):
        return False  # A.D.
    if after == "'" and _is_word(second_after) and fold(second_after) not in _TURKISH_SUFFIXES:
        return False  # C'mon, B's
    if after == "." and _is_word(second_after) and (len(second_after) == 1 or token.isdecimal()):
        return False  # A.M., B.C.
    if token.isdecimal():
        return _is_number_label(tokens, index, before)
    if len(token) > 1 or not _may_be_word(token, label, options):
        return True
    return options.text_follows(tokens, index) or _is_set_apart(tokens, index, before)


def _is_word(token: str) -> bool:
    return bool(token) and is_spaced(token[0])


def _may_be_word(token: str, label: int, options: OptionMatcher) -> bool:
    """Whether a letter may be a word: one in some language, or one in lower case."""
    if token != token.upper() and label in options.upper_case:
        return True
    return fold(token) in ONE_LETTER_WORDS or token != token.upper()


def _is_set_apart(tokens: list[str], index: int, before: str) -> bool:
    """Whether a letter that may be a word is set apart as a label: by a cue, signs or a line."""
    rest = "".join(tokens[index + 1 : index + 12])
    opening = before.rstrip(" ")[-1:]
    closing = rest.lstrip(" ")[:1]
    match = _NEXT_WORD.match(rest)
    next_word = fold(match[1]) if match and match[1] else ""
    ends = (
        not closing
        or closing in ".,;:!?)]}\"'。，、：；！？）」|/&✓✗✅❌>=→–—-\n"
        or char_class(closing) == "single"
    )
    # In a numbered list ("1. B 2. C") the next number ends the entry.
    ends = ends or (closing.isdecimal() and re.search(r"\d[.):]\s*$", before) is not None)
    is_upper = tokens[index] == tokens[index].upper()
    if opening and opening in "([{<" and closing and closing in ")]}>.:":
        return True
    if CUE_BEFORE.search(before):
        return ends or (next_word in words.CONTINUATIONS and next_word != "")
    if not before.strip(" \n\"'|->→✅"):  # the reply begins with it
        # "I was ..." begins a sentence, so only a reason may follow the label I.
        followers = words.CAUSAL_WORDS if fold(tokens[index]) == "i" else words.CONTINUATIONS
        if is_upper and next_word in followers:
            return True
        return ends and (is_upper or closing != "," or not next_word)
    if opening in ("\n", "|") or before.endswith("\n"):
        return ends
    if is_upper:
        return ends or next_word in words.CONTINUATIONS
    return closing == ")" and opening == "("


def _is_number_label(tokens: list[str], index: int, before: str) -> bool:
    """Whether a numeral is a label: it stands apart, and counts or measures nothing."""
    after = tokens[index + 1] if index + 1 < len(tokens) else ""
    second_after = tokens[index + 2] if index + 2 < len(tokens) else ""
    if after in ("/", ":", "-", "%") and second_after[:1].isdecimal():
        return False
    if after == " " and _is_word(second_after) and fold(second_after) not in words.CONTINUATIONS:
        return False
    return not (before and before[-1] in "/:-" and before[-2:-1].isdecimal())
