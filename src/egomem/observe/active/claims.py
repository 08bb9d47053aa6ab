"""What a sentence states, as far as words tell: is it in the evidence, is it weaker than another,
which sentences of two captions are the same. Our reconstruction.

Comparing words is strict: a paraphrase that shares no word with the evidence does not pass. Being
too strict costs a detail; being too lenient would cost the truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from egomem.observe.active.state import Finding
from egomem.timeline import Span

MIN_SHARED = 0.5
"""Shared part of their words above which two sentences are versions of one."""

TOLERANCE_S = 1.0
"""Seconds by which a claim and its evidence may miss each other."""

SPAN_TOLERANCE_S = 0.25
"""Seconds by which a span may move and be the same."""

_QUOTED = re.compile(r"[“\"«]([^”\"»]*)[”\"»]")
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
    r"(?:[:.,'’/-](?=\w)[^\W_]+)*"
)
_SENTENCE = re.compile(r"[.;!?](?:\s+|$)|\n+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_COUNT = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: str(number) for number, word in enumerate(re.findall(r"\w+", _COUNT))}
_ONE = {"people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot"}
_EMPTY = _set(
    "a an the this that these those it its he she they his her their them him is are was were be "
    "been being has have had do does did of in on at to from by with and or as for into onto out "
    "up down off then than there here which who whose while when also just own s"
)
_DENYING = _set(
    "no not never none nobody nothing without isn't aren't wasn't weren't doesn't don't didn't "
    "can't cannot"
)
_HEDGING = _set(
    "some may might perhaps possibly probably partly almost about maybe unclear seem seems "
    "seemingly apparently likely few uncertain roughly approximately"
)
_OF_TEXT = frozenset(
    Stemmer.Stemmer("english").stemWords(
        sorted(
            _set(
                "text sign label reads read shows shown says said say saying words word written "
                "writing screen caption title heard hear voice speech speaks speaking spoken "
                "somebody someone view visible appears seen lettering letters display displayed"
            )
        )
    )
)
"""Words that say no more than that text is there, or that something was said."""

_HEARD_OR_READ = ("ocr", "listen")


@dataclass(frozen=True, slots=True)
class ClaimContent:
    """What a sentence states: stems, numbers, quoted text, negation, hedges."""

    words: frozenset[str]
    numbers: frozenset[str]
    quotes: frozenset[str]
    denies: bool
    hedges: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.words | self.numbers | self.quotes


@lru_cache(maxsize=4096)
def content(text: str) -> ClaimContent:
    quotes = frozenset(filter(None, (_plain(q) for q in _QUOTED.findall(text))))
    tokens = [w.lower().replace("’", "'") for w in _WORD.findall(_QUOTED.sub(" ", text))]
    tokens = [_NUMBERS.get(t, _ONE.get(t, t)) for t in tokens]
    rest = [t for t in tokens if t not in _EMPTY | _DENYING | _HEDGING]
    numbers = frozenset(t for t in rest if any(c.isdigit() for c in t))
    stems = Stemmer.Stemmer("english").stemWords([t for t in rest if t not in numbers])
    return ClaimContent(
        frozenset(stems),
        numbers,
        quotes,
        any(t in _DENYING for t in tokens),
        frozenset(t for t in tokens if t in _HEDGING),
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def missing_support(
    claim: str, span: Span, findings: Iterable[Finding], *, conclusive: bool = True
) -> str:
    """What of a claim is not in the findings given, in a few words; "" where all of it is.

    `conclusive=False` asks whether the findings at least hint at it. Inconclusive findings count
    for nothing else. Text that was read and words that were heard prove that they stand there or
    were said, and so only what the claim quotes: a sign that says "a dragon enters" shows no
    dragon. A document proves no event: it may only name what an anchor showed.
    """
    usable = [f for f in findings if f.conclusive or not conclusive]
    if not usable:
        return "no conclusive evidence"
    if not any(_near(f.span, span) for f in usable if f.tool != "retrieve"):
        return "the evidence is of another time"
    claim_content = content(claim)
    words: set[str] = set()
    quotes: list[str] = []
    for finding in usable:
        if finding.tool == "retrieve":
            if any(a in {f.id for f in usable if f.tool != "retrieve"} for a in finding.rests_on):
                named = finding.data.get("name")
                words |= content(str(named)).words if named else set()
            continue
        quotes += [_plain(q) for q in _QUOTED.findall(finding.text)]
        if finding.tool in _HEARD_OR_READ:
            continue
        for sentence in sentences(finding.text):
            sentence_content = content(sentence)
            if (
                sentence_content.denies == claim_content.denies
                and sentence_content.hedges <= claim_content.hedges
            ):
                words |= sentence_content.words | sentence_content.numbers
    for quote in claim_content.quotes:
        if not any(quote in quoted for quoted in quotes):
            return f"“{quote}” was not read or heard"
    allowed = words | (_OF_TEXT if claim_content.quotes else set())
    if lacking := sorted((claim_content.words | claim_content.numbers) - allowed):
        return f"not in the evidence: {', '.join(lacking)}"
    return "" if claim_content.all else "it says nothing"


def sentences(text: str) -> list[str]:
    return [s for s in _SENTENCE.split(text) if s.strip()]


def _near(a: Span, b: Span) -> bool:
    return a.start <= b.end + TOLERANCE_S and b.start <= a.end + TOLERANCE_S


def covers(parts: Sequence[str], whole: str) -> bool:
    """True if the parts together state all that the whole states."""
    whole_content, part_contents = content(whole), [content(part) for part in parts]
    return (
        whole_content.all <= frozenset().union(*(t.all for t in part_contents))
        and (not whole_content.denies or any(t.denies for t in part_contents))
        and whole_content.hedges >= frozenset().union(*(t.hedges for t in part_contents))
    )


def is_weaker(after: str, after_span: Span, before: str, before_span: Span) -> bool:
    """True if `after` follows from `before`: it states less, no other number, and no shorter time.

    A number may be left out, not changed: "3 bottles" does not follow from "2 to 3 bottles".
    """
    new, old = content(after), content(before)
    return (
        bool(new.all)
        and new.words <= old.words
        and (new.numbers == old.numbers or not new.numbers)
        and new.quotes <= old.quotes
        and new.denies == old.denies
        and new.hedges >= old.hedges
        and after_span.start <= before_span.start + SPAN_TOLERANCE_S
        and after_span.end >= before_span.end - SPAN_TOLERANCE_S
    )


def is_same(a: str, a_span: Span, b: str, b_span: Span) -> bool:
    return is_weaker(a, a_span, b, b_span) and is_weaker(b, b_span, a, a_span)


class ClaimAlignment(NamedTuple):
    """Pairs of indices (before, after), and the indices of claims that have no partner."""

    pairs: list[tuple[int, int]]
    removed: list[int]
    added: list[int]


TimedText = tuple[str, Span]


def align_claims(before: Sequence[TimedText], after: Sequence[TimedText]) -> ClaimAlignment:
    """Return which claims of two captions are versions of one; each has at most one partner.

    Greedy from the best pair: by shared words first, by nearness in time second.
    """
    scored = []
    for i, (old, old_span) in enumerate(before):
        for j, (new, new_span) in enumerate(after):
            a, b = content(old), content(new)
            union = len(a.all | b.all)
            shared = len(a.all & b.all) / union if union else 0.0
            if shared >= MIN_SHARED:
                apart = abs(old_span.middle - new_span.middle)
                scored.append((shared - 0.2 * apart / (apart + 10), i, j))
    pairs: list[tuple[int, int]] = []
    for _, i, j in sorted(scored, key=lambda s: (-s[0], s[1], s[2])):
        if not any(i == p or j == q for p, q in pairs):
            pairs.append((i, j))
    paired_before, paired_after = {i for i, _ in pairs}, {j for _, j in pairs}
    return ClaimAlignment(
        sorted(pairs),
        [i for i in range(len(before)) if i not in paired_before],
        [j for j in range(len(after)) if j not in paired_after],
    )
