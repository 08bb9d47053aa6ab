"""Several strategies on one question, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from egomem.answer.run import answer
from egomem.answer.strategy import Budget, FrameSource, get
from egomem.errors import EgomemError
from egomem.records import Answer, Evidence, Question, Record, Status
from egomem.timeline import format_instant, format_span

if TYPE_CHECKING:
    from egomem.memory import View
    from egomem.models import ModelClient
    from egomem.models.embedders import Embedder

MAX_EVIDENCE = 3
"""Pieces of evidence in a table's cell."""


class StrategyResult(Record):
    """One strategy's answer. Tokens, seconds and cost stand in `answer.usage`.

    An answer that rests on another strategy's counts what that one used, too; it was asked once.
    """

    strategy: str
    answer: Answer

    @property
    def failed(self) -> bool:
        return self.answer.status is Status.ERROR

    def cells(self, names: Mapping[str, str]) -> tuple[str, ...]:
        """For a table: strategy, answer, evidence, tokens in and out, seconds, US dollars.

        `names`: recording ids -> the names of their files.
        """
        answer, usage = self.answer, self.answer.usage
        label = f"{answer.choice}. " if answer.choice else ""
        labelled = answer.text if answer.text.startswith(label) else f"{label}{answer.text}"
        text = labelled if answer.text else f"({answer.status.value}) {answer.reason}"
        places = [_place(e, names) for e in answer.evidence[:MAX_EVIDENCE]]
        if len(answer.evidence) > MAX_EVIDENCE:
            places.append(f"and {len(answer.evidence) - MAX_EVIDENCE} more")
        tokens = f"{usage.tokens_in} + {usage.tokens_out}" if usage.requests else "0"
        bound = "at least " if usage.without_price else ""
        cost = "" if usage.cost is None else f"{bound}${usage.cost:.4f}"
        return self.strategy, text, "\n".join(places), tokens, f"{usage.seconds:.2f}", cost


async def compare(
    question: Question,
    view: View,
    strategies: Sequence[str],
    *,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    models: ModelClient | None = None,
    embedder: Embedder | None = None,
    frames: FrameSource | None = None,
    budget: Budget | None = None,
) -> list[StrategyResult]:
    """The answers of several strategies, in the order given; they run at once.

    `settings`: of each strategy, by name. One that cannot run (no model, no video) has the status
    `error` and says why in `reason`; the others go on. Raises UsageError for an unknown strategy.
    """
    memo: dict[str, asyncio.Task[Answer]] = {}

    async def result(name: str) -> StrategyResult:
        try:
            reply = await answer(
                question,
                view,
                name,
                dependency_settings=settings,
                models=models,
                embedder=embedder,
                frames=frames,
                budget=budget,
                memo=memo,
            )
        except EgomemError as fault:
            reply = Answer(text="", status=Status.ERROR, strategy=name, reason=str(fault))
        return StrategyResult(strategy=name, answer=reply)

    # All names are checked before any is asked: a typing error must not cost the answers of the
    # others.
    for name in strategies:
        get(name)
    return list(await asyncio.gather(*(result(name) for name in strategies)))


def _place(evidence: Evidence, names: Mapping[str, str]) -> str:
    if evidence.recording is None:
        return format_instant(evidence.when) if evidence.when else "a summary"
    return f"{names.get(evidence.recording, evidence.recording)} {format_span(evidence.span)}"
