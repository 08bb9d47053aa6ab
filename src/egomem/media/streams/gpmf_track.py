"""The track of an action camera's video that holds its measurements (GPMF), as streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from egomem.errors import MediaError, reason
from egomem.media.container import DecodeError, open_media
from egomem.media.streams.gpmf import (
    GpmfError,
    SensorSamples,
    by_axis,
    positions_of,
    read_payload,
)
from egomem.media.streams.gps import without_impossible
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import UNITS, Samples, StreamKind, Values
from egomem.media.streams.stream import Stream

_HANDLER = "GoPro MET"
_KINDS: dict[str, StreamKind] = {"ACCL": "imu", "GYRO": "imu", "GPS5": "gps", "GPS9": "gps"}
_HEAD = 12
"""Payloads (of a second each) from which it is told what a track holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpmfTrack(Stream):
    """One kind of measurement of a GPMF track. Samples lie evenly within their payload's time."""

    def rows(self, problems: ProblemLog) -> Iterator[Samples]:
        for start, length, payload in _payloads(self.path, problems):
            sensors = _sensors(payload, start, problems)
            if self.kind == "gps":
                # A camera that writes both forms writes the same positions twice.
                sensors = [s for s in sensors if s.key == "GPS9"] or sensors
            try:
                yield from _samples(self.kind, self.columns, sensors, start, length)
            except GpmfError as error:
                problems.add(f"a payload that cannot be read ({error})", time=start)


def _samples(
    kind: StreamKind,
    columns: tuple[str, ...],
    sensors: list[SensorSamples],
    start: float,
    length: float,
) -> Iterator[Samples]:
    if kind == "gps":
        for sensor in sensors:
            if _KINDS[sensor.key] == "gps":
                positions = without_impossible(positions_of(sensor))
                yield Samples(_times(start, length, len(sensor.values)), positions)
                return
        return
    measured = {s.key: s for s in sensors if _KINDS[s.key] == "imu"}
    if not measured:
        return
    count = max(len(sensor.values) for sensor in measured.values())
    times = _times(start, length, count)
    values: dict[str, Values] = {name: np.full(count, np.nan) for name in columns}
    for key, name in (("ACCL", "accel"), ("GYRO", "gyro")):
        if key in measured:
            sensor = measured[key]
            sample_times = _times(start, length, len(sensor.values))
            for axis, column in by_axis(sensor).items():
                values[f"{name}_{axis}"] = np.interp(times, sample_times, column)
    yield Samples(times, values)


def _times(start: float, length: float, count: int) -> Values:
    return np.asarray(start + np.arange(count) * (length / max(1, count)), dtype=np.float64)


def _sensors(payload: bytes, start: float, problems: ProblemLog) -> list[SensorSamples]:
    sensors: list[SensorSamples] = []
    try:
        sensors.extend(read_payload(payload))
    except GpmfError as error:
        problems.add(f"a payload that cannot be read whole ({error})", time=start)
    return sensors


def _payloads(path: Path, problems: ProblemLog) -> Iterator[tuple[float, float, bytes]]:
    """Start and length (s of the recording) of each payload, and its bytes."""
    with open_media(path) as container:
        track = _track(container)
        if track is None:
            return
        base = float(track.time_base)
        zero = _zero(container)
        try:
            for packet in container.demux(track):
                if packet.pts is None or not packet.size:
                    continue
                length = float(packet.duration or 0) * base or 1.0
                yield float(packet.pts) * base - zero, length, bytes(packet)
        except DecodeError as error:
            problems.add(f"the track ends in damage ({reason(error)})")


def _zero(container: Any) -> float:
    """The file's own time of the first displayed frame."""
    for video in container.streams.video:
        if video.start_time is not None:
            return float(video.start_time * video.time_base)
    return 0.0


def _track(container: Any) -> Any:
    for stream in container.streams.data:
        if _HANDLER in stream.metadata.get("handler_name", ""):
            return stream
    return None


def embedded_streams(path: str | Path) -> tuple[StreamKind, ...]:
    """The kinds of streams that a video's own file holds; none where it is no such file."""
    path = Path(path)
    kinds: set[StreamKind] = set()
    try:
        for number, (start, _, payload) in enumerate(_payloads(path, ProblemLog())):
            kinds |= {_KINDS[s.key] for s in _sensors(payload, start, ProblemLog())}
            if number >= _HEAD:
                break
    except MediaError:
        return ()
    return tuple(sorted(kinds))


def open_gpmf(path: Path, kind: StreamKind | None) -> GpmfTrack:
    """Open a kind of measurement in a video's own file. Raises MediaError where it holds none."""
    kinds = embedded_streams(path)
    chosen = kind if kind is not None else next(iter(kinds), None)
    if chosen is None or chosen not in kinds:
        contents = f"it holds {' and '.join(kinds)}" if kinds else "it has no GPMF track"
        raise MediaError(
            f"{path.name} holds no {kind or 'stream'}: {contents}", "name another file"
        )
    names = (
        ("latitude", "longitude", "altitude", "speed") if chosen == "gps" else tuple(UNITS["imu"])
    )
    return GpmfTrack(kind=chosen, path=path, format="GPMF", clock="recording", columns=names)
