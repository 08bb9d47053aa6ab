"""How a question was read, for a person and for a trace: the same words wherever it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from egomem.recall.query import Query

if TYPE_CHECKING:
    from egomem.timeline import Instants, TimeMention

_KINDS = {
    "what": "what",
    "when": "when",
    "where": "where",
    "who": "who",
    "said": "what was said",
    "read": "what was read",
    "times": "how many times",
    "count": "how many",
    "how_long": "how long",
    "order": "in which order",
    "whether": "yes or no",
}


def explain(query: Query) -> dict[str, JsonValue]:
    """How a question was read, as JSON; what it does not name is an empty list or null."""
    return {
        "question": query.text,
        "kind": query.kind,
        "words": [word.text for word in query.words],
        "phrases": list(query.phrases),
        "people": list(query.speakers),
        "sources": list(query.sources),
        "anchor": query.anchor.event if query.anchor else None,
        "relation": query.relation,
        "times": [{"text": t.text, "read": _time(t), "note": t.note} for t in query.times],
        "order": query.order,
        "part": query.part,
        "items": list(query.items),
        "options": list(query.options),
        "unresolved": list(query.unresolved),
    }


def explained(query: Query) -> list[str]:
    """How a question was read, in lines."""
    lines = [f"asked for: {_KINDS[query.kind]}" + (", one of the options" * bool(query.options))]

    def line(name: str, values: list[str]) -> None:
        if values:
            lines.append(f"{name}: {', '.join(values)}")

    line("words", [word.text for word in query.words])
    line("phrases", [f"“{phrase}”" for phrase in query.phrases])
    line("people", list(query.speakers))
    line("looked for in", [source.replace("_", " ") for source in query.sources])
    if query.anchor:
        line("anchor", [f"{query.anchor.relation} “{query.anchor.event}”"])
    line("times", [f"“{t.text}” = {_time(t)}" for t in query.times if not t.unresolved])
    line("of several", [f"the {query.order}"] if query.order else [])
    line("part of the recording", [query.part] if query.part else [])
    line("to be put in order", list(query.items))
    line("options", list(query.options))
    return [*lines, *(f"not used: {note}" for note in query.unresolved)]


def times_read(trace: Sequence[JsonValue]) -> list[str]:
    """How an answer read the times of its question, in lines, from the answer's trace."""
    steps = [step for step in trace if isinstance(step, dict) and step.get("step") == "read"]
    times = steps[0].get("times") if steps else None
    lines = []
    for time in times if isinstance(times, list) else []:
        if isinstance(time, dict):
            note = f" ({time['note']})" if time.get("note") else ""
            lines.append(f"“{time.get('text')}” was read as {time.get('read')}{note}")
    return lines


def _stretch(instants: Instants) -> str:
    from egomem.timeline import format_instant

    start, end = format_instant(instants.start), format_instant(instants.end)
    return start if instants.seconds == 0 else f"{start} to {end}"


def _time(time: TimeMention) -> str:
    from egomem.timeline import format_span

    if time.instants is not None:
        # Each recording reads a local time in its own zone.
        others = [
            f"{_stretch(instants) if instants else 'no time'} where {zone} is the zone"
            for zone, instants in time.by_zone
        ]
        return ", ".join([_stretch(time.instants), *others])
    if time.span is not None:
        relation = "" if time.relation == "at" else f"{time.relation} "
        return f"{relation}{format_span(time.span)} of the recording"
    return f"not known: {time.problem}"
