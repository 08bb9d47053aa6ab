"""Gaze, IMU, trajectories, points and positions in CSV: columns, units, clocks."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from egomem.errors import MediaError
from egomem.media.streams import ProblemLog, Samples, Stream, open_stream


def read(stream: Stream, problems: ProblemLog | None = None) -> Samples:
    return stream.load(problems=problems)


def test_gaze_of_arias_first_generation(tmp_path: Path, write: ModuleType) -> None:
    stream = open_stream(write.aria_gaze(tmp_path / "general_eye_gaze.csv", [71.5, 71.6, 71.7]))
    assert (stream.kind, stream.clock) == ("gaze", "device")
    assert stream.units == {"yaw": "rad", "pitch": "rad", "depth": "m"}
    samples = read(stream)
    assert samples.times == pytest.approx([71.5, 71.6, 71.7])
    assert samples["pitch"].tolist() == [-0.1] * 3


def test_the_yaw_of_two_eyes_is_that_of_the_point_where_they_meet(
    tmp_path: Path, write: ModuleType
) -> None:
    # Eyes 63 mm apart; the point lies at x = 0.3, z = 0.9 of the frame between them.
    left_yaw, right_yaw = np.arctan((0.3 - 0.0315) / 0.9), np.arctan((0.3 + 0.0315) / 0.9)
    header = "tracking_timestamp_us,left_yaw_rads_cpf,right_yaw_rads_cpf,pitch_rads_cpf,depth_m"
    path = write.rows(tmp_path / "gaze.csv", header, [(5, left_yaw, right_yaw, 0.1, 0)])
    samples = read(open_stream(path))
    assert samples["yaw"] == pytest.approx(np.arctan(0.3 / 0.9))
    assert np.isnan(samples["depth"][0])  # 0 is written where it is not known


def test_gaze_of_the_second_generation_has_both(tmp_path: Path, write: ModuleType) -> None:
    header = (
        "tracking_timestamp_us,yaw_rads_cpf,pitch_rads_cpf,left_yaw_rads_cpf,right_yaw_rads_cpf,"
        "left_pitch_rads_cpf,right_pitch_rads_cpf,tx_left_eye_cpf"
    )
    path = write.rows(tmp_path / "g.csv", header, [(9, 0.3, 0.2, 0.25, 0.35, 0.2, 0.2, 0.03)])
    samples = read(open_stream(path))
    assert samples["yaw"].tolist() == [0.3]
    assert samples["left_yaw"].tolist() == [0.25]


def test_gaze_as_points_of_the_picture(tmp_path: Path, write: ModuleType) -> None:
    path = write.rows(
        tmp_path / "w.gaze.csv", "time,x,y,confidence", [(0, 0.25, 0.5, 1), (0.02, 0.26, 0.5, 0.4)]
    )
    stream = open_stream(path)
    assert (stream.kind, stream.clock) == ("gaze", "recording")
    assert read(stream)["confidence"].tolist() == [1.0, 0.4]


@pytest.mark.parametrize(
    ("header", "values", "accel", "gyro"),
    [
        ("t_s,accel_x,accel_y,accel_z,gyro_x,gyro_y,gyro_z", (0, 0, 9.8, 1, 2, 3), 9.8, 3),
        (
            "timestamp [s],acc_x [g],acc_y [g],acc_z [g],gyro_x (deg/s),gyro_y (deg/s),"
            "gyro_z (deg/s)",
            (0, 0, 2, 0, 0, 180),
            2 * 9.80665,
            np.pi,
        ),
        ("seconds,ax_mg,ay_mg,az_mg,gx_dps,gy_dps,gz_dps", (0, 0, 500, 0, 0, 90), 4.903325, 1.5708),
        (
            "time(s),accelerometer_x_m_s2,accelerometer_y_m_s2,accelerometer_z_m_s2,"
            "angular_velocity_x_rad_s,angular_velocity_y_rad_s,angular_velocity_z_rad_s",
            (0, 0, 4, 0, 0, 5),
            4,
            5,
        ),
        # Units may differ from column to column: each states its own.
        (
            "elapsed_s,accX(m/s²),accY(m/s^2),accZ(g),gyroX(°/s),gyroY(rad/s),gyroZ(°/s)",
            (0, 0, 1, 0, 0, 360),
            9.80665,
            2 * np.pi,
        ),
    ],
)
def test_units_of_an_imu_are_those_that_its_columns_name(
    tmp_path: Path,
    write: ModuleType,
    header: str,
    values: tuple[float, ...],
    accel: float,
    gyro: float,
) -> None:
    stream = open_stream(write.imu(tmp_path / "m.csv", header, values, [0, 0.01, 0.02]))
    samples = read(stream)
    assert stream.kind == "imu"
    assert samples["accel_z"] == pytest.approx([accel] * 3, rel=1e-4)
    assert samples["gyro_z"] == pytest.approx([gyro] * 3, rel=1e-4)


def test_an_unknown_unit_is_said(tmp_path: Path, write: ModuleType) -> None:
    header = "t_s,acc_x [furlong],acc_y [g],acc_z [g]"
    stream = open_stream(write.imu(tmp_path / "m.csv", header, (0, 0, 1), [0, 0.01]))
    assert any("acc_x [furlong] is not known" in note for note in stream.notes)


def test_a_trajectory_of_aria(tmp_path: Path, write: ModuleType) -> None:
    path = write.trajectory(tmp_path / "closed_loop_trajectory.csv", [3.0, 4.0], utc_from=1.7e9)
    stream = open_stream(path)
    samples = read(stream)
    assert (stream.kind, stream.clock) == ("trajectory", "device")
    assert samples.stack("x", "z").tolist() == [[4.5, 1.6], [6.0, 1.6]]
    assert samples["vx"].tolist() == [1.5, 1.5]
    assert samples["gravity_z"].tolist() == [-9.81, -9.81]


def test_an_open_loop_trajectory_names_its_frame_otherwise(
    tmp_path: Path, write: ModuleType
) -> None:
    header = (
        "tracking_timestamp_us,utc_timestamp_ns,session_uid,tx_odometry_device,ty_odometry_device,"
        "tz_odometry_device,device_linear_velocity_x_odometry"
    )
    path = write.rows(tmp_path / "o.csv", header, [(2e6, 1, "u", 1, 2, 3, 0.5)])
    samples = read(open_stream(path))
    assert samples.stack("x", "y", "z", "vx").tolist() == [[1, 2, 3, 0.5]]


def test_a_trajectory_of_the_tum_form(tmp_path: Path) -> None:
    path = tmp_path / "walk.trajectory.csv"
    path.write_text("# timestamp tx ty tz qx qy qz qw\n0.0 1 2 3 0 0 0 1\n0.1 1.5 2 3 0 0 0 1\n")
    assert read(open_stream(path)).stack("x", "qw").tolist() == [[1, 1], [1.5, 1]]


def test_points_have_no_times(tmp_path: Path) -> None:
    path = tmp_path / "semidense_points.csv.gz"
    text = "uid,graph_uid,px_world,py_world,pz_world,inv_dist_std,dist_std\n1,u,1,2,3,.1,.2\n"
    path.write_bytes(gzip.compress(text.encode()))
    stream = open_stream(path)
    assert (stream.kind, stream.clock) == ("points", None)
    assert read(stream).stack("x", "y", "z", "dist_std").tolist() == [[1, 2, 3, 0.2]]


def test_positions_with_units_and_without_a_fix(tmp_path: Path, write: ModuleType) -> None:
    header = "unix_time,Latitude,Longitude,Altitude (ft),Speed (km/h)"
    path = write.rows(
        tmp_path / "gps.csv", header, [(1.7e9, 52.5, 13.4, 100, 36), (1.7e9 + 1, 0, 0, 0, 0)]
    )
    stream = open_stream(path)
    samples = read(stream)
    assert (stream.kind, stream.clock) == ("gps", "wall")
    assert samples["speed"][0] == pytest.approx(10)
    assert samples["altitude"][0] == pytest.approx(30.48)
    assert np.isnan(samples["latitude"][1])


@pytest.mark.parametrize(
    ("unit", "factor"), [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("µs", 1e6), ("ns", 1e9)]
)
def test_a_unit_of_time_that_is_named(
    tmp_path: Path, write: ModuleType, unit: str, factor: float
) -> None:
    path = write.rows(tmp_path / "g.csv", f"time [{unit}],x,y", [(2.5 * factor, 0.5, 0.5)])
    assert read(open_stream(path)).times == pytest.approx([2.5])


def test_a_unit_of_time_that_is_not_named_follows_from_the_rate(
    tmp_path: Path, write: ModuleType
) -> None:
    header = "timestamp,ax,ay,az"
    stream = open_stream(write.imu(tmp_path / "m.csv", header, (0, 0, 9.8), range(0, 500, 5)))
    assert read(stream).times[-1] == pytest.approx(0.495)
    assert stream.notes == ("the column timestamp names no unit: read as ms",)


def test_times_of_today_are_the_wall_clock_in_any_unit(tmp_path: Path, write: ModuleType) -> None:
    for factor in (1, 1_000, 1_000_000, 1_000_000_000):
        header = "timestamp,ax,ay,az"
        times = [1_764_000_000 * factor, 1_764_000_000 * factor + factor // 100]
        stream = open_stream(write.imu(tmp_path / f"{factor}.csv", header, (0, 0, 9.8), times))
        assert stream.clock == "wall"
        assert read(stream).times[0] == pytest.approx(1_764_000_000)


def test_times_of_no_named_clock_that_begin_late_are_a_devices(
    tmp_path: Path, write: ModuleType
) -> None:
    stream = open_stream(
        write.imu(tmp_path / "m.csv", "time_s,ax,ay,az", (0, 0, 9.8), [812.4, 812.41])
    )
    assert stream.clock == "device"
    assert "begins at 812.400 s" in stream.notes[0]


def test_dates_and_times_are_read_in_their_zone_or_the_recordings(
    tmp_path: Path, write: ModuleType
) -> None:
    header = "datetime,lat,lon"
    zoned = write.rows(tmp_path / "a.csv", header, [("2026-03-02T08:10:00.250+01:00", 1, 2)])
    local = write.rows(tmp_path / "b.csv", header, [("2026-03-02 08:10:00.250000123", 1, 2)])
    assert open_stream(zoned).clock == "wall"
    assert open_stream(local).clock == "local"
    assert read(open_stream(local)).times[0] - read(open_stream(zoned)).times[0] == 3600


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\xff\xfet\0,\0x\0", "UTF-16"),
        (b"\0\1\2\3" * 40, "no text file"),
        (b"name,colour\na,b\n", "lacks"),
        (b"x,y\n0.1,0.2\n", "a column of times"),
        (b"0.1,0.2,0.3\n0.1,0.2,0.3\n", "lacks"),
    ],
)
def test_a_file_that_is_no_stream_is_refused_in_one_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(MediaError, match=message) as fault:
        open_stream(path)
    assert "\n" not in str(fault.value)
    assert "odd.csv" in str(fault.value)


def test_a_kind_that_the_file_does_not_hold_is_refused(tmp_path: Path, write: ModuleType) -> None:
    path = write.aria_gaze(tmp_path / "g.csv", [1.0])
    with pytest.raises(MediaError, match="lacks an accelerometer or a gyroscope"):
        open_stream(path, "imu")
