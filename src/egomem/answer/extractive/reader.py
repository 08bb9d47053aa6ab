"""From a task to an answer: read the question, match it with the memory, and answer or abstain."""

from __future__ import annotations

from egomem.answer.extractive.abstain import abstain
from egomem.answer.extractive.evidence_match import match_task
from egomem.answer.extractive.multiple_choice import choose
from egomem.answer.extractive.open_ended import open_answer
from egomem.answer.extractive.settings import NAME, ExtractiveSettings
from egomem.answer.strategy import Task, register
from egomem.recall import explain
from egomem.records import OBSERVED_SOURCES, Answer

# No prompt shows that this reader has changed: raise it with each change that moves answers.
# "2" is the reader whose candidates come from recall, "3" the one that reads what is claimed.
VERSION = "3"


@register(NAME, ExtractiveSettings, reads=OBSERVED_SOURCES, version=VERSION)
async def extractive(task: Task[ExtractiveSettings]) -> Answer:
    """Answers out of the observations alone: quotes with times, or the best-supported option."""
    match = match_task(task)
    matches, anchor, support = match.index.matches, match.anchor, match.support
    task.note("read", **explain(match.query))
    task.note(
        "matches",
        matching=matches.matching,
        read=len(match.index.entries),
        cut=matches.cut,
        observations=matches.view.count(),
    )
    if anchor is not None:
        task.note(
            "anchor",
            coverage=round(anchor.coverage, 3),
            observation=anchor.entry.observation.id if anchor.entry else None,
            text=anchor.entry.observation.text if anchor.entry else None,
        )
    task.note(
        "support",
        score=round(support.score, 4),
        coverage=round(support.coverage, 4),
        share=round(support.share, 4),
        missing=list(support.missing),
        threshold=task.settings.support,
    )
    if not matches.view.count():
        return abstain(task, 0.0, "nothing was observed in this part of the memory")
    return choose(task, match) if task.question.options else open_answer(task, match)
