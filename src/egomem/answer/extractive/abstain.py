"""An answer withheld, in words that claim no more than is known."""

from __future__ import annotations

from egomem.answer.extractive.settings import NAME, ExtractiveSettings
from egomem.answer.strategy import Task
from egomem.records import Answer, Status


def abstain(
    task: Task[ExtractiveSettings],
    confidence: float,
    reason: str,
    scores: dict[str, float] | None = None,
) -> Answer:
    """Not observed is not the same as absent, and the text says so."""
    task.note("abstained", reason=reason)
    return Answer(
        # "It did not happen" would be a claim that no memory can make.
        text=f"Not in this memory: {reason}.",
        status=Status.ABSTAINED,
        strategy=NAME,
        scores=scores or {},
        confidence=round(confidence, 4),
        reason=reason,
        trace=tuple(task.trace),
    )
