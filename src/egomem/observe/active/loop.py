"""The loop of active captioning: coarse view, draft, diagnose, inspect, revise.

It ends when no gap is open or the budget is spent. Reconstruction of OACap's agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from egomem.errors import EgomemError
from egomem.media import Frame
from egomem.observe.active.actions import Inspection, clamp
from egomem.observe.active.inspection_result import InspectionResult
from egomem.observe.active.merge import render_caption, render_draft
from egomem.observe.active.reduce import apply, fold
from egomem.observe.active.state import (
    CaptionBudget,
    CaptionEvent,
    CaptionGap,
    CaptionLog,
    CaptionState,
    Diagnosed,
    Drafted,
    Inspected,
    Revised,
    Stopped,
    StopReason,
)
from egomem.observe.active.tools import Tools
from egomem.records import Record, Usage

OUT_OF_TOKENS = "the token budget is spent"
"""The fault of an event in which a request was not sent for want of tokens."""


class CaptionBackend(Protocol):
    """Drafts, diagnoses, reads inspections and rewrites.

    It keeps nothing between calls: all that it knows is in the state, so that a run can be resumed.
    What it proposes is checked by code (reduce.py, merge.py). `Diagnosed`, `Inspected` and the rest
    are events; ids of new findings come from `CaptionState.fresh`.
    """

    @property
    def name(self) -> str: ...

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        """The first caption. `split`: into atomic claims, which only checking needs."""
        ...

    async def diagnose(
        self, tools: Tools, coarse: Sequence[Frame], state: CaptionState
    ) -> Diagnosed: ...

    async def read(
        self,
        tools: Tools,
        state: CaptionState,
        gap: CaptionGap,
        look: Inspection,
        result: InspectionResult,
    ) -> Inspected:
        """The findings of an inspection; the loop fills in its gap, look and costs."""
        ...

    async def revise(
        self, tools: Tools, coarse: Sequence[Frame], state: CaptionState
    ) -> Revised: ...


class CaptionRun(Record):
    """A finished run: the caption, the draft that it began with, and how it got there."""

    caption: str
    draft: str
    log: CaptionLog
    state: CaptionState

    @property
    def usage(self) -> Usage:
        return self.state.usage.model_copy(
            update={"frames": self.first_frames + self.state.pictures}
        )

    @property
    def first_frames(self) -> int:
        """Frames before any inspection. The coarse view is taken from those of the draft."""
        drafted = (e.frames for e in self.log.events if isinstance(e, Drafted))
        return max(len(self.log.scene.coarse), *drafted, 0)


OnEvent = Callable[[CaptionLog, CaptionState], None]


async def caption_actively(
    tools: Tools,
    backend: CaptionBackend,
    *,
    budget: CaptionBudget | None = None,
    resume: CaptionLog | None = None,
    on_event: OnEvent = lambda log, state: None,
) -> CaptionRun:
    """Caption a scene, inspecting again where the caption cannot be trusted or lacks something.

    `resume`: the log of an earlier run of the same scene, which is continued behind its last event.
    `on_event` gets the log after every event, to save it. Model and media errors are counted in the
    state and end a step, never the run; an EgomemError of the coarse view is raised.
    """
    log = resume or CaptionLog(
        scene=tools.scene, backend=backend.name, budget=budget or CaptionBudget()
    )
    loop = _Loop(tools, backend, log, on_event)
    await loop.to_the_end()
    return replay(loop.log)


async def caption_once(tools: Tools, backend: CaptionBackend) -> CaptionRun:
    """Caption a scene in a single pass with the same backend: the draft, unchecked."""
    coarse = await asyncio.to_thread(tools.coarse)
    log = CaptionLog(scene=tools.scene, backend=backend.name)
    drafted = await backend.draft(tools, coarse, split=False)
    # A log of the same form as an active run's, so that both are shown, replayed and compared
    # alike.
    stopped = Stopped(reason=StopReason.SINGLE)
    return replay(log.model_copy(update={"events": (drafted, stopped)}))


def replay(log: CaptionLog) -> CaptionRun:
    """Return the result of a log, computed from it alone."""
    state = fold(log)
    first = next((e for e in log.events if isinstance(e, Drafted)), None)
    draft = render_draft(first.lines) if first else ""
    single = state.stop is StopReason.SINGLE
    return CaptionRun(
        caption=draft if single else render_caption(state), draft=draft, log=log, state=state
    )


def save_log(log: CaptionLog, path: Path) -> None:
    """Write a log atomically: a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder: a rename is atomic within one file system alone.
    part = path.with_name(path.name + ".part")
    part.write_text(log.model_dump_json(indent=1), "utf-8")
    part.replace(path)


def load_log(path: Path) -> CaptionLog:
    return CaptionLog.model_validate_json(path.read_text("utf-8"))


class _Loop:
    def __init__(
        self, tools: Tools, backend: CaptionBackend, log: CaptionLog, on_event: OnEvent
    ) -> None:
        self.tools, self.backend, self.log, self.on_event = tools, backend, log, on_event
        self.state = fold(log)
        self.coarse: Sequence[Frame] = ()

    async def to_the_end(self) -> None:
        if self.state.stop is not None:
            return
        self.coarse = await asyncio.to_thread(self.tools.coarse)
        # Coarse frames are known once they have been taken; a resumed log has them.
        if not self.log.events:
            self.log = self.log.model_copy(update={"scene": self.tools.scene})
        while (event := await self._next()) is not None:
            self.state = apply(self.state, event, self.log.budget)
            self.log = self.log.model_copy(update={"events": (*self.log.events, event)})
            self.on_event(self.log, self.state)

    async def _next(self) -> CaptionEvent | None:
        """The event that follows from the state and the last event alone."""
        state, budget = self.state, self.log.budget
        if state.stop is not None:
            return None
        last = self.log.events[-1] if self.log.events else None
        if last is None:
            return await self._drafted()
        assert not isinstance(last, Stopped)
        if isinstance(last, Drafted):
            if not state.lines and last.faults:
                return Stopped(reason=StopReason.FAILED, detail="; ".join(last.faults))
            return await self._diagnosed()
        # After the draft, which is worth having even where it took all.
        if self._tokens() >= budget.tokens or OUT_OF_TOKENS in last.faults:
            return Stopped(reason=StopReason.TOKENS)
        if isinstance(last, Revised):
            if stop := self._spent():
                return stop
            return await self._diagnosed()
        if isinstance(last, Diagnosed) and not state.open:
            return Stopped(reason=StopReason.NO_GAP)
        due = self._due()
        if due is not None:
            return await self._looked(due)
        return await self._revised()

    def _spent(self) -> Stopped | None:
        state, budget = self.state, self.log.budget
        if state.quiet >= budget.quiet:
            return Stopped(reason=StopReason.QUIET, detail=f"{state.quiet} rounds")
        if state.round >= budget.rounds:
            return Stopped(reason=StopReason.ROUNDS)
        # A rewrite needs no look: it is done with no budget for looks left.
        has_revision = any(g.kind == "revision" for g in state.open)
        if state.looks >= budget.looks and not has_revision:
            return Stopped(reason=StopReason.LOOKS)
        if state.pictures >= budget.frames and not has_revision:
            return Stopped(reason=StopReason.FRAMES)
        return None

    def _tokens(self) -> int:
        return self.state.usage.tokens_in + self.state.usage.tokens_out

    def _due(self) -> CaptionGap | None:
        """The most urgent observation gap that was not inspected yet in this round."""
        done: set[str] = set()
        for event in reversed(self.log.events):
            if isinstance(event, Diagnosed):
                break
            if isinstance(event, Inspected):
                done.add(event.gap)
        if len(done) >= self.log.budget.per_round or self.state.looks >= self.log.budget.looks:
            return None
        gaps = (g for g in self.state.open if g.kind == "observation" and g.id not in done)
        return next(gaps, None)

    async def _drafted(self) -> Drafted:
        return await self.backend.draft(self.tools, self.coarse)

    async def _diagnosed(self) -> CaptionEvent:
        if self.state.round >= self.log.budget.rounds:
            return Stopped(reason=StopReason.ROUNDS)
        return await self.backend.diagnose(self.tools, self.coarse, self.state)

    async def _looked(self, gap: CaptionGap) -> Inspected:
        state, budget = self.state, self.log.budget
        assert gap.look is not None
        clamped = clamp(
            gap.look,
            self.log.scene.span,
            frames_left=budget.frames - state.pictures,
            most=budget.times,
        )
        if clamped.look is None:
            return Inspected(gap=gap.id, look=gap.look, refused=clamped.why)
        look = clamped.look
        earlier = [e for e in self.log.events if isinstance(e, Inspected) and e.look == look]
        # The same look for the same gap showed nothing new before, and would be paid for again.
        if any(e.gap == gap.id for e in earlier):
            return Inspected(gap=gap.id, look=look, clamped=clamped.changed, cached=True)
        try:
            result = await asyncio.to_thread(self.tools.carry_out, look, state)
        # A tool that fails is one look less, not the end of a caption.
        except EgomemError as error:
            return Inspected(gap=gap.id, look=look, refused=str(error))
        if result.refused:
            return Inspected(gap=gap.id, look=look, clamped=clamped.changed, refused=result.refused)
        inspected = await self.backend.read(self.tools, state, gap, look, result)
        return inspected.model_copy(
            update={
                "gap": gap.id,
                "look": look,
                "clamped": clamped.changed,
                "cached": any(not e.refused for e in earlier),
                "pictures": len(result.pictures),
            }
        )

    async def _revised(self) -> Revised:
        return await self.backend.revise(self.tools, self.coarse, self.state)
