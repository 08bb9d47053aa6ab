"""A memory of made days, and its digests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from egomem.ingest.digests import (
    DigestReport,
    ExtractiveSummarizer,
    Summarizer,
    build_digests,
    read_levels,
)
from egomem.memory import Store
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span

LINES = (
    "I chop onions on the board",
    "Ana hands me 3 tickets for gate 12",
    "we walk along the river to the station",
    "the kettle boils beside the stove",
    "I read the letter from Oslo at the desk",
)


def remember(
    store: Store, id: str, start: str | None, *, seconds: float = 600, wearer: str = "me"
) -> list[Observation]:
    """A recording with a caption every 30 s; `start` is ISO with its offset, None for no clock."""
    clock = Clock(datetime.fromisoformat(start)) if start else None
    store.put_recording(
        Recording(id=id, name=f"{id}.mp4", duration=seconds, clock=clock, wearer=wearer)
    )
    observations = [
        caption(id, 30.0 * k, f"{LINES[k // 4 % len(LINES)]}, {id}", wearer=wearer)
        for k in range(int(seconds // 30))
    ]
    store.add(observations)
    return observations


def caption(id: str, start: float, text: str, **fields: Any) -> Observation:
    return Observation(
        recording=id,
        span=Span(start, start + fields.pop("length", 30.0)),
        text=text,
        **{"source": "caption", "track": "caption/test", "wearer": "me"} | fields,
    )


def digest(
    store: Store,
    *levels: str,
    summarizer: Summarizer | None = None,
    again: bool = False,
) -> DigestReport:
    chosen = read_levels(levels or ("hour", "day"))
    return asyncio.run(
        build_digests(store, summarizer or ExtractiveSummarizer(), chosen, again=again)
    )


def digests_in(store: Store) -> list[Observation]:
    return store.view().observations(sources=["digest"])


def built(report: DigestReport) -> list[tuple[str, int, int, int]]:
    """(level, built, current, removed)"""
    return [(r.level, r.built, r.current, r.removed) for r in report.levels]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as store:
        yield store
