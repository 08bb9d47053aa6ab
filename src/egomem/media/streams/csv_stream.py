"""Streams in CSV files: a table whose header names a time and the columns of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from egomem.errors import MediaError
from egomem.media.streams.alignment import ClockKind
from egomem.media.streams.csv_table import CsvHeader, read_header, value_stretches
from egomem.media.streams.header import (
    TIME_UNITS,
    Column,
    Field,
    TimeColumn,
    match_fields,
    time_columns,
)
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import UNITS, Samples, StreamKind, Values
from egomem.media.streams.stream import Stream
from egomem.media.streams.time_text import is_instant, names_zone

Columns = dict[str, Values]

WALL_FROM_S = 1e8
"""Times from here on (the year 1973) are POSIX seconds; no device runs for so long."""

RECORDING_UNTIL_S = 10.0
"""Times of no named clock that begin before this are taken for seconds of the recording."""

MIN_STEPS = 10
"""Steps between samples from which a rate is taken."""

PLAUSIBLE_HZ: Mapping[StreamKind, tuple[float, float]] = {
    "gaze": (2.0, 2500.0),
    "imu": (5.0, 12000.0),
    "trajectory": (0.5, 2500.0),
    "gps": (0.002, 60.0),
}
"""Rates of devices of a kind; a unit of time that is not named is the one that gives such a rate
(our choice)."""


@dataclass(frozen=True, slots=True)
class CsvForm:
    """How a kind of stream is written in CSV.

    `fields`: the columns that it may have. `is_complete`: whether these are enough, by their names;
    `needs` says in words what it must have. `derive`: computes the columns of `samples.UNITS` from
    those read, in our units; None where they are the same. `emits`: the names of what it computes,
    by those of what is read.
    """

    kind: StreamKind
    fields: Sequence[Field]
    is_complete: Callable[[frozenset[str]], bool]
    needs: str
    derive: Callable[[Columns], Columns] | None = None
    emits: Callable[[frozenset[str]], Sequence[str]] | None = None
    format: Callable[[frozenset[str]], str] = lambda names: "CSV"


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvStream(Stream):
    """A stream in a CSV file. `wall`: a second column of times, of the wall clock."""

    form: CsvForm
    header: CsvHeader
    time: TimeColumn
    time_factor: float
    values: Mapping[str, Column]
    wall: TimeColumn | None = None
    instants: bool = False

    def rows(self, problems: ProblemLog) -> Iterator[Samples]:
        names = list(self.values)
        indexes = [self.time.index, *(self.values[name].index for name in names)]
        for times, *columns in value_stretches(
            self.path,
            self.header,
            indexes,
            problems,
            instants=self.time.index if self.instants else None,
        ):
            if not len(times):
                continue
            raw = {
                name: _scaled(values, self.values[name].factor)
                for name, values in zip(names, columns, strict=True)
            }
            for name, values in raw.items():
                is_infinite = np.isinf(values)
                if is_infinite.any():
                    problems.add(f"an infinite {name}", count=int(is_infinite.sum()))
                    raw[name] = np.where(is_infinite, np.nan, values)
            derived = self.form.derive(raw) if self.form.derive else raw
            yield Samples(
                _scaled(times, self.time_factor), {name: derived[name] for name in self.columns}
            )

    def wall_pairs(self) -> tuple[Values, Values] | None:
        """Own times (s) and POSIX seconds of the first rows that have both; None where none do."""
        if self.wall is None:
            return None
        columns = (self.time.index, self.wall.index)
        first = next(value_stretches(self.path, self.header, columns, ProblemLog()), None)
        if first is None:
            return None
        device_times = first[0] * self.time_factor
        posix = first[1] * TIME_UNITS[self.wall.unit or "s"]
        # Aria writes -1 where the device did not know the date.
        is_dated = np.isfinite(device_times) & (posix > WALL_FROM_S)
        return (device_times[is_dated], posix[is_dated]) if is_dated.any() else None


def _scaled(values: Values, factor: float) -> Values:
    return values if factor == 1.0 else values * factor


def open_csv(path: Path, forms: Sequence[CsvForm]) -> CsvStream:
    """Open a CSV file as the first of these forms whose columns it has.

    Raises MediaError where it cannot be read, or has the columns of none of them.
    """
    header = read_header(path)
    times = time_columns(header.names)
    for form in forms:
        columns = match_fields(header.names, form.fields)
        if form.is_complete(frozenset(columns)):
            if not times:
                break
            return _stream(path, header, form, columns, times)
    named = ", ".join(header.names[:8]) + (", ..." if len(header.names) > 8 else "")
    lacks = (
        "a column of times"
        if forms
        and any(f.is_complete(frozenset(match_fields(header.names, f.fields))) for f in forms)
        else " or ".join(form.needs for form in forms)
    )
    raise MediaError(
        f"{path.name} has the columns {named or 'none'}, and lacks {lacks}",
        "name the columns in a header line; see docs/reference/streams.md",
    )


def _stream(
    path: Path,
    header: CsvHeader,
    form: CsvForm,
    columns: Mapping[str, Column],
    times: Sequence[TimeColumn],
) -> CsvStream:
    time = times[0]
    reading = _read_time(path, header, form.kind, time)
    named = frozenset(columns)
    names = form.emits(named) if form.emits else list(columns)
    wall = next((t for t in times[1:] if t.clock == "wall"), None)
    return CsvStream(
        kind=form.kind,
        path=path,
        format=form.format(named),
        clock=reading.clock,
        columns=tuple(name for name in UNITS[form.kind] if name in names),
        notes=tuple(filter(None, (header.note, reading.note, *_unit_notes(header, columns, form)))),
        form=form,
        header=header,
        time=time,
        time_factor=reading.factor,
        values=dict(columns),
        wall=wall,
        instants=reading.instants,
    )


class _TimeReading(NamedTuple):
    clock: ClockKind
    factor: float
    instants: bool
    note: str


def _read_time(path: Path, header: CsvHeader, kind: StreamKind, time: TimeColumn) -> _TimeReading:
    """What a column of times counts, by its name and its first values."""
    name = header.names[time.index]
    first = header.first[time.index] if time.index < len(header.first) else ""
    if is_instant(first):
        clock: ClockKind = "wall" if names_zone(first) or time.clock == "wall" else "local"
        note = "" if clock == "wall" else f"the column {name} names no zone: that of the recording"
        return _TimeReading(clock, 1.0, True, note)
    stretch = next(value_stretches(path, header, (time.index,), ProblemLog()), [np.empty(0)])[0]
    values = stretch[np.isfinite(stretch)]
    if not len(values):
        return _TimeReading(time.clock or "recording", TIME_UNITS[time.unit or "s"], False, "")
    notes = []
    unit = time.unit
    if unit is None:
        unit = _likely_unit(values, kind)
        if unit != "s":
            notes.append(f"the column {name} names no unit: read as {unit}")
    factor = TIME_UNITS[unit]
    begin = float(values[0]) * factor
    clock = time.clock or ("wall" if begin >= WALL_FROM_S else "recording")
    if time.clock is None and clock == "recording" and begin > RECORDING_UNTIL_S:
        clock = "device"
        notes.append(
            f"the column {name} names no clock and begins at {begin:.3f} s: the device's own"
        )
    if clock == "recording" and begin >= WALL_FROM_S:
        clock = "wall"
    return _TimeReading(clock, factor, False, "; ".join(notes))


def _likely_unit(values: Values, kind: StreamKind) -> str:
    """The unit of times without one: by their size where they are dates, else by their rate."""
    for unit in ("s", "ms", "us", "ns"):
        if WALL_FROM_S <= values[0] * TIME_UNITS[unit] < 100 * WALL_FROM_S:
            return unit
    steps = np.diff(values)
    steps = steps[steps > 0]
    # Counts of a smaller unit are whole; a few whole numbers tell nothing.
    is_count = bool((values == np.round(values)).all())
    if is_count and len(steps) >= MIN_STEPS and kind in PLAUSIBLE_HZ:
        step = float(np.median(steps))
        low, high = PLAUSIBLE_HZ[kind]
        for unit in ("s", "ms", "us", "ns"):
            if low <= 1 / (step * TIME_UNITS[unit]) <= high:
                return unit
    return "s"


def _unit_notes(header: CsvHeader, columns: Mapping[str, Column], form: CsvForm) -> Iterator[str]:
    """Lines on units that are not known, or of which one kind of column has several."""
    fields = {field.name: field for field in form.fields}
    for name, column in columns.items():
        if column.unit is not None and column.unit not in fields[name].units:
            yield (
                f"the unit of the column {header.names[column.index]} is not known: its values are "
                f"taken as {UNITS[form.kind].get(name) or 'they are'}"
            )
