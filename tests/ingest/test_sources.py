from pathlib import Path

import pytest

from egomem.errors import UsageError
from egomem.ingest import find_media, media_files


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


def test_what_cameras_and_nas_leave_is_passed_over_with_a_line(tmp_path: Path) -> None:
    names = (
        "GX010063.MP4", "GL010063.LRV", "GX010063.THM", "._GX010063.MP4", "@eaDir/GX010063.MP4",
        "#recycle/old.mov", "VID_20250102_101112_00_001.insv", "LRV_20250102_101112_01_001.insv",
        "DJI_0042.MP4", "DJI_0042.LRF", "CLIP/C0007.MP4", "SUB/C0007S03.MP4", "cut.mov",
        "cut_Proxy.mov", "GL010099.LRV",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    media = find_media([tmp_path])
    assert [p.name for p in media.files] == [
        "C0007.MP4", "DJI_0042.MP4", "GL010099.LRV", "GX010063.MP4",
        "VID_20250102_101112_00_001.insv", "cut.mov",
    ]  # fmt: skip
    lines = " | ".join(media.notes)
    assert "passed over: 1 thumbnail of a camera (GX010063.THM)" in lines
    assert "3 files of a NAS or a system" in lines
    assert "5 low-resolution copies" in lines


def test_a_low_resolution_copy_that_is_named_alone_is_taken(tmp_path: Path) -> None:
    for name in ("GX010063.MP4", "GL010063.LRV"):
        (tmp_path / name).touch()
    proxy = tmp_path / "GL010063.LRV"
    assert find_media([proxy]).files == (proxy,)
    both = find_media([tmp_path / "GX010063.MP4", proxy])
    assert [p.name for p in both.files] == ["GX010063.MP4"]
