"""`egomem probe` shows what is in a file, and ends with the exit code that its state deserves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from egomem.cli import main


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    out = capsys.readouterr()
    return int(code or 0), out.out, out.err


def test_a_good_file(make_video, capsys) -> None:
    path = make_video("four.mp4", seconds=4, fps=10, sound=True)
    code, out, err = run(["probe", str(path), "--window", "2.5"], capsys)
    assert (code, err) == (0, "")
    assert "h264, 64x48, 10 fps" in out
    assert "window     0:00-0:02.5  0.000 1.000 2.000" in out
    assert "window     0:02.5-0:04  3.000" in out


def test_as_json(make_video, capsys) -> None:
    path = make_video("four.mp4", seconds=4, fps=10)
    code, out, _ = run(["probe", str(path), "--window", "2", "--fps", "0.5", "--json"], capsys)
    body = json.loads(out)
    assert (code, body["command"], body["ok"]) == (0, "probe", True)
    assert body["result"]["video"]["frames"] == 40
    assert body["result"]["windows"] == [
        {"start": 0.0, "end": 2.0, "frames": [0.0]},
        {"start": 2.0, "end": 4.0, "frames": [2.0]},
    ]


def test_a_damaged_file_is_a_partial_success(shared_data: Path, capsys) -> None:
    path = shared_data / "video_bad" / "corrupted.mp4"
    code, out, err = run(["probe", str(path), "--windows"], capsys)
    assert code == 1
    assert "0.000 1.000 2.000\n" in out
    assert "from 2.700 s to the end" in err


def test_nothing_is_decoded_or_listed_unless_asked(
    make_video, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_video("four.mp4", seconds=4, fps=10)
    code, out, _ = run(["probe", str(path), "--decode"], capsys)
    assert (code, out.splitlines()[-1]) == (0, "decoded    4 frames, 1 a second")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nobody asked for frames")

    monkeypatch.setattr("egomem.media.frames", refuse)
    code, out, _ = run(["probe", str(path), "--json"], capsys)
    assert code == 0
    assert "windows" not in json.loads(out)["result"]


def test_a_file_that_cannot_be_used(tmp_path: Path, capsys) -> None:
    path = tmp_path / "empty.mp4"
    path.touch()
    code, _, err = run(["probe", str(path)], capsys)
    assert code == 3
    assert err == "egomem: empty.mp4 is empty (0 bytes); copy it again from the camera\n"
