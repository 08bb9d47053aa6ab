"""A digest as an observation, and back: its statements, facts and figures lie in `data`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from pydantic import JsonValue

from egomem.ingest.digests.facts import DigestFigures, Fact
from egomem.ingest.digests.levels import RECORDING, WindowKey
from egomem.ingest.digests.parts import Statement
from egomem.records import Observation, Provenance, Track
from egomem.timeline import Span, format_time


def label(seconds: float, offset: float | None) -> str:
    """A time as a digest tells it: the wearer's wall clock, or seconds of the recording.

    `seconds` are POSIX seconds where the zone's `offset` is known.
    """
    if offset is None:
        return format_time(math.floor(max(seconds, 0.0)))
    return f"{local_time(seconds, offset):%H:%M}"


def local_time(seconds: float, offset: float) -> datetime:
    """POSIX seconds as wall-clock time of a zone that is `offset` seconds ahead of UTC."""
    instant = datetime.fromtimestamp(seconds, UTC)
    return instant.astimezone(timezone(timedelta(seconds=offset)))


def stretch(start: float, end: float, offset: float | None) -> str:
    """`10:05-10:40`; a moment within one minute is written once."""
    first, last = label(start, offset), label(end, offset)
    return first if first == last else f"{first}-{last}"


def digest_text(statements: Sequence[Statement]) -> str:
    """What readers and searches get: a line for each statement that its sources bear out."""
    return "\n".join(
        f"{stretch(s.start, s.end, s.offset)} {s.line}" for s in statements if not s.problem
    )


def digest_observation(
    window: WindowKey,
    track: Track,
    *,
    span: Span,
    statements: Sequence[Statement],
    facts: Sequence[Fact],
    figures: DigestFigures,
    basis: str,
    rests_on: Sequence[str],
    request: str | None = None,
    note: str | None = None,
) -> Observation:
    """The observation of a digest.

    `basis` is the hash of what it was made of; `rests_on` the ids of that: of observations, or of
    the digests of the level below.
    """
    data: dict[str, JsonValue] = {
        "level": window.level,
        "window": window.name,
        "basis": basis,
        "lines": [_line(s) for s in statements],
        "facts": [_fact(f) for f in facts],
        "figures": figures.model_dump(),
    }
    if window.day:
        data["day"] = window.day
    return Observation(
        recording=window.recording,
        wearer=window.wearer,
        span=span,
        text=digest_text(statements),
        source="digest",
        track=track.id,
        data=data,
        provenance=Provenance(rests_on=tuple(rests_on), request=request, note=note),
    )


def statements_in(digest: Observation) -> list[Statement]:
    """The statements of a digest; [] of one that egomem did not make."""
    lines = digest.data.get("lines")
    return [
        Statement(
            start=float(line["start"]),
            end=float(line["end"]),
            text=str(line["text"]),
            ids=tuple(line.get("rests_on", ())),
            speaker=str(line.get("speaker", "")),
            offset=line.get("offset"),
            source=str(line.get("source", "caption")),
            problem=str(line.get("problem", "")),
        )
        for line in _rows(lines)
        if {"start", "end", "text"} <= line.keys()
    ]


def facts_in(digest: Observation) -> list[Fact]:
    """The exact attributes that a digest carries; [] of one that egomem did not make."""
    return [
        Fact(
            kind=row["kind"],
            value=str(row["value"]),
            text=str(row.get("text", row["value"])),
            source=str(row["source"]),
            start=float(row["start"]),
            offset=row.get("offset"),
            count=int(row.get("count", 1)),
        )
        for row in _rows(digest.data.get("facts"))
        if {"kind", "value", "source", "start"} <= row.keys()
    ]


def figures_in(digest: Observation) -> DigestFigures:
    """The figures of a digest; zeros of one that egomem did not make."""
    figures = digest.data.get("figures")
    if not isinstance(figures, dict):
        return DigestFigures()
    fields = DigestFigures.model_fields
    return DigestFigures(**{k: v for k, v in figures.items() if k in fields and isinstance(v, int)})


def is_of_recording(digest: Observation) -> bool:
    """Whether a digest is of a whole recording without a clock."""
    return digest.data.get("level") == RECORDING


def _rows(value: object) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _line(s: Statement) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = {
        "start": s.start,
        "end": s.end,
        "when": stretch(s.start, s.end, s.offset),
        "text": s.text,
        "rests_on": list(s.ids),
    }
    if s.source != "caption":
        row["source"] = s.source
    if s.speaker:
        row["speaker"] = s.speaker
    if s.offset is not None:
        row["offset"] = s.offset
    if s.problem:
        row["problem"] = s.problem
    return row


def _fact(fact: Fact) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = asdict(fact)
    return {name: value for name, value in row.items() if value is not None}
