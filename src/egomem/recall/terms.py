"""What a text and a question are to the signals: words, neighbouring words, and their relatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from egomem.recall import wordlists
from egomem.recall.lexicon import alike, forms
from egomem.text import stems, terms, tokens
from egomem.text.stop_words import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Bag:
    """A text as counts of stems and of neighbouring stems, without stop words.

    `length` is in words. Words that only a stop word parts are neighbours.
    """

    words: dict[str, int]
    pairs: dict[tuple[str, str], int]
    length: int


@lru_cache(maxsize=20_000)
def bag_of(text: str) -> Bag:
    every, length = terms(text)
    row = [stem for stem in every[:length] if stem not in STOP_WORDS]
    words = Counter(row)
    # Extra stems of a recognised language help to find; they are no words of their own, and
    # lengthen nothing.
    words.update(every[length:])
    return Bag(dict(words), dict(Counter(pairwise(row))), len(row))


_EMPTY = STOP_WORDS | set(stems(["happen", "happened", "next", "then", "thing", "else", "right"]))


def telling(text: str) -> bool:
    """True where a question names something: "What did I do?" does not."""
    return not all(stem in _EMPTY for stem in terms(text)[0])


def features(text: str) -> Iterator[str]:
    """Words, pairs of neighbouring words, and 3- to 5-grams of letters (CapMem, reconstructed)."""
    words = tokens(text)
    yield from words
    yield from map(" ".join, pairwise(words))
    for word in words:
        # The marks tell the beginning and end of a word from its middle.
        padded = f"<{word}>"
        for n in (3, 4, 5):
            for i in range(len(padded) - n + 1):
                yield padded[i : i + n]


@dataclass(frozen=True, slots=True)
class Term:
    """A word that is asked for: its stem with those of its other forms, and words much like it."""

    stem: str
    own: frozenset[str]
    like: frozenset[str]
    weight: float = 1.0

    @property
    def stems(self) -> frozenset[str]:
        return self.own | self.like


@dataclass(frozen=True, slots=True)
class TermQuery:
    """What is searched for. `text` is as it was written; `pairs` are neighbours in it."""

    text: str
    terms: tuple[Term, ...]
    pairs: tuple[tuple[Term, Term], ...]


ASKING = frozenset(stems(wordlists.LIGHT.split()))
"""Stems that ask how or when something was observed, rather than what ("Where did I last *see* the
keys?"). A memory tells what was done and seldom that it was seen: such words are rare in it, and
their rarity alone would make them count for more than what is asked for."""


def _term(stem: str, weight: float, related: bool) -> Term:
    if not related:
        return Term(stem, frozenset({stem}), frozenset(), weight)
    return Term(stem, forms(stem) | {stem}, alike(stem), weight)


def term_query(
    text: str,
    options: Sequence[str] = (),
    *,
    share: float = 1.0,
    related: bool = True,
    asking: float = 1.0,
) -> TermQuery:
    """A question as terms, without stop words (unless there is nothing else).

    The options' words count `share` of the question's; a word of both counts once, in full.
    Words that ask (ASKING) count `asking` of others, where there are others. `related` brings in
    other forms of the words, and words much like them.
    """
    by_stem: dict[str, Term] = {}

    def take(part: str, weight: float) -> list[Term]:
        all_stems, length = terms(part)
        # "Who is who?" has nothing else to look for.
        telling = [s for s in all_stems[:length] if s not in STOP_WORDS] or all_stems[:length]
        asked_for = any(stem not in ASKING for stem in telling)
        for stem in telling + all_stems[length:]:
            share_of_stem = asking if asked_for and stem in ASKING else 1.0
            by_stem.setdefault(stem, _term(stem, weight * share_of_stem, related))
        return [by_stem[stem] for stem in telling]

    pairs = tuple(dict.fromkeys(pairwise(take(text, 1.0))))
    for option in options if share else ():
        take(option, share)
    return TermQuery(text, tuple(by_stem.values()), pairs)
