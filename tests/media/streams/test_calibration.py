"""From angles of gaze to points of the picture.

Expected pixels are those of projectaria_tools 2.3.0 for the same parameters (`CameraCalibration.
project_no_checks`, and `get_eyegaze_point_at_depth` through its nominal pose of the pupils).
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from egomem.errors import MediaError
from egomem.media.streams import RecordingClock, StreamFile, read_streams, streams_beside
from egomem.media.streams.calibration import AriaCamera, read_calibration

PARAMETERS = [
    *(612.5, 710.0, 702.0, 0.41, -0.46, 0.04, 1.3, -1.75, 0.65),
    *(0.0004, -0.0007, -0.0012, 0.0006, -0.0021, 0.0017),
]
RGB: dict[str, Any] = {
    "Label": "camera-rgb",
    "Projection": {"Name": "FisheyeRadTanThinPrism", "Params": PARAMETERS},
    "T_Device_Camera": {
        "UnitQuaternion": [
            0.9405745090636718,
            [0.33520474525141497, 0.03402078011506898, 0.042425914025850726],
        ],
        "Translation": [-0.0045, -0.0130, -0.0040],
    },
}
ARIA = {
    "tracking_timestamp_us": 5,
    "ImageSizes": [[640, 480], [1408, 1408]],
    "CameraCalibrations": [{"Label": "camera-slam-left"}, RGB],
}


def write_json(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document) + "\n")
    return path


def camera(tmp_path: Path) -> AriaCamera:
    calibration = read_calibration(write_json(tmp_path / "online_calibration.jsonl", ARIA))
    assert isinstance(calibration, AriaCamera)
    return calibration


def test_the_camera_model_of_aria(tmp_path: Path) -> None:
    points = np.array([(0, 0, 1), (0.5, -0.4, 1), (-0.9, 0.6, 0.8), (0, 0, -1)], float)
    pixels = camera(tmp_path).project(points)
    assert pixels[:3] == pytest.approx(
        np.array([(710, 702), (1008.37153, 462.68541), (144.73195, 1078.28461)]), abs=1e-3
    )
    assert np.isnan(pixels[3]).all()  # behind the camera


def test_gaze_lies_in_the_upright_picture(tmp_path: Path) -> None:
    x, y = camera(tmp_path).points(
        np.array([0.15, -0.2, 0.0]), np.array([-0.25, 0.1, 0.0]), np.array([0.7, 2.5, np.nan])
    )
    # The sensor's picture (u, v) is turned clockwise: x = 1 - v / height, y = u / width.
    assert y * 1408 - 0.5 == pytest.approx([793.3058, 563.2041, 631.9683], abs=1e-3)
    assert (1 - x) * 1408 - 0.5 == pytest.approx([759.6824, 583.2870, 687.8282], abs=1e-3)


def test_left_and_up_are_left_and_up(tmp_path: Path) -> None:
    pinhole = {"fx": 500, "fy": 500, "cx": 320, "cy": 240, "width": 640, "height": 480}
    path = write_json(tmp_path / "c.json", pinhole)
    for calibration in (camera(tmp_path), read_calibration(path)):
        x, y = calibration.points(
            np.array([0.3, -0.3, 0.0, 0.0]), np.array([0.0, 0.0, 0.3, -0.3]), np.full(4, 1.0)
        )
        assert x[0] < x[2] < x[1]
        assert y[2] < y[0] < y[3]


def test_a_pinhole_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    pinhole = {"fx": 640, "fy": 640, "cx": 320, "cy": 240, "width": 640, "height": 480}
    path.write_text(json.dumps(pinhole, indent=2))
    x, y = read_calibration(path).points(np.array([0.1]), np.array([0.2]), np.array([np.nan]))
    assert x == pytest.approx(0.5 - np.tan(0.1))
    assert y == pytest.approx(0.5 - np.tan(0.2) * 640 / 480)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"colour": 1}, "names no camera"),
        ([1, 2], "names no camera"),
        ({"CameraCalibrations": [{"Label": "slam-front-left"}, RGB]}, "first generation"),
        ({"CameraCalibrations": [{"Label": "camera-slam-left"}]}, "no camera-rgb"),
        ({**ARIA, "CameraCalibrations": [{}, {**RGB, "Projection": {"Params": [1, 2]}}]}, "first"),
        ({"fx": 0, "fy": 1, "cx": 1, "cy": 1, "width": 1, "height": 1}, "no positive"),
        ({"fx": "wide", "fy": 1, "cx": 1, "cy": 1, "width": 1, "height": 1}, "wide"),
    ],
)
def test_what_is_no_calibration_is_refused_in_one_line(
    tmp_path: Path, document: object, message: str
) -> None:
    with pytest.raises(MediaError, match=message) as fault:
        read_calibration(write_json(tmp_path / "c.json", document))
    assert "\n" not in str(fault.value)


def test_a_calibration_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(ARIA)[:200])
    with pytest.raises(MediaError, match="no calibration that is known"):
        read_calibration(path)


def test_gaze_beside_a_calibration_has_both(tmp_path: Path, write: ModuleType) -> None:
    gaze = tmp_path / "mps_a_vrs" / "eye_gaze" / "general_eye_gaze.csv"
    gaze.parent.mkdir(parents=True)
    write.aria_gaze(gaze, write.steady(40, 10, 3), yaw=0.15, pitch=-0.25)
    slam = tmp_path / "mps_a_vrs" / "slam"
    slam.mkdir()
    write_json(slam / "online_calibration.jsonl", ARIA)
    beside = streams_beside(tmp_path / "a.mp4")
    files = [StreamFile(kind, path) for kind, path in beside.items()]
    streams = read_streams(files, RecordingClock(duration=4, device_start=3))
    placed = streams.of("gaze")
    assert placed is not None
    assert placed.stream.columns == ("x", "y", "yaw", "pitch", "depth")
    samples = placed.load()
    # 1.5 m away, so a little off what lies at 0.7 m.
    assert samples["y"] * 1408 == pytest.approx(np.full(40, 793.3), abs=15)
    assert set(samples["yaw"]) == {0.15}


def test_without_a_usable_calibration_the_angles_stay(tmp_path: Path, write: ModuleType) -> None:
    gaze = write.aria_gaze(tmp_path / "g.csv", write.steady(40, 10, 3))
    bad = write_json(tmp_path / "c.json", {})
    streams = read_streams(
        [StreamFile("gaze", gaze), StreamFile("calibration", bad)],
        RecordingClock(duration=4, device_start=3),
    )
    assert "calibration: c.json is no calibration" in streams.faults[0]
    placed = streams.of("gaze")
    assert placed is not None
    assert placed.stream.columns == ("yaw", "pitch", "depth")
