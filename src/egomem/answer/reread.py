"""Reading stored replies again: what the raw replies in an answer's trace say today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from egomem.answer.reader import read_reply, schema_for
from egomem.answer.strategy import ReaderSettings
from egomem.models import Reply, TokenLogprob
from egomem.models.reply_parsing import parse_reply
from egomem.records import Answer, Question, Status

Step = Mapping[str, Any]


def reread_reply(
    question: Question,
    answer: Answer,
    settings: ReaderSettings,
    starts: Mapping[str, Answer],
    *,
    evidence: bool = True,
) -> Answer | None:
    """The answer of a strategy that asks one reader once, from its last reply; None without one.

    `evidence`: whether the reader was asked to list some. What it listed stays as it was read: the
    notes and frames that it means are not in the trace.
    """
    step = next((s for s in reversed(steps_of(answer)) if s.get("step") == "asked"), None)
    if step is None:
        return None
    again = read_step(question, step, settings, answer.strategy, evidence=evidence)
    kept = {"evidence", "usage", "trace", "confidence"}
    return again.model_copy(update={field: getattr(answer, field) for field in kept})


def read_step(
    question: Question, step: Step, settings: ReaderSettings, strategy: str, *, evidence: bool
) -> Answer:
    """The answer in a reader's reply that a step of a trace holds."""
    schema = None
    if settings.format == "scores" or not question.options:
        schema = schema_for(question, abstain=settings.abstain, evidence=evidence and settings.cite)
    return read_reply(question, reply_of(step, schema), strategy=strategy)


def steps_of(answer: Answer) -> list[Step]:
    """The steps of a trace; one that is no object is empty."""
    return [step if isinstance(step, dict) else {} for step in answer.trace]


def reply_of(step: Step, schema: Any) -> Reply:
    """The reply of a step, its text read out of the raw one as it is now."""
    status = Status(step["status"])
    raw = str(step.get("raw") or "")
    detail = str(step.get("detail") or "")
    thoughts = str(step.get("reasoning") or "")
    if status not in (Status.PARSED, Status.UNPARSABLE) or not (raw or thoughts):
        return Reply(status=status, raw=raw, detail=detail)
    parsed = parse_reply(raw, thoughts, step.get("finish"), schema)
    tokens = step.get("logprobs")
    return Reply(
        status=parsed.status,
        text=parsed.text,
        raw=raw,
        data=parsed.data,
        detail=parsed.detail,
        logprobs=tuple(TokenLogprob.model_validate(t) for t in tokens) if tokens else None,
    )
