"""What a survey tells: rate, coverage, gaps, and what is wrong, with its place."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from egomem.media.streams import Alignment, StreamInfo, open_stream, survey
from egomem.media.streams.increasing import LOOKAHEAD

IMU = "t_s,ax,ay,az"


def surveyed(path: Path, duration: float | None = None, origin: float | None = None) -> StreamInfo:
    alignment = None if origin is None else Alignment(origin, "given")
    return survey(open_stream(path), alignment, duration=duration)


def lines(info: StreamInfo) -> list[str]:
    return [str(problem) for problem in info.problems]


def imu(path: Path, write: ModuleType, times: list[float], norm: float = 9.8) -> Path:
    return write.imu(path, IMU, (0, 0, norm), [f"{t:.6f}" for t in times])


def test_rate_coverage_and_gaps(tmp_path: Path, write: ModuleType) -> None:
    times = [t for t in write.steady(2000, 100) if not 4 <= t < 7 and not 11.05 <= t < 11.55]
    info = surveyed(imu(tmp_path / "m.csv", write, times))
    assert info.rate == pytest.approx(100)
    assert (info.start, info.end, info.samples) == (0.0, 19.99, len(times))
    assert info.gap_count == 2
    assert (info.gaps[0].start, info.gaps[0].end) == pytest.approx((3.99, 7.0))
    assert info.gap_s == pytest.approx(3.01 + 0.51, abs=0.02)
    assert not info.problems


def test_a_jitter_of_the_steps_is_no_gap_and_no_other_rate(
    tmp_path: Path, write: ModuleType
) -> None:
    rng = np.random.default_rng(3)
    times = np.cumsum(rng.uniform(0.006, 0.014, 3000)).tolist()
    info = surveyed(imu(tmp_path / "m.csv", write, times))
    assert info.gap_count == 0
    assert not info.problems


def test_a_rate_that_changes_is_placed(tmp_path: Path, write: ModuleType) -> None:
    times = write.steady(5000, 200) + write.steady(1000, 50, start=25.0)
    (line,) = lines(surveyed(imu(tmp_path / "m.csv", write, times)))
    assert line.startswith("another rate, 50 Hz in place of 200: 1,000 samples (the first at 25.0")


def test_a_rate_that_no_device_has_is_flagged(tmp_path: Path, write: ModuleType) -> None:
    (line,) = lines(surveyed(imu(tmp_path / "m.csv", write, write.steady(60, 1))))
    assert "a rate of 1 samples a second, which no imu has" in line


@pytest.mark.parametrize(("norm", "cause"), [(1.0, "gravity left out"), (96.2, "unit right")])
def test_an_acceleration_that_cannot_be_is_flagged(
    tmp_path: Path, write: ModuleType, norm: float, cause: str
) -> None:
    (line,) = lines(surveyed(imu(tmp_path / "m.csv", write, write.steady(60, 100), norm)))
    assert cause in line


def test_times_that_run_backwards_are_left_out(tmp_path: Path, write: ModuleType) -> None:
    times = write.steady(300, 100) + write.steady(50, 100, start=1.0) + write.steady(99, 100, 3.0)
    info = surveyed(imu(tmp_path / "m.csv", write, times))
    assert (info.samples, info.end) == (399, 3.98)
    assert lines(info) == ["a time that was there before: 50 samples (the first at 1.000 s)"]


def test_a_spike_does_not_cost_what_follows_it(tmp_path: Path, write: ModuleType) -> None:
    times = write.steady(300, 100)
    times[120] = 77.7
    info = surveyed(imu(tmp_path / "m.csv", write, times))
    assert (info.samples, info.end) == (299, 2.99)
    assert lines(info) == ["a time far ahead of those after it at 77.700 s"]


def test_a_clock_that_was_set_back_keeps_the_earlier_stretch(
    tmp_path: Path, write: ModuleType
) -> None:
    times = write.steady(3 * LOOKAHEAD, 100) + write.steady(2 * LOOKAHEAD, 100, start=2.005)
    info = surveyed(imu(tmp_path / "m.csv", write, times))
    assert info.samples == 3 * LOOKAHEAD
    assert info.problems[0].what == "times run backwards"
    assert (info.problems[0].count, info.problems[0].time) == (2 * LOOKAHEAD, 2.005)


def test_unsorted_rows_cost_no_more_than_they_must(tmp_path: Path, write: ModuleType) -> None:
    times = write.steady(1000, 100)
    times[400], times[401] = times[401], times[400]
    info = surveyed(imu(tmp_path / "m.csv", write, times))
    assert info.samples == 999
    assert len(info.problems) == 1


def test_what_lies_outside_of_the_recording_is_counted(tmp_path: Path, write: ModuleType) -> None:
    info = surveyed(imu(tmp_path / "m.csv", write, write.steady(1000, 100)), 8.0, origin=1.0)
    assert (info.start, info.end) == (-1.0, pytest.approx(8.99))
    assert info.outside == 100 + 99
    assert lines(info) == ["samples outside of the recording: 199 samples"]


def test_gaze_outside_of_the_picture_is_counted(tmp_path: Path, write: ModuleType) -> None:
    rows = [(t, 0.5 + t, 0.5) for t in write.steady(100, 100)]
    info = surveyed(write.rows(tmp_path / "g.csv", "t,x,y", rows))
    assert lines(info) == ["gaze points outside of the picture: 49 samples"]


def test_the_first_hundred_gaps_are_listed(tmp_path: Path, write: ModuleType) -> None:
    times = [t for k in range(130) for t in write.steady(20, 100, start=2.0 * k)]
    info = surveyed(imu(tmp_path / "m.csv", write, times))
    assert (info.gap_count, len(info.gaps)) == (129, 100)


def test_a_stream_without_a_usable_sample_says_so(tmp_path: Path, write: ModuleType) -> None:
    path = write.rows(tmp_path / "g.csv", "t,x,y", [("?", 1, 1)] * 3)
    info = surveyed(path)
    assert (info.samples, info.rate, info.start) == (0, None, None)
    assert "no sample can be used" in lines(info)


def test_it_survives_json(tmp_path: Path, write: ModuleType) -> None:
    times = write.steady(50, 100) + write.steady(50, 100, start=9.0)
    info = surveyed(imu(tmp_path / "m.csv", write, times), 12.0, origin=0.5)
    assert StreamInfo.model_validate_json(info.model_dump_json()) == info
    assert info.alignment is not None
    assert info.alignment.own(8.5) == pytest.approx(9.0)
