"""Stream files of known content, written on the fly. Tests get this module as `write`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

GAZE_HEADER = (
    "tracking_timestamp_us,yaw_rads_cpf,pitch_rads_cpf,depth_m,yaw_low_rads_cpf,"
    "pitch_low_rads_cpf,yaw_high_rads_cpf,pitch_high_rads_cpf"
)
TRAJECTORY_HEADER = (
    "graph_uid,tracking_timestamp_us,utc_timestamp_ns,tx_world_device,ty_world_device,"
    "tz_world_device,qx_world_device,qy_world_device,qz_world_device,qw_world_device,"
    "device_linear_velocity_x_device,device_linear_velocity_y_device,"
    "device_linear_velocity_z_device,angular_velocity_x_device,angular_velocity_y_device,"
    "angular_velocity_z_device,gravity_x_world,gravity_y_world,gravity_z_world,quality_score"
)


def rows(path: Path, header: str, lines: Iterable[Sequence[object]]) -> Path:
    """A CSV file with a header and rows."""
    text = "\n".join([header, *(",".join(map(str, line)) for line in lines)])
    path.write_text(text + "\n")
    return path


def aria_gaze(path: Path, times: Sequence[float], yaw: float = 0.2, pitch: float = -0.1) -> Path:
    """Gaze in the form of Aria's first generation; `times` are of the device (s)."""
    return rows(
        path,
        GAZE_HEADER,
        ((round(t * 1e6), yaw, pitch, 1.5, yaw, pitch, yaw, pitch) for t in times),
    )


def trajectory(path: Path, times: Sequence[float], *, utc_from: float | None = None) -> Path:
    """A straight walk of 1.5 m/s along x; `utc_from`: POSIX seconds at the device's second 0."""
    uid = "7d5a1b1e-0000-4c1e-9d07-5f4a3b2c1d0e"
    return rows(
        path,
        TRAJECTORY_HEADER,
        (
            (
                uid,
                round(t * 1e6),
                -1 if utc_from is None else round((utc_from + t) * 1e9),
                *(f"{1.5 * t:.6f}", 0.0, 1.6, 0, 0, 0, 1, 1.5, 0, 0, 0, 0, 0, 0, 0, -9.81, 0.9),
            )
            for t in times
        ),
    )


def imu(path: Path, header: str, values: Sequence[float], times: Sequence[float]) -> Path:
    """The same values at each time, as written."""
    return rows(path, header, ((t, *values) for t in times))


def steady(count: int, hz: float, start: float = 0.0) -> list[float]:
    """Times at a rate."""
    return (start + np.arange(count) / hz).tolist()


@pytest.fixture(scope="session")
def write() -> ModuleType:
    return sys.modules[__name__]
