"""Where words stand in texts: each text as a row of numbers, turned over once.

A memory that is scored whole is read in by the first question of a process, so this takes the short
way: a word as it is written, up to the next space, is stemmed once however often it occurs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from egomem.text import terms
from egomem.text.stop_words import STOP_WORDS

Counts = NDArray[np.float64]
_Places = NDArray[np.int64]


class StemIndex:
    """Stems of texts, without stop words. Counts are arrays with an entry a text.

    `lengths` are in words; words that only a stop word parts are neighbours. The extra stems of a
    recognised language (see text.terms) are counted, and are neither long nor neighbours.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        written = _Written()
        words: list[int] = []
        extra: list[int] = []
        ends: list[tuple[int, int]] = [(0, 0)]
        for text in texts:
            row, more = written.read(text)
            words += row
            extra += more
            ends.append((len(words), len(extra)))
        sizes, extras = np.diff(np.array(ends), axis=0).T
        self.lengths = sizes.astype(np.float64)
        self._numbers = written.numbers
        every = np.array(words + extra, dtype=np.int64)
        text_of = np.repeat(np.arange(len(sizes)), sizes)
        self._text = np.concatenate([text_of, np.repeat(np.arange(len(sizes)), extras)])
        self._after = np.full(len(every), -1)
        follows = np.flatnonzero(text_of[1:] == text_of[:-1])
        self._after[follows] = every[follows + 1]
        self._order = np.argsort(every, kind="stable")
        self._starts = np.searchsorted(every[self._order], np.arange(len(self._numbers) + 1))

    def counts(self, stems: Iterable[str]) -> Counts:
        """How often each text holds any of the stems."""
        return self._counted([self._places(stem) for stem in stems])

    def pair_counts(self, pairs: Iterable[tuple[str, str]]) -> Counts:
        """How often each text holds any of the pairs of neighbours."""
        pair_places = []
        for first, second in pairs:
            places = self._places(first)
            pair_places.append(places[self._after[places] == self._numbers.get(second, -2)])
        return self._counted(pair_places)

    def _places(self, stem: str) -> _Places:
        number = self._numbers.get(stem)
        if number is None:
            return self._order[:0]
        return self._order[self._starts[number] : self._starts[number + 1]]

    def _counted(self, places: list[_Places]) -> Counts:
        if not places:
            return np.zeros(len(self.lengths))
        texts = self._text[np.concatenate(places)]
        return np.bincount(texts, minlength=len(self.lengths)).astype(np.float64)


class _Written(dict[str, tuple[int, ...]]):
    """Of words as they are written the numbers of their stems; `numbers` has every stem."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._foreign: set[str] = set()

    def read(self, text: str) -> tuple[list[int], list[int]]:
        """A text's words in order, and the extra stems of its language."""
        # Most memories are English: one look into a dict for each written word, and no tokenizer.
        if text.isascii():  # it falls into words at its spaces, whatever stands around them
            row = text.split()
            numbers = list(chain.from_iterable(map(self.__getitem__, row)))
            if not self._foreign or self._foreign.isdisjoint(row):
                return numbers, []
        stems, length = terms(text)
        return self._numbered(stems[:length]), [self._number(stem) for stem in stems[length:]]

    def __missing__(self, word: str) -> tuple[int, ...]:
        stems, foreign = _stems(word)
        if foreign:  # a word of another language, perhaps: its whole text tells
            self._foreign.add(word)
        self[word] = tuple(map(self._number, stems))
        return self[word]

    def _numbered(self, stems: list[str]) -> list[int]:
        return [self._number(stem) for stem in stems if stem not in STOP_WORDS]

    def _number(self, stem: str) -> int:
        return self.numbers.setdefault(stem, len(self.numbers))


@lru_cache(maxsize=1 << 16)
def _stems(word: str) -> tuple[tuple[str, ...], bool]:
    """The stems of a word as it is written, and whether it speaks for another language."""
    stems, length = terms(word)
    return tuple(s for s in stems[:length] if s not in STOP_WORDS), len(stems) > length
