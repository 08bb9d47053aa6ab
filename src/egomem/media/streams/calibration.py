"""Calibrations: from the angles of gaze to the point of the picture.

Aria's `online_calibration.jsonl` (first generation), and a JSON object of a pinhole camera. Camera
models follow the documentation of `projectaria_tools`; the pose of the central pupil frame, which
no result of the machine perception services holds, is the nominal one of its CAD data.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from egomem.errors import MediaError, reason
from egomem.media.streams.csv_table import open_text
from egomem.media.streams.samples import Values

DEFAULT_DEPTH_M = 1.0
"""Distance of what is looked at where a row has none (our choice): eyes and camera see from some
centimetres apart."""

MAX_LINE_BYTES = 1 << 22

_DEVICE_CPF = np.array(
    [
        [-0.031860137, -0.998629532, -0.041520951, 0.004952958],
        [0.793353401, 0.000000002, -0.60876135, -0.049148368],
        [0.607927062, -0.052336008, 0.792266136, -0.049185461],
    ]
)
"""Pose of the central pupil frame in the device frame of Aria's first generation (origin: the left
SLAM camera), by the CAD data of projectaria_tools 2.3, small frame. The large one differs by 2 mm.
"""


class Calibration(ABC):
    """Where a direction of gaze lies in the upright picture."""

    @abstractmethod
    def points(self, yaw: Values, pitch: Values, depth: Values) -> tuple[Values, Values]:
        """The points, 0 to 1 from the upper left corner; NaN where the camera does not see.

        `yaw` (to the left) and `pitch` (up) in rad, `depth` in m, NaN where not known.
        """


@dataclass(frozen=True, slots=True)
class Pinhole(Calibration):
    """A camera without distortion in whose own frame the angles are. Sizes are in pixels."""

    width: float
    height: float
    fx: float
    fy: float
    cx: float
    cy: float

    def points(self, yaw: Values, pitch: Values, depth: Values) -> tuple[Values, Values]:
        x = (self.cx - self.fx * np.tan(yaw)) / self.width
        y = (self.cy - self.fy * np.tan(pitch)) / self.height
        return x, y


@dataclass(frozen=True, slots=True, eq=False)
class AriaCamera(Calibration):
    """The RGB camera of Aria's first generation (model FisheyeRadTanThinPrism, "fisheye624").

    `parameters`: focal length, principal point (2), radial (6), tangential (2) and thin-prism (4)
    coefficients. `pose`: the camera in the device frame, (3, 4). `width`, `height`: of the picture
    of the sensor, which is displayed turned by 90 degrees clockwise.
    """

    width: float
    height: float
    parameters: Values
    pose: Values

    def points(self, yaw: Values, pitch: Values, depth: Values) -> tuple[Values, Values]:
        direction = np.stack([np.tan(yaw), np.tan(pitch), np.ones_like(yaw)], axis=1)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        looked_at = direction * np.where(np.isfinite(depth), depth, DEFAULT_DEPTH_M)[:, None]
        device = looked_at @ _DEVICE_CPF[:, :3].T + _DEVICE_CPF[:, 3]
        camera = (device - self.pose[:, 3]) @ self.pose[:, :3]
        u, v = self.project(camera).T
        # Turned: the sensor's left edge is the picture's upper edge.
        return 1 - (v + 0.5) / self.height, (u + 0.5) / self.width

    def project(self, points: Values) -> Values:
        """Pixels of the sensor, (n, 2), of points in the camera's frame, (n, 3); NaN behind it."""
        focal, *principal = self.parameters[:3]
        radial, tangential = self.parameters[3:9], self.parameters[9:11]
        prism = self.parameters[11:15]
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(points[:, 2:] > 0, points[:, :2] / points[:, 2:], np.nan)
            radius = np.linalg.norm(slopes, axis=1)
            angle = np.arctan(radius)
            powers = angle[:, None] ** (2 * np.arange(1, 7))
            bent = angle * (1 + powers @ radial)
            scale = np.where(radius > 0, bent / radius, 1.0)
        flat = slopes * scale[:, None]
        square = (flat**2).sum(axis=1)
        shifted = flat * (1 + 2 * flat @ tangential)[:, None] + square[:, None] * tangential
        shifted += square[:, None] * prism[[0, 2]] + (square**2)[:, None] * prism[[1, 3]]
        return np.asarray(focal * shifted + np.array(principal))


def read_calibration(path: Path) -> Calibration:
    """Read a calibration. Raises MediaError where it is none that is known."""
    fault = "it names no camera"
    try:
        for document in _documents(path):
            if "CameraCalibrations" in document:
                return _aria(document)
            if {"fx", "fy", "cx", "cy", "width", "height"} <= document.keys():
                names = ("width", "height", "fx", "fy", "cx", "cy")
                values = [float(document[name]) for name in names]
                if not all(np.isfinite(values)) or min(values[:4]) <= 0:
                    raise ValueError("its sizes are no positive numbers")
                return Pinhole(*values)
    except (OSError, EOFError) as error:
        fault = reason(error)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        fault = f"{error}"
    raise MediaError(
        f"{path.name} is no calibration that is known: {fault}",
        "known: Aria's online_calibration.jsonl, and JSON with fx, fy, cx, cy, width, height",
    )


def _documents(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSON Lines file, or the one of a JSON file."""
    with open_text(path) as file:
        text = file.readline(MAX_LINE_BYTES).decode("utf-8-sig")
        try:
            document = json.loads(text)
        except ValueError:
            document = json.loads(text + file.read(MAX_LINE_BYTES).decode("utf-8"))
        if isinstance(document, Mapping):
            yield document


def _aria(document: Mapping[str, Any]) -> AriaCamera:
    cameras = document["CameraCalibrations"]
    labels = [str(camera.get("Label")) for camera in cameras]
    if "camera-rgb" not in labels:
        raise ValueError("it has no camera-rgb")
    if "camera-slam-left" not in labels:
        # The pose of the pupils is another one there, and no file of the services holds it.
        raise ValueError("only that of Aria's first generation is known")
    index = labels.index("camera-rgb")
    camera = cameras[index]
    parameters = np.array(camera["Projection"]["Params"], dtype=np.float64)
    if parameters.shape != (15,) or not np.isfinite(parameters).all():
        raise ValueError("camera-rgb does not have the 15 parameters of FisheyeRadTanThinPrism")
    sizes = document.get("ImageSizes")
    # Before version 1.1 the size was not written; the sensor's principal point tells which it is.
    size = sizes[index] if sizes else (2880, 2880) if parameters[1] > 1000 else (1408, 1408)
    pose = camera["T_Device_Camera"]
    rotation = _rotation(float(pose["UnitQuaternion"][0]), pose["UnitQuaternion"][1])
    translation = np.array(pose["Translation"], dtype=np.float64)
    return AriaCamera(
        float(size[0]), float(size[1]), parameters, np.column_stack([rotation, translation])
    )


def _rotation(w: float, vector: Sequence[float]) -> Values:
    x, y, z = (float(value) for value in vector)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
