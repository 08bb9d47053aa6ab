"""Inertial measurement: acceleration and rates of turn of the head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from egomem.media.streams.csv_stream import CsvForm
from egomem.media.streams.header import Field

STANDARD_GRAVITY = 9.80665
"""m/s², by definition."""

ACCELERATION: Mapping[str, float] = {
    **dict.fromkeys(("m_s2", "m_s_2", "mps2", "ms2", "m_s_s", "msec2"), 1.0),
    **dict.fromkeys(("g", "gs", "gee"), STANDARD_GRAVITY),
    **dict.fromkeys(("mg", "milli_g"), STANDARD_GRAVITY / 1000),
}
TURN_RATE: Mapping[str, float] = {
    **dict.fromkeys(("rad_s", "rads", "rad_sec", "radps", "rps", "rad_s_1"), 1.0),
    **dict.fromkeys(("deg_s", "dps", "degs", "deg_sec", "degps", "°_s"), 0.017453292519943295),
    **dict.fromkeys(("mdps", "mdeg_s"), 0.017453292519943295 / 1000),
}

_ACCEL = "(?:imu_)?(?:linear_)?(?:acc|accel|acceleration|accelerometer|a)"
_GYRO = "(?:imu_)?(?:angular_velocity|angular_rate|gyroscope|gyro|gyr|rotation_rate|omega|w|g)"

FIELDS: Sequence[Field] = tuple(
    Field(f"{name}_{axis}", f"{pattern}_?{axis}", units)
    for name, pattern, units in (
        ("accel", _ACCEL, ACCELERATION),
        ("gyro", _GYRO, TURN_RATE),
    )
    for axis in "xyz"
)


def _is_complete(names: frozenset[str]) -> bool:
    return any({f"{name}_{axis}" for axis in "xyz"} <= names for name in ("accel", "gyro"))


IMU = CsvForm(
    kind="imu",
    fields=FIELDS,
    is_complete=_is_complete,
    needs="an accelerometer or a gyroscope (accel_x, accel_y, accel_z, gyro_x, ...)",
    format=lambda names: "IMU CSV",
)
