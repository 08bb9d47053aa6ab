"""Trajectories: where the device was and how it was turned, in a frame of its own with z up."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.media.streams.csv_stream import CsvForm
from egomem.media.streams.header import LENGTH, SPEED, Field

_FRAME = "(?:_(?:world|odometry))?(?:_device)?"

FIELDS: Sequence[Field] = (
    *(
        Field(axis, f"(?:t{axis}|position_{axis}|pos_{axis}|p{axis}|{axis}){_FRAME}", LENGTH)
        for axis in "xyz"
    ),
    *(Field(f"q{axis}", f"(?:q{axis}|(?:orientation|rotation|quat)_{axis}){_FRAME}")
      for axis in "xyzw"),
    *(
        Field(
            f"v{axis}",
            f"(?:v{axis}|velocity_{axis}|device_linear_velocity_{axis}_(?:odometry|device))",
            SPEED,
        )
        for axis in "xyz"
    ),
    *(Field(f"gravity_{axis}", f"gravity_{axis}_(?:world|odometry)") for axis in "xyz"),
    Field("quality", "quality(?:_score)?"),
)  # fmt: skip


def _is_complete(names: frozenset[str]) -> bool:
    return {"x", "y", "z"} <= names and not {"accel_x", "gyro_x"} & names


TRAJECTORY = CsvForm(
    kind="trajectory",
    fields=FIELDS,
    is_complete=_is_complete,
    needs="a position (tx, ty, tz)",
    format=lambda names: "trajectory CSV",
)
