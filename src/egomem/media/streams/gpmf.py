"""GPMF: what action cameras measure, in payloads of a track of the video's own file.

A payload is a tree of items: key, type, size, repeat, data (GPMF Introduction, gopro/gpmf-parser).
A `STRM` holds one sensor: its samples, their `SCAL`, the axes of its columns (`ORIN`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from egomem.media.streams.samples import Values

_TYPES: Mapping[str, str] = {
    "b": "i1", "B": "u1", "s": ">i2", "S": ">u2", "l": ">i4", "L": ">u4", "j": ">i8", "J": ">u8",
    "f": ">f4", "d": ">f8", "q": ">i4", "Q": ">i8",
}  # fmt: skip
_FIXED_POINT: Mapping[str, float] = {"q": 2.0**-16, "Q": 2.0**-32}

MAX_DEPTH = 8
"""Nesting of items; a real payload has three levels."""

_SENSORS = ("ACCL", "GYRO", "GPS5", "GPS9")
DEFAULT_AXES: Mapping[str, str] = {"ACCL": "ZXY", "GYRO": "ZXY"}
"""Order of the axes where a payload does not state it, as the first cameras wrote them (HERO5)."""


class GpmfError(Exception):
    """A payload that cannot be read; the text says why."""


class _Item(NamedTuple):
    key: str
    kind: str
    size: int
    repeat: int
    data: bytes


@dataclass(slots=True)
class SensorSamples:
    """The samples of one sensor in a payload: `values` is (n, columns), scaled.

    `axes`: of the columns, a letter each, small where it points the other way. `fix`, `dop`: of a
    whole payload of GPS5; GPS9 has them in its columns.
    """

    key: str
    values: Values
    axes: str = ""
    fix: int | None = None
    dop: float | None = None


@dataclass(slots=True)
class _Context:
    """What a STRM has told before its samples."""

    scale: Values = field(default_factory=lambda: np.ones(1))
    types: str = ""
    axes: str = ""
    fix: int | None = None
    dop: float | None = None


def read_payload(payload: bytes) -> Iterator[SensorSamples]:
    """The sensors of a payload that are known. Raises GpmfError where it is damaged."""
    for device in _items(payload, 0):
        if device.key == "DEVC" and device.kind == "\0":
            for stream in _items(device.data, 1):
                if stream.key == "STRM" and stream.kind == "\0":
                    yield from _sensors(stream.data)


def _items(data: bytes, depth: int) -> Iterator[_Item]:
    if depth > MAX_DEPTH:
        raise GpmfError("items are nested too deep")
    position = 0
    while position + 8 <= len(data):
        key, kind, size, repeat = struct.unpack_from(">4scBH", data, position)
        if key == b"\0\0\0\0":  # padding at the end
            return
        length = size * repeat
        begin = position + 8
        if begin + length > len(data):
            raise GpmfError("an item is longer than its payload")
        name = key.decode("latin-1")
        yield _Item(name, kind.decode("latin-1"), size, repeat, data[begin : begin + length])
        position = begin + -(-length // 4) * 4


def _sensors(data: bytes) -> Iterator[SensorSamples]:
    context = _Context()
    for item in _items(data, 2):
        if item.key == "SCAL":
            context.scale = _numbers(item, "").reshape(-1)
        elif item.key == "TYPE" and item.kind == "c":
            context.types = item.data.decode("latin-1").rstrip("\0 ")
        elif item.key == "ORIN" and item.kind == "c":
            context.axes = item.data.decode("latin-1").rstrip("\0 ")
        elif item.key == "GPSF":
            context.fix = int(_numbers(item, "").reshape(-1)[0]) if item.repeat else None
        elif item.key == "GPSP":
            context.dop = float(_numbers(item, "").reshape(-1)[0]) / 100 if item.repeat else None
        elif item.key in _SENSORS and item.repeat:
            values = _numbers(item, context.types)
            scale = context.scale
            if scale.size not in (1, values.shape[1]) or not (scale != 0).all():
                raise GpmfError(f"{item.key} has a scale that does not fit")
            axes = context.axes or DEFAULT_AXES.get(item.key, "")
            yield SensorSamples(item.key, values / scale, axes, context.fix, context.dop)


def _numbers(item: _Item, types: str) -> Values:
    """The values of an item, (repeat, columns)."""
    if item.kind == "?":
        return _structured(item, types)
    code = _TYPES.get(item.kind)
    if code is None:
        raise GpmfError(f"{item.key} is of the type {item.kind!r}, which is not known")
    dtype = np.dtype(code)
    if item.size % dtype.itemsize or not item.size:
        raise GpmfError(f"{item.key} has a size that does not fit its type")
    values = np.frombuffer(item.data, dtype).reshape(item.repeat, -1).astype(np.float64)
    return values * _FIXED_POINT.get(item.kind, 1.0)


def _structured(item: _Item, types: str) -> Values:
    if not types or any(letter not in _TYPES for letter in types):
        raise GpmfError(f"{item.key} has columns of types that are not told")
    dtype = np.dtype([(f"f{k}", _TYPES[letter]) for k, letter in enumerate(types)])
    if dtype.itemsize != item.size:
        raise GpmfError(f"{item.key} has a size that does not fit its types")
    table = np.frombuffer(item.data, dtype)
    columns = [
        table[f"f{k}"].astype(np.float64) * _FIXED_POINT.get(letter, 1.0)
        for k, letter in enumerate(types)
    ]
    return np.stack(columns, axis=1) if len(columns) else np.empty((item.repeat, 0))


def by_axis(sensor: SensorSamples) -> dict[str, Values]:
    """The columns x, y and z of a sensor of three axes. Raises GpmfError where it has others."""
    axes = sensor.axes
    if sensor.values.shape[1] != 3 or sorted(axes.upper()) != ["X", "Y", "Z"]:
        raise GpmfError(f"{sensor.key} does not have three axes")
    return {
        letter.lower(): sensor.values[:, k] * (1.0 if letter.isupper() else -1.0)
        for k, letter in enumerate(axes)
    }


def positions_of(sensor: SensorSamples) -> dict[str, Values]:
    """Latitude, longitude (°), altitude (m) and speed (m/s); NaN where there is no fix."""
    values = sensor.values
    if values.shape[1] < 5:
        raise GpmfError(f"{sensor.key} has {values.shape[1]} columns")
    names: Sequence[str] = ("latitude", "longitude", "altitude", "speed")
    columns = {name: values[:, k].copy() for k, name in enumerate(names)}
    fix = values[:, 8] if sensor.key == "GPS9" and values.shape[1] >= 9 else None
    lost = np.full(len(values), sensor.fix == 0) if fix is None else fix == 0
    for name in names:
        columns[name][lost] = np.nan
    return columns
