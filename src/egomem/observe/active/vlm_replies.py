"""What a model's replies say, as values of the loop. Nothing in a reply is trusted: what does not
fit is a fault of the step, and left out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from egomem.observe.active.actions import INSPECTION_ADAPTER
from egomem.observe.active.claims import content, sentences
from egomem.observe.active.state import (
    CaptionGap,
    CaptionLine,
    CaptionState,
    Claim,
    ClaimVerdict,
    Finding,
)
from egomem.observe.caption_times import resolve_times
from egomem.timeline import Span

TIME_TOLERANCE_S = 0.6
"""Seconds by which a frame's time that a model writes may miss the true one."""

Json = dict[str, Any] | None
Stance = Literal["supports", "denies", "silent"]


class Sight(NamedTuple):
    """What a verifier saw in an inspection's pictures."""

    text: str
    conclusive: bool
    confidence: float
    stance: Stance


def draft_lines(caption: str, span: Span, frame_times: Sequence[float] = ()) -> list[CaptionLine]:
    """A captioner's text as lines; one without a time stands for the whole span."""
    resolved = resolve_times(caption, span, frame_times)
    events = iter([*resolved.events, None])
    event = next(events)
    lines = []
    for written in resolved.text.splitlines():
        if event is not None and written.endswith(str(event["text"])) and written[:1] == "[":
            times = Span(_number(event["start"], 0), _number(event["end"], 0))
            lines.append(CaptionLine(span=times.clip(span) or span, text=str(event["text"])))
            event = next(events)
        else:
            lines.append(CaptionLine(span=span, text=written))
    return lines


def split_lines(data: Json, lines: Sequence[CaptionLine], faults: list[str]) -> list[CaptionLine]:
    """The lines with their atomic claims; a line of which none came is split into sentences."""
    caption_words = content(" ".join(line.text for line in lines)).all
    claims: dict[int, list[str]] = {}
    for row in _rows(data, "claims"):
        k, text = int(row["line"]), str(row["text"]).strip()
        # A claim with a word of its own would be new, and nobody saw it.
        if 0 <= k < len(lines) and text and content(text).all <= caption_words:
            claims.setdefault(k, []).append(text)
        else:
            faults.append("atomizer: a claim that is in no line")
    return [
        line.model_copy(update={"claims": tuple(claims.get(k) or sentences(line.text))})
        for k, line in enumerate(lines)
    ]


def check_findings(
    data: Json,
    claims: Sequence[Claim],
    times: Sequence[float],
    state: CaptionState,
    faults: list[str],
) -> tuple[list[Finding], list[ClaimVerdict]]:
    """A finding and a verdict for each claim that was checked against frames of these `times`."""
    unchecked = {claim.id: claim for claim in claims}
    findings: list[Finding] = []
    verdicts: list[ClaimVerdict] = []
    stances: Mapping[str, Stance] = {"contradicted": "denies", "absent": "silent"}
    for row in _rows(data, "claims"):
        claim = unchecked.pop(str(row["id"]), None)
        if claim is None:
            faults.append("verifier: a verdict on no claim, or a second one")
            continue
        written = [t for t in row["times"] if isinstance(t, int | float)]
        frames = tuple(t for t in times if any(abs(t - w) <= TIME_TOLERANCE_S for w in written))
        # A verdict that names no frame which was sent rests on nothing.
        decided = row["verdict"] in ("supported", "contradicted") and bool(frames)
        id = f"e{len(state.findings) + len(findings) + 1}"
        findings.append(
            Finding(
                id=id,
                tool="check",
                span=Span(frames[0], frames[-1]) if frames else claim.span,
                text=str(row["seen"]),
                frames=frames,
                confidence=1.0 if decided else 0.3,
                conclusive=decided,
                rests_on=(claim.id,),
            )
        )
        stance = stances.get(str(row["verdict"]), "supports")
        verdicts.append(ClaimVerdict(claim=claim.id, stance=stance, evidence=(id,)))
    return findings, verdicts


def planned_gaps(data: Json, faults: list[str]) -> list[CaptionGap]:
    """The gaps that a planner names."""
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
                    priority=_share(row["priority"], 0.5),
                    look=INSPECTION_ADAPTER.validate_python(look) if look else None,
                    evidence=tuple(str(e) for e in row["evidence"]),
                )
            )
        except ValidationError as error:
            faults.append(f"planner: a look that cannot be: {error.errors()[0]['msg']}")
    return gaps


def read_sight(data: Json) -> Sight:
    """What a verifier saw; nothing, and silent, without a reply."""
    if data is None:
        return Sight("", False, 0.0, "silent")
    stances: Mapping[str, Stance] = {"supported": "supports", "contradicted": "denies"}
    text = str(data["seen"])
    return Sight(
        text,
        bool(data["conclusive"]) and bool(text.strip()),
        _share(data["confidence"], 0.0),
        stances.get(str(data["verdict"]), "silent"),
    )


def revised_lines(data: Json, scene_span: Span, faults: list[str]) -> list[CaptionLine]:
    """The lines of a rewritten caption that lie in the scene."""
    lines = []
    for row in _rows(data, "lines"):
        start, end = sorted((_number(row["start"], -1), _number(row["end"], -1)))
        span = Span(start, end).clip(scene_span) if start >= 0 else None
        if span is None and start == end == scene_span.end:
            span = Span(start, end)  # a point at the very end lies in no half-open span
        if span is None:
            faults.append("captioner: a line outside of the recording's part")
            continue
        claims = [claim for claim in row["claims"] if str(claim["text"]).strip()]
        lines.append(
            CaptionLine(
                span=span,
                text=str(row["text"]).strip(),
                claims=tuple(str(claim["text"]).strip() for claim in claims),
                evidence=tuple(tuple(str(e) for e in claim["evidence"]) for claim in claims),
            )
        )
    return lines


def _rows(data: Json, name: str) -> list[dict[str, Any]]:
    return list(data[name]) if data is not None else []


def _number(value: Any, fallback: float) -> float:
    usable = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if usable else fallback


def _share(value: Any, fallback: float) -> float:
    return min(max(_number(value, fallback), 0.0), 1.0)
