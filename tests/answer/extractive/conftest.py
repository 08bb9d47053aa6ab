"""A made-up day with a known truth: a street, a call, a kitchen, a screen; each memory is tiny."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from egomem.answer.strategy import Task, get
from egomem.memory import Store, View
from egomem.records import Answer, Observation, Provenance, Question, Recording, Source
from egomem.timeline import Clock, Moment, Span

Ask = Callable[..., Answer]


def caption(
    recording: str,
    start: float,
    end: float,
    text: str,
    source: Source = "caption",
    rests_on: Sequence[Observation] = (),
    **data: Any,
) -> Observation:
    return Observation(
        recording=recording,
        span=Span(start, end),
        text=text,
        source=source,
        track=f"{source}/{'composed' if rests_on else 'test'}",
        data=data,
        provenance=Provenance(rests_on=tuple(o.id for o in rests_on)),
    )


def recording(id: str, duration: float, start: str | None) -> Recording:
    clock = Clock(datetime.fromisoformat(start)) if start else None
    return Recording(id=id, name=f"{id}.mp4", duration=duration, clock=clock)


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("memory"), create=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Everything that the embedded observers make: presences, changes, text, speech, captions."""
    with Store.open(tmp_path_factory.mktemp("day"), create=True) as opened:
        yield lived(opened)


def lived(store: Store) -> Store:
    store.put_recording(recording("street", 20, "2026-03-02T08:10:00+01:00"))
    store.put_recording(recording("call", 30, "2026-03-02T09:00:00+01:00"))
    store.put_recording(recording("kitchen", 60, "2026-03-02T12:00:00+01:00"))
    street = [
        caption("street", 0, 12, "1 to 3 cars", "object", label="car", min_count=1, max_count=3),
        caption("street", 4, 7, "1 bus", "object", label="bus", min_count=1, max_count=1),
        caption("street", 3, 4, "a bus appears", "object", label="bus", event="appears"),
        caption(
            "street", 6, 7, "a bus leaves, none remains", "object", label="bus", event="leaves"
        ),
        caption("street", 15, 18, "1 bus", "object", label="bus", min_count=1, max_count=1),
        caption("street", 9, 11, "MARKET HALL", "screen_text"),
    ]
    composed = caption(
        "street", 0, 20, "In view: 3 cars, 1 bus. Text in view: “MARKET HALL”.", rests_on=street
    )
    store.add([*street, composed])
    store.add(
        [
            caption("call", 1, 4, "Where did you leave the spare key?", "speech", speaker="Ben"),
            caption("call", 5, 8, "Under the blue flower pot.", "speech", speaker="Ana"),
            caption("call", 9, 12, "My dog ate the concert tickets.", "speech", speaker="Ana"),
            caption("call", 13, 16, "I bought a new drum kit.", "speech", speaker="Ben"),
            caption("call", 20, 24, "Mañana vamos al mercado de pescado.", "speech", speaker="Ana"),
        ]
    )
    store.add(
        [
            caption("kitchen", 0, 4, "I open the fridge and take two eggs"),
            caption("kitchen", 6, 12, "I crack the eggs into a bowl"),
            caption("kitchen", 14, 20, "I whisk the eggs with a fork"),
            caption("kitchen", 24, 27, "I open the fridge again"),
            caption("kitchen", 30, 40, "I wash the bowl in the sink"),
            caption("kitchen", 45, 50, "我把红色杯子放在桌子上", "speech"),
        ]
    )
    return store


@pytest.fixture
def ask(day: Store) -> Ask:
    """Asks the day, as of a moment if given."""

    def asked(
        text: str, options: Sequence[str] = (), at: Moment | None = None, **how: Any
    ) -> Answer:
        fields = {k: how.pop(k) for k in ("recording",) if k in how}
        return run(day.view(at), Question.of(text, tuple(options), at=at, **fields), **how)

    return asked


def run(view: View, question: Question, embedder: Any = None, **settings: Any) -> Answer:
    strategy = get("extractive")
    task = Task(
        question=question, view=view, settings=strategy.configure(settings), embedder=embedder
    )

    async def call() -> Answer:
        return await strategy.run(task)

    return asyncio.run(call())


@pytest.fixture(name="run")
def run_fixture() -> Callable[..., Answer]:
    return run


@pytest.fixture(name="caption")
def seen_fixture() -> Callable[..., Observation]:
    return caption


@pytest.fixture(name="recording")
def recording_fixture() -> Callable[..., Recording]:
    return recording
