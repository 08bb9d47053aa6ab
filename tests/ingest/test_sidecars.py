"""Sidecars of Takeout and cameras; the user's zone is over a sidecar's."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from egomem.ingest.start_times import find_start
from egomem.timeline import Clock

LISBON = ZoneInfo("Europe/Lisbon")
START = datetime(2025, 7, 8, 9, 10, 11, tzinfo=LISBON)
TAKEN = {
    "title": "x",
    "creationTime": {"timestamp": "1760000000", "formatted": "later"},
    "photoTakenTime": {"timestamp": str(int(START.timestamp()))},
}
LONG = "a_very_long_name_of_a_holiday_video_by_the_sea"


@pytest.mark.parametrize(
    ("video", "sidecar"),
    [
        ("surf.mp4", "surf.mp4.json"),
        ("surf.mp4", "surf.mp4.supplemental-metadata.json"),
        ("surf.mp4", "surf.mp4.supplemental-me.json"),
        ("surf.mp4", "surf.mp4.s.json"),
        ("surf(2).mp4", "surf.mp4(2).json"),
        ("surf(2).mp4", "surf.mp4.supplemental-metadata(2).json"),
        ("surf.MP4", "surf.HEIC.supplemental-metadata.json"),
        ("PXL_x.MP", "PXL_x.MP.jpg.supplemental-metadata.json"),
        (f"{LONG}_again.mp4", f"{LONG}.json"),
    ],
)
def test_takeout(tmp_path: Path, video: str, sidecar: str) -> None:
    (tmp_path / sidecar).write_text(json.dumps(TAKEN))
    start = find_start(tmp_path / video, zone=LISBON)
    assert start.clock == Clock(START, "sidecar")
    assert start.notes == ()
    without = find_start(tmp_path / video)
    assert without.clock == Clock(START.astimezone(UTC), "sidecar")
    assert "local times are shown in UTC: give --zone" in without.notes[0]


@pytest.mark.parametrize(
    "sidecar",
    ["surfer.mp4.json", "surf(2).mp4.json", "surf.mp4(2).json", "surf2.HEIC.json", "sur.json"],
)
def test_a_sidecar_of_another_file_is_not_read(tmp_path: Path, sidecar: str) -> None:
    (tmp_path / sidecar).write_text(json.dumps(TAKEN))
    assert find_start(tmp_path / "surf.mp4", zone=LISBON).hints == ()


def test_a_sony_camera_knows_its_offset(tmp_path: Path) -> None:
    (tmp_path / "C0007M01.XML").write_text(
        '<?xml version="1.0"?><NonRealTimeMeta><CreationDate value="2025-07-08T09:10:11+01:00"/>'
        "</NonRealTimeMeta>"
    )
    assert find_start(tmp_path / "C0007.MP4").clock == Clock(START, "sidecar")


def test_the_zone_that_the_user_gives_is_over_the_sidecars(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps({"start": "2025-07-08 09:10", "zone": "Asia/Tokyo"})
    )
    start = find_start(tmp_path / "a.mp4", zone=LISBON)
    assert start.clock is not None
    assert start.clock.start.isoformat() == "2025-07-08T09:10:00+01:00"
    assert "the zone given, Europe/Lisbon, is used" in start.notes[0]
    (tmp_path / "b.json").write_text(json.dumps({"start": "2025-07-08T09:10:00+09:00"}))
    start = find_start(tmp_path / "b.mp4", zone=LISBON)
    assert start.clock is not None
    assert start.clock.start.isoformat() == "2025-07-08T01:10:00+01:00"
    assert start.notes == ()
