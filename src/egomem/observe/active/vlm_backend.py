"""The loop with a vision-language model in the roles captioner, atomizer, verifier and planner.

Its plans are JSON by schema, so that servers without tool calling serve too. What it says is
proposed, not believed: reduce.py and merge.py decide. A reply that cannot be used (refused, cut
off, no JSON) is counted and changes nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from egomem.media import Frame
from egomem.models import ImagePart, ModelClient, Reply, Request, RequestTags, Role, TextPart
from egomem.observe.active import prompts
from egomem.observe.active.actions import (
    INSPECTION_ADAPTER,
    Crop,
    Dense,
    GazeCrop,
    Inspection,
    ReadText,
)
from egomem.observe.active.claim_status import describe_state, is_obsolete, status_gaps
from egomem.observe.active.claims import content, sentences
from egomem.observe.active.inspection_result import InspectionResult
from egomem.observe.active.loop import OUT_OF_TOKENS
from egomem.observe.active.reduce import apply
from egomem.observe.active.state import (
    CaptionBudget,
    CaptionGap,
    CaptionLine,
    CaptionState,
    ClaimVerdict,
    Diagnosed,
    Drafted,
    Finding,
    Inspected,
    Revised,
)
from egomem.observe.active.tools import Tools
from egomem.observe.caption_times import resolve_times
from egomem.observe.captioner import caption_request
from egomem.observe.frame_encoding import check_frame_labels
from egomem.observe.frame_encoding import encode_frames as encode
from egomem.records import Status, Usage
from egomem.timeline import Span, format_time

TIME_TOLERANCE_S = 0.6
"""Seconds by which a frame's time that a model tells may miss the true one."""

MAX_TOKENS = 2048
"""Tokens of one reply at most. Our choice."""


@dataclass(slots=True)
class _Step:
    """What one event has cost so far, and what went wrong in it."""

    spent: int
    usage: Usage = field(default_factory=Usage)
    faults: list[str] = field(default_factory=list)


class VlmBackend:
    """`Backend` over a model. Roles without a model of their own are filled by the captioner's.

    `tokens`: a request is not sent if by estimate it would go beyond so many in all.
    """

    def __init__(self, models: ModelClient, *, tokens: int = 200_000, max_tokens: int = MAX_TOKENS):
        self._models, self._tokens, self._max = models, tokens, max_tokens
        models.spec(Role.CAPTIONER)  # raises where there is none

    @property
    def name(self) -> str:
        return str(self._models.spec(Role.CAPTIONER))

    def _role(self, role: Role) -> Role:
        return role if self._models.has(role) else Role.CAPTIONER

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        step = _Step(0)
        span = tools.scene.span
        about = RequestTags(tools.scene.recording)
        images = await self._images(coarse, Role.CAPTIONER)
        said = "\n".join(
            f"[{format_time(round(max(o.span.start, span.start), 1))}] {o.text}"
            for o in tools.held
            if o.source == "speech" and o.span.overlaps(span)
        )
        request = caption_request(images, span, said, about=about, max_tokens=self._max)
        reply = await self._ask(request, step)
        if reply is not None and reply.status is Status.UNPARSABLE:  # perhaps the server's accident
            reply = await self._ask(request, step) or reply
        if reply is None or not reply.ok:
            status = reply.status if reply is not None else None
            faults = tuple(step.faults)
            return Drafted(lines=(), usage=step.usage, faults=faults, status=status)
        lines = _lines(reply.text, span)
        if split and lines:
            lines = await self._split(lines, about, step)
        held = _heard(tools, span)
        return Drafted(
            lines=tuple(lines), findings=held, usage=step.usage, faults=tuple(step.faults)
        )

    async def _split(
        self, lines: list[CaptionLine], about: RequestTags, step: _Step
    ) -> list[CaptionLine]:
        listed = "\n".join(f"{k}: {line.text}" for k, line in enumerate(lines))
        data = await self._json(
            Role.ATOMIZER, prompts.ATOMIZE, (TextPart(listed),), prompts.ATOMS_SCHEMA, about, step
        )
        known = content(" ".join(line.text for line in lines)).all
        atoms: dict[int, list[str]] = {}
        for row in _rows(data, "claims"):
            k, text = int(row["line"]), str(row["text"]).strip()
            if 0 <= k < len(lines) and text and content(text).all <= known:
                atoms.setdefault(k, []).append(text)
            else:
                step.faults.append("atomizer: a claim that is in no line")
        return [
            line.model_copy(update={"claims": tuple(atoms.get(k) or sentences(line.text))})
            for k, line in enumerate(lines)
        ]

    async def diagnose(
        self, tools: Tools, coarse: Sequence[Frame], state: CaptionState
    ) -> Diagnosed:
        step = _Step(_tokens(state.usage))
        about = RequestTags(tools.scene.recording)
        checked = {v for f in state.findings if f.tool == "check" for v in f.rests_on}
        fresh = [c for c in state.claims if c.id not in checked and not c.supports]
        findings, verdicts = await self._check(coarse, fresh, state, about, step)
        checked_state = apply(
            state, Diagnosed(findings=tuple(findings), verdicts=tuple(verdicts)), CaptionBudget()
        )
        gaps = await self._plan(coarse, checked_state, about, step)
        return Diagnosed(
            findings=tuple(findings),
            verdicts=tuple(verdicts),
            gaps=(*gaps, *status_gaps(checked_state, gaps)),
            moot=tuple(g.id for g in state.open if is_obsolete(g, checked_state)),
            usage=step.usage,
            faults=tuple(step.faults),
        )

    async def _check(
        self,
        coarse: Sequence[Frame],
        claims: Sequence[Any],
        state: CaptionState,
        about: RequestTags,
        step: _Step,
    ) -> tuple[list[Finding], list[ClaimVerdict]]:
        if not claims or not coarse:
            return [], []
        images = await self._images(coarse, Role.VERIFIER)
        listed = "\n".join(f"{c.id} [{c.span.start:g}-{c.span.end:g} s]: {c.text}" for c in claims)
        parts: tuple[TextPart | ImagePart, ...] = (*images, TextPart(f"Claims:\n{listed}"))
        data = await self._json(
            Role.VERIFIER, prompts.CHECK, parts, prompts.CHECK_SCHEMA, about, step
        )
        times = [i.time for i in images if i.time is not None]
        known = {c.id: c for c in claims}
        findings: list[Finding] = []
        verdicts = []
        for row in _rows(data, "claims"):
            claim = known.pop(str(row["id"]), None)
            if claim is None:
                step.faults.append("verifier: a verdict on no claim, or a second one")
                continue
            told = [t for t in row["times"] if isinstance(t, int | float)]
            frames = tuple(t for t in times if any(abs(t - w) <= TIME_TOLERANCE_S for w in told))
            decided = row["verdict"] in ("supported", "contradicted") and bool(frames)
            id = f"e{len(state.findings) + len(findings) + 1}"
            span = Span(frames[0], frames[-1]) if frames else claim.span
            findings.append(
                Finding(
                    id=id,
                    tool="check",
                    span=span,
                    text=str(row["seen"]),
                    frames=frames,
                    confidence=1.0 if decided else 0.3,
                    conclusive=decided,
                    rests_on=(claim.id,),
                )
            )
            stance: Any = {"contradicted": "denies", "absent": "silent"}.get(
                str(row["verdict"]), "supports"
            )
            verdicts.append(ClaimVerdict(claim=claim.id, stance=stance, evidence=(id,)))
        return findings, verdicts

    async def _plan(
        self, coarse: Sequence[Frame], state: CaptionState, about: RequestTags, step: _Step
    ) -> list[CaptionGap]:
        images = await self._images(coarse, Role.PLANNER)
        parts: tuple[TextPart | ImagePart, ...] = (*images, TextPart(describe_state(state)))
        data = await self._json(Role.PLANNER, prompts.PLAN, parts, prompts.GAPS_SCHEMA, about, step)
        gaps = []
        for row in _rows(data, "gaps"):
            try:
                look = row["look"]
                gaps.append(
                    CaptionGap(
                        id="",
                        kind=row["kind"],
                        concern=row["concern"],
                        change=str(row["change"]),
                        claim=row["claim"] or None,
                        priority=min(max(_finite(row["priority"], 0.5), 0.0), 1.0),
                        look=INSPECTION_ADAPTER.validate_python(look) if look else None,
                        evidence=tuple(str(e) for e in row["evidence"]),
                    )
                )
            except ValidationError as error:
                step.faults.append(f"planner: a look that cannot be: {error.errors()[0]['msg']}")
        return gaps

    async def read(
        self,
        tools: Tools,
        state: CaptionState,
        gap: CaptionGap,
        look: Inspection,
        shown: InspectionResult,
    ) -> Inspected:
        step = _Step(_tokens(state.usage))
        (id,) = state.fresh(1)
        by_tool = bool(shown.text) or not isinstance(look, Crop | Dense | ReadText | GazeCrop)
        if by_tool:
            text, sure, confidence = shown.text or "nothing", shown.conclusive, shown.confidence
            stance = "supports"
        else:
            text, sure, confidence, stance = await self._seen(tools, state, gap, shown, step)
        times = tuple(dict.fromkeys(round(p.time, 3) for p in shown.pictures))
        found = Finding(
            id=id,
            tool=look.tool,
            span=Span(times[0], times[-1]) if times else look.span,
            text=text,
            box=look.boxes[0] if look.boxes else None,
            frames=times,
            confidence=round(confidence, 3),
            conclusive=sure,
            rests_on=shown.rests_on,
            data=shown.data,
        )
        verdicts = (
            (ClaimVerdict(claim=gap.claim, stance=cast(Any, stance), evidence=(id,)),)
            if gap.claim is not None and stance != "silent"
            else ()
        )
        return Inspected(
            gap=gap.id,
            look=look,
            findings=(found,),
            verdicts=verdicts,
            usage=step.usage,
            faults=tuple(step.faults),
        )

    async def _seen(
        self,
        tools: Tools,
        state: CaptionState,
        gap: CaptionGap,
        shown: InspectionResult,
        step: _Step,
    ) -> tuple[str, bool, float, str]:
        """What the verifier sees in a look's pictures: text, conclusive, confidence, stance."""
        role = self._role(Role.VERIFIER)
        limits = self._models.limits(role)
        step_over = max(1, math.ceil(len(shown.pictures) / limits.images))
        parts: list[TextPart | ImagePart] = []
        for box in dict.fromkeys(p.box for p in shown.pictures):
            frames = [Frame(p.time, p.time, p.image) for p in shown.pictures if p.box == box]
            where = ", ".join(f"{v:.2f}" for v in box)
            parts.append(TextPart(f"The part [{where}] of the picture:"))
            parts += await asyncio.to_thread(encode, frames[::step_over], limits)
        claim = state.claim(gap.claim)
        asked = f"To be settled: {gap.change}"
        if claim is not None:
            asked += f"\nThe claim: {claim.text}"
        about = RequestTags(tools.scene.recording)
        data = await self._json(
            Role.VERIFIER, prompts.LOOK, (*parts, TextPart(asked)), prompts.LOOK_SCHEMA, about, step
        )
        if data is None:
            return "", False, 0.0, "silent"
        stance = {"supported": "supports", "contradicted": "denies"}.get(
            str(data["verdict"]), "silent"
        )
        sure = bool(data["conclusive"]) and bool(str(data["seen"]).strip())
        return str(data["seen"]), sure, min(max(_finite(data["confidence"], 0), 0.0), 1.0), stance

    async def revise(self, tools: Tools, coarse: Sequence[Frame], state: CaptionState) -> Revised:
        step = _Step(_tokens(state.usage))
        about = RequestTags(tools.scene.recording)
        data = await self._json(
            Role.CAPTIONER,
            prompts.REVISE,
            (TextPart(describe_state(state)),),
            prompts.CAPTION_SCHEMA,
            about,
            step,
        )
        if data is None:
            return Revised(lines=None, usage=step.usage, faults=tuple(step.faults))
        lines = []
        for row in _rows(data, "lines"):
            start, end = sorted((_finite(row["start"], -1), _finite(row["end"], -1)))
            span = Span(start, end).clip(tools.scene.span) if start >= 0 else None
            if span is None and start >= 0 and start == end == tools.scene.span.end:
                span = Span(start, end)
            if span is None:
                step.faults.append("captioner: a line outside of the recording's part")
                continue
            claims = [c for c in row["claims"] if str(c["text"]).strip()]
            lines.append(
                CaptionLine(
                    span=span,
                    text=str(row["text"]).strip(),
                    claims=tuple(str(c["text"]).strip() for c in claims),
                    evidence=tuple(tuple(str(e) for e in c["evidence"]) for c in claims),
                )
            )
        return Revised(lines=tuple(lines), usage=step.usage, faults=tuple(step.faults))

    async def _images(self, frames: Sequence[Frame], role: Role) -> tuple[ImagePart, ...]:
        limits = self._models.limits(self._role(role))
        every = max(1, math.ceil(len(frames) / max(1, limits.images)))
        return await asyncio.to_thread(encode, frames[::every], limits)

    async def _json(
        self,
        role: Role,
        system: str,
        parts: Iterable[TextPart | ImagePart],
        schema: Mapping[str, JsonValue],
        about: RequestTags,
        step: _Step,
    ) -> dict[str, Any] | None:
        request = Request(
            role=self._role(role),
            parts=tuple(parts),
            prompt=prompts.VERSION,
            system=system,
            schema=schema,
            max_tokens=self._max,
            about=about,
        )
        reply = await self._ask(check_frame_labels(request), step)
        if reply is None or not reply.ok:
            return None
        return reply.data if isinstance(reply.data, dict) else None

    async def _ask(self, request: Request, step: _Step) -> Reply | None:
        """The reply, if there are tokens left for it; one that is not clean is a fault."""
        expected = self._models.estimate(request).tokens_in + (request.max_tokens or 0)
        if step.spent + expected > self._tokens:
            step.faults.append(OUT_OF_TOKENS)
            return None
        reply = await self._models.ask(request)
        if not reply.cached:
            step.usage += reply.usage
        step.spent += reply.usage.tokens_in + reply.usage.tokens_out
        if not reply.ok:
            step.faults.append(f"{request.role.value}: {reply.status.value}: {reply.detail}")
        return reply


def _tokens(usage: Usage) -> int:
    return usage.tokens_in + usage.tokens_out


def _finite(value: Any, instead: float) -> float:
    good = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if good else instead


def _rows(data: dict[str, Any] | None, name: str) -> list[dict[str, Any]]:
    return list(data[name]) if data is not None else []


def _lines(caption: str, span: Span) -> list[CaptionLine]:
    """A captioner's text as lines; one without a time stands for the whole span."""
    told = resolve_times(caption, span)
    events = iter([*told.events, None])
    event = next(events)
    lines = []
    for written in told.text.splitlines():
        if event is not None and written.endswith(str(event["text"])) and written[:1] == "[":
            when = Span(_finite(event["start"], 0), _finite(event["end"], 0)).clip(span) or span
            lines.append(CaptionLine(span=when, text=str(event["text"])))
            event = next(events)
        else:
            lines.append(CaptionLine(span=span, text=written))
    return lines


def _heard(tools: Tools, span: Span) -> tuple[Finding, ...]:
    spoken = [o for o in tools.held if o.source == "speech" and o.span.overlaps(span)]
    return tuple(
        Finding(
            id=f"e{k + 1}",
            tool="listen",
            span=o.span,
            text=f"Words heard: “{o.text}”",
            conclusive=True,
        )
        for k, o in enumerate(spoken)
    )
