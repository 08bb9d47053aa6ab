"""Running a strategy on a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from egomem.answer.strategy import Budget, FrameSource, Task, get
from egomem.errors import ConfigError, UsageError
from egomem.recall import check_length
from egomem.records import Answer, Question
from egomem.timeline import Moment

if TYPE_CHECKING:
    from egomem.memory import View
    from egomem.models import ModelClient
    from egomem.models.embedders import Embedder


def question_of(
    question: str | Question, options: Sequence[str] = (), at: Moment | None = None
) -> Question:
    """The question that a person asks; with `options`, multiple choice, lettered in their order.

    Raises UsageError for a question or an option without text, for two options alike, and for a
    question that is too long.
    """
    if not isinstance(question, str):
        check_length(question.text, [option.text for option in question.options])
        return question
    check_length(question, options)
    if not question.strip():
        raise UsageError("the question is empty", "write what you want to know")
    if not all(option.strip() for option in options):
        raise UsageError("an option is empty", "give each --option a text")
    if len({option.strip().casefold() for option in options}) < len(options):
        raise UsageError("two options are the same", "give each --option a text of its own")
    return Question.of(question, tuple(options), at=at)


async def answer(
    question: Question,
    view: View,
    strategy: str = "extractive",
    *,
    settings: Mapping[str, Any] | BaseModel | None = None,
    dependency_settings: Mapping[str, Mapping[str, Any]] | None = None,
    models: ModelClient | None = None,
    embedder: Embedder | None = None,
    frames: FrameSource | None = None,
    budget: Budget | None = None,
    memo: dict[str, asyncio.Task[Answer]] | None = None,
) -> Answer:
    """One strategy's answer to one question, from what `view` holds.

    `settings` are of the strategy, `dependency_settings` of those that it starts from, by name.
    `memo` holds the answers of strategies to this same question, so that each is computed once
    however many ask for it; pass one dict (and the same settings) to several calls to share them.
    An answer's usage counts what it rests on, too. Raises UsageError for an unknown strategy, and
    ConfigError for an unknown setting or where a strategy asks for an answer that it does not
    declare.
    """
    get(strategy)
    answers = {} if memo is None else memo
    given: dict[str, Mapping[str, Any] | BaseModel] = {**(dependency_settings or {})}
    if settings is not None:
        given[strategy] = settings

    def answer_of(name: str) -> asyncio.Task[Answer]:
        if name not in answers:
            answers[name] = asyncio.create_task(run(name, given.get(name)))
        return answers[name]

    async def run(name: str, values: Mapping[str, Any] | BaseModel | None) -> Answer:
        registered = get(name)

        def start(other: str) -> asyncio.Task[Answer]:
            # What is not declared is in no fingerprint: its changes would keep old answers.
            if other not in registered.starts_from:
                raise ConfigError(
                    f"strategy {name} asks for the answer of {other} and does not declare it",
                    f'register it with starts_from=("{other}",)',
                )
            return answer_of(other)

        configured = registered.configure(values)
        reads_digests = "digest" in (registered.sources(configured) or ())
        task = Task(
            question=question,
            view=view if reads_digests else view.observed(),
            settings=configured,
            models=models,
            embedder=embedder,
            frames=frames,
            memo=start,
            budget=budget or Budget(),
        )
        began = time.perf_counter()
        result = await registered.run(task)
        usage = result.usage.model_copy(update={"seconds": time.perf_counter() - began})
        return result.model_copy(update={"usage": usage, "trace": tuple(task.trace)})

    return await answer_of(strategy)
