"""Two cameras at one moment are two views of one event."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import egomem
from egomem.api import Memory
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span

START = datetime.fromisoformat("2025-05-06T07:00:00+02:00")


def put(
    memory: Memory, name: str, minute: float, *visits: tuple[float, float], wearer: str = "me"
) -> None:
    clock = Clock(START + timedelta(minutes=minute))
    recording = Recording(id=name, name=name, wearer=wearer, duration=300, clock=clock)
    memory.store.put_recording(recording)
    memory.store.add(
        Observation(
            recording=name, wearer=wearer, span=Span(start, end), text=f"A heron stands in {name}.",
            source="caption", track="caption/x",
        )
        for start, end in visits
    )  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with egomem.open(tmp_path / "memory") as opened:
        yield opened


def test_what_two_cameras_saw_at_once_is_counted_once(memory: Memory) -> None:
    put(memory, "front", 0, (10, 20), (100, 110))
    put(memory, "rear", 0.1, (6, 18), (200, 204))  # 12-24 and 206-210 of the front camera
    answer = memory.ask("How many times did the heron stand?")
    assert "Observed 3 times" in answer.text
    assert "0:10-0:20 in front (2025-05-06 07:00:10+02:00) = 0:06-0:18 in rear" in answer.text
    assert len(answer.evidence) == 4
    assert "About 28.0 s in 3 stretches" in memory.ask("How long did the heron stand?").text


def test_an_event_goes_on_in_the_next_chapter(memory: Memory) -> None:
    put(memory, "one", 0, (290, 300))
    put(memory, "two", 5, (0, 8))
    assert "Observed once" in memory.ask("How many times did the heron stand?").text


def test_visits_in_one_recording_and_of_two_wearers_stay_apart(memory: Memory) -> None:
    put(memory, "mine", 0, (10, 20), (40, 50))
    put(memory, "hers", 0, (10, 20), wearer="ida")
    assert "Observed 3 times" in memory.ask("How many times did the heron stand?").text
