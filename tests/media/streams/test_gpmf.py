"""GPMF: the payloads of action cameras, and the track of a video that holds them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.errors import MediaError
from egomem.media.streams import ProblemLog, embedded_streams, open_stream, survey
from egomem.media.streams.gpmf import GpmfError, by_axis, positions_of, read_payload


def item(key: str, kind: str, data: bytes, size: int | None = None, repeat: int = 1) -> bytes:
    size = len(data) // repeat if size is None else size
    head = struct.pack(">4scBH", key.encode(), kind.encode("latin-1"), size, repeat)
    return head + data + b"\0" * (-len(data) % 4)


def nested(key: str, *items: bytes) -> bytes:
    body = b"".join(items)
    return struct.pack(">4scBH", key.encode(), b"\0", 1, len(body)) + body


def shorts(key: str, rows: Sequence[Sequence[int]]) -> bytes:
    data = b"".join(struct.pack(f">{len(row)}h", *row) for row in rows)
    return item(key, "s", data, 2 * len(rows[0]), len(rows))


def longs(key: str, rows: Sequence[Sequence[int]]) -> bytes:
    data = b"".join(struct.pack(f">{len(row)}i", *row) for row in rows)
    return item(key, "l", data, 4 * len(rows[0]), len(rows))


def payload(second: int = 0, *, fix: int = 3, accel: int = 100, axes: str = "") -> bytes:
    orientation = [item("ORIN", "c", axes.encode())] if axes else []
    accelerometer = nested(
        "STRM",
        item("STNM", "c", b"Accelerometer"),
        item("SCAL", "s", struct.pack(">h", 100)),
        *orientation,
        shorts("ACCL", [(980, 10 * second, -30)] * accel),
    )
    gyroscope = nested(
        "STRM",
        item("SCAL", "s", struct.pack(">h", 1000)),
        shorts("GYRO", [(100, 200, 300)] * (2 * accel)),
    )
    scales = b"".join(struct.pack(">i", s) for s in (10**7, 10**7, 1000, 1000, 100))
    gps = nested(
        "STRM",
        item("GPSF", "L", struct.pack(">I", fix)),
        item("GPSP", "S", struct.pack(">H", 250)),
        item("SCAL", "l", scales, 4, 5),
        longs("GPS5", [(481234567, 115000000 + k, 520000, 1500, 160) for k in range(18)]),
    )
    temperature = nested("STRM", item("TMPC", "f", struct.pack(">f", 30.5)))
    return nested(
        "DEVC", item("DVID", "L", b"\0\0\0\1"), accelerometer, gyroscope, temperature, gps
    )


def video(path: Path, payloads: Sequence[bytes], handler: bool = True) -> Path:
    with av.open(str(path), "w") as out:
        pictures = out.add_stream("mpeg4", rate=10)
        pictures.width = pictures.height = 32
        pictures.pix_fmt = "yuv420p"
        track = out.add_data_stream("bin_data") if handler else None
        if track is not None:
            track.codec_tag = "gpmd"  # type: ignore[attr-defined]
            track.time_base = Fraction(1, 1000)
        for k in range(10 * max(1, len(payloads))):
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8))
            frame.pts, frame.time_base = k, Fraction(1, 10)
            out.mux(pictures.encode(frame))
        out.mux(pictures.encode(None))
        for k, data in enumerate(payloads if track is not None else ()):
            packet = av.Packet(data)
            packet.stream, packet.time_base = track, Fraction(1, 1000)
            packet.pts = packet.dts = 1000 * k
            packet.duration = 1000
            out.mux(packet)
    return path


def test_the_sensors_of_a_payload_are_scaled() -> None:
    sensors = {sensor.key: sensor for sensor in read_payload(payload(7))}
    assert list(sensors) == ["ACCL", "GYRO", "GPS5"]
    # The first cameras write z, x, y and do not say so.
    assert {axis: v[0] for axis, v in by_axis(sensors["ACCL"]).items()} == {
        "z": 9.8,
        "x": 0.7,
        "y": -0.3,
    }
    assert sensors["GYRO"].values[0].tolist() == [0.1, 0.2, 0.3]
    positions = positions_of(sensors["GPS5"])
    assert positions["latitude"][0] == pytest.approx(48.1234567)
    assert (positions["altitude"][0], positions["speed"][0]) == (520, 1.5)
    assert sensors["GPS5"].dop == 2.5


def test_axes_that_a_payload_states() -> None:
    (sensor, *_) = read_payload(payload(5, axes="YxZ"))
    assert {axis: v[0] for axis, v in by_axis(sensor).items()} == {"y": 9.8, "x": -0.5, "z": -0.3}


def test_positions_with_columns_of_several_types() -> None:
    row = struct.pack(">lllllllHH", 481000000, 115000000, 520, 1500, 160, 9000, 5000, 210, 0)
    fixed = row[:-2] + struct.pack(">H", 3)
    scales = (10**7, 10**7, 1, 1000, 100, 1, 1000, 100, 1)
    stream = nested(
        "STRM",
        item("TYPE", "c", b"lllllllSS"),
        item("SCAL", "l", b"".join(struct.pack(">i", s) for s in scales), 4, 9),
        item("GPS9", "?", row + fixed, len(row), 2),
    )
    (sensor,) = read_payload(nested("DEVC", stream))
    latitude = positions_of(sensor)["latitude"]
    assert np.isnan(latitude[0])  # no fix
    assert latitude[1] == pytest.approx(48.1)


def test_the_track_of_a_video(tmp_path: Path) -> None:
    path = video(tmp_path / "GX010001.mp4", [payload(k) for k in range(4)])
    assert embedded_streams(path) == ("gps", "imu")
    imu = open_stream(path, "imu")
    samples = imu.load()
    assert (imu.clock, imu.format, len(samples)) == ("recording", "GPMF", 800)
    assert samples.times[:2] == pytest.approx([0, 1 / 200])
    assert samples["gyro_z"] == pytest.approx(np.full(800, 0.1))
    assert samples["accel_z"] == pytest.approx(np.full(800, 9.8))
    info = survey(open_stream(path, "gps"), duration=4)
    assert (info.samples, info.rate, info.gap_count) == (72, pytest.approx(18), 0)


def test_a_payload_without_a_fix_has_no_position(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4", [payload(0, fix=0), payload(1)])
    info = survey(open_stream(path, "gps"))
    assert [str(problem) for problem in info.problems] == ["no fix of the position: 18 samples"]


def test_a_damaged_payload_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    whole = payload(1)
    path = video(tmp_path / "a.mp4", [payload(0), whole[: len(whole) // 2], payload(2)])
    problems = ProblemLog()
    samples = open_stream(path, "gps").load(problems=problems)
    assert len(samples) == 36
    assert "an item is longer than its payload" in str(problems.problems[0])


def test_a_video_without_such_a_track(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4", [], handler=False)
    assert embedded_streams(path) == ()
    with pytest.raises(MediaError, match="it has no GPMF track"):
        open_stream(path, "gps")
    assert embedded_streams(tmp_path / "none.mp4") == ()


_WHOLE = payload(3, accel=4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(_WHOLE)), st.integers(0, len(_WHOLE) - 1), st.integers(0, 255))
def test_damage_raises_one_kind_of_error(cut: int, at: int, value: int) -> None:
    data = bytearray(_WHOLE)
    data[at] = value
    try:
        sensors = list(read_payload(bytes(data[:cut])))
    except GpmfError:
        return
    for sensor in sensors:
        assert sensor.values.ndim == 2
