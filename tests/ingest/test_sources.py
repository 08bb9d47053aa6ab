from pathlib import Path

import pytest

from egomem.errors import UsageError
from egomem.ingest import media_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.mp4", "a.MOV", "notes.txt", "deep/c.wav", ".hidden/d.mp4", ".e.mp4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_a_folder_gives_its_media_in_order_without_hidden_files(folder: Path) -> None:
    assert [p.name for p in media_files([folder])] == ["a.MOV", "b.mp4", "c.wav"]


def test_a_named_file_is_tried_whatever_its_name(folder: Path) -> None:
    assert media_files([folder / "notes.txt"]) == [folder / "notes.txt"]


def test_a_glob_and_its_folder_name_each_file_once(folder: Path) -> None:
    files = media_files([str(folder / "*.mp4"), folder, folder / "b.mp4"])
    assert [p.name for p in files] == ["b.mp4", "a.MOV", "c.wav"]


def test_a_file_whose_name_looks_like_a_glob_is_a_file(folder: Path) -> None:
    (folder / "[1].mp4").touch()
    assert [p.name for p in media_files([folder / "[1].mp4"])] == ["[1].mp4"]


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_path_is_not_this_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, empty: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match="a path is empty"):
        media_files([empty])


@pytest.mark.parametrize("missing", ["nothing.mp4", "*.avi", "empty"])
def test_what_is_not_there_is_said(folder: Path, missing: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no (such file|video or audio)"):
        media_files([folder / missing])
