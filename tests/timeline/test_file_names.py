"""Times in file names, as devices and messengers of many makers write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from egomem.timeline.file_names import DAY_ONLY, named_time

LOCAL = datetime(2025, 11, 23, 19, 4, 37)


@pytest.mark.parametrize(
    "stem",
    [
        "2025_1123_190437_0012F",
        "20251123190437_000123R",
        "FILE251123-190437F",
        "251123_190437_001_FH",
        "REC_2025_11_23_19_04_37_F",
        "20251123_190437_NF",
        "NO20251123-190437-000123F",
        "2025-11-23_19-04-37-left_repeater",
        "AXON_Body_3_Video_2025-11-23_19-04-37",
        "RLC-520_00_20251123190437",
        "LRV_20251123_190437_01_001",
        "signal-2025-11-23-19-04-37-123",
        "signal-2025-11-23-190437",
        "Screenrecorder-2025-11-23-19-04-37-123",
        "WIN_20251123_19_04_37_Pro",
        "vlc-record-2025-11-23-19h04m37s-cam",
        "WhatsApp Video 2025-11-23 at 7.04.37 PM",
        "WhatsApp Video 2025-11-23 um 19.04.37",
        "WhatsApp Video 2025-11-23 à 19.04.37 (2)",
        "WhatsApp Video 2025-11-23 a las 7.04.37 p. m.",
        "Screen Recording 2025-11-23 at 7.04.37\u202fPM",
        "2025年11月23日 19時04分37秒",
        "23.11.2025 19.04.37",
        "11-23-2025 07-04-37 PM",
        "MVIMG_20251123_190437",
        "20251123_190437-0012",
    ],
)
def test_local_times(stem: str) -> None:
    named = named_time(stem)
    assert named is not None
    assert (named.start, named.doubt) == (LOCAL, "")


@pytest.mark.parametrize(
    "stem",
    [
        "REC_20251123T190437Z",
        "2025-11-23T19-04-37Z",
        "20251123_190437_UTC",
        "PXL_20251123_190437123",
        "PXL_20251123_190437123.MP",
        "1763924677",
        "1763924677000",
        "mmexport1763924677000",
        "video_1763924677",
    ],
)
def test_instants(stem: str) -> None:
    named = named_time(stem)
    assert named is not None
    assert named.start.replace(microsecond=0) == LOCAL.replace(tzinfo=UTC)
    assert not named.zoned


def test_an_offset_in_the_name_is_its_zone() -> None:
    named = named_time("20251123T190437-0330")
    assert named is not None
    assert named.zoned
    assert named.start == LOCAL.replace(tzinfo=timezone(-timedelta(hours=3, minutes=30)))


@pytest.mark.parametrize(
    ("stem", "start", "doubt"),
    [
        ("VID-20251123-WA0004", datetime(2025, 11, 23), DAY_ONLY),
        ("2025-11-23 walk", datetime(2025, 11, 23), DAY_ONLY),
        ("05-04-2025 10-11-12", datetime(2025, 4, 5, 10, 11, 12), "day and month"),
        ("20251123_0912", datetime(2025, 11, 23, 9, 12), "may be a time"),
    ],
)
def test_what_is_not_sure_is_doubted(stem: str, start: datetime, doubt: str) -> None:
    named = named_time(stem)
    assert named is not None
    assert named.start == start
    assert doubt in named.doubt


@pytest.mark.parametrize(
    "stem",
    [
        "walk", "IMG_0123", "GX010123", "C0001", "20251323_190437",
        "clip_1234567890123456789", "Snapchat-1763924677", "received_1763924677123456",
        "9999999999999", "12-00-00 PM", "DJI_0042",
    ],
)  # fmt: skip
def test_names_without_a_time(stem: str) -> None:
    assert named_time(stem) is None
