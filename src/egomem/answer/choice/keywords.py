"""The option that a short reply names by some of its words: "the kettle" for "a blue kettle"."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.answer.choice.tokens import char_class, fold, tokenize

MAX_WORDS = 6
"""Words of a reply that is nothing but the name of an option. Our choice."""

_ARTICLES = frozenset(
    ["a", "an", "the", "some", "le", "la", "les", "l", "un", "une", "der", "die", "das", "ein",
     "eine", "el", "los", "las", "una"]
)  # fmt: skip
_EMPTY = _ARTICLES | frozenset(
    ["it", "its", "is", "was", "s", "i", "d", "say", "be", "that", "this", "so", "then", "answer",
     "option", "probably", "likely", "maybe", "perhaps", "think", "guess", "believe", "would",
     "looks", "like", "seems", "must", "c", "est", "es", "ist", "是", "的", "了", "它", "这", "那"]
)  # fmt: skip
_LINKS = frozenset(
    ["in", "on", "at", "by", "to", "from", "under", "behind", "beside", "near", "inside", "into",
     "next", "above", "below", "with", "of", "and", "im", "auf", "en", "sur", "dans", "sobre"]
)  # fmt: skip
MAX_NOUN_WORDS = 3
"""Words of an option that is a noun with what describes it, and no sentence. Our choice."""


def named_by_words(text: str, options: Sequence[str]) -> int | None:
    """The one option whose noun, and no word of any other kind, a short reply names.

    None where the reply is longer, holds a word of no option, or fits several; and where the
    options are no nouns: "the drawer" is not "in the drawer", nor "a kettle" "a man moves it".
    """
    reply_words = _content(text)
    if not reply_words or len(reply_words) > MAX_WORDS or any(c.isdecimal() for c in text):
        return None
    if any(char_class(word[0]) == "single" for word in reply_words):
        joined = "".join(reply_words)
        fitting = [
            i for i, option in enumerate(options) if "".join(_content(option)).endswith(joined)
        ]
        return fitting[0] if len(fitting) == 1 else None
    fitting = [
        index
        for index, option in enumerate(options)
        if (noun := _noun(option)) and noun[-1] in reply_words and set(reply_words) <= set(noun)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _noun(option: str) -> list[str]:
    """The words of an option that is a noun; [] for a sentence or a place."""
    tokens = [
        fold(token) for token in tokenize(option) if char_class(token[0]) in ("latin", "word")
    ]
    articles = sum(token in _ARTICLES for token in tokens)
    words = [token for token in tokens if token not in _ARTICLES]
    is_noun = articles <= 1 and len(words) <= MAX_NOUN_WORDS and not _LINKS & set(words)
    return words if is_noun else []


def _content(text: str) -> list[str]:
    tokens = [fold(token) for token in tokenize(text)]
    return [t for t in tokens if char_class(t[0]) not in ("space", "sign") and t not in _EMPTY]
