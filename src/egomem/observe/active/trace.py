"""How a caption came about, for a reader: each round's claims, gaps, inspections and edits."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from egomem.media import jpeg
from egomem.observe.active.actions import WHOLE_PICTURE
from egomem.observe.active.loop import CaptionRun
from egomem.observe.active.reduce import states
from egomem.observe.active.state import (
    CaptionState,
    Diagnosed,
    Drafted,
    Finding,
    Inspected,
    Revised,
    Stopped,
)
from egomem.observe.active.tools import Tools
from egomem.timeline import Span, format_span, format_time

THUMBNAIL = 160
"""Longest side of a look's pictures in the HTML trace, in pixels."""
MAX_PICTURES = 12
"""Pictures of one look that are shown."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of the trace: a heading, lines, and the findings whose frames show it."""

    heading: str
    lines: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    level: int = 2


def trace_steps(run: CaptionRun) -> Iterator[TraceStep]:
    for event, state in zip(run.log.events, states(run.log), strict=True):
        faults = tuple(f"fault: {fault}" for fault in getattr(event, "faults", ()))
        if isinstance(event, Drafted):
            coarse = [f for f in event.findings if f.tool == "coarse"]
            yield TraceStep(
                f"Draft from {len(run.log.scene.coarse)} coarse frames",
                (*run.draft.splitlines(), *faults),
                tuple(coarse),
            )
        elif isinstance(event, Diagnosed):
            yield TraceStep(
                f"Round {state.round}",
                (*_claims(state), *_gaps(state), *faults),
            )
        elif isinstance(event, Inspected):
            yield TraceStep(_look(event, state), (*_found(event), *faults), event.findings, level=3)
        elif isinstance(event, Revised):
            yield TraceStep("Revision", (*diff(state), *_cost(state), *faults), level=3)
        elif isinstance(event, Stopped):
            why = f"{event.reason.value}{f' ({event.detail})' if event.detail else ''}"
            yield TraceStep(f"Stopped: {why}", _cost(state))


def _claims(state: CaptionState) -> list[str]:
    return [
        f"claim {c.id} {c.standing.value}"
        f"{' by ' + ', '.join(c.supports) if c.supports else ''}: [{_span(c.span)}] {c.text}"
        for c in state.claims
    ]


def _gaps(state: CaptionState) -> list[str]:
    return [
        f"gap {g.id} {g.kind}, {g.concern}, {g.state}"
        f"{f', tried {g.attempts} times' if g.attempts else ''}: {g.change}"
        for g in state.gaps
    ]


def _look(event: Inspected, state: CaptionState) -> str:
    look = event.look
    where = "" if not look.boxes else f", {len(look.boxes)} region(s)"
    cost = "held already" if event.cached else f"{event.pictures} frames"
    gap = next((g for g in state.gaps if g.id == event.gap), None)
    ended = "refused" if event.refused else gap.state if gap else ""
    return f"Look for {event.gap}: {look.tool} {_span(look.span)}{where}, {cost} -> {ended}"


def _found(event: Inspected) -> list[str]:
    lines = [f"refused: {event.refused}"] if event.refused else []
    lines += [f"brought into range: {name}" for name in event.clamped]
    return lines + [
        f"{f.id} {'' if f.conclusive else 'inconclusive, '}[{_span(f.span)}]: {f.text}"
        for f in event.findings
    ]


def diff(state: CaptionState) -> list[str]:
    """The edits of the last revision: + added, - removed, ~ changed, ! rejected."""
    lines = []
    for edit in state.edits:
        mark = {"added": "+", "removed": "-", "changed": "~"}[edit.kind]
        text = " -> ".join(dict.fromkeys(t for t in (edit.before, edit.after) if t is not None))
        if edit.before == edit.after:
            text += " (now proven, or placed better)"
        if edit.evidence:
            text += f" [by {', '.join(edit.evidence)}]"
        lines.append(f"{mark} {text}" if edit.accepted else f"! {edit.kind} {text}: {edit.why}")
    return lines or ["nothing changed"]


def _cost(state: CaptionState) -> tuple[str, ...]:
    return (
        f"so far {state.looks} looks, {state.pictures} extra frames, "
        f"{state.usage.tokens_in:,} tokens in, {state.usage.tokens_out:,} out",
    )


def _span(span: Span) -> str:
    return format_span(Span(round(span.start, 2), round(span.end, 2)))


def as_text(run: CaptionRun) -> list[str]:
    lines: list[str] = []
    for entry in trace_steps(run):
        indent = "  " * (entry.level - 2)
        lines.append(indent + entry.heading)
        lines += [f"{indent}  {line}" for line in entry.lines]
    return lines


def as_json(run: CaptionRun) -> dict[str, JsonValue]:
    """The result and its whole log; replaying the log gives the same state."""
    state = run.state
    return {
        "caption": run.caption,
        "draft": run.draft,
        "stop": state.stop.value if state.stop else None,
        "rounds": state.round,
        "looks": state.looks,
        "frames": {"coarse": len(run.log.scene.coarse), "extra": state.pictures},
        "usage": run.usage.model_dump(mode="json"),
        "refused": dict(state.refused),
        "faults": list(state.faults),
        "claims": [c.model_dump(mode="json") for c in state.claims],
        "gaps": [g.model_dump(mode="json") for g in state.gaps],
        "log": run.log.model_dump(mode="json"),
    }


def as_html(run: CaptionRun, tools: Tools | None = None) -> str:
    """The trace as one page. With `tools`, each inspection shows its frames."""
    body = [f"<h1>{html.escape(run.log.scene.name)}</h1>", _paragraphs(run.caption)]
    for entry in trace_steps(run):
        body.append(f"<h{entry.level}>{html.escape(entry.heading)}</h{entry.level}>")
        body.append("<ul>" + "".join(f"<li>{html.escape(x)}</li>" for x in entry.lines) + "</ul>")
        if tools is not None:
            body.append(_pictures(entry.findings, tools))
    return _PAGE.format(title=html.escape(run.log.scene.name), body="\n".join(body))


def _paragraphs(text: str) -> str:
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines())
    return f"<section class=caption>{lines or '<p>Nothing could be established.</p>'}</section>"


def _pictures(findings: Sequence[Finding], tools: Tools) -> str:
    out = []
    for finding in findings:
        if finding.tool in ("tally", "check") or not finding.frames:
            continue
        every = -(-len(finding.frames) // MAX_PICTURES)
        region = finding.box or WHOLE_PICTURE
        for picture in tools.pictures(finding.frames[::every], (region,)):
            data = base64.b64encode(jpeg(picture.image, 70, side=THUMBNAIL)).decode("ascii")
            time_label = format_time(round(picture.time, 2))
            out.append(
                f'<figure><img alt="frame at {time_label}" src="data:image/jpeg;base64,{data}">'
                f"<figcaption>{time_label}</figcaption></figure>"
            )
    return f"<div class=frames>{''.join(out)}</div>" if out else ""


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem }}
.caption {{ border-left: .25rem solid #48c; padding-left: 1rem }}
.frames {{ display: flex; flex-wrap: wrap; gap: .5rem }}
figure {{ margin: 0 }} figcaption {{ font-size: .8rem }}
h3 {{ font-size: 1rem; margin-bottom: 0 }} ul {{ margin-top: .2rem }}
</style></head><body>
{body}
</body></html>
"""
