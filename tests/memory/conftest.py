from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from egomem.memory import Store
from egomem.records import Observation, Recording, Track
from egomem.timeline import Clock, Span

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
CAPTION = Track(source="caption", observer="test")
SPEECH = Track(source="speech", observer="test")


def recording(id: str, *, at: float | None = 0.0, duration: float = 600.0, wearer: str = "me"):
    """A recording that starts `at` seconds after START; None: its clock is not known."""
    clock = None
    if at is not None:
        clock = Clock(datetime.fromtimestamp(START.timestamp() + at, UTC))
    return Recording(
        id=id, name=id, wearer=wearer, duration=duration, clock=clock, facts={"fps": 30}
    )


def caption(recording: str | None, start: float, end: float, text: str, **fields) -> Observation:
    return Observation(
        recording=recording,
        span=Span(start, end),
        text=text,
        **{"source": "caption", "track": CAPTION.id} | fields,
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory"


Maker = Callable[..., Observation]
