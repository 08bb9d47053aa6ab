"""What the user gave stands; what an ingest changes, keeps or ignores of a known file is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from egomem.ingest import FileOutcome
from egomem.memory import Store
from egomem.records import Recording, Track

from .test_run import MakeVideo, Watcher, run

PARIS = ZoneInfo("Europe/Paris")
GIVEN = datetime.fromisoformat("2025-02-03T14:00+01:00")


@pytest.fixture
def again(tmp_path: Path) -> Callable[..., tuple[FileOutcome, Recording]]:
    def ingest(path: Path, **options: Any) -> tuple[FileOutcome, Recording]:
        (outcome,) = run(tmp_path, [path], Watcher(), **options).outcomes
        with Store.open(tmp_path / "memory") as store:
            (recording,) = store.recordings()
        return outcome, recording

    return ingest


Again = Callable[..., tuple[FileOutcome, Recording]]


def start(recording: Recording) -> str:
    assert recording.clock is not None
    return f"{recording.clock.start.isoformat()} {recording.clock.source}"


def test_a_copy_with_a_date_in_its_name_changes_nothing(
    tmp_path: Path, make_video: MakeVideo, again: Again
) -> None:
    video = make_video("trip.mp4")
    again(video, start=GIVEN)
    copy = tmp_path / "backup" / "VID_20250901_101112.mp4"
    copy.parent.mkdir()
    shutil.copy(video, copy)
    outcome, recording = again(copy, zone=PARIS)
    assert outcome.status == "unchanged"
    assert (recording.name, recording.path) == ("trip.mp4", str(video))
    assert start(recording) == "2025-02-03T14:00:00+01:00 given"
    assert outcome.notes[0] == f"a copy of {video} (the same bytes), which stays its file"
    assert "the copy's name says 2025-09-01T10:11:12+02:00, which is ignored" in outcome.notes[1]


def test_a_given_start_stands_until_another_is_given(make_video: MakeVideo, again: Again) -> None:
    video = make_video("VID_20250901_101112.mp4")
    again(video, start=GIVEN)
    outcome, recording = again(video, zone=PARIS)
    assert start(recording) == "2025-02-03T14:00:00+01:00 given"
    assert recording.clock is not None
    assert recording.clock.start.tzinfo == PARIS
    assert outcome.status == "updated"
    assert outcome.notes[0] == "its start is read in Europe/Paris: 2025-02-03T14:00:00+01:00"
    later = datetime.fromisoformat("2025-02-03T15:30+01:00")
    outcome, recording = again(video, start=later)
    assert start(recording) == "2025-02-03T15:30:00+01:00 given"
    assert "its start was 2025-02-03T14:00:00+01:00 (as given); it is now" in outcome.notes[-1]
    outcome, recording = again(video)
    assert (outcome.status, start(recording)) == ("unchanged", "2025-02-03T15:30:00+01:00 given")


def test_a_guessed_start_follows_the_user(make_video: MakeVideo, again: Again) -> None:
    video = make_video("VID_20250901_101112.mp4")
    assert again(video)[1].clock is None
    outcome, recording = again(video, zone=PARIS)
    assert start(recording) == "2025-09-01T10:11:12+02:00 filename"
    assert outcome.status == "updated"
    assert outcome.notes == ("its start is set: 2025-09-01T10:11:12+02:00 (from its name)",)
    outcome, recording = again(video, zone=ZoneInfo("America/Lima"))
    assert start(recording) == "2025-09-01T10:11:12-05:00 filename"
    assert "it is now 2025-09-01T10:11:12-05:00 (from its name)" in outcome.notes[0]
    assert again(video)[0].notes == ()


def test_a_wearer_of_a_known_file_is_ignored_and_that_is_said(
    make_video: MakeVideo, again: Again
) -> None:
    video = make_video("a.mp4")
    again(video, wearer="ida")
    outcome, recording = again(video, wearer="per")
    assert recording.wearer == "ida"
    assert "--wearer per is ignored: the recording is ida's" in outcome.notes[-1]
    assert not any("wearer" in note for note in again(video)[0].notes)


def test_copies_in_a_folder_are_named_and_ingested_once(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("GX010009.MP4")
    copies = [tmp_path / name for name in ("GX010009 (1).MP4", "GX010009 - Copy.MP4")]
    for copy in copies:
        shutil.copy(video, copy)
    report = run(tmp_path, sorted([video, *copies]), Watcher(), start=GIVEN)
    assert report.counts == {"unchanged": 2, "done": 1}
    for outcome in report.outcomes[:2]:
        assert outcome.notes == (f"a copy of {video} (the same bytes): nothing to do",)
    with Store.open(tmp_path / "memory") as store:
        assert [(r.name, start(r)) for r in store.recordings()] == [
            ("GX010009.MP4", "2025-02-03T14:00:00+01:00 given")
        ]


def test_other_options_for_a_known_file_are_said(tmp_path: Path, make_video: MakeVideo) -> None:
    class Sampled(Watcher):
        rate = "1fps"

        @property
        def track(self) -> Track:
            return Track(source="caption", observer="sampled", window=2, sampling=self.rate)

    video, watcher = make_video("a.mp4"), Sampled()
    assert run(tmp_path, [video], watcher).outcomes[0].notes[1:] == ()
    watcher.rate = "4fps,side9"
    (outcome,) = run(tmp_path, [video], watcher).outcomes
    assert outcome.status == "done"
    assert outcome.notes[-1] == (
        "caption was observed with other options (1fps, windows of 2 s); it is observed again, "
        "beside that (4fps, windows of 2 s)"
    )
    assert len(run(tmp_path, [video], watcher).outcomes[0].notes) == 1
