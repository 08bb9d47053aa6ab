"""Gaze: where the wearer looks, as angles of the head (Aria) or as a point of the picture.

Aria's machine perception services write yaw and pitch in the central pupil frame, in one of three
forms: combined angles (first generation), a yaw of each eye with a common pitch (2024), and both
(second generation). Angles: tan(yaw) = x / z, tan(pitch) = y / z, as `projectaria_tools` has it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.media.streams.csv_stream import Columns, CsvForm
from egomem.media.streams.header import ANGLE, LENGTH, Field

_SHARE = {"norm": 1.0, "normalized": 1.0, "normalised": 1.0, "percent": 0.01}
_SHARES = {"0_1": 1.0, **_SHARE}
_FRAME = "(?:_cpf)?"

FIELDS: Sequence[Field] = (
    Field("yaw", "(?:gaze_)?yaw(?:_rads)?" + _FRAME, ANGLE),
    Field("pitch", "(?:gaze_)?pitch(?:_rads)?" + _FRAME, ANGLE),
    Field("left_yaw", "left_yaw(?:_rads)?" + _FRAME, ANGLE),
    Field("right_yaw", "right_yaw(?:_rads)?" + _FRAME, ANGLE),
    Field("depth", "(?:gaze_)?depth", LENGTH),
    Field("yaw_low", "yaw_low_rads_cpf"),
    Field("yaw_high", "yaw_high_rads_cpf"),
    Field("x", "(?:gaze_|norm_|normalized_|normalised_)*(?:point_|pos_)?x(?:_norm)?", _SHARES),
    Field("y", "(?:gaze_|norm_|normalized_|normalised_)*(?:point_|pos_)?y(?:_norm)?", _SHARES),
    Field("confidence", "(?:gaze_)?(?:confidence|conf|validity|valid)"),
)


def _is_complete(names: frozenset[str]) -> bool:
    return _has_angles(names) or {"x", "y"} <= names


def _has_angles(names: frozenset[str]) -> bool:
    return "pitch" in names and ("yaw" in names or {"left_yaw", "right_yaw"} <= names)


def _emits(names: frozenset[str]) -> Sequence[str]:
    return [*names, "yaw"] if _has_angles(names) else [*names]


def _format(names: frozenset[str]) -> str:
    if not _has_angles(names):
        return "gaze CSV, points of the picture"
    return "gaze CSV, angles of both eyes" if "left_yaw" in names else "gaze CSV, angles"


def _derive(columns: Columns) -> Columns:
    if "yaw" not in columns and "left_yaw" in columns:
        # The point where both rays meet lies midway between the eyes' tangents.
        left_tan, right_tan = np.tan(columns["left_yaw"]), np.tan(columns["right_yaw"])
        columns["yaw"] = np.arctan((left_tan + right_tan) / 2)
    if "depth" in columns:
        # Aria writes 0 where the depth is not available.
        columns["depth"] = np.where(columns["depth"] > 0, columns["depth"], np.nan)
    return columns


GAZE = CsvForm(
    kind="gaze",
    fields=FIELDS,
    is_complete=_is_complete,
    needs="gaze (x and y, or yaw and pitch)",
    derive=_derive,
    emits=_emits,
    format=_format,
)
