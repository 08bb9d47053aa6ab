"""Evidence and a claim: entailed, contradicted, or not told.

A pair speaks of one occasion. Each statement of the claim has to be told by one statement of the
evidence, so that two findings never join into a third. What the parser leaves unread, and any verb
that the lexicon does not know, leaves the claim open: silence is the default.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from egomem.claims.matching import Match, match_claim
from egomem.claims.model import Claim, EvidenceLine, Judgement
from egomem.claims.parser import has_parser
from egomem.claims.reading import quotes_in, read
from egomem.claims.words import judge_words, same_words, speaks_of_text
from egomem.timeline import Span

TOLERANCE_S = 1.0
"""Seconds by which a finding's span may stand out over the claim's."""

_ORDER = re.compile(r"\b(?:before|after|until)\b", re.IGNORECASE)

Evidence = str | Sequence[str | EvidenceLine]


def judge(evidence: Evidence, claim: str, span: Span | None = None) -> Judgement:
    """What the evidence makes of a claim, which speaks of `span` if that is given.

    A finding proves a claim of a span only if it lies within it: what was so at some time of
    0-40 s need not have been so at 3 s.
    """
    lines = lines_of(evidence)
    quotes = quotes_in(claim)
    if quotes:
        return _placed(_judge_quotes(lines, claim, quotes), lines, span)
    for line in lines:
        if same_words(line.text, claim):
            verdict = Judgement("entailed", "it is said in the same words", (line.text,))
            return _placed(verdict, lines, span)
    if not has_parser():
        return _placed(judge_words([line.text for line in lines], claim), lines, span)
    claims = read(claim)
    if not claims:
        return Judgement("not told", "the claim could not be read as a statement")
    stated = tuple(
        (line, c)
        for line in lines
        if covers(line.span, span, touching=True)
        for c in read(line.text)
    )
    verdict = judge_claims(stated, claims, span)
    if verdict.label == "entailed" and _ORDER.search(claim) and not _reads_order(claims):
        return Judgement("not told", "the order that it claims could not be read", verdict.pieces)
    return verdict


def _reads_order(claims: Sequence[Claim]) -> bool:
    placed = any(relation in ("before", "after") for c in claims for relation, _ in c.places)
    return placed or any(c.follows for c in claims)


def lines_of(evidence: Evidence) -> tuple[EvidenceLine, ...]:
    if isinstance(evidence, str):
        return (EvidenceLine(evidence),)
    return tuple(EvidenceLine(e) if isinstance(e, str) else e for e in evidence)


def judge_claims(
    stated: Sequence[tuple[EvidenceLine, Claim]], claims: Sequence[Claim], span: Span | None = None
) -> Judgement:
    """Judges claims that were read already against statements that were read already."""
    verdicts = [_judge_one(stated, claim, span) for claim in claims]
    worst = next((v for v in verdicts if v.label == "contradicted"), None)
    if worst is not None:
        return worst
    if len(claims) > 1 and (ordered := _order(stated, claims)) is not None:
        return ordered
    silent = next((v for v in verdicts if v.label == "not told"), None)
    if silent is not None:
        return silent
    pieces = tuple(dict.fromkeys(p for v in verdicts for p in v.pieces))
    return Judgement("entailed", "the evidence says so", pieces)


def _judge_one(
    stated: Sequence[tuple[EvidenceLine, Claim]], claim: Claim, span: Span | None
) -> Judgement:
    nearest = "nothing in the evidence speaks of it"
    least = 99
    contradiction: Judgement | None = None
    for line, statement in stated:
        match = match_claim(statement, claim)
        if match.open:
            if len(match.open) < least:
                least, nearest = len(match.open), f"not told: {', '.join(match.open)}"
            continue
        if statement.modality != claim.modality or statement.speaker != claim.speaker:
            if not match.conflicts:
                nearest, least = _held_out(statement, claim), 0
                if _cannot(statement, claim):
                    contradiction = Judgement("contradicted", "the evidence denies it",
                                              (statement.text,), "polarity")  # fmt: skip
            continue
        verdict = _verdict(statement, claim, match)
        if verdict.label == "entailed" and claim.unread:
            least, nearest = 0, f"not told: {', '.join(claim.unread)}"
        elif verdict.label == "entailed" and covers(line.span, span):
            return verdict
        elif verdict.label == "contradicted" and covers(line.span, span):
            contradiction = contradiction or verdict
        elif verdict.label != "not told":
            nearest, least = "the evidence is of another time", 0
    return contradiction or Judgement("not told", nearest)


def _verdict(statement: Claim, claim: Claim, match: Match) -> Judgement:
    pieces = (statement.text,)
    if statement.positive == claim.positive:
        if match.conflicts:
            kind, words = match.conflicts[0]
            if not claim.positive:
                return Judgement("not told", f"what is denied differs: {words}")
            return Judgement("contradicted", words, pieces, kind)
        if not claim.positive and not _as_wide(statement, claim):
            return Judgement("not told", "the evidence denies something narrower")
        return Judgement("entailed", "the evidence says so", pieces)
    if match.conflicts:
        return Judgement("not told", "it is denied of something else")
    if statement.positive or _as_wide(statement, claim) or _same_heads(statement, claim):
        return Judgement("contradicted", "the evidence denies it", pieces, "polarity")
    return Judgement("not told", "the evidence denies something narrower")


def _as_wide(denied: Claim, claim: Claim) -> bool:
    """True where what is denied holds no more than the claim: to deny more denies less."""
    return match_claim(replace(claim, positive=True), replace(denied, positive=True)).entailed


def _same_heads(denied: Claim, claim: Claim) -> bool:
    """True where the same event is denied, with a detail that the claim leaves out."""
    return denied.predicate == claim.predicate and all(
        (a is None) == (b is None)
        for a, b in ((denied.subject, claim.subject), (denied.object, claim.object))
    )


def _cannot(statement: Claim, claim: Claim) -> bool:
    return (
        not statement.positive
        and claim.positive
        and not statement.modality
        and not statement.speaker
        and claim.modality == {"can"}
    )


def _held_out(statement: Claim, claim: Claim) -> str:
    if statement.speaker != claim.speaker:
        return f"{statement.speaker} says so" if statement.speaker else "nobody is quoted for it"
    return f"it is told as “{', '.join(sorted(statement.modality)) or 'so'}” only"


def _order(
    stated: Sequence[tuple[EvidenceLine, Claim]], claims: Sequence[Claim]
) -> Judgement | None:
    """The claim's own order against the evidence's: None where it claims none, or both agree."""
    for later in claims:
        for position in later.follows:
            earlier = next((c for c in claims if c.position == position), None)
            if earlier is None:
                continue
            agree = _placed_before(stated, earlier, later)
            if agree is None:
                return Judgement("not told", "their order is not told")
            if not agree:
                return Judgement("contradicted", "it was the other way round", (), "order")
    return None


def _placed_before(
    stated: Sequence[tuple[EvidenceLine, Claim]], earlier: Claim, later: Claim
) -> bool | None:
    for line, a in stated:
        for other, b in stated:
            if not (match_claim(a, earlier).entailed and match_claim(b, later).entailed):
                continue
            if line is other:
                if a.position in _before(b, [c for x, c in stated if x is line]):
                    return True
                if b.position in _before(a, [c for x, c in stated if x is line]):
                    return False
            elif line.span is not None and other.span is not None:
                if line.span.end <= other.span.start:
                    return True
                if other.span.end <= line.span.start:
                    return False
    return None


def _before(claim: Claim, claims: Sequence[Claim]) -> set[int]:
    """The positions of all claims that are told to come before one."""
    by_position = {c.position: c for c in claims}
    positions: set[int] = set()
    todo = [claim.position]
    while todo:
        current = by_position.get(todo.pop())
        if current is None:
            continue
        for position in (*current.follows, *current.sequence):
            if position not in positions:
                positions.add(position)
                todo.append(position)
    return positions


def covers(observed: Span | None, claimed: Span | None, *, touching: bool = False) -> bool:
    """True where evidence of one span proves a claim of another; or, `touching`, meets it."""
    if observed is None or claimed is None:
        return True
    if touching:
        return (
            observed.start <= claimed.end + TOLERANCE_S
            and claimed.start <= observed.end + TOLERANCE_S
        )
    return (
        observed.start >= claimed.start - TOLERANCE_S and observed.end <= claimed.end + TOLERANCE_S
    )


def _placed(verdict: Judgement, lines: Sequence[EvidenceLine], span: Span | None) -> Judgement:
    if verdict.label != "entailed" or span is None:
        return verdict
    deciding = [line for line in lines if line.text in verdict.pieces]
    if any(covers(line.span, span) for line in deciding):
        return verdict
    return Judgement("not told", "the evidence is of another time", verdict.pieces)


def _judge_quotes(lines: Sequence[EvidenceLine], claim: str, quotes: Sequence[str]) -> Judgement:
    """Words that a claim quotes must have been quoted; what shows them must be what is named."""
    for line in lines:
        if set(quotes) <= set(quotes_in(line.text)):
            other = speaks_of_text(line.text, claim)
            if other:
                return Judgement("not told", f"not told: {', '.join(other)}")
            return Judgement("entailed", "the words were read or heard", (line.text,))
    return Judgement("not told", f"“{quotes[0]}” was not read or heard")
