"""Streams on the command line: listed by probe, given to ingest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.cli import main

MakeVideo = Callable[..., Path]


@pytest.fixture
def video(make_video: MakeVideo, tmp_path: Path) -> Path:
    rows = [f"{20 + k / 50:.2f},0,0,9.8,0,0,0" for k in range(200) if not 60 <= k < 110]
    header = "device_time_s,ax,ay,az,gx_dps,gy_dps,gz_dps"
    (tmp_path / "a.imu.csv").write_text("\n".join([header, *rows]))
    return make_video("a.mp4")


def test_probe_lists_rate_coverage_gaps_and_clock(
    video: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", str(video)]) == 0
    out = capsys.readouterr().out
    assert "imu        a.imu.csv: IMU CSV, 150 samples, 50 Hz, 0:00 to 0:03.98, 1 gap" in out
    assert "device time" in out
    assert "a guess: both are equally long" in out
    assert "no samples from 0:01.18 to 0:02.2" in out
    assert main(["probe", str(video), "--json"]) == 0
    (stream,) = json.loads(capsys.readouterr().out)["result"]["streams"]
    assert (stream["kind"], stream["clock"], stream["rate"]) == ("imu", "device", 50)
    assert (stream["gap_count"], stream["assumed"], stream["origin"]) == (1, True, 20)


def test_the_user_says_when_a_stream_begins(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream_options = ["--stream", f"imu={tmp_path / 'a.imu.csv'}", "--stream-start", "imu=0:01"]
    assert main(["probe", str(video), *stream_options, "--json"]) == 0
    (stream,) = json.loads(capsys.readouterr().out)["result"]["streams"]
    assert (stream["origin"], stream["start"], stream["assumed"]) == (19, 1, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stream", "a.csv"], "no KIND=VALUE"),
        (["--stream", "smell=a.csv"], "the kinds are: gaze, imu"),
        (["--stream", "gaze=a.csv", "--stream", "gaze=b.csv"], "two streams of one kind"),
        (["--stream-start", "gaze=2"], "of no stream that was given"),
        (["--stream", "gaze=a.csv", "--stream-start", "gaze=soon"], "soon"),
    ],
)
def test_wrong_options_are_one_line(
    video: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", str(video), *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_ingest_names_the_streams_and_remembers_them(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rapidocr")
    command = ["ingest", str(video), "--observers", "text", "-m", str(tmp_path / "m")]
    assert main(command) == 0
    assert "imu: a.imu.csv" in capsys.readouterr().out
    assert main([*command, "--stream", f"gaze={tmp_path / 'none.csv'}"]) == 1
    assert "there is no file" in capsys.readouterr().err
    assert main([*command, "--no-streams"]) == 0
