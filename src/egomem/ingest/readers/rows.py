"""Rows of any format -> observations, recordings and tracks, with a warning for each bad row."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue, ValidationError

from egomem.errors import MediaError, TimeError
from egomem.ingest.readers.options import FIELDS, SOURCES, ImportOptions
from egomem.ingest.readers.transcripts import time_fields
from egomem.ingest.sidecars import instant_of
from egomem.media import LineWarning
from egomem.records import Observation, Provenance, Recording, Source, Track
from egomem.timeline import Clock, Span, read_time
from egomem.timeline.dst import in_named_zone, occurs_twice

_DERIVED = frozenset(("id", "when"))
"""Written by the export for people; they follow from the rest."""

Row = tuple[int, Mapping[str, Any] | str]
"""The line (or number) of a row, and its fields, or why it cannot be read."""


class SummarisedSkip(str):
    """Why a row is left out, where one line of the file's problems tells of all such rows."""

    __slots__ = ()


class ImportRowError(Exception):
    """A row that cannot be used; the text says why."""


@dataclass(slots=True)
class _VideoState:
    """The recording that rows are about, and what they have said of it so far."""

    recording: Recording
    length_is_known: bool
    is_used: bool = False
    rows: int = 0
    timed: bool | None = None


class RowReader:
    """Turns rows into observations, and collects their recordings and tracks.

    `find` returns the recording that a video id stands for; for None, one is made whose id is the
    video id. Its duration is that of its rows unless a row states it; `clock_of` returns its clock
    where a sidecar tells it.
    """

    def __init__(
        self,
        options: ImportOptions,
        default_source: Source = "caption",
        find: Callable[[str], Recording | None] = lambda video: None,
        clock_of: Callable[[str], Clock | None] = lambda video: None,
    ) -> None:
        self.options = options
        self.tracks: dict[str, Track] = {}
        self.problems: list[LineWarning] = []
        self.passed_over = 0
        self._default_source = default_source
        self._find = find
        self._clock_of = clock_of
        self._states: dict[str, _VideoState] = {}
        self._warned: set[str] = set()

    @property
    def recordings(self) -> list[Recording]:
        """The recordings that a usable row describes or lies on."""
        return [state.recording for state in self._states.values() if state.is_used]

    def read(self, number: int, fields: Mapping[str, Any] | str) -> Observation | None:
        """The observation of a row; None for a row that describes a recording, or is bad."""
        if isinstance(fields, str):
            self.skip(number, fields)
            return None
        try:
            return self._read(number, fields)
        except (ImportRowError, TimeError) as error:
            self.skip(number, str(error))
        except ValidationError as error:
            fault = error.errors()[0]
            self.skip(number, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}")
        return None

    def skip(self, number: int, what: str) -> None:
        """Count a row that cannot be used, and note why."""
        self.passed_over += 1
        if not isinstance(what, SummarisedSkip):
            self.problems.append(LineWarning(number, what))

    def _warn_once(self, number: int, key: str, what: str) -> None:
        if key not in self._warned:
            self._warned.add(key)
            self.problems.append(LineWarning(number, what))

    def _read(self, number: int, fields: Mapping[str, Any]) -> Observation | None:
        mapped, rest = self._map_fields(fields)
        self._read_milliseconds(number, mapped)
        source = mapped.get("source") or self.options.source or self._default_source
        if source not in SOURCES:
            raise ImportRowError(f"{source!r} is not a source; known: {', '.join(SOURCES)}")
        text = mapped.get("text")
        if isinstance(text, list):
            text = " ".join(str(part) for part in text)
        video = mapped.get("video_id")
        video = self.options.recording if video is None and source != "digest" else video
        state = None if video is None else self._state_of(number, str(video), mapped)
        if text is None and "duration" in mapped:
            if state is not None:
                state.is_used = True
            return None
        if not isinstance(text, str) or not text.strip():
            raise ImportRowError("it has no text")
        if state is None and source != "digest":
            raise ImportRowError("it names no video; give the recording")
        if mapped.get("start") is None:
            self._refuse_invented_times(rest)
        span, note = self._span(number, mapped, state)
        track = self._track(mapped.get("track"), source)
        provenance = mapped.get("provenance") or {}
        parsed = Provenance.model_validate(provenance)
        if note and not parsed.note:
            parsed = parsed.model_copy(update={"note": note})
        observation = Observation(
            recording=state.recording.id if state else None,
            wearer=state.recording.wearer
            if state
            else str(mapped.get("wearer") or self.options.wearer),
            span=span,
            text=text.strip(),
            source=source,
            track=track,
            data=self._data(mapped, rest),
            provenance=parsed,
        )
        if state is not None:
            self._lengthen(number, state, span.end)
            state.is_used = True
        return observation

    # -- fields ----------------------------------------------------------------------------------

    def _map_fields(self, fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """A row's fields under our names, and the remaining fields."""
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

    def _read_milliseconds(self, number: int, mapped: dict[str, Any]) -> None:
        """Turn times that their field's name calls milliseconds into seconds."""
        for ours in ("start", "end", "duration"):
            theirs, value = self.options.mapping.get(ours, ""), mapped.get(ours)
            if _MILLISECONDS.search(theirs) and isinstance(value, int | float):
                mapped[ours] = value / 1000
                self._warn_once(number, "ms", f"{theirs} is read as milliseconds, by its name")

    def _data(self, mapped: Mapping[str, Any], rest: dict[str, Any]) -> dict[str, JsonValue]:
        data_field = mapped.get("data") or {}
        if isinstance(data_field, str):
            data_field = json.loads(data_field)
        if not isinstance(data_field, dict):
            raise ImportRowError("its data is not an object")
        data = rest | data_field
        if mapped.get("speaker") is not None:
            data["speaker"] = str(mapped["speaker"])
        return data

    def _track(self, value: object, source: Source) -> str:
        name = str(value) if value is not None else self.options.track or "import"
        if name in self.tracks:
            return name
        track = _read_track(name) or Track(source=source, observer=name)
        self.tracks.setdefault(track.id, track)
        return track.id

    # -- recordings and times --------------------------------------------------------------------

    def _state_of(self, number: int, video: str, mapped: Mapping[str, Any]) -> _VideoState:
        state = self._states.get(video)
        if state is None:
            existing = self._find(video)
            wearer = str(mapped.get("wearer") or self.options.wearer)
            recording = Recording(
                id=video, name=str(mapped.get("name") or video), wearer=wearer, duration=0
            )
            state = self._states[video] = _VideoState(existing or recording, existing is not None)
            start_value = mapped.get("recording_start")
            if start_value is not None and state.recording.clock is None:
                self._set_clock(number, state, start_value)
            elif state.recording.clock is None and (clock := self._clock_of(video)) is not None:
                state.recording = state.recording.model_copy(update={"clock": clock})
        duration = mapped.get("duration")
        if (
            not state.length_is_known
            and isinstance(duration, int | float)
            and math.isfinite(duration)
        ):
            self._lengthen(number, state, float(duration))
            state.length_is_known = True
        return state

    def _set_clock(self, number: int, state: _VideoState, start_value: object) -> None:
        """Set a recording's clock from a start; one that cannot be read is kept as a fact."""
        zone, day_one = self.options.zone, self.options.day_one
        try:
            if isinstance(start_value, datetime) and start_value.tzinfo is not None:
                start = start_value
            elif isinstance(start_value, str):
                when = read_time(
                    start_value, zone=zone, day_one=day_one, conventions=self.options.conventions
                )
                if when.instants is None or not when.is_point:
                    raise TimeError(f"{start_value!r} is not one wall-clock time")
                start = when.instants.start
            else:
                start, note = instant_of(start_value, zone)
                if start.tzinfo is None:
                    raise TimeError(note)
                if note:
                    self._warn_once(number, "utc", f"its start is an instant; {note} (--zone)")
        except (TimeError, ValueError, AssertionError) as error:
            self.problems.append(
                LineWarning(number, f"the start of {state.recording.name}: {error}")
            )
            facts = {**state.recording.facts, "said_start": str(start_value)}
            state.recording = state.recording.model_copy(update={"facts": facts})
        else:
            if occurs_twice(start) and not _has_offset(start_value):
                what = f"{start:%H:%M} occurs twice that day; read as the first"
                self.problems.append(LineWarning(number, what))
            clock = Clock(in_named_zone(start, zone), "import")
            state.recording = state.recording.model_copy(update={"clock": clock})

    def _span(
        self, number: int, mapped: Mapping[str, Any], state: _VideoState | None
    ) -> tuple[Span, str | None]:
        """The span of a row, and a provenance note where the row has no time of its own."""
        if mapped.get("start") is None:
            if state is None or state.timed or mapped.get("end") is not None:
                raise ImportRowError("it has no start")
            state.timed = False
            what = f"rows without times are placed by their order, {self.options.step:g} s each"
            self._warn_once(number, "order", f"{what} (--step)")
            start = state.rows * self.options.step
            state.rows += 1
            note = f"placed by its order, {self.options.step:g} s each; it has no time of its own"
            return Span(start, start + self.options.step), note
        if state is not None and state.timed is False:
            raise ImportRowError("it has a start, but the rows before it of its video have none")
        start = self._seconds(mapped["start"], state)
        if mapped.get("end") is None:
            self._warn_once(number, "end", "rows without an end are taken as points")
            end = start
        else:
            end = self._seconds(mapped["end"], state)
        if state is not None:
            state.timed = True
            if start < 0:
                raise ImportRowError(f"it starts before the video ({start:g} s)")
        return Span(start, end), None

    def _refuse_invented_times(self, rest: Mapping[str, Any]) -> None:
        """Raise where a row has times under another name: giving it a time by its order would
        invent one.
        """
        names = time_fields(rest)
        if not names:
            return
        what = f"no field is `start`, but {', '.join(names)} may be a time"
        ends = [f",end={name}" for name in names[1:] if _END_NAME.match(name)]
        remedy = f"name it: --map start={names[0]}{''.join(ends[:1])}"
        if any(isinstance(rest[name], dict | list) for name in names):
            remedy = "write rows with start and end in seconds, or as SRT"
        if not self._states or all(state.timed is None for state in self._states.values()):
            raise MediaError(what, remedy)
        raise ImportRowError(f"{what}; {remedy}")

    def _seconds(self, value: object, state: _VideoState | None) -> float:
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                return self._written_time(str(value), state)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ImportRowError(f"{value!r} is not a time")
        return float(value)

    def _written_time(self, text: str, state: _VideoState | None) -> float:
        """Seconds from a written time; a wall-clock time is placed by the recording's clock."""
        options = self.options
        when = read_time(
            text, zone=options.zone, day_one=options.day_one, conventions=options.conventions
        )
        if when.span is not None:
            return when.span.start
        assert when.instants is not None
        if state is None:
            return when.instants.start.timestamp()
        if state.recording.clock is None:
            clock = Clock(in_named_zone(when.instants.start, options.zone), "import")
            state.recording = state.recording.model_copy(update={"clock": clock})
        assert state.recording.clock is not None
        return state.recording.clock.seconds(when.instants.start)

    def _lengthen(self, number: int, state: _VideoState, end: float) -> None:
        if state.length_is_known:
            if end > state.recording.duration + 1:
                length = state.recording.duration
                what = (
                    f"{state.recording.name} has only {length:.1f} s, but a row ends at {end:.1f} s"
                )
                self._warn_once(number, f"long {state.recording.id}", what)
            return
        if end > state.recording.duration:
            state.recording = state.recording.model_copy(update={"duration": end})


_MILLISECONDS = re.compile(r"(?:^|_)(?:ms|millis|milliseconds)$|(?:Ms|MS|Millis|Milliseconds)$")
_END_NAME = re.compile(r"(?:.*_)?(?:end|stop|to|t1|out)", re.IGNORECASE)


def _has_offset(value: object) -> bool:
    """Whether a start tells the instant, so that its local time cannot be read two ways."""
    if isinstance(value, datetime):
        return value.tzinfo is not None
    return not isinstance(value, str) or re.search(r"[+-]\d\d:?\d\d\b|Z\b", value[10:]) is not None


def _text(value: object) -> str:
    return "" if value is None else str(value)


_TRACK = re.compile(
    r"(?P<source>\w+)/(?P<observer>[^=#@~]+)(?:=(?P<model>.+?))?(?:#(?P<prompt>[^~]+?))?"
    r"(?:@(?P<window>[\d.e+-]+)s)?(?:~(?P<sampling>.+))?"
)


def _read_track(id: str) -> Track | None:
    """The track of a readable id; None where the text is none."""
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
