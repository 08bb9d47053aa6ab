"""Yes and no: only where an observation says so, with who did it, denied or not, done or planned.

Shared words are no proof. What was said is told as said; what was planned, asked or reminded of is
told as that; whatever else lies near is quoted without a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from egomem.answer.extractive.view_index import IndexedObservation
from egomem.claims import Claim, EvidenceLine, has_parser, judge_claims, read, read_question
from egomem.claims.matching import match_claim, match_participant
from egomem.claims.words import judge_question_words
from egomem.recall import Query
from egomem.text import stems, tokens

MAX_READ = 60
"""Observations of one question that are read for what they claim, best first."""

Stance = Literal["says", "denies", "holds out", "silent"]

_EMPTY = re.compile(r"^(?:a|an|the|of|to|in|on|at|by|is|was|did|do|does|are|were|and|or|it|there)$")
_SMALL = re.compile(
    r"^(?:a|an|the|of|to|in|on|at|by|with|from|for|my|your|his|her|our|their|its|i|me|we|us|you|he|"
    r"she|it|they|them|him|is|was|are|were|be|been|did|do|does|has|have|had|can|could|will|would|"
    r"should|may|might|and|or|not|any|some|there|here|this|that|someone|somebody|anyone|anybody|"
    r"ever|now|today|yet|still|s|t|what|who|when|where|how|many|times|often|long|ago|since|last)$"
)
_PREFIX = re.compile(
    r"^\s*(?:how (?:many times|often|long ago|long)|when|where|at what time|what time)\s+", re.I
)
_GONE = re.compile(r"\b(?:no longer|gone|absent)\b", re.I)


@dataclass(frozen=True)
class Reading:
    """An observation's stance to a question, and how it is held out where it is."""

    entry: IndexedObservation
    stance: Stance
    why: str = ""


def is_empty(question: str) -> bool:
    """True for a question without content: "?", "the"."""
    return all(_EMPTY.match(word) for word in tokens(question))


def readings(
    query: Query, ranked: Sequence[IndexedObservation], text: str | None = None
) -> list[Reading]:
    """What each observation says to a yes/no question (or to the event that a question names)."""
    asked = _PREFIX.sub("", text or query.target_text or query.text).strip()
    asked = asked if asked.endswith("?") else f"{asked}?"
    claims = read_question(asked)
    content = {s for t, s in zip(tokens(asked), stems(tokens(asked)), strict=True)
               if not _SMALL.match(t)}  # fmt: skip
    near = [e for e in ranked if _speaks_to(query, content, e)]
    return [_read(query, e, claims, asked) for e in near[:MAX_READ]]


def _speaks_to(query: Query, content: set[str], entry: IndexedObservation) -> bool:
    """True where an observation holds something of the question; what was said, over half of it."""
    if not content:
        return False
    shared = len(content & entry.stems)
    if entry.observation.source in ("speech", "screen_text"):
        return 2 * shared > len(content)
    return shared > 0 or any(entry.meets(w) > 0 for w in query.words)


def _read(query: Query, entry: IndexedObservation, claims: Sequence[Claim], asked: str) -> Reading:
    observation = entry.observation
    text = observation.text
    if observation.source == "speech":
        who = entry.speaker or "somebody"
        return Reading(entry, "holds out", f"{who} {'asked' if '?' in text else 'said'}")
    if observation.source == "screen_text":
        return Reading(entry, "holds out", "a text says")
    if observation.source in ("object", "sound"):
        appears = query.visible and all(entry.meets(w) > 0 for w in query.words) and query.words
        gone = observation.data.get("event") == "leaves" or _GONE.search(text)
        if appears and not gone:
            return Reading(entry, "says")
    if not has_parser():
        label = judge_question_words([text], asked).label
        return Reading(entry, _STANCES[label])
    statements = read(text)
    if not claims or not statements:
        return Reading(entry, "silent")
    if all(_exists(claim) for claim in claims) and _shows(statements, claims):
        return Reading(entry, "says")
    verdict = judge_claims([(EvidenceLine(text), s) for s in statements], claims)
    if verdict.label == "entailed":
        return Reading(entry, "says")
    if verdict.label == "contradicted":
        # Turned on at eight does not deny that it was turned off at nine; a state does.
        denied = verdict.by == "polarity" or all(c.predicate == "be" for c in claims)
        return Reading(entry, "denies" if denied else "silent")
    for statement in statements:
        if not statement.happened and match_claim(statement, claims[0]).entailed:
            return Reading(entry, "holds out", _how(statement))
    return Reading(entry, "silent")


_STANCES: dict[str, Stance] = {
    "entailed": "says",
    "contradicted": "denies",
    "not told": "silent",
}


def _exists(claim: Claim) -> bool:
    """True for "was there a bus", "did I see a bus": that a thing was there, no more."""
    if not claim.positive or not claim.happened or claim.places or claim.states or claim.manner:
        return False
    thing = claim.subject if claim.predicate in ("be", "appear") else claim.object
    is_seen = claim.predicate == "see" and claim.subject is not None and claim.subject.head == "i"
    return (
        thing is not None and (is_seen or claim.predicate in ("be", "appear")) and not thing.person
    )


def _shows(statements: Sequence[Claim], claims: Sequence[Claim]) -> bool:
    """True where each thing asked for takes part in what happened."""
    parts = [
        p
        for s in statements
        if s.happened and s.positive
        for p in (s.subject, s.object, s.recipient, *(p for _, p in s.places))
        if p is not None
    ]
    things = [c.object if c.predicate == "see" else c.subject for c in claims]
    return all(any(match_participant(p, thing).entailed for p in parts) for thing in things)


def _how(statement: Claim) -> str:
    if statement.speaker:
        return f"only told by {statement.speaker}"
    ways = statement.modality
    if "asked" in ways:
        return "asked, not answered"
    if "told to" in ways:
        return "a reminder or a request; whether it was done was not observed"
    if ways & {"will", "wants", "should", "must", "promises", "supposed"}:
        return "a plan or a wish; whether it was done was not observed"
    return "held possible or not finished; whether it was so was not observed"


def alternatives(question: str) -> tuple[str, str] | None:
    """The two yes/no questions of an either/or question: "in the bowl or on the shelf?"."""
    body = question.strip().rstrip("?").strip()
    if body.lower().count(" or ") != 1 or not re.match(
        r"(did|do|does|was|were|is|are|has|have|had)\b", body, re.I
    ):
        return None
    first, _, second = re.sub(r"\beither ", "", body, flags=re.I).partition(" or ")
    words, head = first.split(), second.split()[0].lower()
    kind = next((k for k in _HEADS if k.fullmatch(head)), None)
    at = len(words) - 1
    if kind is not None:
        at = max((i for i, w in enumerate(words) if kind.fullmatch(w.lower())), default=at)
    return f"{first}?", f"{' '.join(words[:at])} {second}?"


_HEADS = (
    re.compile(
        r"in|on|at|under|behind|beside|near|into|onto|to|from|with|before|after|above|below"
    ),
    re.compile(r"a|an|the|my|your|his|her|our|their|its|this|that"),
    re.compile(r"i|he|she|we|they|you"),
)
