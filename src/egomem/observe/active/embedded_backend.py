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
from egomem.observe.active.actions import WHOLE_PICTURE, Detect, Inspection
from egomem.observe.active.gap_detection import (
    is_change_placed,
    unconfirmed_objects,
    uncovered_regions,
    unheard_speech,
    unplaced_changes,
    unread_text,
)
from egomem.observe.active.inspection_result import CroppedFrame, InspectionResult
from egomem.observe.active.regions import MIN_SCORE, detected_frames
from egomem.observe.active.state import (
    CaptionGap,
    CaptionState,
    Diagnosed,
    Drafted,
    Finding,
    Inspected,
    Revised,
)
from egomem.observe.active.statements import (
    compose,
    tally_findings,
)
from egomem.observe.active.tools import Tools, detect_in, list_labels
from egomem.timeline import Span

MAX_TEXT_FRAMES = 3
"""Coarse frames in which text is looked for."""


class EmbeddedBackend:
    """`CaptionBackend` over the embedded observers. It has no state of its own."""

    name = "embedded"

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        return await asyncio.to_thread(self._draft, tools, coarse)

    async def diagnose(
        self, tools: Tools, coarse: Sequence[Frame], state: CaptionState
    ) -> Diagnosed:
        gaps = (
            *uncovered_regions(tools, coarse, state),
            *unplaced_changes(coarse, state),
            *unconfirmed_objects(coarse, state),
            *unread_text(tools, state),
            *unheard_speech(tools, state),
        )
        proposed = {gap.change for gap in gaps}
        # What is no longer proposed has been settled by another look.
        obsolete = tuple(g.id for g in state.open if g.change not in proposed)
        return Diagnosed(gaps=gaps, obsolete=obsolete)

    async def read(
        self,
        tools: Tools,
        state: CaptionState,
        gap: CaptionGap,
        look: Inspection,
        result: InspectionResult,
    ) -> Inspected:
        span = look.span
        finding = Finding(
            id=state.fresh(1)[0],
            tool=look.tool,
            span=span,
            text=result.text or "nothing",
            box=look.boxes[0] if look.boxes else None,
            frames=tuple(dict.fromkeys(round(p.time, 3) for p in result.pictures)),
            confidence=round(result.confidence, 3),
            conclusive=result.conclusive,
            rests_on=result.rests_on,
            data=result.data,
        )
        findings = [*state.findings, finding]
        tallies = tally_findings(findings, len(findings))
        if gap.concern == "temporal":
            # Seeing the thing is not enough: the look must place its change.
            finding = finding.model_copy(
                update={"conclusive": is_change_placed(findings, span, look)}
            )
        # A look for a cup that shows a bottle confirms nothing.
        if gap.change.startswith("confirm"):
            label = {
                t.label
                for v in detected_frames([finding])
                for t in v.things
                if t.score >= MIN_SCORE
            }
            named = any(f" {name} " in f"{gap.change} " for name in label)
            finding = finding.model_copy(update={"conclusive": named})
        if gap.concern == "unsupported" and isinstance(look, Detect):
            person = any(t.label == "person" for v in detected_frames([finding]) for t in v.things)
            finding = finding.model_copy(update={"conclusive": person})
        return Inspected(gap=gap.id, look=look, findings=(finding, *tallies))

    async def revise(self, tools: Tools, coarse: Sequence[Frame], state: CaptionState) -> Revised:
        return Revised(lines=tuple(compose(state.findings)))

    def _draft(self, tools: Tools, coarse: Sequence[Frame]) -> Drafted:
        findings: list[Finding] = []
        # What is not installed leaves the others at work.
        for frame in coarse if tools.detector else ():
            findings.append(_seen_in(tools, frame, len(findings)))
        if tools.reader is not None:
            # Reading text takes .3 to .6 s a frame, so not every coarse frame is read.
            positions = sorted({0, len(coarse) // 2, len(coarse) - 1}) if coarse else []
            for k in positions[:MAX_TEXT_FRAMES]:
                if (text_finding := _text_in(tools, coarse[k], len(findings))) is not None:
                    findings.append(text_finding)
        for o in tools.context:
            # What the speech observer heard is not heard a second time.
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
        findings += tally_findings(findings, len(findings))
        return Drafted(lines=tuple(compose(findings)), findings=tuple(findings))


def _seen_in(tools: Tools, frame: Frame, number: int) -> Finding:
    assert tools.detector is not None
    things = detect_in(tools.detector, CroppedFrame(frame.time, WHOLE_PICTURE, frame.image))
    labels = [t.label for t in things if t.score >= MIN_SCORE]
    data: dict[str, JsonValue] = {
        "seen": [
            {
                "time": round(frame.time, 3),
                "region": list(WHOLE_PICTURE),
                "things": [[t.label, round(t.score, 3), *t.box] for t in things],
            }
        ]
    }
    return Finding(
        id=f"e{number + 1}",
        tool="coarse",
        span=Span(frame.time, frame.time),
        text=f"In view: {list_labels(labels) or 'nothing named'}",
        frames=(round(frame.time, 3),),
        confidence=round(max((t.score for t in things), default=0.0), 3),
        conclusive=bool(labels),
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
