"""Rows of any format -> observations, recordings and tracks, with a warning for each bad row."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from typing import Any, cast, get_args

from pydantic import JsonValue, ValidationError

from egomem.errors import TimeError, UsageError
from egomem.ingest.start_times import instant_of
from egomem.media import LineWarning
from egomem.records import Observation, Provenance, Recording, Source, Track
from egomem.timeline import DEFAULT_CONVENTIONS, Clock, Conventions, Span, read_time, zone_of

FIELDS = (
    "video_id", "start", "end", "text", "source", "track", "wearer", "speaker", "data",
    "provenance", "recording_start", "duration", "name",
)  # fmt: skip
"""What a row may hold; all else is kept in the observation's data.

`start` and `end` are seconds of the recording, or times as people write them. `recording_start` is
the wall-clock time of the recording's second 0, `duration` its length and `name` its name.
"""

_DERIVED = frozenset(("id", "when"))
"""Written by the export for people; they follow from the rest."""

SOURCES = get_args(Source)

Row = tuple[int, Mapping[str, Any] | str]
"""The line (or number) of a row, and its fields, or why it cannot be read."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How rows are to be read.

    `mapping`: our field -> theirs, or a template such as `{conv_id}-{session}`. `source` and
    `track` fill in for rows that name none; a track is who observed, as a word. `recording`: the
    video of rows that name none. `zone` and `day_one`: for wall-clock times without a zone, and
    EgoLife's DAY1. `step`: seconds given to each row of a recording whose rows have an order but no
    times (our choice). `frames_per_second` of EgoLife's times is in `habits`.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    source: Source | None = None
    track: str | None = None
    wearer: str = "me"
    recording: str | None = None
    zone: tzinfo | None = None
    day_one: date | None = None
    step: float = 5.0
    habits: Conventions = DEFAULT_CONVENTIONS


def read_map(pairs: Iterable[str]) -> dict[str, str]:
    """`["text=narration,start=start_sec", ...]` -> a mapping. Raises UsageError."""
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
    frames_per_second: int = DEFAULT_CONVENTIONS.frames_per_second,
    step: float = 5.0,
) -> ImportOptions:
    """Options as people write them: zone Europe/Berlin, day_one 2026-03-01. Raises UsageError."""
    if source is not None and source not in SOURCES:
        raise UsageError(f"{source!r} is not a source", f"known: {', '.join(SOURCES)}")
    try:
        first = date.fromisoformat(day_one) if day_one else None
    except ValueError:
        raise UsageError(f"{day_one!r} is not a date", "write it like 2026-03-01") from None
    return ImportOptions(
        mapping=read_map(map),
        source=cast(Source | None, source),
        track=track,
        wearer=wearer,
        recording=recording,
        zone=zone_of(zone) if zone else None,
        day_one=first,
        step=step,
        habits=replace(DEFAULT_CONVENTIONS, frames_per_second=frames_per_second),
    )


class ImportRowError(Exception):
    """A row that cannot be used; the text says why."""


@dataclass(slots=True)
class _Line:
    """What is known of one video while its rows are read."""

    recording: Recording
    known: bool
    rows: int = 0
    timed: bool | None = None


class RowReader:
    """Turns rows into observations; learns recordings and tracks on the way.

    `find` gives the recording that a video id stands for where it is known already; else one is
    made whose id is the video id. Its length is that of its rows unless a row says it.
    """

    def __init__(
        self,
        options: ImportOptions,
        default_source: Source = "caption",
        find: Callable[[str], Recording | None] = lambda video: None,
    ) -> None:
        self.options = options
        self.tracks: dict[str, Track] = {}
        self.problems: list[LineWarning] = []
        self.passed_over = 0
        self._default_source = default_source
        self._find = find
        self._lines: dict[str, _Line] = {}
        self._said: set[str] = set()

    @property
    def recordings(self) -> list[Recording]:
        return [line.recording for line in self._lines.values()]

    def read(self, number: int, fields: Mapping[str, Any] | str) -> Observation | None:
        """The observation of a row; None for one that describes a recording, or is bad."""
        if isinstance(fields, str):
            self.bad(number, fields)
            return None
        try:
            return self._read(number, fields)
        except (ImportRowError, TimeError) as error:
            self.bad(number, str(error))
        except ValidationError as error:
            fault = error.errors()[0]
            self.bad(number, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}")
        return None

    def bad(self, number: int, what: str) -> None:
        """Counts and notes a row that is passed over."""
        self.passed_over += 1
        self.problems.append(LineWarning(number, what))

    def _once(self, number: int, key: str, what: str) -> None:
        if key not in self._said:
            self._said.add(key)
            self.problems.append(LineWarning(number, what))

    def _read(self, number: int, fields: Mapping[str, Any]) -> Observation | None:
        mapped, rest = self._mapped(fields)
        source = mapped.get("source") or self.options.source or self._default_source
        if source not in SOURCES:
            raise ImportRowError(f"{source!r} is not a source; known: {', '.join(SOURCES)}")
        text = mapped.get("text")
        if isinstance(text, list):
            text = " ".join(str(part) for part in text)
        video = mapped.get("video_id")
        video = self.options.recording if video is None and source != "digest" else video
        line = None if video is None else self._line(number, str(video), mapped)
        if text is None and "duration" in mapped:
            return None
        if not isinstance(text, str) or not text.strip():
            raise ImportRowError("it has no text")
        if line is None and source != "digest":
            raise ImportRowError("it names no video; give the recording")
        span, note = self._span(number, mapped, line)
        track = self._track(mapped.get("track"), source)
        provenance = mapped.get("provenance") or {}
        made = Provenance.model_validate(provenance)
        if note and not made.note:
            made = made.model_copy(update={"note": note})
        held = Observation(
            recording=line.recording.id if line else None,
            wearer=line.recording.wearer
            if line
            else str(mapped.get("wearer") or self.options.wearer),
            span=span,
            text=text.strip(),
            source=source,
            track=track,
            data=self._data(mapped, rest),
            provenance=made,
        )
        if line is not None:
            self._lengthen(number, line, span.end)
        return held

    # -- fields ----------------------------------------------------------------------------------

    def _mapped(self, fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Our fields of a row, and what is left of it."""
        mapping = self.options.mapping
        used = set(mapping.values())
        mapped = {
            k: v for k, v in fields.items() if k in FIELDS and k not in used and v is not None
        }
        rest = {
            k: v
            for k, v in fields.items()
            if k not in FIELDS and k not in used and k not in _DERIVED and v is not None
        }
        for ours, theirs in mapping.items():
            if "{" in theirs:
                value: Any = re.sub(r"\{(\w+)\}", lambda m: _text(fields.get(m[1])), theirs)
            else:
                value = fields.get(theirs)
            mapped.pop(ours, None)
            if value is not None:
                mapped[ours] = value
        return mapped, rest

    def _data(self, mapped: Mapping[str, Any], rest: dict[str, Any]) -> dict[str, JsonValue]:
        given = mapped.get("data") or {}
        if isinstance(given, str):
            given = json.loads(given)
        if not isinstance(given, dict):
            raise ImportRowError("its data is not an object")
        data = rest | given
        if mapped.get("speaker") is not None:
            data["speaker"] = str(mapped["speaker"])
        return data

    def _track(self, said: object, source: Source) -> str:
        name = str(said) if said is not None else self.options.track or "import"
        if name in self.tracks:
            return name
        track = _read_track(name) or Track(source=source, observer=name)
        self.tracks.setdefault(track.id, track)
        return track.id

    # -- recordings and times --------------------------------------------------------------------

    def _line(self, number: int, video: str, mapped: Mapping[str, Any]) -> _Line:
        line = self._lines.get(video)
        if line is None:
            held = self._find(video)
            wearer = str(mapped.get("wearer") or self.options.wearer)
            made = Recording(
                id=video, name=str(mapped.get("name") or video), wearer=wearer, duration=0
            )
            line = self._lines[video] = _Line(held or made, held is not None)
            said = mapped.get("recording_start")
            if said is not None and line.recording.clock is None:
                self._place(number, line, said)
        duration = mapped.get("duration")
        if not line.known and isinstance(duration, int | float) and math.isfinite(duration):
            self._lengthen(number, line, float(duration))
            line.known = True
        return line

    def _place(self, number: int, line: _Line, said: object) -> None:
        """Gives a recording its clock, or keeps what was said of it."""
        zone, day_one = self.options.zone, self.options.day_one
        try:
            if isinstance(said, datetime) and said.tzinfo is not None:
                start = said
            elif isinstance(said, str):
                when = read_time(said, zone=zone, day_one=day_one, habits=self.options.habits)
                if when.instants is None or not when.is_point:
                    raise TimeError(f"{said!r} is not one wall-clock time")
                start = when.instants.start
            else:
                start, note = instant_of(said, zone)
                if start.tzinfo is None:
                    raise TimeError(note)
        except (TimeError, ValueError, AssertionError) as error:
            self.problems.append(
                LineWarning(number, f"the start of {line.recording.name}: {error}")
            )
            facts = {**line.recording.facts, "said_start": str(said)}
            line.recording = line.recording.model_copy(update={"facts": facts})
        else:
            clock = Clock(start, "import")
            line.recording = line.recording.model_copy(update={"clock": clock})

    def _span(
        self, number: int, mapped: Mapping[str, Any], line: _Line | None
    ) -> tuple[Span, str | None]:
        """The span of a row, and a note for its provenance where it was not in the row."""
        if mapped.get("start") is None:
            if line is None or line.timed:
                raise ImportRowError("it has no start")
            line.timed = False
            start = line.rows * self.options.step
            line.rows += 1
            note = f"placed by its order, {self.options.step:g} s each; it has no time of its own"
            return Span(start, start + self.options.step), note
        if line is not None and line.timed is False:
            raise ImportRowError("it has a start, but the rows before it of its video have none")
        start = self._seconds(mapped["start"], line)
        if mapped.get("end") is None:
            self._once(number, "end", "rows without an end are taken as points")
            end = start
        else:
            end = self._seconds(mapped["end"], line)
        if line is not None:
            line.timed = True
            if start < 0:
                raise ImportRowError(f"it starts before the video ({start:g} s)")
        return Span(start, end), None

    def _seconds(self, said: object, line: _Line | None) -> float:
        if isinstance(said, str):
            try:
                said = float(said)
            except ValueError:
                return self._written(str(said), line)
        if isinstance(said, bool) or not isinstance(said, int | float):
            raise ImportRowError(f"{said!r} is not a time")
        return float(said)

    def _written(self, said: str, line: _Line | None) -> float:
        """A time as people write it; a wall-clock time is placed by the recording's clock."""
        options = self.options
        when = read_time(said, zone=options.zone, day_one=options.day_one, habits=options.habits)
        if when.span is not None:
            return when.span.start
        assert when.instants is not None
        if line is None:
            return when.instants.start.timestamp()
        if line.recording.clock is None:
            clock = Clock(when.instants.start, "import")
            line.recording = line.recording.model_copy(update={"clock": clock})
        assert line.recording.clock is not None
        return line.recording.clock.seconds(when.instants.start)

    def _lengthen(self, number: int, line: _Line, end: float) -> None:
        if line.known:
            if end > line.recording.duration + 1:
                length = line.recording.duration
                what = (
                    f"{line.recording.name} has only {length:.1f} s, but a row ends at {end:.1f} s"
                )
                self._once(number, f"long {line.recording.id}", what)
            return
        if end > line.recording.duration:
            line.recording = line.recording.model_copy(update={"duration": end})


def _text(value: object) -> str:
    return "" if value is None else str(value)


_TRACK = re.compile(
    r"(?P<source>\w+)/(?P<observer>[^=#@~]+)(?:=(?P<model>.+?))?(?:#(?P<prompt>[^~]+?))?"
    r"(?:@(?P<window>[\d.e+-]+)s)?(?:~(?P<sampling>.+))?"
)


def _read_track(id: str) -> Track | None:
    """The track of a readable id, where it is one."""
    match = _TRACK.fullmatch(id)
    if not match or match["source"] not in SOURCES:
        return None
    window = match["window"]
    try:
        fields = match.groupdict() | {"window": float(window) if window else None}
        track = Track.model_validate(fields)
    except (ValueError, ValidationError):
        return None
    return track if track.id == id else None
