"""The short video behind the picture of a motion photo is read as the recording that it is."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np

from egomem.ingest import find_media
from egomem.ingest.start_times import find_start
from egomem.media import frames, jpeg, probe
from egomem.media.motion_photo import moving_part


def photo(make: ModuleType, folder: Path, name: str) -> Path:
    video = folder / "part.mp4"
    make.video(video, count=40)
    picture = jpeg(np.zeros((32, 32, 3), np.uint8))
    path = folder / name
    path.write_bytes(picture + video.read_bytes())
    video.unlink()
    return path


def test_the_moving_part_is_read(make: ModuleType, tmp_path: Path) -> None:
    path = photo(make, tmp_path, "PXL_20250807_061500123.MP.jpg")
    facts = probe(path)
    assert (facts.duration, facts.faults) == (2.0, ())
    assert [make.number_of(f.image) for f in frames(path, [0.0, 1.5])] == [0, 30]
    hints = find_start(path, facts).hints
    assert [hint.start.isoformat() for hint in hints] == ["2025-08-07T06:15:00+00:00"]


def test_in_a_folder_they_are_passed_over_with_a_line(make: ModuleType, tmp_path: Path) -> None:
    path = photo(make, tmp_path, "MVIMG_20250807_061500.jpg")
    make.video(tmp_path / "walk.mp4", count=5)
    media = find_media([tmp_path])
    assert [p.name for p in media.files] == ["walk.mp4"]
    assert "1 motion photo (name it to ingest its video) (MVIMG_" in media.notes[0]
    assert find_media([path]).files == (path,)


def test_a_plain_picture_has_no_moving_part(tmp_path: Path) -> None:
    for name, content in (
        ("a.jpg", jpeg(np.zeros((32, 32, 3), np.uint8))),
        ("b.jpg", b"\xff\xd8 ....ftyp without an end"),
        ("c.mp4", b"\0\0\0\x18ftypmp42"),
    ):
        (tmp_path / name).write_bytes(content)
        assert moving_part(tmp_path / name) is None
