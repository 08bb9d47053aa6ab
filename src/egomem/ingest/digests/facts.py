"""Exact attributes carried beside a digest's text, and what becomes of them.

Two figures come with every digest: the share of the exact attributes of its sources that survive,
and the share of its statements that come from a neighbouring moment (*substitution*). How both are
judged is our reconstruction.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from egomem.claims.attributes import Attribute, AttributeKind, attributes, names_in, same_value
from egomem.ingest.digests.parts import Part, Statement
from egomem.records import Record
from egomem.text import normalise, stems, tokens
from egomem.text.stop_words import STOP_WORDS

MAX_FACTS = 500
"""Of a digest. An hour of a talkative day has some 100 different ones."""
NEAR_S = 30.0
"""Seconds around a statement's stretch that still count as its moment: one window of captions."""
_BETTER = 0.2
_SUPPORTED = 0.5
"""A statement is of a neighbouring moment if that moment's lines hold half of its words at least,
and a fifth more of them than its own do."""


@dataclass(frozen=True)
class Fact:
    """An exact attribute, where it was first observed (`source`, `start`), and how often."""

    kind: AttributeKind
    value: str
    text: str
    source: str
    start: float
    offset: float | None = None
    count: int = 1

    @property
    def attribute(self) -> Attribute:
        return Attribute(self.kind, self.value, self.text)


class DigestFigures(Record):
    """What a digest keeps: counts, so that they add up over digests.

    `attributes` are those of its sources, `in_text` and `in_facts` those of them that its text
    states or its list of facts holds; `substituted` of its `statements` come from a neighbouring
    moment; `unsupported` ones were marked.
    """

    attributes: int = 0
    in_text: int = 0
    in_facts: int = 0
    statements: int = 0
    substituted: int = 0
    unsupported: int = 0

    def __add__(self, other: DigestFigures) -> DigestFigures:
        return DigestFigures(
            **{name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields}
        )

    @property
    def survival_in_text(self) -> float | None:
        return self.in_text / self.attributes if self.attributes else None

    @property
    def survival(self) -> float | None:
        """The share of attributes that the text or the facts hold."""
        return self.in_facts / self.attributes if self.attributes else None

    @property
    def substitution(self) -> float | None:
        return self.substituted / self.statements if self.statements else None


def facts_of(parts: Iterable[Part]) -> list[Fact]:
    """The different exact attributes of some observations' lines, in order of time."""
    parts = list(parts)
    names = names_in(part.text for part in parts)
    by_value: dict[tuple[str, str], Fact] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for part in parts:
        for attribute in attributes_of(part.text, part.speaker, part.source, names):
            key = attribute.kind, attribute.value
            counts[key] += 1
            by_value.setdefault(
                key, Fact(*key, attribute.text, part.ids[0], part.start, part.offset)
            )
    return [_counted(fact, counts[key]) for key, fact in by_value.items()]


def attributes_of(
    text: str, speaker: str = "", source: str = "", names: frozenset[str] | None = None
) -> tuple[Attribute, ...]:
    """The exact attributes of a line; its speaker is a name, and screen text is quoted."""
    attributes_here = attributes(text, names)
    if speaker:
        attributes_here += (Attribute("name", normalise(speaker), speaker),)
    if source == "screen_text":
        quote = " ".join(normalise(text).split())
        attributes_here += (Attribute("quote", quote, text),)
    return attributes_here


def joined_facts(lists: Iterable[Sequence[Fact]]) -> list[Fact]:
    """The facts of shorter digests together, each once, in order of time."""
    by_value: dict[tuple[str, str], Fact] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for fact in sorted((f for facts in lists for f in facts), key=lambda f: (f.start, f.value)):
        key = fact.kind, fact.value
        counts[key] += fact.count
        by_value.setdefault(key, fact)
    return [_counted(fact, counts[key]) for key, fact in by_value.items()]


def carried_facts(facts: Sequence[Fact]) -> list[Fact]:
    """The facts that a digest carries: all, up to `MAX_FACTS`; then names give way first."""
    if len(facts) <= MAX_FACTS:
        return list(facts)
    order: dict[str, int] = {"price": 0, "time": 1, "number": 2, "quote": 3, "name": 4}
    ranked = sorted(facts, key=lambda f: (order[f.kind], -f.count, f.start, f.value))
    return sorted(ranked[:MAX_FACTS], key=lambda f: (f.start, f.kind, f.value))


def figures_of(
    statements: Sequence[Statement],
    facts: Sequence[Fact],
    carried: Sequence[Fact],
    parts: Sequence[Part],
) -> DigestFigures:
    """The figures of a digest; `facts` are all those of its sources, `parts` their lines."""
    good = [s for s in statements if not s.problem]
    stated_by_kind: dict[str, list[Attribute]] = defaultdict(list)
    for statement in good:
        for a in attributes_of(statement.text, statement.speaker, statement.source):
            stated_by_kind[a.kind].append(a)
        # A name at the beginning of a sentence tells by its words alone.
        words = set(tokens(f"{statement.speaker} {statement.text}"))
        stated_by_kind["name"] += [
            f.attribute for f in facts if f.kind == "name" and set(tokens(f.value)) <= words
        ]
    in_text = {
        (f.kind, f.value)
        for f in facts
        if any(same_value(f.attribute, a) for a in stated_by_kind[f.kind])
    }
    in_list = {(f.kind, f.value) for f in carried}
    return DigestFigures(
        attributes=len(facts),
        in_text=len(in_text),
        in_facts=sum((f.kind, f.value) in in_list | in_text for f in facts),
        statements=len(good),
        substituted=sum(substituted(good, parts)),
        unsupported=len(statements) - len(good),
    )


def substituted(statements: Sequence[Statement], parts: Sequence[Part]) -> list[bool]:
    """Whether each statement tells of a moment beside the one that it names.

    Of all lines, one outside of its stretch (and `NEAR_S` around it) then bears it out better than
    any inside, by the share of its words, each counting by how few lines hold it.
    """
    frequency = Counter(s for part in parts for s in part.stems)
    weight = {s: math.log1p(len(parts) / df) for s, df in frequency.items()}
    flags = []
    for statement in statements:
        words = frozenset(stems(tokens(statement.text))) - STOP_WORDS
        total = sum(weight.get(s, math.log1p(len(parts))) for s in words)
        inside = outside = 0.0
        for part in parts if total else ():
            share = sum(weight[s] for s in words & part.stems) / total
            near = (
                part.start < statement.end + NEAR_S and statement.start - NEAR_S < part.end
            ) or part.start == statement.start
            if near:
                inside = max(inside, share)
            else:
                outside = max(outside, share)
        flags.append(outside >= _SUPPORTED and outside > inside + _BETTER)
    return flags


def _counted(fact: Fact, count: int) -> Fact:
    return Fact(fact.kind, fact.value, fact.text, fact.source, fact.start, fact.offset, count)
