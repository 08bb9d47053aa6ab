"""A trace as a person reads it: for each step its name, facts, lines and the raw reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from egomem.text import plural
from egomem.timeline import Span, format_span, format_time

MAX_CHARACTERS = 2000
"""Characters shown of one text."""
MAX_ITEMS = 30
"""Items shown of one list."""

_LEFT_OUT = ("step", "key", "caveat", "usage", "raw", "frames", "hits", "prompt", "role")


def trace_steps(trace: Sequence[JsonValue]) -> list[dict[str, Any]]:
    """`{"title", "facts", "lines", "raw"}` for each step; what is empty is left out."""
    return [_step(s) for s in trace if isinstance(s, dict)]


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    title = " ".join(str(step[k]) for k in ("step", "role", "prompt") if step.get(k))
    facts = [*_facts(step), *_used(step.get("usage"))]
    lines = [*_looked(step), *map(_hit, _some(step.get("hits")))]
    made = {
        "title": title,
        "facts": facts,
        "lines": lines,
        "raw": truncate(str(step.get("raw") or "")),
    }
    return {k: v for k, v in made.items() if v}


def _facts(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if name in _LEFT_OUT or value is False or value in (None, "", [], {}):
            continue
        if isinstance(value, Mapping):
            yield f"{name}: {', '.join(_facts(value))}"
        elif isinstance(value, list) and not any(isinstance(v, dict | list) for v in value):
            more = f" and {len(value) - MAX_ITEMS} more" if len(value) > MAX_ITEMS else ""
            yield f"{name} {', '.join(truncate(_plain(v)) for v in value[:MAX_ITEMS])}{more}"
        elif isinstance(value, list):
            yield f"{name} {truncate(json.dumps(value[:MAX_ITEMS], ensure_ascii=False))}"
        else:
            yield name if value is True else f"{name} {truncate(_plain(value))}"


def _used(usage: object) -> Iterator[str]:
    if not isinstance(usage, Mapping):
        return
    if usage.get("frames"):
        yield plural(usage["frames"], "frame")
    yield f"{usage.get('tokens_in', 0)} tokens in, {usage.get('tokens_out', 0)} out"
    yield f"{float(usage.get('seconds') or 0.0):.2f} s"


def _looked(step: Mapping[str, Any]) -> Iterator[str]:
    """The frames of a look by recording: `10 frames of street.mp4: 0:00.48, 0:01.48 ...`"""
    times: dict[str, list[float]] = {}
    for frame in step.get("frames") or ():
        if isinstance(frame, Mapping):
            held = times.setdefault(str(frame.get("recording") or ""), [])
            held.append(float(frame.get("time") or 0.0))
    for recording, found in times.items():
        more = f" and {len(found) - MAX_ITEMS} more" if len(found) > MAX_ITEMS else ""
        at = ", ".join(map(format_time, found[:MAX_ITEMS]))
        frames = plural(len(found), "frame")
        yield f"{frames} of {recording}: {at}{more}"


def _some(value: object) -> list[Mapping[str, Any]]:
    held = value[:MAX_ITEMS] if isinstance(value, list) else []
    return [v for v in held if isinstance(v, Mapping)]


def _hit(hit: Mapping[str, Any]) -> str:
    start, end = float(hit.get("start") or 0.0), float(hit.get("end") or 0.0)
    where = f"{hit.get('recording') or ''} {format_span(Span(start, max(start, end)))}"
    rest = {k: v for k, v in hit.items() if k not in ("recording", "start", "end")}
    return "; ".join([where.strip(), *_facts(rest)])


def _plain(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def truncate(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + " ..."
