"""`egomem import` and `egomem export`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from egomem.cli import main


def test_import_and_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = ["--memory", str(tmp_path / "memory")]
    captions = tmp_path / "captions.jsonl"
    captions.write_text('{"clip": "a", "t0": 1, "t1": 2, "narration": "a cup"}\n{"clip": "a"}\n')
    mapping = ["--map", "video_id=clip,start=t0", "--map", "end=t1,text=narration"]
    assert main(["import", str(captions), *mapping, *memory]) == 0
    printed = capsys.readouterr().out
    assert "1 new observation of 1 recording, 0 known, 1 of 2 rows passed over" in printed
    assert "line 2: it has no text" in printed

    assert main(["export", str(tmp_path / "a.vtt"), *memory, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result == {"files": [str(tmp_path / "a.vtt")], "observations": 1, "left_out": 0}
    assert "00:00:01.000 --> 00:00:02.000\na cup" in (tmp_path / "a.vtt").read_text()


def test_what_cannot_be_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = ["--memory", str(tmp_path / "memory")]
    assert main(["import", str(tmp_path / "none.srt"), *memory]) == 1
    assert "there is no file" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "x"), *memory]) == 2
    assert "give --format" in capsys.readouterr().err
    assert main(["import", "x", "--zone", "Europe/Atlantis", *memory]) == 2
    assert "is not a time zone" in capsys.readouterr().err
