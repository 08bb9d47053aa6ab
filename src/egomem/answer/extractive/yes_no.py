"""Answers to yes/no, either/or and "how long ago" questions, by what observations claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from egomem.answer.extractive.answer_parts import (
    AnswerParts,
    DirectAnswer,
    primary,
    quote,
    unique,
)
from egomem.answer.extractive.spans import seconds_text
from egomem.answer.extractive.verdicts import alternatives, readings
from egomem.answer.extractive.view_index import IndexedObservation
from egomem.claims import has_parser

UNSURE = 0.5
"""Sureness of a line that quotes what lies near a yes/no question, and gives no verdict."""


def whether(parts: AnswerParts) -> DirectAnswer | None:
    """Yes or No where an observation says so; else what lies near, without a verdict."""
    if both := alternatives(parts.query.text):
        return _either(parts, both)
    read_entries = readings(parts.query, parts.ranked)
    says = [r.entry for r in read_entries if r.stance == "says"]
    denies = [r.entry for r in read_entries if r.stance == "denies"]
    is_state = re.match(r"\s*(is|are|was|were)\b", parts.query.text.lower())
    if says and denies and is_state:
        # A state is what it was last.
        latest = max((*says, *denies), key=lambda e: e.span.end)
        says, denies = ([latest], []) if latest in says else ([], [latest])
    if says or denies:
        entries = tuple(unique(primary(says or denies))[: parts.quotes])
        verdict = "Yes" if says else "No"
        return DirectAnswer(
            f"{verdict}, as far as was observed: {_quotes(parts, entries)}", entries
        )
    hedged = [r for r in read_entries if r.stance == "holds out"]
    if hedged:
        lines = [f"{r.why}: {quote(r.entry)} ({parts.writer.span(r.entry)})" for r in hedged]
        shown_lines = "; ".join(lines[: parts.quotes])
        return DirectAnswer(
            f"Not observed itself; {shown_lines}",
            tuple(r.entry for r in hedged[: parts.quotes]),
            UNSURE,
        )
    near = tuple(unique([r.entry for r in read_entries if r.entry in parts.best])[: parts.quotes])
    if not near:
        return None
    return DirectAnswer(f"Neither yes nor no was observed; near it: {_quotes(parts, near)}", near,
                        UNSURE)  # fmt: skip


def plain_verdict(parts: AnswerParts) -> DirectAnswer | None:
    """A Yes or No that an observation gives, whatever words it shares with the question."""
    if parts.query.kind != "whether" or parts.query.relation is not None:
        return None
    direct = whether(parts)
    return direct if direct is not None and direct.sureness == 1.0 else None


def _either(parts: AnswerParts, questions: tuple[str, str]) -> DirectAnswer | None:
    """The one side that is observed; both or neither is no answer."""
    sides = [
        [r.entry for r in readings(parts.query, parts.ranked, q) if r.stance == "says"]
        for q in questions
    ]
    if bool(sides[0]) == bool(sides[1]):
        return None
    entries = tuple(unique(sides[0] or sides[1])[: parts.quotes])
    return DirectAnswer(_quotes(parts, entries), entries)


def _quotes(parts: AnswerParts, entries: Sequence[IndexedObservation]) -> str:
    in_time = sorted(entries, key=lambda e: e.span.start)
    return "; ".join(f"{quote(entry)} ({parts.writer.span(entry)})" for entry in in_time)


def as_observed(parts: AnswerParts) -> AnswerParts:
    """Without what denies the event asked about, or only plans or asks for it."""
    if not has_parser():
        return parts
    stances = {id(r.entry): r.stance for r in readings(parts.query, parts.best)}

    def counts(entry: IndexedObservation) -> bool:
        stance = stances.get(id(entry), "silent")
        spoken = entry.observation.source in ("speech", "screen_text")
        return stance != "denies" and (stance != "holds out" or spoken)

    return replace(
        parts,
        best=tuple(e for e in parts.best if counts(e)),
        strongest=tuple(e for e in parts.strongest if counts(e)),
    )


def ago(parts: AnswerParts) -> DirectAnswer | None:
    """How long before the question the event was last (or first) observed."""
    placed = [e for e in parts.best if e.timeline == ""]
    if parts.now is None or not placed:
        return None
    past = [e for e in placed if e.span.start <= parts.now]
    if not past:
        return None
    pick = min if parts.query.order == "first" else max
    entry = pick(past, key=lambda e: e.span.start)
    length = elapsed_text(max(0.0, parts.now - entry.span.end))
    line = f"About {length} ago ({parts.writer.span(entry)}): {quote(entry)}"
    return DirectAnswer(line, (entry,))


def elapsed_text(seconds: float) -> str:
    """A length of time in its largest unit: "3 days", "2 hours"."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        # 23.9 hours are a day for whoever asks how long ago.
        if seconds >= 0.95 * size:
            number = round(seconds / size)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return seconds_text(seconds)
