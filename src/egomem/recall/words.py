"""What a question's words are taken to mean: which carry content, and which words say the same.

A word of a question is met by any of its *forms*: its stem, the irregular forms of its verb, its
number as a digit, an everyday synonym, or a kind of the thing asked for ("vehicle" is met by "bus",
but "bus" is not met by "vehicle"). Observations are never rewritten: only the asking side widens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache

from egomem.recall import lexicon, wordlists
from egomem.text import respelled, stems, terms, tokens

PLAIN = frozenset(wordlists.PLAIN.split() + wordlists.PLAIN_ELSEWHERE.split())
MEDIA = frozenset(wordlists.MEDIA.split())
LIGHT = frozenset(wordlists.LIGHT.split())
ATTRIBUTES = frozenset(stems(wordlists.ATTRIBUTES.split()))
STANDS = frozenset(stems(wordlists.STANDS.split()))
MEDIA_STEMS = frozenset(stems(wordlists.MEDIA.split()))
NUMBERS = {word: number for number, word in enumerate(wordlists.NUMBERS.split())}
"""Number words, zero to twelve."""


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of a question: its stem, and every stem that would meet it."""

    stem: str
    forms: frozenset[str]
    broader: frozenset[str] = frozenset()
    """Kinds of which it is one: a detector that says "person" may have seen the woman asked for."""
    text: str = field(default="", compare=False)
    """As the question writes it, in lower case."""


@lru_cache(maxsize=65_536)
def stem_set(text: str) -> frozenset[str]:
    """The stems of a text, which a question's words can meet."""
    return frozenset(terms(text)[0])


@lru_cache(maxsize=8_192)
def words_of(text: str) -> tuple[Word, ...]:
    """The content words of a question or an option, in order, each once.

    Light words ("appear", "time") count only where nothing else is left.
    """
    # "How much time did it take?" has nothing but light words.
    return heavy_words_of(text) or _words([t for t in tokens(text) if t not in PLAIN])


def heavy_words_of(text: str) -> tuple[Word, ...]:
    """The content words without the light ones: there may be none."""
    return _words([t for t in tokens(text) if t not in PLAIN and t not in LIGHT])


def thing_words_of(text: str) -> tuple[Word, ...]:
    """The content words of a thing; a medium ("the taxi sign") counts only where it is alone."""
    kept = [t for t in tokens(text) if t not in PLAIN and t not in LIGHT and t not in MEDIA]
    return _words(kept) or words_of(text)


def _words(kept: list[str]) -> tuple[Word, ...]:
    words: dict[str, Word] = {}
    for stem, token in zip(stems(kept), kept, strict=True):
        spellings = forms_of(stem)
        if not token.isascii():
            spellings = spellings.union(stems([respelled(token)]))
        words.setdefault(stem, Word(stem, spellings, broader_than(stem), token))
    return tuple(words.values())


@cache
def says() -> Word:
    """The word that a caption has where it tells what was said or read."""
    return Word("say", frozenset(stems(wordlists.SAYS.split())), text="say")


@cache
def forms_of(stem: str) -> frozenset[str]:
    own_forms = {stem} | lexicon.forms(stem)
    return frozenset(own_forms).union(
        *(table.get(form, ()) for form in own_forms for table in _wider())
    )


@cache
def _wider() -> tuple[dict[str, frozenset[str]], ...]:
    return _same(), _kinds()


@cache
def broader_than(stem: str) -> frozenset[str]:
    return frozenset(kind for kind, members in _kinds().items() if stem in members and kind != stem)


@cache
def _same() -> dict[str, frozenset[str]]:
    groups = [g.split() for g in re.split(r"[|\n]", wordlists.SAME.strip())]
    groups += [[word, str(number)] for word, number in NUMBERS.items()]
    return _widened((word, group) for group in groups for word in group)


@cache
def _kinds() -> dict[str, frozenset[str]]:
    lines = [line.split(": ") for line in wordlists.KINDS.strip().splitlines()]
    return _widened((kind, members.split()) for kind, members in lines)


def _widened(pairs: Iterable[tuple[str, list[str]]]) -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for word, group in pairs:
        [stem] = stems([word])
        table[stem] = table.get(stem, frozenset({stem})) | frozenset(stems(group))
    return table


_NOTHING = re.compile(
    r"\b(none of (the|these|those)|not (in|found in) (the|this|my) (memory|video|recording)"
    r"|(cannot|can't|can not) be (answered|determined|known)|unanswerable|unknown|no answer"
    r"|not (mentioned|observed|shown|known|stated|recorded)|not enough (information|evidence)"
    r"|(do not|don't) know|never happened|n/a)\b|^none$",
    re.IGNORECASE,
)


def says_nothing_fits(option: str) -> bool:
    """True for an option such as "none of these" or "this cannot be answered"."""
    return bool(_NOTHING.search(option.strip()))
