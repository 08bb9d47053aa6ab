"""Noun phrases: what is spoken of, with what is said of it, whose it is and how many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from egomem.claims.lexicon import lexicon, word_set
from egomem.claims.model import Participant

if TYPE_CHECKING:
    from spacy.tokens import Token

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
_NUMBERS = {word: number for number, word in enumerate(_CARDINALS.split())}
_PRONOUNS = {
    "me": "i", "my": "i", "mine": "i", "myself": "i", "him": "he", "his": "he", "himself": "he",
    "her": "she", "hers": "she", "herself": "she", "them": "they", "their": "they", "us": "we",
    "our": "we", "your": "you", "its": "it", "nobody": "person", "anybody": "person",
    "anyone": "person", "none": "person", "everybody": "everyone",
}  # fmt: skip
_PERSONS = word_set("i he she we you who person")
_HAVE = word_set("wear carry hold have")
PLACED = word_set("front left right back top bottom side middle")


def head_word(token: Token) -> str:
    """A noun's standard word: its lemma, its pronoun, or what its relative pronoun stands for."""
    word = token.lower_
    if token.tag_ in ("WP", "WDT") or word == "that":
        verb = token.head
        while verb.dep_ == "conj":
            verb = verb.head
        if verb.dep_ == "relcl":
            return head_word(verb.head)
    if word in _PRONOUNS:
        return _PRONOUNS[word]
    lemma = word if token.pos_ == "PROPN" else token.lemma_.lower()
    # The tagger takes many a plural that opens a sentence for a name.
    if token.pos_ == "PROPN" and word not in lexicon().nouns.standard and token.tag_ == "NNPS":
        lemma = word.removesuffix("s")
    return lexicon().nouns.norm(lemma)


def participant(token: Token, used: set[int], depth: int = 0) -> Participant:
    """What a noun speaks of; adds the indices of the words that it holds to `used`."""
    used.add(token.i)
    attributes: set[str] = set()
    owner, count = "", None
    within: list[tuple[str, Participant]] = []
    for child in token.children:
        match child.dep_:
            case "amod" | "compound" | "nmod":
                attributes |= _attribute(child, used)
            case "nummod":
                used.add(child.i)
                count = number(child.lower_)
                if count is None:
                    attributes.add(child.lower_)
            case "poss":
                whose = participant(child, used, depth + 1)
                owner = whose.head
            case "det" if child.lower_ in ("each", "every", "another", "other", "both"):
                attributes.add(child.lower_)
            case "prep" if depth < 3:
                for relation, governed in phrases(child, used, depth + 1):
                    if relation == "of":
                        owner = owner or governed.head
                        attributes |= governed.attributes
                    else:
                        within.append((relation, governed))
            case "acl" | "relcl" if child.lemma_ in _HAVE and depth < 3:
                used.add(child.i)
                within += [
                    ("with", participant(c, used, depth + 1))
                    for c in child.children
                    if c.dep_ == "dobj"
                ]
    head = head_word(token)
    if head == "dozen" and count is None:
        count = 12
    if "dozen" in attributes:
        attributes.discard("dozen")
        count = 12 * (count or 1)
    person = head in _PERSONS or token.pos_ == "PROPN" or token.tag_ == "WP"
    return Participant(head, frozenset(attributes), owner, count, person, tuple(within))


def _attribute(token: Token, used: set[int]) -> set[str]:
    used.add(token.i)
    value = lexicon().adjectives.norm(token.lemma_.lower())
    values = {lexicon().nouns.norm(value)} if token.pos_ == "NOUN" else {value}
    for child in token.children:
        if child.dep_ in ("amod", "advmod", "conj", "compound", "npadvmod", "nmod"):
            values |= _attribute(child, used)
    return values


def number(word: str) -> int | None:
    """A cardinal's value: "three", "12"."""
    return int(word) if word.isdecimal() and len(word) < 10 else _NUMBERS.get(word)


def phrases(prep: Token, used: set[int], depth: int = 0) -> list[tuple[str, Participant]]:
    """A preposition with all that it governs; "to the left of" and "out of" are one relation."""
    used.add(prep.i)
    relation = prep.lower_
    governed = [c for c in prep.children if c.dep_ in ("pobj", "pcomp")]
    inner = next((c for c in prep.children if c.dep_ == "prep"), None)
    if not governed and inner is not None:
        name = relation if relation in ("out", "away", "far", "near") else inner.lower_
        return [(name, p) for _, p in phrases(inner, used, depth + 1)]
    results: list[tuple[str, Participant]] = []
    for noun in governed:
        if noun.dep_ == "pcomp":
            continue
        of = next((c for c in noun.children if c.dep_ == "prep" and c.lower_ == "of"), None)
        if noun.lower_ in PLACED and of is not None:
            used.add(noun.i)
            name = noun.lower_
            results += [(lexicon().places.norm(name), p) for _, p in phrases(of, used, depth + 1)]
            continue
        for each in [noun, *noun.conjuncts] if depth < 4 else [noun]:
            results.append((lexicon().places.norm(relation), participant(each, used, depth + 1)))
    if inner is not None and inner.lower_ != "of":  # "from Ulm to Bonn" as one phrase
        results += phrases(inner, used, depth + 1)
    return results
