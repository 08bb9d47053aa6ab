"""Subtitles beside a recording are mentioned, and taken where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.cli import main

MakeVideo = Callable[..., Path]


def test_they_are_mentioned_and_taken(
    make_video: MakeVideo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rapidocr")
    video = make_video("talk.mp4", seconds=4, fps=5)
    (tmp_path / "talk.en.srt").write_text("1\n00:00:01,000 --> 00:00:02,500\nMind the ladder\n")
    (tmp_path / "talks.srt").write_text("of another recording")
    memory = ["-m", str(tmp_path / "m")]
    command = ["ingest", str(video), "--observers", "text", *memory]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "1 subtitle file lies beside" in printed.err
    assert "talk.en.srt" in printed.err
    assert main([*command, "--subtitles"]) == 0
    printed = capsys.readouterr()
    assert "talk.en.srt  1 new observation\n" in printed.out
    assert "lies beside" not in printed.err
    assert main(["search", "ladder", *memory]) == 0
    assert "talk.mp4 0:00" in capsys.readouterr().out
