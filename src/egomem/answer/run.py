"""Running a strategy on a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from egomem.answer.strategy import Budget, FrameSource, Task, get
from egomem.records import Answer, Question

if TYPE_CHECKING:
    from egomem.memory import View
    from egomem.models import ModelClient
    from egomem.models.embedders import Embedder


async def answer(
    question: Question,
    view: View,
    strategy: str = "extractive",
    *,
    settings: Mapping[str, Any] | BaseModel | None = None,
    others: Mapping[str, Mapping[str, Any]] | None = None,
    models: ModelClient | None = None,
    embedder: Embedder | None = None,
    frames: FrameSource | None = None,
    budget: Budget | None = None,
    known: dict[str, asyncio.Task[Answer]] | None = None,
) -> Answer:
    """One strategy's answer to one question, from what `view` holds.

    `settings` are of the strategy, `others` of the strategies that it builds on, by name. `known`
    holds the answers of strategies to this same question, so that each is computed once however
    many ask for it; pass one dict (and one `others`) to several calls to share them. An answer's
    usage counts what it rests on, too. Raises UsageError for an unknown strategy and ConfigError
    for a setting that it has not.
    """
    get(strategy)
    known = {} if known is None else known
    given = {**(others or {}), **({strategy: settings} if settings is not None else {})}

    def memo(name: str) -> asyncio.Task[Answer]:
        if name not in known:
            known[name] = asyncio.create_task(run(name, given.get(name)))
        return known[name]

    async def run(name: str, values: Mapping[str, Any] | BaseModel | None) -> Answer:
        frame = get(name)
        task = Task(
            question=question,
            view=view,
            settings=frame.configure(values),
            models=models,
            embedder=embedder,
            frames=frames,
            memo=memo,
            budget=budget or Budget(),
        )
        began = time.perf_counter()
        said = await frame.run(task)
        spent = said.usage.model_copy(update={"seconds": time.perf_counter() - began})
        return said.model_copy(update={"usage": spent, "trace": tuple(task.trace)})

    return await memo(strategy)
