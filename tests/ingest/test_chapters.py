"""Chapters: own sidecars win, missing ones are named, later ones join, all have an order."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from egomem.errors import TimeError
from egomem.ingest.start_times import find_starts
from egomem.media import MediaInfo
from egomem.memory import Store
from egomem.memory.places import place_of
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span

OSLO = ZoneInfo("Europe/Oslo")
START = datetime(2025, 9, 4, 11, 30, tzinfo=OSLO)
CREATED = "2025-09-04T11:30:00.000000Z"


def facts(duration: float = 300, created: str | None = CREATED) -> MediaInfo:
    return MediaInfo(path="x", bytes=1, container="mp4", duration=duration, created=created)


def stored(path: Path, clock: Clock | None, duration: float = 300) -> Recording:
    return Recording(
        id=path.stem, name=path.name, path=str(path), duration=duration, clock=clock,
        facts={"created": CREATED},
    )  # fmt: skip


def test_a_chapters_own_sidecar_wins_over_the_guess_that_it_is_one(tmp_path: Path) -> None:
    paths = [tmp_path / f"trip_{k}.mp4" for k in (1, 2)]
    for path, day in zip(paths, ("2025-09-04", "2025-09-07"), strict=True):
        path.with_suffix(".json").write_text(json.dumps({"start": f"{day}T08:00+02:00"}))
    starts = find_starts({path: facts() for path in paths})
    clocks = [starts[path].clock for path in paths]
    assert [c.start.isoformat() for c in clocks if c] == [
        "2025-09-04T08:00:00+02:00",
        "2025-09-07T08:00:00+02:00",
    ]
    assert all(starts[path].notes == () for path in paths)


def test_a_numbered_chapters_sidecar_wins_and_is_said(tmp_path: Path) -> None:
    paths = [tmp_path / f"GX0{k}0077.MP4" for k in (1, 2, 3)]
    (tmp_path / "GX010077.json").write_text(json.dumps({"start": "2025-09-04T08:00+02:00"}))
    (tmp_path / "GX020077.json").write_text(json.dumps({"start": "2025-09-04T09:00+02:00"}))
    starts = find_starts({path: facts() for path in paths})
    third = starts[paths[2]].clock
    assert third is not None
    assert third.start.isoformat() == "2025-09-04T09:05:00+02:00"
    assert "its sidecar is over its place as a chapter" in " ".join(starts[paths[1]].notes)
    given = find_starts({path: facts() for path in paths}, given=START)
    assert [given[p].clock for p in paths] == [
        Clock(START + timedelta(minutes=5 * k)) for k in range(3)
    ]


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["GX010077.MP4", "GX030077.MP4"], "chapter 2 of the recording is missing, between GX01"),
        (["GOPR0077.MP4", "GP030077.MP4"], "chapters 1, 2 of the recording are missing"),
        (["GX020077.MP4", "GX030077.MP4"], "chapter 1 of the recording is missing, before GX02"),
        (["clip_4.mp4", "clip_6.mp4"], "chapter 5 of the recording is missing"),
    ],
)  # fmt: skip
def test_a_missing_chapter_is_named(names: list[str], missing: str) -> None:
    starts = find_starts({Path(name): facts() for name in names}, given=START)
    assert missing in " ".join(note for start in starts.values() for note in start.notes)
    first, second = (starts[Path(name)].clock for name in names)
    assert first == Clock(START)
    inside = "before GX" not in missing
    assert second == (None if inside else Clock(START + timedelta(minutes=5)))


def test_a_later_chapter_joins_in_a_later_command(tmp_path: Path) -> None:
    first, second = tmp_path / "GX010077.MP4", tmp_path / "GX020077.MP4"
    recording = stored(first, Clock(START, "given"), duration=240)
    starts = find_starts({second: facts(created=None)}, stored=[recording])
    assert starts[second].clock == Clock(START + timedelta(minutes=4), "given")
    assert starts[second].notes == (
        "GX020077.MP4: chapter 2 of GX010077.MP4, 4:00 after its start",
    )
    without = find_starts({second: facts()}, stored=[stored(first, None)])
    assert without[second].clock is None
    assert "give --start" not in " ".join(without[second].notes)


def test_a_later_chapter_joins_by_whatever_path_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stored_recording = stored(tmp_path / "GX010077.MP4", Clock(START))
    starts = find_starts({Path("GX020077.MP4"): facts()}, stored=[stored_recording])
    assert starts[Path("GX020077.MP4")].clock == Clock(START + timedelta(minutes=5))


def test_recordings_for_one_start_are_named() -> None:
    files = {Path(name): facts() for name in ("GX010077.MP4", "GX010078.MP4")}
    with pytest.raises(TimeError, match=r"2 recordings \(GX010077.MP4, GX010078.MP4\)"):
        find_starts(files, given=START)


def test_chapters_without_a_clock_have_an_order(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory", create=True) as store:
        for name in ("GX020077.MP4", "GX010077.MP4", "other.MP4"):
            recording = stored(tmp_path / name, None, duration=90)
            store.put_recording(recording)
            store.add([
                Observation(
                    recording=recording.id, span=Span(5, 6), text=name, source="caption", track="t"
                )
            ])  # fmt: skip
        view = store.view()
        places = {o.text: place_of(view, o) for o in view.observations()}
    assert places == {
        "GX010077.MP4": ("GX010077", 5),
        "GX020077.MP4": ("GX010077", 95),
        "other.MP4": ("other", 5),
    }
