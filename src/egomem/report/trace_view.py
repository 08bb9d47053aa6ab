"""An answer's trace as a person reads it: for each step its name, facts, lines and raw reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from egomem.text import plural
from egomem.timeline import Span, format_span, format_time

MAX_CHARACTERS = 2000
"""Characters of one text."""
MAX_ITEMS = 30
"""Items of one list."""

# What has a place of its own in a step, or tells a person nothing.
_NOT_FACTS = ("step", "key", "caveat", "usage", "raw", "frames", "hits", "prompt", "role")


def trace_steps(trace: Sequence[JsonValue]) -> list[dict[str, Any]]:
    """`{"title", "facts", "lines", "raw"}` for each step, without the empty ones of these."""
    return [_step(step) for step in trace if isinstance(step, dict)]


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    view = {
        "title": " ".join(str(step[k]) for k in ("step", "role", "prompt") if step.get(k)),
        "facts": [*_facts(step), *_usage_facts(step.get("usage"))],
        "lines": [*_frame_lines(step), *map(_hit_line, _first_mappings(step.get("hits")))],
        "raw": truncate(str(step.get("raw") or "")),
    }
    return {name: value for name, value in view.items() if value}


def _facts(fields: Mapping[str, Any]) -> Iterator[str]:
    """`name value` for each field that says something; a field that is true is its name."""
    for name, value in fields.items():
        if name in _NOT_FACTS or value is False or value in (None, "", [], {}):
            continue
        if isinstance(value, Mapping):
            yield f"{name}: {', '.join(_facts(value))}"
        elif isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
            items = ", ".join(truncate(_plain(item)) for item in value[:MAX_ITEMS])
            yield f"{name} {items}{_rest(value)}"
        elif isinstance(value, list):
            yield f"{name} {truncate(json.dumps(value[:MAX_ITEMS], ensure_ascii=False))}"
        else:
            yield name if value is True else f"{name} {truncate(_plain(value))}"


def _usage_facts(usage: object) -> Iterator[str]:
    if not isinstance(usage, Mapping):
        return
    if usage.get("frames"):
        yield plural(usage["frames"], "frame")
    yield f"{usage.get('tokens_in', 0)} tokens in, {usage.get('tokens_out', 0)} out"
    yield f"{float(usage.get('seconds') or 0.0):.2f} s"


def _frame_lines(step: Mapping[str, Any]) -> Iterator[str]:
    """The frames of a step by recording: `10 frames of street.mp4: 0:00.48, 0:01.48 ...`"""
    by_recording: dict[str, list[float]] = {}
    for frame in step.get("frames") or ():
        if isinstance(frame, Mapping):
            recording = str(frame.get("recording") or "")
            by_recording.setdefault(recording, []).append(float(frame.get("time") or 0.0))
    for recording, times in by_recording.items():
        first = ", ".join(map(format_time, times[:MAX_ITEMS]))
        yield f"{plural(len(times), 'frame')} of {recording}: {first}{_rest(times)}"


def _rest(items: Sequence[object]) -> str:
    """How many items are not printed, "" for none."""
    return f" and {len(items) - MAX_ITEMS} more" if len(items) > MAX_ITEMS else ""


def _first_mappings(value: object) -> list[Mapping[str, Any]]:
    items = value[:MAX_ITEMS] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def _hit_line(hit: Mapping[str, Any]) -> str:
    start, end = float(hit.get("start") or 0.0), float(hit.get("end") or 0.0)
    place = f"{hit.get('recording') or ''} {format_span(Span(start, max(start, end)))}"
    rest = {k: v for k, v in hit.items() if k not in ("recording", "start", "end")}
    return "; ".join([place.strip(), *_facts(rest)])


def _plain(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def truncate(text: str) -> str:
    """At most `MAX_CHARACTERS` of a text, so that one reply cannot fill the page."""
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + " ..."
