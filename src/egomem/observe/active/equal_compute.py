"""Guided inspections beside random ones and a single pass, with the same pictures and tokens.

What a caption gains from looking again may come from where it looks, or merely from seeing more.
The random run starts from the guided run's own draft and inspects as often, with the same tools
and as many pictures, at places that are drawn; the single pass sees as many pictures at once.
Reconstruction: OACap reports the cost of observation and does not say how baselines are matched.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from egomem.media import Frame
from egomem.observe.active.actions import Box, Inspection
from egomem.observe.active.inspection_result import InspectionResult
from egomem.observe.active.loop import CaptionBackend, CaptionRun, caption_actively
from egomem.observe.active.state import (
    CaptionGap,
    CaptionLog,
    CaptionState,
    Diagnosed,
    Drafted,
    Inspected,
    Revised,
)
from egomem.observe.active.tools import Tools
from egomem.timeline import Span


class RandomInspections:
    """A `CaptionBackend` whose inspections are moved to drawn times and regions.

    Everything else is `backend`'s: drafts, diagnoses, what it reads in a picture, revisions.
    """

    def __init__(self, backend: CaptionBackend, *, seed: int = 0) -> None:
        self._backend, self._seed = backend, seed

    @property
    def name(self) -> str:
        return self._backend.name

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        return await self._backend.draft(tools, coarse, split=split)

    async def diagnose(
        self, tools: Tools, coarse: Sequence[Frame], state: CaptionState
    ) -> Diagnosed:
        diagnosed = await self._backend.diagnose(tools, coarse, state)
        # Drawn anew for each round, and the same where a run is repeated.
        rng = random.Random(f"{self._seed} {state.round}")
        gaps = tuple(_moved(gap, tools.scene.span, rng) for gap in diagnosed.gaps)
        return diagnosed.model_copy(update={"gaps": gaps})

    async def read(
        self,
        tools: Tools,
        state: CaptionState,
        gap: CaptionGap,
        look: Inspection,
        result: InspectionResult,
    ) -> Inspected:
        return await self._backend.read(tools, state, gap, look, result)

    async def revise(self, tools: Tools, coarse: Sequence[Frame], state: CaptionState) -> Revised:
        return await self._backend.revise(tools, coarse, state)


async def caption_at_random(
    tools: Tools, backend: CaptionBackend, guided: CaptionRun, *, seed: int = 0
) -> CaptionRun:
    """Return the caption of a run from the guided one's draft that inspects at random, and does no
    more than it: rounds, inspections, extra pictures and tokens."""
    state = guided.state
    budget = guided.log.budget.model_copy(
        update={
            "rounds": state.round,
            "looks": state.looks,
            "frames": state.pictures,
            "tokens": state.usage.tokens_in + state.usage.tokens_out,
        }
    )
    draft = next(event for event in guided.log.events if isinstance(event, Drafted))
    tools.scene = guided.log.scene
    log = CaptionLog(scene=tools.scene, backend=backend.name, budget=budget, events=(draft,))
    return await caption_actively(tools, RandomInspections(backend, seed=seed), resume=log)


def _moved(gap: CaptionGap, span: Span, rng: random.Random) -> CaptionGap:
    """The gap with an inspection of the same length and size of regions at a drawn place."""
    if gap.look is None or not hasattr(gap.look, "boxes"):
        return gap
    length = min(gap.look.span.length, span.length)
    start = rng.uniform(span.start, span.end - length)
    boxes = tuple(_moved_box(box, rng) for box in gap.look.boxes)
    update = {"start": round(start, 3), "end": round(start + length, 3), "boxes": boxes}
    return gap.model_copy(update={"look": gap.look.model_copy(update=update)})


def _moved_box(box: Box, rng: random.Random) -> Box:
    width, height = min(1.0, abs(box[2] - box[0])), min(1.0, abs(box[3] - box[1]))
    left, top = rng.uniform(0, 1 - width), rng.uniform(0, 1 - height)
    return left, top, left + width, top + height
