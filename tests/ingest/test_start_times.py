"""A clock is used only where instant and zone are known; all else is a hint that is shown."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from egomem.errors import TimeError
from egomem.ingest.coverage import gaps, overlaps
from egomem.ingest.start_times import find_start, find_starts
from egomem.media import MediaInfo
from egomem.records import Recording
from egomem.timeline import Clock
from egomem.timeline.chapters import Chapter, ChapterFile, chapters_of

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 3, 2, 8, 10, tzinfo=BERLIN)


def facts(duration: float = 600, created: str | None = None) -> MediaInfo:
    return MediaInfo(path="x", bytes=1, container="mp4", duration=duration, created=created)


def sidecar(tmp_path: Path, name: str, **content: object) -> Path:
    (tmp_path / name).write_text(json.dumps(content))
    return tmp_path / "walk.mp4"


def test_what_the_user_gives_is_over_all_else(tmp_path: Path) -> None:
    path = sidecar(tmp_path, "walk.json", start="2026-03-02T10:10+01:00")
    start = find_start(path, given=START)
    assert start.clock == Clock(START, "given")
    assert start.notes == (
        "the start given is not what the sidecar: 2026-03-02 10:10:00+01:00 says",
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("walk.json", {"start": "2026-03-02T08:10+01:00"}),
        ("walk.mp4.json", {"start_time": "2026-03-02T07:10Z"}),
        ("walk.json", {"start": "2026-03-02 08:10", "zone": "Europe/Berlin"}),
        ("walk.json", {"start_time": START.timestamp()}),
        ("walk.json", {"start_time": START.timestamp() * 1000}),
        ("walk_glasses.vrs.json", {"start_time": START.timestamp(), "end_time": 0}),
        ("walk.vrs.json", {"start_time": int(START.timestamp() * 1e9)}),
    ],
)
def test_sidecars(tmp_path: Path, name: str, content: dict[str, object]) -> None:
    start = find_start(sidecar(tmp_path, name, **content))
    assert start.clock is not None
    assert start.clock.source == "sidecar"
    assert start.clock.start == START


def test_a_sidecar_without_a_zone_is_a_hint(tmp_path: Path) -> None:
    path = sidecar(tmp_path, "walk.json", start="2026-03-02T08:10")
    assert find_start(path).clock is None
    assert "give --start 2026-03-02T08:10:00+HH:MM" in find_start(path).notes[0]
    with_zone = find_start(path, zone=BERLIN)
    assert with_zone.clock == Clock(START, "sidecar")


def test_a_sidecar_of_another_file_or_without_sense_is_not_used(tmp_path: Path) -> None:
    path = sidecar(tmp_path, "walk10.vrs.json", start_time=1)
    assert find_start(path).hints == ()
    (tmp_path / "walk.json").write_text("{")
    assert "cannot be read" in find_start(path).notes[0]
    (tmp_path / "walk.json").write_text('[{"start": 3}]')
    assert find_start(path).hints == ()


def test_a_sidecar_that_tells_another_length_is_said_so(tmp_path: Path) -> None:
    unix = START.timestamp()
    path = sidecar(tmp_path, "walk.vrs.json", start_time=unix, end_time=unix + 60)
    assert "tells of 60 s, the video has 600 s" in find_start(path, facts()).notes[0]
    assert find_start(path, facts(60.4), zone=BERLIN).notes == ()


@pytest.mark.parametrize(
    "name",
    [
        "20260302_081000.mp4",
        "VID_20260302_081000.mp4",
        "VID_20260302_081000_00_001.insv",
        "2026-03-02 08.10.00.mov",
        "2026-03-02_08-10-00.mp4",
        "Screen Recording 2026-03-02 at 08.10.00.mov",
        "DJI_20260302081000_0001_D.MP4",
        "DAY2_A1_JAKE_08100000.mp4",
    ],
)
def test_a_name_gives_a_clock_only_with_a_zone(name: str) -> None:
    day_one = date(2026, 3, 1)
    start = find_start(name, zone=BERLIN, day_one=day_one)
    assert start.clock == Clock(START, "filename")
    bare = find_start(name, day_one=day_one)
    assert bare.clock is None
    assert [hint.start for hint in bare.hints] == [datetime(2026, 3, 2, 8, 10)]


@pytest.mark.parametrize(
    "name", ["GX010123.MP4", "20261302_081000.mp4", "clip_1234567890123456789.mp4", "walk.mp4"]
)
def test_names_that_give_no_time(name: str) -> None:
    start = find_start(name, zone=BERLIN)
    assert start.hints == ()
    assert "nothing says when it began" in start.notes[0]


def test_pixel_names_are_utc_and_egolife_needs_its_first_day() -> None:
    assert find_start("PXL_20260302_071000123.mp4", zone=BERLIN).clock == Clock(START, "filename")
    missing = find_start("DAY1_A1_JAKE_11210217.mp4", zone=BERLIN)
    assert missing.clock is None
    assert "first day" in missing.notes[0]


def test_a_name_in_the_gap_of_the_clocks_is_a_note_and_no_error() -> None:
    start = find_start("20260329_023000.mp4", zone=BERLIN)
    assert start.clock is None
    assert "does not exist" in start.notes[0]


def test_a_name_in_an_hour_that_comes_twice_says_how_it_is_read() -> None:
    start = find_start("20261025_023000.mp4", zone=BERLIN)
    assert start.clock is not None
    assert start.clock.start.isoformat() == "2026-10-25T02:30:00+02:00"
    assert "02:30 occurs twice that day; read as the first" in start.notes[0]


def test_a_given_start_in_an_hour_that_comes_twice_says_how_it_is_read() -> None:
    start = find_start("walk.mp4", given=datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN), zone=BERLIN)
    assert "02:30 occurs twice that day; read as the first" in start.notes[0]
    sure = datetime.fromisoformat("2026-10-25T02:30+01:00")
    assert find_start("walk.mp4", given=sure, zone=BERLIN).notes == ()


def test_a_given_start_is_in_the_zone_that_is_given() -> None:
    given = datetime.fromisoformat("2026-03-28T10:00+01:00")
    start = find_start("walk.mp4", given=given, zone=BERLIN)
    assert start.clock is not None
    assert start.clock.at(86400).isoformat() == "2026-03-29T11:00:00+02:00"


def test_a_creation_time_marked_as_utc_is_a_hint_even_with_a_zone() -> None:
    created = facts(created="2026-03-02T08:10:00.000000Z")
    start = find_start("walk.mp4", created, zone=BERLIN)
    assert start.clock is None
    assert "often write local time" in start.notes[0]
    as_local = find_start("walk.mp4", created, zone=BERLIN, container="local")
    assert as_local.clock == Clock(START, "container")
    as_utc = find_start("walk.mp4", created, container="utc")
    assert as_utc.clock == Clock(START + timedelta(hours=1), "container")


def test_a_creation_time_with_its_own_zone_counts() -> None:
    start = find_start("walk.mp4", facts(created="2026-03-02T08:10:00+0100"))
    assert start.clock == Clock(START, "container")


def test_a_creation_time_that_was_never_set_is_no_hint() -> None:
    assert find_start("walk.mp4", facts(created="1904-01-01T00:00:00Z")).hints == ()
    assert "cannot be read" in find_start("walk.mp4", facts(created="yesterday")).notes[0]


def grouped(files: dict[Path, MediaInfo]) -> list[tuple[Chapter[Path], ...]]:
    return chapters_of({p: ChapterFile(p, f.duration, f.created) for p, f in files.items()})


# -- chapters --------------------------------------------------------------------------------------

CREATED = "2026-03-02T08:10:00.000000Z"


@pytest.mark.parametrize(
    "names",
    [
        ["GX010123.MP4", "GX020123.MP4", "GX030123.MP4"],
        ["GOPR0123.MP4", "GP010123.MP4", "GP020123.MP4"],
        ["trip_8.mp4", "trip_9.mp4", "trip_10.mp4"],
        ["VID_20260302_081000_00_001.mp4", "VID_20260302_081000_00_002.mp4",
         "VID_20260302_081000_00_003.mp4"],
    ],
)  # fmt: skip
def test_chapters_become_one_timeline(names: list[str]) -> None:
    lengths = [600.0, 600.0, 300.0]
    files = {Path(n): facts(d, CREATED) for n, d in zip(names, lengths, strict=True)}
    shuffled = {path: files[path] for path in sorted(files, reverse=True)}
    ((one, two, three),) = grouped(shuffled)
    assert [str(c.id) for c in (one, two, three)] == names
    assert [one.offset, two.offset, three.offset] == [0, 600, 1200]
    starts = find_starts(shuffled, given=START)
    assert list(starts) == list(shuffled)
    clocks = [starts[Path(n)].clock for n in names]
    assert [c.start - START for c in clocks if c] == [timedelta(seconds=s) for s in (0, 600, 1200)]
    assert "chapter 3 of" in starts[Path(names[2])].notes[0]


@pytest.mark.parametrize(
    "files",
    [
        {"GX010123.MP4": CREATED, "GX010124.MP4": CREATED},
        {"GX010123.MP4": CREATED, "GL010123.LRV": CREATED},
        {"a_1.mp4": CREATED, "a_2.mp4": "2026-03-02T09:10:00Z"},
        {"a_1.mp4": None, "a_2.mp4": None},
        {"a_1.mp4": CREATED, "b_2.mp4": CREATED},
        {"VID_20260302_081000_00_001.mp4": CREATED, "VID_20260302_081000_10_001.mp4": CREATED},
        {"DAY1_A1_JAKE_11210217.mp4": CREATED, "DAY1_A1_JAKE_11213217.mp4": CREATED},
        {"20260302_081000.mp4": CREATED, "20260302_082000.mp4": CREATED},
    ],
)
def test_what_is_not_chapters_of_one_recording(files: dict[str, str | None]) -> None:
    files_facts = {Path(name): facts(600, created) for name, created in files.items()}
    assert len(grouped(files_facts)) == 2
    with pytest.raises(TimeError, match="2 recordings"):
        find_starts(files_facts, given=START)
    assert all(start.clock is None for start in find_starts(files_facts).values())


# -- gaps and overlaps -----------------------------------------------------------------------------


def recording(name: str, minute: float, minutes: float, wearer: str = "me") -> Recording:
    clock = Clock(START + timedelta(minutes=minute))
    return Recording(id=name, name=name, wearer=wearer, duration=minutes * 60, clock=clock)


def test_gaps_and_overlaps_of_a_wearer() -> None:
    recordings = [
        recording("late", 30, 5),
        recording("long", 0, 20),
        recording("inside", 5, 2),
        recording("next", 20.01, 5),
        recording("elsewhere", 21, 50, wearer="you"),
        Recording(id="unknown", name="unknown", duration=10),
    ]
    (gap,) = gaps(recordings)
    assert (gap.before.name, gap.after.name) == ("next", "late")
    assert str(gap) == (
        "me: no recording for 4:59 between next and late, from 2026-03-02T08:35:00.600000+01:00"
    )
    (overlap,) = overlaps(recordings)
    assert (overlap.one.name, overlap.other.name) == ("long", "inside")
    assert (overlap.start, overlap.end) == (
        datetime(2026, 3, 2, 7, 15, tzinfo=UTC),
        datetime(2026, 3, 2, 7, 17, tzinfo=UTC),
    )
    assert [g.after.name for g in gaps(recordings, min_s=0.5)] == ["next", "late"]
    assert gaps([]) == overlaps([]) == []
