"""A day is that of the place of each recording: in search, in answers and in `--at`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import egomem
from egomem.api import Memory
from egomem.recall import times_read
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span

SYDNEY, PARIS = ZoneInfo("Australia/Sydney"), ZoneInfo("Europe/Paris")


def put(memory: Memory, name: str, start: datetime, text: str) -> None:
    recording = Recording(id=name, name=name, duration=600, clock=Clock(start))
    memory.store.put_recording(recording)
    observation = Observation(
        recording=name, span=Span(0, 20), text=text, source="caption", track="caption/x"
    )
    memory.store.add([observation])


@pytest.fixture
def travelled(tmp_path: Path) -> Iterator[Memory]:
    with egomem.open(tmp_path / "memory") as memory:
        put(memory, "a", datetime(2026, 6, 10, 7, 0, tzinfo=SYDNEY), "I feed the parrot.")
        put(memory, "b", datetime(2026, 6, 11, 7, 30, tzinfo=SYDNEY), "I pack the tent.")
        put(memory, "c", datetime(2026, 6, 12, 22, 0, tzinfo=PARIS), "I cross the bridge.")
        yield memory


@pytest.fixture
def changed(tmp_path: Path) -> Iterator[Memory]:
    """Starts with offsets, as the README writes them, on both sides of a clock change."""
    summer, winter = timezone(timedelta(hours=2)), timezone(timedelta(hours=1))
    with egomem.open(tmp_path / "memory") as memory:
        put(memory, "sat", datetime(2026, 10, 24, 15, 0, tzinfo=summer), "I mend the gate.")
        put(memory, "mon", datetime(2026, 10, 26, 15, 0, tzinfo=winter), "I paint the fence.")
        yield memory


def test_a_day_is_each_recordings_own(travelled: Memory) -> None:
    answer = travelled.ask("What did I do on 11 June?")
    assert [e.quote for e in answer.evidence] == ["I pack the tent."]
    (line,) = times_read(answer.trace)
    assert "“11 June” was read as 2026-06-11T00:00:00+02:00 to" in line
    assert "2026-06-11T00:00:00+10:00 to 2026-06-12T00:00:00+10:00 where Australia/Sydney" in line
    assert [h.recording for h in travelled.search("tent on 11 June")] == ["b"]
    assert travelled.search("tent on 10 June") == []


def test_a_named_zone_holds_for_all(travelled: Memory) -> None:
    answer = travelled.ask("What did I do on 10 June, Paris time?")
    assert [e.quote for e in answer.evidence] == ["I pack the tent."]
    assert "where Australia" not in times_read(answer.trace)[0]


def test_at_is_read_where_the_wearer_was_then(travelled: Memory) -> None:
    recordings = travelled.until("2026-06-11 07:45").recordings()
    assert [r.id for r in recordings] == ["a", "b"]
    assert len(travelled.until("2026-06-11 07:45 Paris time").recordings()) == 2
    assert [r.id for r in travelled.until("2026-06-10 23:00 Europe/Paris").recordings()] == ["a"]


def test_offsets_across_a_clock_change_do_not_shift_the_hour(changed: Memory) -> None:
    answer = changed.ask("What did I mend on Saturday at 3 pm?", at="2026-10-26 16:00")
    assert [e.quote for e in answer.evidence] == ["I mend the gate."]
    assert changed.until("2026-10-24 15:05").recordings()[0].duration == 300
