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


SHOWN = 3
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
        said, used = self.answer, self.answer.usage
        label = f"{said.choice}. " if said.choice else ""
        named = said.text if said.text.startswith(label) else f"{label}{said.text}"
        text = named if said.text else f"({said.status.value}) {said.reason}"
        places = [_place(e, names) for e in said.evidence[:SHOWN]]
        if len(said.evidence) > SHOWN:
            places.append(f"and {len(said.evidence) - SHOWN} more")
        tokens = f"{used.tokens_in} + {used.tokens_out}" if used.requests else "0"
        bound = "at least " if used.without_price else ""
        cost = "" if used.cost is None else f"{bound}${used.cost:.4f}"
        return self.strategy, text, "\n".join(places), tokens, f"{used.seconds:.2f}", cost


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
    known: dict[str, asyncio.Task[Answer]] = {}
    given = settings or {}

    async def row(name: str) -> StrategyResult:
        try:
            said = await answer(
                question,
                view,
                name,
                others=given,
                models=models,
                embedder=embedder,
                frames=frames,
                budget=budget,
                known=known,
            )
        except EgomemError as fault:
            said = Answer(text="", status=Status.ERROR, strategy=name, reason=str(fault))
        return StrategyResult(strategy=name, answer=said)

    for name in strategies:
        get(name)
    return list(await asyncio.gather(*(row(name) for name in strategies)))


def _place(evidence: Evidence, names: Mapping[str, str]) -> str:
    if evidence.recording is None:
        return format_instant(evidence.when) if evidence.when else "a summary"
    return f"{names.get(evidence.recording, evidence.recording)} {format_span(evidence.span)}"
