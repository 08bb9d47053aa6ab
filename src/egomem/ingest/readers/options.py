"""How rows are read: names of their fields, defaults for what they leave out, zones and steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, tzinfo
from typing import cast, get_args

from egomem.errors import UsageError
from egomem.records import Source
from egomem.timeline import DEFAULT_CONVENTIONS, Conventions, zone_of

FIELDS = (
    "video_id", "start", "end", "text", "source", "track", "wearer", "speaker", "data",
    "provenance", "recording_start", "duration", "name",
)  # fmt: skip
"""What a row may hold; all else is kept in the observation's data.

`start` and `end` are seconds of the recording, or times as people write them. `recording_start` is
the wall-clock time of the recording's second 0, `duration` its length and `name` its name.
"""

SOURCES = get_args(Source)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to read rows.

    `mapping`: our field -> theirs, or a template such as `{conv_id}-{session}`. `source` and
    `track` apply to rows that name none; a track names the observer. `recording`: the video of rows
    that name none. `zone` and `day_one`: for wall-clock times without a zone, and EgoLife's DAY1.
    `step`: seconds of each row of a recording whose rows are ordered but have no times (our
    choice). `conventions` holds the `frames_per_second` of EgoLife's times. `device_start`: the
    device's own time (s) at second 0 of the recording, for transcripts that count it.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    source: Source | None = None
    track: str | None = None
    wearer: str = "me"
    recording: str | None = None
    zone: tzinfo | None = None
    day_one: date | None = None
    step: float = 5.0
    conventions: Conventions = DEFAULT_CONVENTIONS
    device_start: float | None = None


def read_map(pairs: Iterable[str]) -> dict[str, str]:
    """Read a mapping from `["text=narration,start=start_sec", ...]`. Raises UsageError."""
    mapping: dict[str, str] = {}
    for pair in (part for text in pairs for part in re.split(r",(?=\s*\w+=)", text)):
        ours, equals, theirs = pair.strip().partition("=")
        if not equals or not theirs or ours not in FIELDS:
            raise UsageError(
                f"cannot use the mapping {pair!r}",
                f"write FIELD=THEIRS with one of: {', '.join(FIELDS)}",
            )
        mapping[ours] = theirs
    return mapping


def read_options(
    *,
    map: Iterable[str] = (),
    source: str | None = None,
    track: str | None = None,
    wearer: str = "me",
    recording: str | None = None,
    zone: str | None = None,
    day_one: str | None = None,
    frames_per_second: int | None = None,
    step: float = 5.0,
) -> ImportOptions:
    """Read options as text: zone Europe/Berlin, day_one 2026-03-01. Raises UsageError."""
    if source is not None and source not in SOURCES:
        raise UsageError(f"{source!r} is not a source", f"known: {', '.join(SOURCES)}")
    try:
        first_day = date.fromisoformat(day_one) if day_one else None
    except ValueError:
        raise UsageError(f"{day_one!r} is not a date", "write it like 2026-03-01") from None
    return ImportOptions(
        mapping=read_map(map),
        source=cast(Source | None, source),
        track=track,
        wearer=wearer,
        recording=recording,
        zone=zone_of(zone) if zone else None,
        day_one=first_day,
        step=step,
        conventions=replace(DEFAULT_CONVENTIONS, frames_per_second=frames_per_second),
    )
