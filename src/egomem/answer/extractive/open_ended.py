"""Open questions: a direct line where spans and sources give one, the quotes, or an abstention."""

from __future__ import annotations

from egomem.answer.extractive.abstain import abstain
from egomem.answer.extractive.anchors import FULL
from egomem.answer.extractive.direct_answers import Case, primary, tell
from egomem.answer.extractive.evidence_match import EvidenceMatch
from egomem.answer.extractive.settings import NAME, ExtractiveSettings
from egomem.answer.extractive.spans import Writer
from egomem.answer.extractive.view_index import IndexedObservation
from egomem.answer.strategy import Task
from egomem.records import Answer, Status
from egomem.text import stems, tokens

NEAR = 0.8
"""Of what the best observation holds, the share at which another one speaks to the question.

Where one holds all of it, only such count: the last time that the *red* cup was washed is not the
last time that a cup was.
"""

MOST = 8
"""Pieces of evidence in an answer."""


def open_answer(task: Task[ExtractiveSettings], reading: EvidenceMatch) -> Answer:
    """Tells what the question's kind asks for, if its support reaches the threshold."""
    writer = Writer(task.view)
    score = reading.support.score
    ranked = sorted(
        ((c, s) for c, s in zip(reading.coverage, reading.scene.seen, strict=True) if c > 0),
        key=lambda entry: (-entry[0], entry[1].span.start),
    )
    if score < task.settings.support:
        near = ranked[0][1] if ranked and ranked[0][0] >= task.settings.support / 2 else None
        return abstain(task, score, _why(reading, near, writer))
    top = ranked[0][0] if ranked else 0.0
    least = top if top >= FULL else NEAR * top
    strongest = primary([s for c, s in ranked if c >= least - 1e-9])
    best = sorted(strongest, key=lambda s: (s.span.start, s.span.end))
    told = tell(
        Case(
            scene=reading.scene,
            ask=reading.ask,
            coverage=reading.coverage,
            best=tuple(best),
            strongest=tuple(strongest),
            anchor=reading.anchor,
            writer=writer,
            gap=task.settings.episode_gap,
            quotes=task.settings.quotes,
        )
    )
    if told is None:
        return abstain(task, score, "what was observed does not tell that")
    held = {id(s): c for c, s in zip(reading.coverage, reading.scene.seen, strict=True)}
    evidence = tuple(writer.evidence(s, held.get(id(s), 0.0)) for s in told.seen[:MOST])
    task.note("told", kind=reading.ask.kind, line=told.line, candidates=len(best))
    reason = f"support {score:.2f} of at least {task.settings.support:.2f}"
    if reading.unresolved:
        reason += f"; a time could not be placed: {reading.unresolved[0]}"
    return Answer(
        text=told.line,
        status=Status.PARSED,
        strategy=NAME,
        evidence=evidence,
        confidence=round(score, 4),
        reason=reason,
        trace=tuple(task.trace),
    )


def _why(reading: EvidenceMatch, nearest: IndexedObservation | None, writer: Writer) -> str:
    """Why the support is too small, with the nearest observation, if any."""
    missing = list(reading.support.missing)
    if reading.unresolved:
        reason = f"a time could not be placed: {reading.unresolved[0]}"
    elif reading.ask.kind == "order":
        reason = "not all of these were observed"
    elif reading.people and reading.support.share < 0.5:
        reason = f"what comes nearest was not said by {reading.people[0]}"
    elif missing:
        words = ", ".join(_asked_form(reading.ask.text, missing))
        verb = "seen" if reading.ask.seen else "observed"
        reason = f"nothing was {verb} that tells of {words}"
    elif reading.ask.sources and nearest is None:
        kind = "words were heard" if reading.ask.sources[0] == "speech" else "text was read"
        reason = f"no {kind} there"
    elif nearest is None and reading.ask.times:
        reason = "nothing was observed at that time"
    else:
        reason = "no observation holds enough of what the question asks"
    if nearest is not None:
        text = " ".join(nearest.observation.text.split())
        reason += (
            f" (nearest: “{text[:80]}{'…' if len(text) > 80 else ''}”, {writer.span(nearest)})"
        )
    return reason


def _asked_form(question: str, missing: list[str]) -> list[str]:
    """The question's own words for stems."""
    words: dict[str, str] = {}
    for word in tokens(question):
        words.setdefault(stems([word])[0], word)
    return [f"“{words.get(stem, stem)}”" for stem in missing]
