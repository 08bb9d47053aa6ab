"""Synonyms, kinds and opposites of everyday English: our own small list, in `lexicon.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


def word_set(words: str) -> frozenset[str]:
    """The words of a text, parted by spaces."""
    return frozenset(words.split())


@dataclass(frozen=True)
class WordClass:
    """What the lexicon knows of words of one class.

    `standard` maps a word to the one that stands for it and its synonyms; `broader` a standard
    word to the kinds that it is one of; `opposites` holds pairs both ways round.
    """

    standard: dict[str, str]
    broader: dict[str, frozenset[str]]
    opposites: frozenset[tuple[str, str]]

    def norm(self, word: str) -> str:
        return self.standard.get(word, word)

    def entails(self, word: str, claimed: str) -> bool:
        """True where whatever the word says is also what the claimed one says."""
        word, claimed = self.norm(word), self.norm(claimed)
        return word == claimed or claimed in self.broader.get(word, frozenset())

    def opposed(self, a: str, b: str) -> bool:
        return (self.norm(a), self.norm(b)) in self.opposites


@dataclass(frozen=True)
class Lexicon:
    """Word classes, and what verbs make of a clause below them (`governors`: lemma to effect)."""

    verbs: WordClass
    nouns: WordClass
    adjectives: WordClass
    places: WordClass
    particles: WordClass
    converse: dict[str, str]
    inverse: dict[str, frozenset[str]]
    governors: dict[str, str]


@cache
def lexicon() -> Lexicon:
    """The lexicon, read once."""
    table = tomllib.loads((files(__package__) / "lexicon.toml").read_text("utf-8"))
    synonyms, broader, opposites = table["synonyms"], table["broader"], table["opposites"]
    groups = [
        f"{a} {b}" for g in opposites["groups"] for a in g.split() for b in g.split() if a < b
    ]
    inverse: dict[str, set[str]] = {}
    for pair in table["places"]["inverse"]:
        a, b = pair.split()
        inverse.setdefault(a, set()).add(b)
        inverse.setdefault(b, set()).add(a)
    for place in table["places"]["symmetric"]:
        inverse[place] = {place}
    return Lexicon(
        verbs=_class(synonyms["verbs"], broader["verbs"], opposites["verbs"]),
        nouns=_class(synonyms["nouns"], broader["nouns"], ()),
        adjectives=_class(synonyms["adjectives"], (), [*opposites["adjectives"], *groups]),
        places=_class(table["places"]["same"], (), opposites["places"]),
        particles=_class((), (), opposites["particles"]),
        converse=dict(line.split() for line in table["converse"]["verbs"]),
        inverse={word: frozenset(words) for word, words in inverse.items()},
        governors={
            verb: effect for effect, verbs in table["governors"].items() for verb in verbs.split()
        },
    )


def _class(same: Iterable[str], broader: Iterable[str], opposites: Iterable[str]) -> WordClass:
    standard = {word: line.split()[0] for line in same for word in line.split()}
    kinds = {}
    for line in broader:
        word, above = line.split(":")
        kinds[standard.get(word, word)] = frozenset(standard.get(w, w) for w in above.split())
    pairs = {tuple(standard.get(w, w) for w in line.split()) for line in opposites}
    both = frozenset((x, y) for a, b in pairs for x, y in ((a, b), (b, a)) if x != y)
    return WordClass(standard, kinds, both)
