"""From a task to an answer: read the question, lay out the view, weigh, and tell or abstain."""

from __future__ import annotations

from typing import get_args

from egomem.answer.extractive.abstain import abstain
from egomem.answer.extractive.evidence_match import read_task
from egomem.answer.extractive.multiple_choice import choose
from egomem.answer.extractive.open_ended import open_answer
from egomem.answer.extractive.settings import NAME, ExtractiveSettings
from egomem.answer.strategy import Task, register
from egomem.records import Answer, Source


@register(NAME, ExtractiveSettings, reads=get_args(Source))
async def extractive(task: Task[ExtractiveSettings]) -> Answer:
    """Answers out of the observations alone: quotes with times, or the best-supported option."""
    reading = read_task(task)
    task.note(
        "read",
        kind=reading.ask.kind,
        words=[w.stem for w in reading.words],
        anchor=[w.stem for w in reading.ask.anchor],
        relation=reading.ask.relation,
        people=list(reading.people),
        sources=list(reading.ask.sources),
        observations=len(reading.scene.seen),
    )
    if reading.anchor is not None:
        task.note(
            "anchor",
            coverage=round(reading.anchor.coverage, 3),
            observation=reading.anchor.seen.observation.id if reading.anchor.seen else None,
            text=reading.anchor.seen.observation.text if reading.anchor.seen else None,
        )
    task.note(
        "support",
        score=round(reading.support.score, 4),
        coverage=round(reading.support.coverage, 4),
        share=round(reading.support.share, 4),
        missing=list(reading.support.missing),
        threshold=task.settings.support,
    )
    if not reading.scene.seen:
        return abstain(task, 0.0, "nothing was observed in this part of the memory")
    return choose(task, reading) if task.question.options else open_answer(task, reading)
