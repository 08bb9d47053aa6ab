"""Samples of a stream: times and columns as arrays, in SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

StreamKind = Literal["gaze", "imu", "trajectory", "points", "gps"]

Values = NDArray[np.float64]

UNITS: Mapping[StreamKind, Mapping[str, str]] = {
    "gaze": {
        "x": "of the width",
        "y": "of the height",
        "yaw": "rad",
        "pitch": "rad",
        "left_yaw": "rad",
        "right_yaw": "rad",
        "depth": "m",
        "confidence": "0 to 1",
    },
    "imu": {
        "accel_x": "m/s²",
        "accel_y": "m/s²",
        "accel_z": "m/s²",
        "gyro_x": "rad/s",
        "gyro_y": "rad/s",
        "gyro_z": "rad/s",
    },
    "trajectory": {
        "x": "m",
        "y": "m",
        "z": "m",
        "qx": "",
        "qy": "",
        "qz": "",
        "qw": "",
        "vx": "m/s",
        "vy": "m/s",
        "vz": "m/s",
        "gravity_x": "m/s²",
        "gravity_y": "m/s²",
        "gravity_z": "m/s²",
        "quality": "0 to 1",
    },
    "points": {"x": "m", "y": "m", "z": "m", "dist_std": "m", "inv_dist_std": "1/m"},
    "gps": {
        "latitude": "°",
        "longitude": "°",
        "altitude": "m",
        "speed": "m/s",
        "accuracy": "m",
    },
}
"""The columns that a stream of a kind may have, and their units."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """A stretch of a stream.

    `times` is (n,) float64: seconds from the first displayed frame, or of the file's own clock
    where a reader yields it. `columns` are (n,) float64 each, in the units of `UNITS`; NaN where a
    row has no value.
    """

    times: Values
    columns: Mapping[str, Values]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, name: str) -> Values:
        return self.columns[name]

    def stack(self, *names: str) -> Values:
        """The named columns beside each other, (n, len(names))."""
        return np.stack([self.columns[name] for name in names], axis=1)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Samples:
        """The samples of these rows."""
        return Samples(self.times[rows], {n: values[rows] for n, values in self.columns.items()})

    @classmethod
    def joined(cls, parts: Sequence[Samples]) -> Samples:
        """Stretches of one stream, at least one, as one; all of it is then in memory."""
        names = parts[0].columns
        return cls(
            np.concatenate([part.times for part in parts]),
            {name: np.concatenate([part[name] for part in parts]) for name in names},
        )
