"""Another --fps than a known file's doubles the work, so it needs somebody's word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.cli import main

MakeVideo = Callable[..., Path]


def test_another_rate_is_refused_without_a_terminal_unless_told(
    make_video: MakeVideo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rapidocr")
    video = make_video("yard.mp4", seconds=2, fps=10)
    command = ["ingest", str(video), "--observers", "text", "-m", str(tmp_path / "m")]
    assert main([*command, "--fps", "2"]) == 0
    assert main([*command, "--fps", "2"]) == 0
    capsys.readouterr()
    assert main([*command, "--fps", "5"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "yard.mp4 was observed at 2fps; at 5fps it would be observed all over" in error
    assert "--again" in error
    assert main([*command, "--fps", "5", "--again"]) == 0
    assert "1 new window," in capsys.readouterr().out
    assert main([*command, "--fps", "5"]) == 0
