"""retrieve: the moments that recall finds, as numbered notes under a stated budget.

What a person gets by `ask` with a reader. CapMem's `caption` reads everything, which for a real
week is a million tokens a question; this reads what speaks for the question, with what was observed
around it. Ours, not from a paper.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field

from egomem.answer.context import Notes, notes, scope
from egomem.answer.estimate import Effort, Outlook
from egomem.answer.prompts import RETRIEVE, reader_texts
from egomem.answer.reader import ask_reader
from egomem.answer.reread import reread_reply
from egomem.answer.strategy import ReaderSettings, Task, register
from egomem.defaults import DEFAULT_WINDOW
from egomem.memory import View
from egomem.models import TextPart
from egomem.models.limits import BYTES_PER_TOKEN
from egomem.recall import Hit, Query, explain, find, read_for
from egomem.recall.profile import profile_of
from egomem.recall.reading import instant_of
from egomem.records import OBSERVED_SOURCES, Answer, Source, Status

NOTE_TOKENS = 12
"""A note's number, time and line, beside its text."""


class RetrieveSettings(ReaderSettings):
    """How much is read, and of what; `format` and the like are the reader's.

    `budget`: tokens of notes at most (estimated from their bytes). `moments`: the most windows of
    `window` seconds that are chosen for what they say; `neighbours` of each are read, too.
    `profile`: of recall. `sources`: what is read; () for all that the memory holds.
    """

    budget: int = Field(default=12_000, ge=200)
    moments: int = Field(default=40, ge=1)
    neighbours: int = Field(default=1, ge=0)
    window: float = Field(default=DEFAULT_WINDOW, gt=0)
    profile: str = "default"
    sources: tuple[Source, ...] = ()


def _effort(outlook: Outlook) -> Effort:
    """A whole memory that is smaller than the budget is read no further than it goes."""
    tokens = min(outlook.settings.budget, outlook.text_tokens)
    return Effort(1, 0, tokens, outlook.reply_tokens)


@register(
    "retrieve",
    RetrieveSettings,
    reads=OBSERVED_SOURCES,
    prompts=reader_texts(RETRIEVE),
    reread=reread_reply,
    version="1",
    estimate=_effort,
)
async def retrieve(task: Task[RetrieveSettings]) -> Answer:
    """Answers from the moments that recall finds and their neighbours, under a budget of tokens."""
    settings, question = task.settings, task.question
    view = scope(task.view, question)
    if settings.sources:
        view = view.narrow(sources=settings.sources)
    options = [o.text for o in question.options]
    query = read_for(view, question.text, options, now=instant_of(view, question.at))
    task.note("read", **explain(query))
    hits, remarks = await asyncio.to_thread(_find, task, view, query)
    context = _within_budget(view, hits, settings.budget)
    task.note(
        "notes",
        moments=sum(hit.seed for hit in hits),
        observations=len(context.observations),
        tokens=_tokens(context.text),
        notes=list(remarks),
    )
    # Asking a reader over nothing would pay for a guess.
    if not context.observations:
        return Answer(
            text="",
            status=Status.ABSTAINED,
            strategy="retrieve",
            reason="nothing in the memory speaks for the question",
        )
    return await ask_reader(
        task,
        settings,
        RETRIEVE,
        [TextPart(context.text)],
        evidence="the numbers of the notes that the answer rests on",
        parse_evidence=context.parse_evidence,
        strategy="retrieve",
    )


def _find(
    task: Task[RetrieveSettings], view: View, query: Query
) -> tuple[list[Hit], tuple[str, ...]]:
    settings = task.settings
    profile = replace(
        profile_of(settings.profile, embedder=task.embedder is not None),
        seeds=settings.moments,
        neighbours=settings.neighbours,
    )
    result = find(
        view,
        query,
        k=settings.moments * (1 + 2 * settings.neighbours),
        window=settings.window,
        profile=profile,
        embedder=task.embedder,
    )
    return result.hits, result.notes


def _within_budget(view: View, hits: list[Hit], budget: int) -> Notes:
    """The notes of as many moments, best first, as the budget takes, in order of time.

    A moment is taken whole or not at all, but for the best one, of which as much is read as fits:
    half a moment next to others would hide what was observed in it.
    """
    chosen: dict[str, None] = {}
    spent = 0
    for number, hit in enumerate(_best_first(hits)):
        fresh = [o for o in hit.observations if o.id not in chosen]
        costs = [_tokens(o.text) + NOTE_TOKENS for o in fresh]
        if spent + sum(costs) > budget:
            if number:
                continue
            while costs and sum(costs) > budget:
                costs.pop()
            fresh = fresh[: len(costs)]
        chosen |= dict.fromkeys(o.id for o in fresh)
        spent += sum(costs)
    return notes(view, view.observations(ids=list(chosen)) if chosen else [])


def _best_first(hits: list[Hit]) -> Iterator[Hit]:
    """Each seed, then what adjoins it: of a small budget a moment and its neighbours are worth more
    than the next best moment."""
    seeds = [hit for hit in hits if hit.seed]
    beside = [hit for hit in hits if not hit.seed]
    for seed in seeds:
        yield seed
        for hit in beside:
            gap = max(hit.span.start - seed.span.end, seed.span.start - hit.span.end)
            if hit.recording == seed.recording and gap < hit.span.length:
                yield hit


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)
