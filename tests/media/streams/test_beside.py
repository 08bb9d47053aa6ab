"""Which files beside a recording are its streams, and reading all of them at once."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from egomem.media.streams import (
    RecordingClock,
    StreamFile,
    files_to_read,
    read_streams,
    streams_beside,
)
from egomem.timeline import Span


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def names(path: Path, *, alone: bool = True) -> dict[str, str]:
    return {
        kind: file.relative_to(path.parent).as_posix()
        for kind, file in streams_beside(path, alone=alone).items()
    }


def test_files_named_like_the_recording(tmp_path: Path) -> None:
    touch(tmp_path, "run.gaze.csv", "run_imu.csv.gz", "RUN-TRAJECTORY.CSV", "run.GPX")
    touch(tmp_path, "runner.gaze.csv", "run.gaze.csv.bak", "other_points.csv")
    assert names(tmp_path / "run.mp4") == {
        "gaze": "run.gaze.csv",
        "imu": "run_imu.csv.gz",
        "trajectory": "RUN-TRAJECTORY.CSV",
        "gps": "run.GPX",
    }


def test_results_of_arias_services_in_a_folder_of_the_recording(tmp_path: Path) -> None:
    touch(
        tmp_path / "mps_run_vrs",
        "eye_gaze/general_eye_gaze.csv",
        "eye_gaze/personalized_eye_gaze.csv",
        "slam/open_loop_trajectory.csv",
        "slam/closed_loop_trajectory.csv",
        "slam/semidense_points.csv.gz",
    )
    touch(tmp_path, "run.trajectory.csv")
    assert names(tmp_path / "run.mp4", alone=False) == {
        "gaze": "mps_run_vrs/eye_gaze/personalized_eye_gaze.csv",
        "trajectory": "run.trajectory.csv",
        "points": "mps_run_vrs/slam/semidense_points.csv.gz",
    }


def test_a_folder_of_the_folder_is_the_recordings_only_where_it_is_alone(tmp_path: Path) -> None:
    touch(tmp_path, "eye_gaze/generalized_eye_gaze.csv", "mps/trajectory/open_loop_trajectory.csv")
    assert names(tmp_path / "run.mp4") == {
        "gaze": "eye_gaze/generalized_eye_gaze.csv",
        "trajectory": "mps/trajectory/open_loop_trajectory.csv",
    }
    assert names(tmp_path / "run.mp4", alone=False) == {}


def test_what_is_given_goes_before_what_lies_there(tmp_path: Path) -> None:
    touch(tmp_path, "run.gaze.csv", "run.imu.csv")
    files = files_to_read(
        streams_beside(tmp_path / "run.mp4"), [StreamFile("gaze", tmp_path / "mine.csv", 2.0)]
    )
    assert files == [
        StreamFile("gaze", tmp_path / "mine.csv", 2.0),
        StreamFile("imu", tmp_path / "run.imu.csv"),
    ]


def test_one_bad_stream_does_not_cost_the_others(tmp_path: Path, write: ModuleType) -> None:
    gaze = write.rows(
        tmp_path / "g.csv", "video_time,x,y", [(t, 0.5, 0.5) for t in write.steady(100, 10)]
    )
    late = write.imu(tmp_path / "m.csv", "video_s,ax,ay,az", (0, 0, 9.8), write.steady(50, 50, 300))
    device = write.trajectory(tmp_path / "t.csv", write.steady(20, 10, 77))
    files = [
        StreamFile("gaze", gaze),
        StreamFile("imu", late),
        StreamFile("trajectory", device),
        StreamFile("gps", tmp_path / "none.gpx"),
    ]
    streams = read_streams(files, RecordingClock(duration=9.0))
    assert [placed.kind for placed in streams.placed] == ["gaze"]
    assert [info.kind for info in streams.infos] == ["gaze", "imu", "trajectory"]
    unread, imu, trajectory = streams.faults
    assert "imu: m.csv is not used: its clock does not fit: it lies from 300.0 to 301.0 s" in imu
    assert "nothing ties to the recording" in trajectory
    assert unread.startswith("gps: there is no file")
    placed = streams.of("gaze")
    assert placed is not None
    assert len(placed.load()) == 90  # those within the recording
    assert placed.load(Span(2, 3)).times == pytest.approx(np.arange(20, 30) / 10)
    assert len(placed.load(Span(20, 30))) == 0


def test_what_has_not_changed_is_not_read_again(
    tmp_path: Path, write: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write.rows(tmp_path / "g.csv", "t,x,y", [(0, 0.5, 0.5), (1, 0.5, 0.5)])
    files = [StreamFile("gaze", path)]
    first = read_streams(files, RecordingClock(duration=9.0))
    monkeypatch.setattr("egomem.media.streams.of_recording.survey", None)
    again = read_streams(files, RecordingClock(duration=9.0), surveyed=first.infos)
    assert again.infos == first.infos
    monkeypatch.undo()
    path.write_text(path.read_text() + "2,0.5,0.5\n")
    changed = read_streams(files, RecordingClock(duration=9.0), surveyed=first.infos)
    assert changed.infos[0].samples == 3
    longer = read_streams(files, RecordingClock(duration=1.5), surveyed=changed.infos)
    assert longer.infos[0].outside == 1
