"""What a text is to the signals: its words, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from egomem.memory import stems, tokens

STOP_WORDS = frozenset(
    "a an and any are as at be been being but by can could did do does doing done for from had has "
    "have he her here hers him his how i if in into is it its me my of on or our she so some than "
    "that the their them then there these they this those to was we were what when where which "
    "while who whom whose why will with would you your am about ever just up us".split()
)
"""Words of a question that say nothing of what it asks for."""


@dataclass(frozen=True)
class Bag:
    """A text as counts of stemmed words and of neighbouring words; `length` is in words."""

    words: dict[str, int]
    pairs: dict[tuple[str, str], int]
    length: int

    def features(self) -> Iterator[tuple[str, float]]:
        """Words, pairs of words, and 3- to 5-grams of letters, with how often each occurs."""
        yield from self.words.items()
        for pair, times in self.pairs.items():
            yield " ".join(pair), times
        for word, times in self.words.items():
            padded = f"<{word}>"
            for n in (3, 4, 5):
                for i in range(len(padded) - n + 1):
                    yield padded[i : i + n], times


def merged(bags: Sequence[Bag]) -> Bag:
    """The bag of several texts; words of two texts are never neighbours."""
    if len(bags) == 1:
        return bags[0]
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for bag in bags:
        words.update(bag.words)
        pairs.update(bag.pairs)
    return Bag(words, pairs, sum(bag.length for bag in bags))


@lru_cache(maxsize=20_000)
def bag_of(text: str) -> Bag:
    return _bag(stems(tokens(text)))


@lru_cache(maxsize=1_000)
def query_of(*texts: str) -> Bag:
    """The bag of a question and its options, without stop words (unless there is nothing else)."""
    bags = []
    for text in texts:
        words = tokens(text)
        telling = [w for w in words if w not in STOP_WORDS]
        bags.append(_bag(stems(telling or words)))
    return merged(bags) if bags else Bag({}, {}, 0)


def _bag(words: Sequence[str]) -> Bag:
    return Bag(dict(Counter(words)), dict(Counter(pairwise(words))), len(words))
