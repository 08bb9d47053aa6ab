"""Words that a memory does not hold as they are asked for, and what of it comes nearest.

A number or code may be grouped in another way ("4711": "4,711"; "B12": "B 12"). Where a word is
nowhere in the memory, its part of a compound ("Schlüssel": "Wohnungsschlüssel"), and at last a word
that one letter sets apart ("umbrela": "umbrella"), is searched for. Only search falls back, and it
says so: a word much like the one asked for is no evidence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from egomem.memory import View
from egomem.recall.terms import term_query
from egomem.recall.view_cache import ViewCache
from egomem.recall.words import LIGHT, PLAIN
from egomem.text import normalise, respelled, stems, tokens
from egomem.text.stop_words import STOP_WORDS

MIN_PART = 4
"""Letters of a word that may be a part of a compound, and of what the compound has beside it."""
MIN_TYPO = 5
"""Letters of a word that one letter may be wrong in; below it too many words are near."""
MAX_INSTEAD = 5
"""Words that are searched for in place of one."""
_MAX_ALPHABET = 120
_NUMBER = re.compile(r"\d+(?:[ ,.'’/-]\d+)*")
_LETTERS_BEFORE = re.compile(r"\b[^\W\d_]{1,3}[ -]?$")
_LETTERS_BEHIND = re.compile(r"-?[^\W\d_]{1,2}\b")
_TEENS, _TENS, _ONES = (
    line.split()
    for line in (
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "one two three four five six seven eight nine",
    )
)


@dataclass(frozen=True, slots=True)
class Fallback:
    """A word of a question, and what of the memory is searched for beside it.

    `missing`: the memory holds it nowhere; a code may stand there in two ways.
    """

    word: str
    instead: tuple[str, ...]
    missing: bool = True

    def __str__(self) -> str:
        listed = ", ".join(f"“{word}”" for word in self.instead)
        if not self.missing:
            return f"“{self.word}”: searched for {listed}, too"
        return f"“{self.word}” is not in this memory: searched for {listed}"


class Vocabulary:
    """The words and codes of some texts, as they are written there."""

    def __init__(self, texts: Iterable[str]) -> None:
        written = list(dict.fromkeys(texts))
        words = dict.fromkeys(chain.from_iterable(map(str.split, written)))
        self.words = frozenset(chain.from_iterable(map(tokens, words)))
        self.stems = frozenset(stems(list(self.words))) | {
            stem for word in self.words if not word.isascii() for stem in stems([respelled(word)])
        }
        self.codes: dict[str, str] = {}
        for text in written:
            for code in _codes_in(text):
                self.codes.setdefault(_code_key(code), code)

    @cached_property
    def _plain(self) -> dict[str, str]:
        """Words of letters alone, by each spelling."""
        plain = {w: w for w in self.words if w.isalpha() and len(w) >= MIN_PART}
        return {respelled(w): w for w in plain if not w.isascii()} | plain

    @cached_property
    def _forwards(self) -> list[str]:
        return sorted(self._plain)

    @cached_property
    def _backwards(self) -> list[str]:
        return sorted(word[::-1] for word in self._plain)

    @cached_property
    def _alphabet(self) -> str:
        letters = {c for word in self._plain for c in word}
        return "".join(sorted(letters)) if len(letters) <= _MAX_ALPHABET else ""

    def code(self, key: str) -> str | None:
        """A code as the texts group it."""
        return self.codes.get(key)

    def compounds(self, word: str) -> list[str]:
        """Words that begin or end with a word, or else words that it ends with."""
        longer = [w for w in _starting(self._forwards, word) if len(w) >= len(word) + MIN_PART]
        ends = _starting(self._backwards, word[::-1])
        longer += [w[::-1] for w in ends if len(w) >= len(word) + MIN_PART]
        heads = [
            word[i:]
            for i in range(MIN_PART, len(word) - MIN_PART)
            if not longer and word[i:] in self._plain
        ]
        return list(dict.fromkeys(self._plain[w] for w in longer or heads[:1]))

    def typos(self, word: str) -> list[str]:
        """Words that one letter sets apart: one too many, missing, wrong or swapped."""
        near = dict.fromkeys(
            self._plain[edited] for edited in _edits(word, self._alphabet) if edited in self._plain
        )
        # A wrong first letter is rare, and in a short word a wrong letter makes another word.
        likely = [w for w in near if w[0] == word[0]] or list(near)
        if len(word) > MIN_TYPO:
            return likely
        return [w for w in likely if len(w) != len(word) or sorted(w) == sorted(word)]


_vocabularies: ViewCache[Vocabulary] = ViewCache()


def view_fallbacks(view: View, text: str) -> list[Fallback]:
    """`fallbacks` over all that a view holds; its texts are read only where a word is missing."""
    by_word = {word: _own_stems(word) for word in _asked_words(text)}
    counts = view.document_frequency({s for group in by_word.values() for s in group})
    missing = any(not any(counts.get(s, 0) for s in group) for group in by_word.values())
    if not (missing or _has_digit(normalise(text))):
        return []

    def make() -> Vocabulary:
        numbers = view.columns.rows.tolist()
        rows = view.store.rows_by_rowid("o.text", "observation o", numbers)
        return Vocabulary(text for (text,) in rows)

    return fallbacks(text, _vocabularies.get(view, make))


def fallbacks(text: str, vocabulary: Vocabulary) -> list[Fallback]:
    """What to search for beside the words of a question that the texts do not hold.

    Codes are joined over neighbouring words: "0171 555 01" is found as "017155501".
    """
    results = [Fallback(code, (other,), False) for code, other in _codes(text, vocabulary)]
    in_codes = {part for fallback in results for part in tokens(fallback.word)}
    for word in _asked_words(text):
        if word in in_codes or _own_stems(word) & vocabulary.stems:
            continue
        instead: list[str] = []
        if len(word) >= MIN_PART:
            plain = respelled(word)
            instead = vocabulary.compounds(word) or vocabulary.compounds(plain)
            if not instead and len(word) >= MIN_TYPO:
                instead = vocabulary.typos(word) or vocabulary.typos(plain)
        if instead:
            results.append(Fallback(word, tuple(instead[:MAX_INSTEAD])))
    return results


def _asked_words(text: str) -> list[str]:
    """The words of letters that a question asks for, each once."""
    return [
        word
        for word in dict.fromkeys(tokens(text))
        if word.isalpha()
        and word not in PLAIN
        and word not in LIGHT
        and not STOP_WORDS.issuperset(stems([word]))
    ]


def _own_stems(word: str) -> frozenset[str]:
    """The stems that are the word itself, in its forms and spellings."""
    return frozenset(s for term in term_query(word).terms for s in term.own)


def _codes(text: str, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Codes of a question, and how the texts write them where that is another way."""
    for code in _codes_in(text):
        key = _code_key(code)
        written = vocabulary.code(key) or _in_words(key, vocabulary)
        if written is not None and written != code:
            yield code, written


def _codes_in(text: str) -> Iterator[str]:
    """The numbers of a text as they are grouped there, without and with the letters beside them."""
    if not _has_digit(text):
        return
    text = normalise(text)
    for match in _NUMBER.finditer(text):
        yield match.group()
        before = _LETTERS_BEFORE.search(text, 0, match.start())
        behind = _LETTERS_BEHIND.match(text, match.end())
        start = before.start() if before else match.start()
        end = behind.end() if behind else match.end()
        if (start, end) != match.span():
            yield text[start:end]


def _in_words(key: str, vocabulary: Vocabulary) -> str | None:
    """A number of two digits in English words, where the texts have it so."""
    if not (key.isdecimal() and len(key) == 2 and key[0] != "0"):
        return None
    tens, ones = int(key[0]), int(key[1])
    word = _TEENS[ones] if tens == 1 else _TENS[tens - 2] + (f"-{_ONES[ones - 1]}" if ones else "")
    return word if word in vocabulary.words else None


def _code_key(code: str) -> str:
    return "".join(c for c in code if c.isalnum())


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def _starting(words: list[str], beginning: str) -> list[str]:
    at = bisect_left(words, beginning)
    matches = []
    while at < len(words) and words[at].startswith(beginning):
        matches.append(words[at])
        at += 1
    return matches


def _edits(word: str, alphabet: str) -> Iterator[str]:
    for i in range(len(word) + 1):
        head, tail = word[:i], word[i:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in alphabet:
            if tail:
                yield head + letter + tail[1:]
            yield head + letter + tail
