"""Conversion between rows of `memory.db` and egomem's records."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from egomem.records import Observation, Provenance, Recording, Source, Track
from egomem.timeline import Clock, Span

RECORDING_COLUMNS = "id, wearer, name, path, sha256, duration, clock, zone, clock_source, facts"
TRACK_COLUMNS = "id, source, observer, model, prompt, window, sampling"
OBSERVATION_COLUMNS = (
    "o.id, r.id, o.wearer, o.start, o.end, o.text, t.source, t.id, o.data, o.provenance, "
    "o.n, r.number"
)
OBSERVATION_TABLES = (
    "observation o JOIN recording r ON r.number = o.recording JOIN track t ON t.number = o.track"
)

_NO_PROVENANCE = Provenance()


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def recording_row(r: Recording) -> tuple[object, ...]:
    clock = r.clock
    return (
        r.id,
        r.wearer,
        r.name,
        r.path,
        r.sha256,
        r.duration,
        clock.start.isoformat() if clock else None,
        getattr(clock.start.tzinfo, "key", None) if clock else None,
        clock.source if clock else None,
        to_json(r.facts),
    )


def read_recording(row: tuple[Any, ...]) -> Recording:
    id, wearer, name, path, sha256, duration, start, zone, source, facts = row
    clock = None
    if start is not None:
        instant = datetime.fromisoformat(start)
        if zone:
            # The offset in `start` is right even where this machine knows no such zone.
            with suppress(ZoneInfoNotFoundError):
                instant = instant.astimezone(ZoneInfo(zone))
        clock = Clock(instant, source)
    return Recording(
        id=id,
        wearer=wearer,
        name=name,
        path=path,
        sha256=sha256,
        duration=duration,
        clock=clock,
        facts=json.loads(facts),
    )


def track_row(t: Track) -> tuple[object, ...]:
    return (t.id, t.source, t.observer, t.model, t.prompt, t.window, t.sampling)


def read_track(row: tuple[Any, ...]) -> Track:
    _, source, observer, model, prompt, window, sampling = row
    return Track(
        source=source,
        observer=observer,
        model=model,
        prompt=prompt,
        window=window,
        sampling=sampling,
    )


def provenance_json(p: Provenance) -> str:
    return to_json(p.model_dump(exclude_defaults=True))


def read_observation(row: tuple[Any, ...]) -> Observation:
    """The observation of a row. It was checked when it was written, and is not checked again."""
    id, recording, wearer, start, end, text, source, track, data, provenance = row[:10]
    o = Observation.model_construct(
        recording=recording,
        wearer=wearer,
        span=Span(start, end),
        text=text,
        source=cast(Source, source),
        track=track,
        data={} if data == "{}" else json.loads(data),
        provenance=_NO_PROVENANCE
        if provenance == "{}"
        else Provenance.model_validate(json.loads(provenance)),
    )
    o.__dict__["id"] = id  # the cached property, so that it is not hashed anew
    return o


def instant_of(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
