from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from egomem.memory import Store
from egomem.models.embedders import Vectors, normalise_rows
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


class Hashing:
    """A deterministic embedder: signed hashes of words. It lists what it was asked for, and has a
    name of its own, so that vectors made for one test are not kept for another."""

    dimensions = 64
    _made = count()

    def __init__(self) -> None:
        self.name = f"hashing {next(self._made)}"
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions))
        for row, text in zip(rows, texts, strict=True):
            self.embedded.append(text)
            for word in text.lower().split():
                code = crc32(word.strip("?.,").encode())
                row[code % self.dimensions] += 1 if code >> 31 else -1
        return normalise_rows(rows)


def observation(recording: str | None, start: float, end: float, text: str, **more) -> Observation:
    fields = {"source": "caption", "track": "caption/test"} | more
    return Observation(recording=recording, span=Span(start, end), text=text, **fields)


def recording(id: str, duration: float, hours: float | None = None) -> Recording:
    """`hours` after START; None: its clock is not known."""
    clock = None
    if hours is not None:
        clock = Clock(datetime.fromtimestamp(START.timestamp() + 3600 * hours, UTC))
    return Recording(id=id, name=id, duration=duration, clock=clock)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as store:
        yield store


@pytest.fixture
def film(store: Store) -> Callable[..., Store]:
    """A memory of one recording "r" whose texts follow each other, `step` seconds each."""

    def make(*texts: str, step: float = 30.0, hours: float | None = None) -> Store:
        store.put_recording(recording("r", step * len(texts), hours))
        store.add(
            observation("r", i * step, (i + 1) * step, text) for i, text in enumerate(texts) if text
        )
        return store

    return make
