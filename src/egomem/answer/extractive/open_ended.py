"""Open questions: a direct line where spans and sources give one, the quotes, or an abstention."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.answer.extractive.abstain import abstain
from egomem.answer.extractive.anchors import FULL
from egomem.answer.extractive.answer_parts import AnswerParts, primary
from egomem.answer.extractive.direct_answers import direct_answer
from egomem.answer.extractive.evidence_match import EvidenceMatch
from egomem.answer.extractive.settings import NAME, ExtractiveSettings
from egomem.answer.extractive.spans import Writer
from egomem.answer.extractive.verdicts import is_empty
from egomem.answer.extractive.view_index import IndexedObservation
from egomem.answer.extractive.yes_no import plain_verdict
from egomem.answer.strategy import Task
from egomem.recall.reading import instant_of
from egomem.records import Answer, Status
from egomem.text import stems, tokens

NEAR = 0.8
"""Of what the best observation holds, the share at which another one speaks to the question.

Where one holds all of it, only such count: the last time that the *red* cup was washed is not the
last time that a cup was.
"""

MAX_EVIDENCE = 8
"""Pieces of evidence in an answer."""


def open_answer(task: Task[ExtractiveSettings], match: EvidenceMatch) -> Answer:
    """Tells what the question's kind asks for, if its support reaches the threshold."""
    if is_empty(task.question.text):
        return abstain(task, 0.0, "the question names nothing to look for; ask a question")
    writer = Writer(task.view)
    score = match.support.score
    ranked = sorted(
        ((c, e) for c, e in zip(match.coverage, match.index.entries, strict=True) if c > 0),
        key=lambda pair: (-pair[0], pair[1].span.start),
    )
    top = ranked[0][0] if ranked else 0.0
    least = top if top >= FULL else NEAR * top
    strongest = primary([entry for c, entry in ranked if c >= least - 1e-9])
    best = sorted(strongest, key=lambda e: (e.span.start, e.span.end))
    parts = AnswerParts(
        index=match.index,
        query=match.query,
        coverage=match.coverage,
        best=tuple(best),
        strongest=tuple(strongest),
        anchor=match.anchor,
        writer=writer,
        gap=task.settings.episode_gap,
        quotes=task.settings.quotes,
        ranked=tuple(entry for _, entry in ranked),
        now=_now(task),
    )
    direct = direct_answer(parts) if score >= task.settings.support else plain_verdict(parts)
    if direct is None and score < task.settings.support:
        near = ranked[0][1] if ranked and ranked[0][0] >= task.settings.support / 2 else None
        return abstain(task, score, _why(match, near, writer))
    if direct is None:
        return abstain(task, score, "what was observed does not tell that")
    coverage_of = {id(e): c for c, e in zip(match.coverage, match.index.entries, strict=True)}
    evidence = tuple(
        writer.evidence(entry, coverage_of.get(id(entry), 0.0))
        for entry in direct.entries[:MAX_EVIDENCE]
    )
    task.note("told", kind=match.query.kind, line=direct.line, candidates=len(best))
    # Other words for the same event share few with the question, and are no less support.
    score = max(score, task.settings.support)
    reason = f"support {score:.2f} of at least {task.settings.support:.2f}"
    if match.unresolved:
        reason += f"; a time could not be placed: {match.unresolved[0]}"
    return Answer(
        text=direct.line,
        status=Status.PARSED,
        strategy=NAME,
        evidence=evidence,
        confidence=round(score * direct.sureness, 4),
        reason=reason,
        trace=tuple(task.trace),
    )


def _now(task: Task[ExtractiveSettings]) -> float | None:
    """POSIX seconds at which the question is asked: its own, else the end of what is held."""
    asked_at = instant_of(task.view, task.question.at or task.view.until)
    if asked_at is not None:
        return asked_at.timestamp()
    ends = [end for r in task.view.recordings() if (end := r.instant(r.duration))]
    return max((end.timestamp() for end in ends), default=None)


def _why(match: EvidenceMatch, nearest: IndexedObservation | None, writer: Writer) -> str:
    """Why the support is too small, with the nearest observation, if any."""
    query, missing = match.query, match.support.missing
    if match.unresolved:
        reason = f"a time could not be placed: {match.unresolved[0]}"
    elif query.kind == "order":
        reason = "not all of these were observed"
    elif query.speakers and match.support.share < 0.5:
        reason = f"what comes nearest was not said by {query.speakers[0]}"
    elif missing:
        words = ", ".join(_as_asked(query.text, missing))
        verb = "seen" if query.visible else "observed"
        reason = f"nothing was {verb} that tells of {words}"
    elif query.sources and nearest is None:
        kind = "words were heard" if query.sources[0] == "speech" else "text was read"
        reason = f"no {kind} there"
    elif nearest is None and query.times:
        reason = "nothing was observed at that time"
    else:
        reason = "no observation holds enough of what the question asks"
    if nearest is not None:
        text = " ".join(nearest.observation.text.split())
        reason += (
            f" (nearest: “{text[:80]}{'…' if len(text) > 80 else ''}”, {writer.span(nearest)})"
        )
    return reason


def _as_asked(question: str, missing: Sequence[str]) -> list[str]:
    """The question's own words for stems."""
    words: dict[str, str] = {}
    for word in tokens(question):
        words.setdefault(stems([word])[0], word)
    return [f"“{words.get(stem, stem)}”" for stem in missing]
