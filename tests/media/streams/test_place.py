"""Clocks: what ties a stream to its recording, and what does not."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import ModuleType

import av
import numpy as np
import pytest

from egomem.media.streams import Alignment, RecordingClock, device_start, open_stream, place
from egomem.timeline import Clock

START = datetime.fromisoformat("2026-05-04T09:30:00+02:00")


def placed(path: Path, recording: RecordingClock, **starts: float) -> Alignment | str:
    stream = open_stream(path)
    (alignment,) = place([stream], recording, {stream.kind: starts["start"]} if starts else None)
    assert alignment is not None
    return alignment


def test_seconds_of_the_recording_stay_as_they_are(tmp_path: Path, write: ModuleType) -> None:
    path = write.rows(tmp_path / "g.csv", "video_time,x,y", [(3, 0.5, 0.5)])
    alignment = placed(path, RecordingClock(duration=60))
    assert isinstance(alignment, Alignment)
    assert alignment.seconds(np.array([3.0])).tolist() == [3.0]


def test_the_wall_clock_needs_that_of_the_recording(tmp_path: Path, write: ModuleType) -> None:
    path = write.rows(tmp_path / "g.csv", "unix_time,x,y", [(START.timestamp() + 4, 0.5, 0.5)])
    alignment = placed(path, RecordingClock(duration=60, clock=Clock(START)))
    assert isinstance(alignment, Alignment)
    assert alignment.seconds(np.array([START.timestamp() + 4])).tolist() == [4.0]
    assert "when the recording began is not known" in str(placed(path, RecordingClock(duration=60)))


def test_a_time_without_a_zone_is_of_the_recordings_zone(tmp_path: Path, write: ModuleType) -> None:
    path = write.rows(tmp_path / "g.csv", "datetime,x,y", [("2026-05-04T09:30:07", 0.5, 0.5)])
    alignment = placed(path, RecordingClock(duration=60, clock=Clock(START)))
    assert isinstance(alignment, Alignment)
    assert open_stream(path).load(alignment).times.tolist() == [7.0]


def test_the_users_word_is_over_all_else(tmp_path: Path, write: ModuleType) -> None:
    path = write.aria_gaze(tmp_path / "g.csv", [500.0, 500.1])
    alignment = placed(path, RecordingClock(duration=60, device_start=499), start=2.5)
    assert isinstance(alignment, Alignment)
    assert open_stream(path).load(alignment).times == pytest.approx([2.5, 2.6])


def test_the_devices_times_of_the_frames_tie_its_streams(tmp_path: Path, write: ModuleType) -> None:
    path = write.aria_gaze(tmp_path / "g.csv", [500.0, 500.1])
    alignment = placed(path, RecordingClock(duration=60, device_start=499.75))
    assert isinstance(alignment, Alignment)
    assert not alignment.assumed
    assert open_stream(path).load(alignment).times == pytest.approx([0.25, 0.35])


def test_a_trajectory_with_the_wall_clock_ties_gaze_too(tmp_path: Path, write: ModuleType) -> None:
    gaze = write.aria_gaze(tmp_path / "g.csv", [503.0])
    walk = write.trajectory(
        tmp_path / "c.csv", write.steady(40, 10, 501), utc_from=START.timestamp() - 500
    )
    streams = [open_stream(gaze), open_stream(walk)]
    alignments = place(streams, RecordingClock(duration=60, clock=Clock(START)))
    for alignment, device_time in zip(alignments, (503.0, 501.0), strict=True):
        assert isinstance(alignment, Alignment)
        assert alignment.seconds(np.array([device_time])) == pytest.approx(
            [device_time - 500], abs=1e-3
        )


def test_a_device_that_did_not_know_the_date_ties_nothing(
    tmp_path: Path, write: ModuleType
) -> None:
    path = write.trajectory(tmp_path / "c.csv", write.steady(100, 10, 501))
    reason = placed(path, RecordingClock(duration=60, clock=Clock(START)))
    assert "nothing ties to the recording" in str(reason)
    assert "9.9 s long, the recording 60.0 s" in str(reason)


def test_equal_lengths_are_a_guess_that_is_named_one(tmp_path: Path, write: ModuleType) -> None:
    path = write.aria_gaze(tmp_path / "g.csv", write.steady(595, 10, 500))
    alignment = placed(path, RecordingClock(duration=60))
    assert isinstance(alignment, Alignment)
    assert alignment.assumed
    assert alignment.origin == 500


def test_drift_stretches_the_streams_clock() -> None:
    alignment = Alignment(100.0, "given", rate=1.001)
    assert alignment.seconds(np.array([1100.0])) == pytest.approx([1001.0])
    assert alignment.own(1001.0) == pytest.approx(1100.0)


def test_a_video_may_hold_the_devices_times_of_its_frames(tmp_path: Path) -> None:
    for name, text in (("a.mp4", "73500000000,73533333333,73566666667"), ("b.mp4", "a walk, 5")):
        with av.open(str(tmp_path / name), "w") as container:
            container.metadata["description"] = text
            stream = container.add_stream("mpeg4", rate=30)
            stream.width = stream.height = 32
            stream.pix_fmt = "yuv420p"
            for packet in stream.encode(av.VideoFrame(32, 32, "yuv420p")):
                container.mux(packet)
            for packet in stream.encode():
                container.mux(packet)
    assert device_start(tmp_path / "a.mp4") == pytest.approx(73.5)
    assert device_start(tmp_path / "b.mp4") is None
