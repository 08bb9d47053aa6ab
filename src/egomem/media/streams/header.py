"""Which column of a header is what: names and units as devices and loggers write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from egomem.media.streams.alignment import ClockKind

TIME_UNITS: Mapping[str, float] = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "millis": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "usec": 1e-6, "micros": 1e-6, "microseconds": 1e-6,
    "ns": 1e-9, "nsec": 1e-9, "nanos": 1e-9, "nanoseconds": 1e-9,
}  # fmt: skip
"""Units of time -> seconds."""

LENGTH: Mapping[str, float] = {"m": 1.0, "meter": 1.0, "meters": 1.0, "mm": 1e-3, "cm": 1e-2}
ANGLE: Mapping[str, float] = {
    "rad": 1.0, "rads": 1.0, "radians": 1.0, "deg": 0.017453292519943295,
    "degs": 0.017453292519943295, "degrees": 0.017453292519943295, "°": 0.017453292519943295,
}  # fmt: skip
SPEED: Mapping[str, float] = {
    "m_s": 1.0, "mps": 1.0, "ms": 1.0, "km_h": 1 / 3.6, "kmh": 1 / 3.6, "kph": 1 / 3.6,
    "mph": 0.44704, "kn": 0.514444, "knots": 0.514444,
}  # fmt: skip
"""Units -> the unit of `samples.UNITS`. A unit's slash is written as `_` here."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column that a kind of stream may have.

    `pattern` matches its name in a header, in lower case, with `_` for whatever separates words,
    and without the unit. `units`: each unit that it may name -> the factor to ours.
    """

    name: str
    pattern: str
    units: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file: its index, the factor to our unit, and the unit that its name states."""

    index: int
    factor: float = 1.0
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """A column of times. `unit` is None where its name states none; `clock` likewise."""

    index: int
    unit: str | None
    clock: ClockKind | None


def match_fields(names: Sequence[str], fields: Sequence[Field]) -> dict[str, Column]:
    """The fields that a header has, each with the first column that is named so."""
    columns: dict[str, Column] = {}
    for index, name in enumerate(names):
        for each in fields:
            if each.name not in columns and (column := _column(index, name, each)) is not None:
                columns[each.name] = column
                break
    return columns


def _column(index: int, name: str, expected: Field) -> Column | None:
    base, unit = _name_and_unit(name)
    if unit is None and re.fullmatch(expected.pattern, base):
        return Column(index)
    if unit is not None:
        if not re.fullmatch(expected.pattern, base):
            return None
        factor = expected.units.get(unit)
        return Column(index, 1.0 if factor is None else factor, unit)
    # accel_x_m_s2: the unit is a part of the name.
    for unit_name in sorted(expected.units, key=len, reverse=True):
        rest = base.removesuffix(f"_{unit_name}")
        if rest != base and re.fullmatch(expected.pattern, rest):
            return Column(index, expected.units[unit_name], unit_name)
    return None


_BRACKETS = re.compile(r"(.*?)\s*[\[(]([^\])]*)[\])]\s*")


def _name_and_unit(name: str) -> tuple[str, str | None]:
    """A column's name as `words_of_it`, and the unit in brackets behind it."""
    text = unicodedata.normalize("NFKC", name).casefold().strip()
    text = text.replace("µ", "u").replace("μ", "u")
    match = _BRACKETS.fullmatch(text)
    if match and match[2].strip():
        return _words(match[1]), _words(match[2].replace("^", "").replace("°/s", "deg/s")) or match[
            2
        ].strip()
    return _words(match[1] if match else text), None


def _words(text: str) -> str:
    return re.sub(r"[^a-z0-9°]+", "_", text).strip("_")


# -- times -----------------------------------------------------------------------------------------

_TIMES = (
    "time times timestamp timestamps ts t date datetime epoch elapsed pts clock seconds sec secs "
    "millis micros nanos uptime unixtime timestampms timestampus timestampns"
)
_TIME_WORDS = frozenset(_TIMES.split())
_WORDS_BY_CLOCK: Mapping[ClockKind, str] = {
    "wall": "utc unix unixtime wall posix epoch gps gnss",
    "device": "tracking device monotonic boot uptime sensor capture hw hardware",
    "recording": "recording video elapsed relative pts media",
    "local": "local",
}
_CLOCK_WORDS: Mapping[str, ClockKind] = {
    word: clock for clock, words in _WORDS_BY_CLOCK.items() for word in words.split()
}
_OTHERS = "of since start the sample in system host gaze imu world from"
_OTHER_WORDS = frozenset(_OTHERS.split())
_PREFERENCE: Sequence[ClockKind | None] = ("recording", "device", None, "wall", "local")


def time_columns(names: Sequence[str]) -> list[TimeColumn]:
    """The columns of times, the one to use first.

    Seconds of the recording come before those of a device, and these before a wall clock: a wall
    clock may be set while it records.
    """
    columns = []
    for index, name in enumerate(names):
        base, unit = _name_and_unit(name)
        words = base.split("_")
        if unit is None and len(words) > 1 and words[-1] in TIME_UNITS:
            unit = words.pop()
        elif unit is None and (match := re.fullmatch(r"timestamp(ms|us|ns)", words[-1])):
            unit = match[1]
        elif unit is None and (full := words[-1]) in ("seconds", "sec", "secs"):
            unit = full
        if unit is not None and unit not in TIME_UNITS:
            continue
        clocks = [_CLOCK_WORDS[word] for word in words if word in _CLOCK_WORDS]
        time_words = _TIME_WORDS | _CLOCK_WORDS.keys() | _OTHER_WORDS
        is_time = bool(_TIME_WORDS & set(words)) or (unit is not None and bool(clocks))
        if is_time and all(word in time_words for word in words):
            columns.append(TimeColumn(index, unit, clocks[0] if clocks else None))
    return sorted(columns, key=lambda column: _PREFERENCE.index(column.clock))
