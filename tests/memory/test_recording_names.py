from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from egomem.errors import TimeError, UsageError
from egomem.memory import Store
from egomem.memory.moments import moment_of
from egomem.memory.recording_names import find_recording
from egomem.records import Recording
from egomem.timeline import Clock, RecordingTime

MORNING = datetime(2026, 5, 4, 7, tzinfo=UTC)
RECORDINGS = [
    Recording(id="7f3a90", name="ferry.mp4", duration=90, path="/films/ferry.mp4"),
    Recording(id="7f3b11", name="harbour walk.mp4", duration=90, clock=Clock(MORNING)),
    Recording(id="c04d22", name="ferry.mp4", duration=90, clock=Clock(MORNING)),
    Recording(id="2026-05-04-a", name="2026-05-04-a", duration=90),
]


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("7f3a90", "7f3a90"),
        ("harbour walk.mp4", "7f3b11"),
        ("harbour walk", "7f3b11"),
        ("/films/ferry.mp4", "7f3a90"),
        ("c0", "c04d22"),
        ("7f3b", "7f3b11"),
    ],
)
def test_a_name_an_id_a_path_or_the_start_of_an_id(name: str, id: str) -> None:
    assert find_recording(RECORDINGS, name).id == id


@pytest.mark.parametrize("name", ["ferry.mp4", "ferry", "7f3"])
def test_what_several_may_be_meant_by_says_which(name: str) -> None:
    with pytest.raises(UsageError, match=r"names 2 recordings: .*7f3a90.*; .*(c04d22|7f3b11)"):
        find_recording(RECORDINGS, name)


@pytest.mark.parametrize("name", ["", "ferries.mp4", "90"])
def test_what_nothing_is_meant_by_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="there is no recording"):
        find_recording(RECORDINGS, name)


def test_a_near_name_is_offered() -> None:
    with pytest.raises(UsageError, match=r"is it harbour walk\.mp4"):
        find_recording(RECORDINGS, "harbor walk.mp4")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "m", create=True) as opened:
        for recording in RECORDINGS:
            opened.put_recording(recording)
        yield opened


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("harbour walk.mp4 0:45", RecordingTime("7f3b11", 45)),
        ("harbour walk 0:45", RecordingTime("7f3b11", 45)),
        ("c04 0:45", RecordingTime("c04d22", 45)),
        ("2026-05-04-a 0:45", RecordingTime("2026-05-04-a", 45)),
    ],
)
def test_a_second_of_a_recording_by_each_of_its_names(
    store: Store, text: str, moment: RecordingTime
) -> None:
    assert moment_of(store, text) == moment


def test_a_time_is_a_time_though_an_id_starts_like_it(store: Store) -> None:
    assert moment_of(store, "2026-05-04 07:01") == MORNING.replace(minute=1)


def test_a_second_of_two_recordings_of_one_name_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="c04d22"):
        moment_of(store, "ferry.mp4 0:45")
    with pytest.raises(TimeError):
        moment_of(store, "no such film 0:45 at all")
