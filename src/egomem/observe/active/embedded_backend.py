"""The loop without a vision-language model: detector, text recogniser, speech.

A caption is composed from what was detected, read and heard. Gaps arise where the draft and the
coarse view disagree: a part of the picture in which something stands and nothing was named, a thing
whose presence changed between two samples, text that was seen and not read, speech that nobody in
view says. Denser, closer looks settle them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import JsonValue

from egomem.media import Frame
from egomem.observe.active.actions import WHOLE, Detect, Inspection
from egomem.observe.active.gap_detection import (
    places_it,
    unconfirmed,
    uncovered,
    unheard,
    unplaced,
    unread,
)
from egomem.observe.active.regions import SEEN, views
from egomem.observe.active.state import (
    Diagnosed,
    Drafted,
    Finding,
    Gap,
    Inspected,
    Revised,
    State,
)
from egomem.observe.active.statements import (
    compose,
    tallies,
)
from egomem.observe.active.tools import InspectionResult, Picture, Tools, listed, things_in
from egomem.timeline import Span

READ_AT = 3
"""Coarse frames in which text is looked for."""


class EmbeddedBackend:
    """`Backend` over the embedded observers. It has no state of its own."""

    name = "embedded"

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        return await asyncio.to_thread(self._draft, tools, coarse)

    async def diagnose(self, tools: Tools, coarse: Sequence[Frame], state: State) -> Diagnosed:
        gaps = (
            *uncovered(tools, coarse, state),
            *unplaced(coarse, state),
            *unconfirmed(coarse, state),
            *unread(tools, state),
            *unheard(tools, state),
        )
        left = {g.change for g in gaps}
        moot = tuple(g.id for g in state.open if g.change not in left)
        return Diagnosed(gaps=gaps, moot=moot)

    async def read(
        self, tools: Tools, state: State, gap: Gap, look: Inspection, shown: InspectionResult
    ) -> Inspected:
        span = look.span
        found = Finding(
            id=state.fresh(1)[0],
            tool=look.tool,
            span=span,
            text=shown.text or "nothing",
            box=look.boxes[0] if look.boxes else None,
            frames=tuple(dict.fromkeys(round(p.time, 3) for p in shown.pictures)),
            confidence=round(shown.confidence, 3),
            conclusive=shown.conclusive,
            rests_on=shown.rests_on,
            data=shown.data,
        )
        held = [*state.findings, found]
        counted = tallies(held, len(held))
        if gap.concern == "temporal":
            # Seeing the thing is not enough: the look must place its change.
            found = found.model_copy(update={"conclusive": places_it(held, span, look)})
        if gap.change.startswith("confirm"):
            label = {t.label for v in views([found]) for t in v.things if t.score >= SEEN}
            named = any(f" {name} " in f"{gap.change} " for name in label)
            found = found.model_copy(update={"conclusive": named})
        if gap.concern == "unsupported" and isinstance(look, Detect):
            person = any(t.label == "person" for v in views([found]) for t in v.things)
            found = found.model_copy(update={"conclusive": person})
        return Inspected(gap=gap.id, look=look, findings=(found, *counted))

    async def revise(self, tools: Tools, coarse: Sequence[Frame], state: State) -> Revised:
        return Revised(lines=tuple(compose(state.findings)))

    def _draft(self, tools: Tools, coarse: Sequence[Frame]) -> Drafted:
        findings: list[Finding] = []
        for frame in coarse if tools.detector else ():
            findings.append(_seen_in(tools, frame, len(findings)))
        if tools.reader is not None:
            chosen = sorted({0, len(coarse) // 2, len(coarse) - 1}) if coarse else []
            for k in chosen[:READ_AT]:
                if (read := _text_in(tools, coarse[k], len(findings))) is not None:
                    findings.append(read)
        for o in tools.held:
            if o.source == "speech" and o.span.overlaps(tools.scene.span):
                findings.append(
                    Finding(
                        id=f"e{len(findings) + 1}",
                        tool="listen",
                        span=o.span,
                        text=f"Words heard: “{o.text}”",
                        conclusive=True,
                        data={"said": [[o.span.start, o.span.end, o.text]]},
                    )
                )
        findings += tallies(findings, len(findings))
        return Drafted(lines=tuple(compose(findings)), findings=tuple(findings))


def _seen_in(tools: Tools, frame: Frame, number: int) -> Finding:
    assert tools.detector is not None
    things = things_in(tools.detector, Picture(frame.time, WHOLE, frame.image))
    sure = [t.label for t in things if t.score >= SEEN]
    data: dict[str, JsonValue] = {
        "seen": [
            {
                "time": round(frame.time, 3),
                "region": list(WHOLE),
                "things": [[t.label, round(t.score, 3), *t.box] for t in things],
            }
        ]
    }
    return Finding(
        id=f"e{number + 1}",
        tool="coarse",
        span=Span(frame.time, frame.time),
        text=f"In view: {listed(sure) or 'nothing named'}",
        frames=(round(frame.time, 3),),
        confidence=round(max((t.score for t in things), default=0.0), 3),
        conclusive=bool(sure),
        data=data,
    )


def _text_in(tools: Tools, frame: Frame, number: int) -> Finding | None:
    assert tools.reader is not None
    lines = tools.reader.read(frame.image)
    if not lines:
        return None
    rows: list[JsonValue] = [
        [round(frame.time, 3), line.text, round(line.score, 3), *line.box] for line in lines
    ]
    return Finding(
        id=f"e{number + 1}",
        tool="coarse",
        span=Span(frame.time, frame.time),
        text="; ".join(f"Text read: “{line.text}”" for line in lines),
        frames=(round(frame.time, 3),),
        confidence=round(min(line.score for line in lines), 3),
        conclusive=False,  # small: text is settled by a look, or where two frames agree (a tally)
        data={"lines": rows},
    )
