"""What a sentence states: is it in the evidence, is it weaker than another, which sentences of two
captions are the same. Our reconstruction.

`egomem.claims` judges what entails what; without its parser only the same words in the same order
do. Being too strict costs a detail; being too lenient would cost the truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from egomem.claims import EvidenceLine, judge
from egomem.claims.judging import covers as spans_cover
from egomem.claims.words import normal
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
_DOUBTING = _set("perhaps possibly probably maybe seemingly apparently likely")
"""Hedges that weaken any statement; "almost" and "few" change it."""
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
    """What of a claim no finding entails, in a few words; "" where one of them entails it.

    `conclusive=False` asks whether a finding at least hints at it. Inconclusive findings count
    for nothing else. Text that was read and words that were heard prove that they stand there or
    were said, and so only what the claim quotes: a sign that says "a dragon enters" shows no
    dragon. A document proves no event: it may only name what an anchor showed.
    """
    usable = [f for f in findings if f.conclusive or not conclusive]
    if not usable:
        return "no conclusive evidence"
    events = [f for f in usable if f.tool != "retrieve"]
    if not any(_near(f.span, span) for f in events):
        return "the evidence is of another time"
    if not content(claim).all:
        return "it says nothing"
    if content(claim).quotes:
        return _lacking_quote(claim, span, events)
    pictured = [f for f in events if f.tool not in _HEARD_OR_READ]
    reason = "only text or words are in the evidence" if not pictured else ""
    for finding in pictured:
        # What stands in quotation marks is nobody's statement here.
        line = EvidenceLine(_QUOTED.sub(" ", finding.text), finding.span)
        for reading in dict.fromkeys((claim, _without_names(claim, finding, usable))):
            judgement = judge([line], reading, span)
            if judgement.label == "entailed":
                return ""
            if not reason or judgement.label == "contradicted":
                reason = judgement.reason
    return f"not in the evidence: {reason}"


def _without_names(claim: str, anchor: Finding, usable: Sequence[Finding]) -> str:
    """The claim without the words by which a document names what the anchor shows."""
    names = [
        str(f.data["name"])
        for f in usable
        if f.tool == "retrieve" and anchor.id in f.rests_on and f.data.get("name")
    ]
    drop = frozenset(w for n in names for w in content(n).words) - content(anchor.text).words
    return _WORD.sub(lambda m: "" if content(m[0]).words & drop else m[0], claim)


def _lacking_quote(claim: str, span: Span, findings: Iterable[Finding]) -> str:
    """What of a claim that quotes is in no finding: the quoted words, or whose and where."""
    claimed = content(claim)
    rest = [w for w in _ordered(claim) if w not in _OF_TEXT]
    reason = f"“{min(claimed.quotes)}” was not read or heard"
    for finding in findings:
        if not all(any(_quotes(q, text) for text in _QUOTED.findall(finding.text))
                   for q in claimed.quotes):  # fmt: skip
            continue
        if not spans_cover(finding.span, span):
            reason = "the evidence is of another time"
            continue
        outside = content(_QUOTED.sub(" ", finding.text))
        ordered_words = () if finding.tool in _HEARD_OR_READ else _ordered(finding.text)
        if outside.denies == claimed.denies and outside.hedges <= claimed.hedges:
            words = iter(ordered_words)
            if all(w in words for w in rest):
                return ""
        reason = "not in the evidence: who or what shows these words"
    return reason


def _quotes(quote: str, text: str) -> bool:
    """True where the words of a quote stand in a text side by side, and nothing denies them."""
    if _plain(quote) == _plain(text):
        return True
    words, others = content(quote), content(text)
    return (
        bool(words.all)
        and words.denies == others.denies
        and f" {_spaced(quote)} " in f" {_spaced(text)} "
    )


def reads_alike(a: str, b: str) -> bool:
    """True where two texts differ in case and punctuation alone."""
    return _spaced(a) == _spaced(b)


def _spaced(text: str) -> str:
    return " ".join(w.casefold() for w in _WORD.findall(text))


def _ordered(text: str) -> tuple[str, ...]:
    """The content words and numbers of a text outside of its quotations, in their order."""
    return tuple(
        w
        for token in _WORD.findall(_QUOTED.sub(" ", text))
        for w in content(token).words | content(token).numbers
    )


def sentences(text: str) -> list[str]:
    return [s for s in _SENTENCE.split(text) if s.strip()]


def _near(a: Span, b: Span) -> bool:
    return a.start <= b.end + TOLERANCE_S and b.start <= a.end + TOLERANCE_S


def covers(parts: Sequence[str], whole: str) -> bool:
    """True if the parts together state all that the whole states."""
    return any(has_same_words(part, whole) for part in parts) or (
        not content(whole).quotes and judge(list(parts), whole).label == "entailed"
    )


def is_weaker(after: str, after_span: Span, before: str, before_span: Span) -> bool:
    """True if `after` follows from `before`: it states less, no other number, and no shorter time.

    A number may be left out, not changed: "3 bottles" does not follow from "2 to 3 bottles".
    """
    return (
        bool(content(after).all)
        and _follows(after, before)
        and after_span.start <= before_span.start + SPAN_TOLERANCE_S
        and after_span.end >= before_span.end - SPAN_TOLERANCE_S
    )


def _follows(after: str, before: str) -> bool:
    if has_same_words(after, before):
        return True
    new, old = content(after), content(before)
    if new.quotes or old.quotes:
        return False
    doubt = (new.hedges - old.hedges) & _DOUBTING
    plain = _WORD.sub(lambda m: "" if m[0].lower() in doubt else m[0], after)
    return has_same_words(plain, before) or judge(before, plain).label == "entailed"


def is_same(a: str, a_span: Span, b: str, b_span: Span) -> bool:
    """True if two statements say the same of the same time, in the same or in other words."""
    return is_weaker(a, a_span, b, b_span) and is_weaker(b, b_span, a, a_span)


def has_same_words(a: str, b: str) -> bool:
    """True where two texts have the same words in the same order, articles and forms apart."""
    return content(a).quotes == content(b).quotes and normal(a) == normal(b) and bool(normal(a))


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
