"""The loop with a vision-language model in the roles captioner, atomizer, verifier and planner.

Its plans are JSON by schema, so that servers without tool calling serve too. What it says is
proposed, not believed: reduce.py and merge.py decide. A reply that cannot be used (refused, cut
off, no JSON) is counted and changes nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from egomem.media import Frame
from egomem.models import ImagePart, ModelClient, Role, TextPart
from egomem.observe.active import prompts
from egomem.observe.active.actions import Crop, Dense, GazeCrop, Inspection, ReadText
from egomem.observe.active.claim_status import describe_state, is_obsolete, status_gaps
from egomem.observe.active.inspection_result import InspectionResult
from egomem.observe.active.reduce import apply
from egomem.observe.active.state import (
    CaptionBudget,
    CaptionGap,
    CaptionState,
    Claim,
    ClaimVerdict,
    Diagnosed,
    Drafted,
    Finding,
    Inspected,
    Revised,
)
from egomem.observe.active.tools import Tools
from egomem.observe.active.vlm_replies import (
    Sight,
    check_findings,
    draft_lines,
    planned_gaps,
    read_sight,
    revised_lines,
    split_lines,
)
from egomem.observe.active.vlm_step import VlmStep
from egomem.observe.caption_prompt import caption_request, spoken_lines
from egomem.observe.frame_encoding import encode_frames
from egomem.records import Status
from egomem.timeline import Span

MAX_TOKENS = 2048
"""Maximum tokens of one reply. Our choice."""


class VlmBackend:
    """`CaptionBackend` over a model. Roles without a model are filled by the captioner's.

    `tokens`: a request is not sent if by estimate it would go beyond so many in all.
    `max_tokens`: of one reply. `whole`: what is captioned is a whole video, of anyone's camera.
    """

    def __init__(
        self,
        models: ModelClient,
        *,
        tokens: int = 200_000,
        max_tokens: int = MAX_TOKENS,
        whole: bool = False,
    ):
        self._models, self._tokens, self._max_tokens = models, tokens, max_tokens
        self._whole = whole
        models.spec(Role.CAPTIONER)  # raises where there is none

    @property
    def name(self) -> str:
        return str(self._models.spec(Role.CAPTIONER))

    def _step(self, tools: Tools, state: CaptionState | None = None) -> VlmStep:
        usage = state.usage if state is not None else None
        return VlmStep(
            self._models,
            tools.scene.recording,
            spent=usage.tokens_in + usage.tokens_out if usage else 0,
            tokens=self._tokens,
            max_tokens=self._max_tokens,
        )

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        step = self._step(tools)
        span = tools.scene.span
        speech = [o for o in tools.context if o.source == "speech" and o.span.overlaps(span)]
        # A window's draft sees all of its frames, as a direct caption does: with fewer, active
        # captions would begin worse off than what they are compared with.
        images = await step.images(tools.given or coarse, Role.CAPTIONER)
        request = caption_request(
            images,
            span,
            spoken_lines(speech, span),
            tags=step.tags,
            max_tokens=self._max_tokens,
            whole=self._whole,
        )
        reply = await step.ask(request)
        if reply is not None and reply.status is Status.UNPARSABLE:
            # An empty reply may be an accident of the server, so it is asked for once more.
            reply = await step.ask(request) or reply
        if reply is None or not reply.ok:
            return Drafted(
                lines=(),
                frames=len(images),
                usage=step.usage,
                faults=tuple(step.faults),
                status=reply.status if reply is not None else None,
            )
        frame_times = [image.time for image in images if image.time is not None]
        lines = draft_lines(reply.text, span, frame_times)
        if split and lines:
            numbered = "\n".join(f"{k}: {line.text}" for k, line in enumerate(lines))
            data = await step.ask_json(
                Role.ATOMIZER, prompts.ATOMIZE, (TextPart(numbered),), prompts.ATOMS_SCHEMA
            )
            lines = split_lines(data, lines, step.faults)
        heard = tuple(
            Finding(
                id=f"e{k + 1}",
                tool="listen",
                span=utterance.span,
                text=f"Words heard: “{utterance.text}”",
                conclusive=True,
            )
            for k, utterance in enumerate(speech)
        )
        return Drafted(
            lines=tuple(lines),
            findings=heard,
            frames=len(images),
            usage=step.usage,
            faults=tuple(step.faults),
        )

    async def diagnose(
        self, tools: Tools, coarse: Sequence[Frame], state: CaptionState
    ) -> Diagnosed:
        step = self._step(tools, state)
        checked = {id for f in state.findings if f.tool == "check" for id in f.rests_on}
        unchecked = [c for c in state.claims if c.id not in checked and not c.supports]
        findings, verdicts = await self._check(coarse, unchecked, state, step)
        # The planner sees the claims as this check leaves them.
        checked_state = apply(
            state, Diagnosed(findings=tuple(findings), verdicts=tuple(verdicts)), CaptionBudget()
        )
        gaps = await self._plan(coarse, checked_state, step)
        return Diagnosed(
            findings=tuple(findings),
            verdicts=tuple(verdicts),
            gaps=(*gaps, *status_gaps(checked_state, gaps)),
            obsolete=tuple(g.id for g in state.open if is_obsolete(g, checked_state)),
            usage=step.usage,
            faults=tuple(step.faults),
        )

    async def _check(
        self, coarse: Sequence[Frame], claims: Sequence[Claim], state: CaptionState, step: VlmStep
    ) -> tuple[list[Finding], list[ClaimVerdict]]:
        if not claims or not coarse:
            return [], []
        images = await step.images(coarse, Role.VERIFIER)
        listed = "\n".join(f"{c.id} [{c.span.start:g}-{c.span.end:g} s]: {c.text}" for c in claims)
        data = await step.ask_json(
            Role.VERIFIER,
            prompts.CHECK,
            (*images, TextPart(f"Claims:\n{listed}")),
            prompts.CHECK_SCHEMA,
        )
        times = [image.time for image in images if image.time is not None]
        return check_findings(data, claims, times, state, step.faults)

    async def _plan(
        self, coarse: Sequence[Frame], state: CaptionState, step: VlmStep
    ) -> list[CaptionGap]:
        images = await step.images(coarse, Role.PLANNER)
        data = await step.ask_json(
            Role.PLANNER,
            prompts.PLAN,
            (*images, TextPart(describe_state(state))),
            prompts.GAPS_SCHEMA,
        )
        return planned_gaps(data, step.faults)

    async def read(
        self,
        tools: Tools,
        state: CaptionState,
        gap: CaptionGap,
        look: Inspection,
        result: InspectionResult,
    ) -> Inspected:
        step = self._step(tools, state)
        id, unsure_id = state.fresh(2)
        read_by_tool = bool(result.text) or not isinstance(look, Crop | Dense | ReadText | GazeCrop)
        if read_by_tool:
            text = result.text or "nothing"
            sight = Sight(text, result.conclusive, result.confidence, "supports")
        else:
            sight = await self._look_at(state, gap, result, step)
        times = tuple(dict.fromkeys(round(p.time, 3) for p in result.pictures))
        finding = Finding(
            id=id,
            tool=look.tool,
            span=Span(times[0], times[-1]) if times else look.span,
            text=sight.text,
            box=look.boxes[0] if look.boxes else None,
            frames=times,
            confidence=round(sight.confidence, 3),
            conclusive=sight.conclusive,
            rests_on=result.rests_on,
            data=result.data,
        )
        findings = [finding]
        if result.unsure:
            beside = {"id": unsure_id, "text": result.unsure, "conclusive": False, "data": {}}
            findings.append(finding.model_copy(update=beside))
        verdicts: tuple[ClaimVerdict, ...] = ()
        if gap.claim is not None and sight.stance != "silent":
            verdicts = (ClaimVerdict(claim=gap.claim, stance=sight.stance, evidence=(id,)),)
        return Inspected(
            gap=gap.id,
            look=look,
            findings=tuple(findings),
            verdicts=verdicts,
            usage=step.usage,
            faults=tuple(step.faults),
        )

    async def _look_at(
        self, state: CaptionState, gap: CaptionGap, result: InspectionResult, step: VlmStep
    ) -> Sight:
        """What the verifier sees in an inspection's pictures, region by region."""
        limits = step.limits(Role.VERIFIER)
        every = max(1, math.ceil(len(result.pictures) / limits.images))
        parts: list[TextPart | ImagePart] = []
        for box in dict.fromkeys(picture.box for picture in result.pictures):
            frames = [Frame(p.time, p.time, p.image) for p in result.pictures if p.box == box]
            where = ", ".join(f"{v:.2f}" for v in box)
            parts.append(TextPart(f"The part [{where}] of the picture:"))
            parts += await asyncio.to_thread(encode_frames, frames[::every], limits)
        task = f"To be settled: {gap.change}"
        if (claim := state.claim(gap.claim)) is not None:
            task += f"\nThe claim: {claim.text}"
        data = await step.ask_json(
            Role.VERIFIER, prompts.LOOK, (*parts, TextPart(task)), prompts.LOOK_SCHEMA
        )
        return read_sight(data)

    async def revise(self, tools: Tools, coarse: Sequence[Frame], state: CaptionState) -> Revised:
        step = self._step(tools, state)
        data = await step.ask_json(
            Role.CAPTIONER,
            prompts.REVISE,
            (TextPart(describe_state(state)),),
            prompts.CAPTION_SCHEMA,
        )
        lines = None
        if data is not None:
            lines = tuple(revised_lines(data, tools.scene.span, step.faults))
        return Revised(lines=lines, usage=step.usage, faults=tuple(step.faults))
