"""How fast recall is, in one run with what it is compared with (bench/recall.py --speed).

Made-up narrations, one a window of 30 s, recordings of an hour; 50 questions about the whole memory
up to now, 10 hits each. Medians of milliseconds. The first question of a memory, which reads it in,
stands apart. rank_bm25 is asked over its tokens of the same texts; LanceDB's hybrid query (full
text and vectors, its own reranker) over the same rows; both where they are installed. Vectors of
the narrations are random (embedding 100,000 texts is not what is measured); a question is embedded
with --embedder, or is a random vector too.
"""

from __future__ import annotations

import pickle
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from _narrations import Narrator
from egomem.memory import Store
from egomem.models.embedders import Embedder, Vectors, normalise_rows
from egomem.recall import add_vectors, search
from egomem.records import Observation, Recording
from egomem.timeline import Span

SIZES = {"1 h, 120": 120, "100 h, 12,000": 12_000, "833 h, 100,000": 100_000}
QUESTIONS = 50
DIMENSIONS = 384


class Kept:
    """An embedder whose vectors are kept in a file between runs."""

    def __init__(self, model: Embedder, path: Path) -> None:
        self._model, self._path = model, path
        self.name, self.dimensions = model.name, model.dimensions
        self._held: dict[tuple[bool, str], Vectors] = {}
        if path.exists():
            self._held = pickle.loads(path.read_bytes())

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        missing = [t for t in dict.fromkeys(texts) if (query, t) not in self._held]
        if missing:
            vectors = self._model.embed(missing, query=query)
            self._held.update(((query, t), v) for t, v in zip(missing, vectors, strict=True))
            if len(missing) > 100:
                self._path.write_bytes(pickle.dumps(self._held))
        return np.array([self._held[query, t] for t in texts]).reshape(len(texts), -1)


class Drawn:
    """Random vectors by text; questions are embedded with the model, where there is one."""

    name, dimensions = "drawn", DIMENSIONS

    def __init__(self, model: Embedder | None) -> None:
        self._model = model

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        if query and self._model is not None and self._model.dimensions == DIMENSIONS:
            return self._model.embed(texts, query=True)
        return normalise_rows(
            np.array(
                [np.random.default_rng(crc32(t.encode())).normal(size=DIMENSIONS) for t in texts]
            )
        )


@dataclass
class Speed:
    """Milliseconds: the median over the questions after the first, and the first; `processor` is
    the median of processor time, all threads together, which other work on the machine does not
    change as much."""

    size: str
    what: str
    median: float
    first: float
    processor: float


def timed(size: str, what: str, ask: Callable[[str], Any], questions: Sequence[str]) -> Speed:
    taken, busy = [], []
    for question in questions:
        begun, before = time.perf_counter(), time.process_time()
        ask(question)
        busy.append(1000 * (time.process_time() - before))
        taken.append(1000 * (time.perf_counter() - begun))
    return Speed(size, what, statistics.median(taken[1:]), taken[0], statistics.median(busy[1:]))


def measure(model: Embedder | None) -> list[Speed]:
    return [s for size, count in SIZES.items() for s in _one(size, count, Drawn(model))]


def _one(size: str, count: int, model: Drawn) -> list[Speed]:
    narrator = Narrator()
    texts = list(narrator.texts(count))
    questions = [narrator.query() for _ in range(QUESTIONS)]
    speeds: list[Speed] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/m", create=True) as store:
        for at in range(0, count, 120):
            id = f"hour {at // 120:04d}"
            store.put_recording(Recording(id=id, name=id, duration=3600.0))
            store.add(
                Observation(
                    recording=id,
                    span=Span(30.0 * i, 30.0 * i + 30),
                    text=text,
                    source="caption",
                    track="caption/made",
                )
                for i, text in enumerate(texts[at : at + 120])
            )
        view = store.view()
        speeds.append(timed(size, "egomem", lambda q: search(view, q), questions))
        add_vectors(store, model)
        view = store.view()
        view.nearest(model.name, model.embed(["a"], query=True)[0], 1)
        speeds += [
            timed(size, "part: words", lambda q: search(view, q), questions),
            timed(
                size, "part: question embedded", lambda q: model.embed([q], query=True), questions
            ),
            timed(
                size,
                "part: vectors scanned",
                lambda q: view.nearest(model.name, model.embed([q])[0], 60),
                questions,
            ),
            timed(size, "egomem, hybrid", lambda q: search(view, q, embedder=model), questions),
        ]
        if find_spec("rank_bm25"):
            speeds.append(_rank_bm25(size, texts, questions))
        if find_spec("lancedb"):
            speeds.append(_lancedb(size, f"{folder}/lance", texts, questions, model))
    return speeds


def _rank_bm25(size: str, texts: Sequence[str], questions: Sequence[str]) -> Speed:
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([text.lower().split() for text in texts])

    def ask(question: str) -> object:
        return np.argsort(-index.get_scores(question.lower().split()))[:10]

    return timed(size, "rank_bm25", ask, questions)


def _lancedb(
    size: str, folder: str, texts: Sequence[str], questions: Sequence[str], model: Drawn
) -> Speed:
    import lancedb
    import pyarrow as pa

    table = lancedb.connect(folder).create_table(
        "m",
        pa.table(
            {
                "text": list(texts),
                "vector": pa.FixedSizeListArray.from_arrays(
                    pa.array(model.embed(texts).ravel()), DIMENSIONS
                ),
            }
        ),
    )
    table.create_fts_index("text")
    vectors = {q: model.embed([q])[0] for q in questions}

    def ask(question: str) -> object:
        query = table.search(query_type="hybrid").vector(vectors[question]).text(question)
        return query.limit(10).to_list()

    return timed(size, "LanceDB, hybrid", ask, questions)


def table(speeds: Sequence[Speed]) -> str:
    lines = [
        f"{'memory':16} {'what':24} {'median ms':>10} {'first ms':>9} {'processor ms':>12}"
        "  ratios (of processor time)"
    ]
    by = {(s.size, s.what): (s.median, s.processor) for s in speeds}
    for s in speeds:
        note = ""
        if s.what == "egomem":
            others = [(o, by.get((s.size, o))) for o in ("rank_bm25", "LanceDB, hybrid")]
            note = ", ".join(
                f"{o} takes {ms[0] / s.median:.1f}x ({ms[1] / s.processor:.1f}x)"
                for o, ms in others
                if ms
            )
        elif s.what == "egomem, hybrid":
            parts = [ms for (size, what), ms in by.items() if size == s.size and "part" in what]
            wall, busy = (sum(column) for column in zip(*parts, strict=True))
            note = f"{s.median / wall:.2f}x its parts ({s.processor / busy:.2f}x)"
        lines.append(
            f"{s.size:16} {s.what:24} {s.median:10.2f} {s.first:9.1f} {s.processor:12.2f}  {note}"
        )
    return "\n".join(lines)
