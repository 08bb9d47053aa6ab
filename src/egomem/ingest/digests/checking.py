"""Whether a statement's sources bear out its numbers, names, times and actors.

A statement that holds an exact attribute which none of its sources holds, or that its sources
contradict (`egomem.claims`), or whose actor did it in none of them, is to be written again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from egomem.claims import Claim, has_parser, judge, read
from egomem.claims.attributes import Attribute, attributes, same_value
from egomem.claims.lexicon import word_set
from egomem.claims.parser import parse
from egomem.ingest.digests.facts import attributes_of
from egomem.ingest.digests.parts import Part
from egomem.ingest.digests.record import local_time
from egomem.text import normalise, stems, tokens

NEAR_S = 60.0
"""Seconds by which a time that a statement names may lie outside of its sources' stretch."""
_WEARER = re.compile(r"\bthe (?:camera[- ])?(?:wearer|user)\b", re.IGNORECASE)
_WEARERS = re.compile(r"\bthe (?:camera[- ])?(?:wearer|user)['’]s\b", re.IGNORECASE)
_SELF = word_set("i wearer user we me")
_ANYBODY = word_set("person he she they who everyone somebody someone")
_CAPITAL = re.compile(r"[^\W\d_][\w'’-]*")
_ENDINGS = ("ing", "ed", "ly", "s")
_PLAIN = word_set(
    "the a an i we he she they it you then later after before while when at in on from during "
    "both each all some somebody someone everyone everybody people next finally meanwhile there "
    "this that these those my our his her their its no one nobody wearer user and but with"
)


def problem_of(text: str, sources: Sequence[Part]) -> str:
    """What a statement states that none of its sources holds; "" where there is nothing.

    `sources` are the lines that it says it rests on. Without the parser of `egomem[claims]`, actors
    are judged by their names alone.
    """
    if not sources:
        return "it names no note that it rests on"
    if lacking := _attribute_problem(text, sources):
        return lacking
    if lacking := _name_problem(text, sources):
        return lacking
    lines = [_own_words(_spoken(part)) for part in sources]
    verdict = judge(lines, _own_words(text))
    if verdict.label == "contradicted":
        return f"its notes contradict it: {verdict.reason}"
    return _actor_problem(_own_words(text), lines)


def _attribute_problem(text: str, sources: Sequence[Part]) -> str:
    available = [
        attribute
        for part in sources
        for attribute in attributes_of(part.text, part.speaker, part.source)
    ]
    for attribute in attributes(text):
        if attribute.kind == "name" or _is_in_sources(attribute, available, sources):
            continue
        return f"no note holds “{attribute.text}”"
    return ""


def _is_in_sources(
    attribute: Attribute, available: Iterable[Attribute], sources: Sequence[Part]
) -> bool:
    if any(same_value(attribute, other) for other in available):
        return True
    if attribute.kind == "number":  # "I paid 12" of a price of 12 euros
        return any(o.kind == "price" and o.value.split()[0] == attribute.value for o in available)
    if attribute.kind == "quote":
        words = " ".join(tokens(attribute.value))
        return any(words in " ".join(tokens(part.text)) for part in sources)
    if attribute.kind == "time":
        return any(_covers(part, attribute) for part in sources)
    return False


def _covers(part: Part, time: Attribute) -> bool:
    """Whether a part was observed at a clock time or on a date: its own time is no invention."""
    if part.offset is None:
        return False
    first = local_time(part.start - NEAR_S, part.offset)
    last = local_time(part.end + NEAR_S, part.offset)
    if ":" not in time.value:
        dates = {first.date(), last.date()}
        return any(
            time.value in (d.isoformat(), f"{d:%A}".lower(), f"{d.day} {d:%B}".lower())
            for d in dates
        )
    clock, _, half = time.value.partition(" ")
    hour, minute = map(int, clock.split(":"))
    for shift in (0, 12) if not half else (12 * (half == "pm"),):
        instant = first.replace(hour=hour % 12 + shift, minute=minute, second=0, microsecond=0)
        if first.replace(second=0, microsecond=0) <= instant <= last:
            return True
    return False


def _name_problem(text: str, sources: Sequence[Part]) -> str:
    words = {word for part in sources for word in tokens(f"{part.speaker} {part.text}")}
    word_stems = set(stems(sorted(words)))
    for name in _stated_names(text):
        parts = tokens(name)
        if not all(part in words for part in parts) and not set(stems(parts)) <= word_stems:
            return f"no note holds the name “{name}”"
    return ""


def _stated_names(text: str) -> list[str]:
    """Words with a capital that are names: all but the first of a sentence, which may be any word.

    The parser tells whether a first word is a name; without it, one that is no common opening of a
    sentence and has no ending of a verb, an adverb or a plural counts as one.
    """
    names = [a.text for a in attributes(text) if a.kind == "name"]
    if has_parser():
        doc = parse(text)
        names += [
            token.text
            for sentence in doc.sents
            for token in list(sentence)[:1]
            if token.pos_ == "PROPN" and token.text[:1].isupper()
        ]
        return names
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        match = _CAPITAL.match(sentence)
        word = match[0] if match else ""
        low = normalise(word)
        if word[:1].isupper() and low not in _PLAIN and not low.endswith(_ENDINGS):
            names.append(word)
    return names


def _actor_problem(text: str, lines: Sequence[str]) -> str:
    """What somebody is said to have done that only others did, by the sources."""
    line_claims = [(line, claim) for line in lines for claim in read(line)]
    for claim in read(text):
        if claim.subject is None or not claim.happened or claim.object is None:
            continue
        same = [(line, s) for line, s in line_claims if _same_event(s, claim)]
        if same and not any(_may_be(s, claim, line) for line, s in same):
            actors = sorted({s.subject.head for _, s in same if s.subject is not None})
            return f"its notes tell it of {' and '.join(actors)}, not of {claim.subject.head}"
    return ""


def _same_event(a: Claim, b: Claim) -> bool:
    return (
        a.predicate == b.predicate
        and a.object is not None
        and b.object is not None
        and a.object.head == b.object.head
    )


def _may_be(a: Claim, b: Claim, line: str) -> bool:
    """Whether the actor of `a`, read from a line, may be that of `b`.

    Who leaves out the actor speaks of herself.
    """
    mine = a.subject.head if a.subject is not None else "i"
    theirs = b.subject.head if b.subject is not None else "i"
    both = {mine, theirs}
    if mine == theirs or both <= _SELF or both & _ANYBODY:
        return True
    # "Rosa and I fold the map": a claim names the first of them alone.
    words = tokens(line)
    return "and" in words and theirs in words


def _own_words(text: str) -> str:
    """A text in which the wearer speaks: notes say "I", summaries often "the wearer"."""
    return _WEARER.sub("I", _WEARERS.sub("my", text))


def _spoken(part: Part) -> str:
    return f"{part.speaker} says “{part.text}”." if part.speaker else part.text
