"""The memory against other engines, in one run: searching, adding, opening, resident memory.

    python bench/memory.py [--sizes 10000 100000 1000000] [--peers tantivy fts5 rank_bm25 lancedb]
                           [--queries 60] [--vectors 100000] [--keep DIR] [--json FILE]

Every engine holds the same made-up narrations (`_narrations.py`) of ten wearers and answers the
same questions twice: about everything up to now, and about one hour of one wearer (as a filter, not
as a second index). A search ends with the text of 20 hits; ours has exact scores over the view's
own statistics and full records. Times are medians of wall clock (and of processor
time, which other programs disturb less); compare them within a run.
Peers that are not installed are left out; rank_bm25 and lancedb are measured up to 100,000.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from _narrations import Narrator
from egomem.memory import Store
from egomem.records import Observation, Recording, Track
from egomem.text import terms
from egomem.timeline import Clock, Span

BEGIN = datetime(2026, 1, 1, 6, tzinfo=UTC)
WEARERS = 10
PER_RECORDING = 330
SECONDS = 10.0
HITS = 20
DIMENSION = 384
TRACK = Track(source="caption", observer="bench")


@dataclass(frozen=True)
class Row:
    """One observation, for the peers: `end` in POSIX seconds."""

    n: int
    wearer: str
    end: float
    text: str


@dataclass(frozen=True)
class Filter:
    """An hour of a wearer; None: everything up to now."""

    wearer: str
    start: datetime
    end: datetime


Search = Callable[[str, Filter | None], int]


def recordings(size: int, seed: int = 1) -> Iterator[tuple[Recording, list[Observation]]]:
    """Ten wearers in turn, 55 minutes each, one observation every 10 s."""
    narrator = Narrator(seed)
    for number in range(-(-size // PER_RECORDING)):
        start = BEGIN + timedelta(seconds=number // WEARERS * 4000)
        wearer = f"w{number % WEARERS}"
        id = f"r{seed}-{number}"
        count = min(PER_RECORDING, size - number * PER_RECORDING)
        observations = [
            Observation(
                recording=id,
                wearer=wearer,
                span=Span(i * SECONDS, (i + 1) * SECONDS),
                text=narrator.text(),
                source="caption",
                track=TRACK.id,
            )
            for i in range(count)
        ]
        yield (
            Recording(id=id, wearer=wearer, name=id, duration=count * SECONDS, clock=Clock(start)),
            observations,
        )


def rows(size: int) -> Iterator[Row]:
    n = 0
    for recording, observations in recordings(size):
        assert recording.clock is not None
        zero = recording.clock.start.timestamp()
        for o in observations:
            yield Row(n, o.wearer, zero + o.span.end, o.text)
            n += 1


def build(folder: Path, size: int) -> Path:
    """Our memory of a size; one that is there already is taken as it is."""
    if not (folder / "memory.db").is_file():
        with Store.open(folder, create=True) as store:
            store.put_track(TRACK)
            for recording, observations in recordings(size):
                store.put_recording(recording)
                store.add(observations)
    return folder


# ---------------------------------------------------------------------------------------- engines


def ours(store: Store) -> Search:
    now = BEGIN + timedelta(days=3650)

    def search(query: str, only: Filter | None) -> int:
        view = store.view(now, wearer=only.wearer if only else None)
        if only:
            view = view.narrow(between=(only.start, only.end))
        return len([hit.observation.text for hit in view.search(query, HITS)])

    return search


def raw_tantivy(size: int, folder: Path) -> tuple[Search, Callable[[Iterable[Row]], None]]:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("wearer", tokenizer_name="raw", index_option="basic")
    builder.add_float_field("end", indexed=True, fast=True)
    builder.add_text_field("text", stored=True, tokenizer_name="raw", index_option="basic")
    schema = builder.build()
    folder.mkdir()
    index = tantivy.Index(schema, path=str(folder))

    def add(some: Iterable[Row]) -> None:
        writer = index.writer(100_000_000, 1)
        for row in some:
            document = tantivy.Document()
            document.add_text("terms", " ".join(terms(row.text)[0]))
            document.add_text("wearer", row.wearer)
            document.add_float("end", row.end)
            document.add_text("text", row.text)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()

    add(rows(size))

    def search(query: str, only: Filter | None) -> int:
        searcher = index.searcher()
        words = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "terms", term, "freq"))
            for term in dict.fromkeys(terms(query)[0])
        ]
        parsed = tantivy.Query.boolean_query(words)
        if only:
            span = (only.start.timestamp(), only.end.timestamp())
            parsed = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Must, parsed),
                    (
                        tantivy.Occur.Must,
                        tantivy.Query.term_query(schema, "wearer", only.wearer, "basic"),
                    ),
                    (
                        tantivy.Occur.Must,
                        tantivy.Query.range_query(schema, "end", tantivy.FieldType.Float, *span),
                    ),
                ]
            )
        hits = searcher.search(parsed, HITS).hits
        return len([searcher.doc(address)["text"] for _, address in hits])

    return search, add


def fts5(size: int, folder: Path) -> tuple[Search, Callable[[Iterable[Row]], None]]:
    folder.mkdir()
    db = sqlite3.connect(folder / "fts.db")
    db.executescript(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE row (n INTEGER PRIMARY KEY, wearer TEXT, end REAL, text TEXT);"
        "CREATE VIRTUAL TABLE words USING fts5(text, content='row', content_rowid='n', "
        "tokenize='porter unicode61');"
    )

    def add(some: Iterable[Row]) -> None:
        with db:
            for r in some:
                values = (r.n, r.wearer, r.end, r.text)
                db.execute("INSERT INTO row VALUES (?, ?, ?, ?)", values)
                db.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (r.n, r.text))

    add(rows(size))

    def search(query: str, only: Filter | None) -> int:
        expression = " OR ".join(f'"{word}"' for word in query.split())
        where, values = "", [expression]
        if only:
            where = "AND row.wearer = ? AND row.end > ? AND row.end <= ?"
            values += [only.wearer, only.start.timestamp(), only.end.timestamp()]
        sql = (
            "SELECT row.text, bm25(words) FROM words JOIN row ON row.n = words.rowid "
            f"WHERE words MATCH ? {where} ORDER BY bm25(words) LIMIT {HITS}"
        )
        return len(db.execute(sql, values).fetchall())

    return search, add


def rank_bm25(size: int, folder: Path) -> tuple[Search, None]:
    from rank_bm25 import BM25Okapi

    every = list(rows(size))
    engine = BM25Okapi([terms(row.text)[0] for row in every])
    wearers = np.array([row.wearer for row in every])
    ends = np.array([row.end for row in every])

    def search(query: str, only: Filter | None) -> int:
        scores = engine.get_scores(terms(query)[0])
        if only:
            inside = (ends > only.start.timestamp()) & (ends <= only.end.timestamp())
            scores = np.where((wearers == only.wearer) & inside, scores, -1)
        best = np.argpartition(scores, -HITS)[-HITS:]
        return len([every[i].text for i in best if scores[i] > 0])

    return search, None


def lancedb_hybrid(size: int, folder: Path) -> tuple[Search, None]:
    """Full text and vectors, prefiltered, fused by reciprocal rank, as its manual has it."""
    import lancedb
    import pyarrow as pa
    from lancedb.rerankers import RRFReranker

    random = np.random.default_rng(0)
    every = list(rows(size))
    matrix = unit_rows(random, size)
    table = lancedb.connect(folder).create_table(
        "rows",
        pa.table(
            {
                "text": [row.text for row in every],
                "wearer": [row.wearer for row in every],
                "end": [row.end for row in every],
                "vector": pa.FixedSizeListArray.from_arrays(matrix.ravel(), DIMENSION),
            }
        ),
    )
    table.create_fts_index("text")
    table.create_scalar_index("end")
    reranker = RRFReranker()
    vectors = unit_rows(random, 64)
    asked = 0

    def search(query: str, only: Filter | None) -> int:
        nonlocal asked
        asked += 1
        request = table.search(query_type="hybrid").vector(vectors[asked % 64]).text(query)
        if only:
            span = f"end > {only.start.timestamp()} AND end <= {only.end.timestamp()}"
            request = request.where(f"wearer = '{only.wearer}' AND {span}", prefilter=True)
        hits = request.rerank(reranker).limit(HITS).to_arrow()
        return len(hits["text"].to_pylist())

    return search, None


ENGINES: dict[str, tuple[Callable[..., Any], str, int]] = {
    "tantivy": (raw_tantivy, "tantivy", 10**9),
    "fts5": (fts5, "sqlite3", 10**9),
    "rank_bm25": (rank_bm25, "rank_bm25", 100_000),
    "lancedb": (lancedb_hybrid, "lancedb", 100_000),
}


# --------------------------------------------------------------------------------------- measures


def unit_rows(random: np.random.Generator, count: int) -> np.ndarray:
    matrix = random.normal(size=(count, DIMENSION)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def timed(search: Search, asked: list[tuple[str, Filter | None]]) -> dict[str, float]:
    """Milliseconds of wall clock, and of processor time. The first few warm up."""
    for query, only in asked[:5]:
        search(query, only)
    hits, cpu = [], []
    for query, only in asked:
        begin, busy = time.perf_counter(), time.process_time()
        search(query, only)
        hits.append(1000 * (time.perf_counter() - begin))
        cpu.append(1000 * (time.process_time() - busy))
    hits.sort()
    p95 = hits[int(0.95 * len(hits))]
    return {"p50": statistics.median(hits), "p95": p95, "cpu": statistics.median(cpu)}


def questions(size: int, count: int) -> tuple[list[tuple[str, None]], list[tuple[str, Filter]]]:
    narrator = Narrator(99)
    hours = max(1, size // PER_RECORDING // WEARERS)
    everything: list[tuple[str, None]] = []
    selective = []
    for i in range(count):
        query = narrator.query()
        start = BEGIN + timedelta(seconds=(i * 7919 % hours) * 4000)
        only = Filter(f"w{i % WEARERS}", start, start + timedelta(hours=1))
        everything.append((query, None))
        selective.append((query, only))
    return everything, selective


def adding(add: Callable[[list[Any]], object], batches: list[list[Any]]) -> dict[str, float]:
    """Milliseconds for 1,000 rows, in one batch."""
    wall, cpu = [], []
    for batch in batches:
        begin, busy = time.perf_counter(), time.process_time()
        add(batch)
        wall.append(1000 * (time.perf_counter() - begin))
        cpu.append(1000 * (time.process_time() - busy))
    return {"wall": statistics.median(wall), "cpu": statistics.median(cpu)}


def fresh(size: int) -> list[list[Observation]]:
    """Five times 1,000 observations that no memory has, of one long recording."""
    narrator = Narrator(size + 7)
    return [
        [
            Observation(
                recording="r1-0",
                wearer="w0",
                span=Span(1e6 + at, 1e6 + at + 1),
                text=narrator.text(),
                source="caption",
                track=TRACK.id,
            )
            for at in range(batch * 1000, batch * 1000 + 1000)
        ]
        for batch in range(5)
    ]


def resident() -> float:
    """Peak resident memory of this process, MB. Linux's getrusage counts its parent as well."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


_ALONE = """
import json, resource, sys, time
sys.path.insert(0, {bench!r})
import memory
from egomem.memory import Store
begin = time.perf_counter()
store = Store.open({folder!r})
store.view()
opened = time.perf_counter() - begin
before = memory.resident()
search = memory.ours(store)
everything, selective = memory.questions({size}, 60)
begin = time.perf_counter()
search(*everything[0])
first = time.perf_counter() - begin
for query, only in everything + selective:
    search(query, only)
print(json.dumps({{"open_s": opened, "first_search_s": first, "before_mb": before,
                  "resident_mb": memory.resident()}}))
"""


def alone(folder: Path, size: int) -> dict[str, float]:
    """In a process of its own: seconds to open, and peak resident memory after 120 searches."""
    code = _ALONE.format(bench=str(Path(__file__).parent), folder=str(folder), size=size)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def shell(folder: Path) -> dict[str, float]:
    """Seconds of CPU from the shell: a search, and what importing numpy and tantivy costs."""

    def cost(command: list[str]) -> float:
        hits = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            hits.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(hits)

    command = str(Path(sys.executable).with_name("egomem"))
    return {
        "search": cost([command, "search", "red mug", "--memory", str(folder)]),
        "import numpy, tantivy": cost([sys.executable, "-c", "import numpy, tantivy"]),
    }


def dense(size: int, folder: Path) -> dict[str, float]:
    """An exact scan of `size` vectors, against a bare product over the same rows in memory."""
    random = np.random.default_rng(0)
    matrix = unit_rows(random, size)
    queries = unit_rows(random, 30)
    with Store.open(folder, create=True) as store:
        at = 0
        for recording, observations in recordings(size):
            store.put_recording(recording)
            store.add(observations)
            ids = [o.id for o in observations]
            store.add_vectors("e", recording.id, ids, matrix[at : at + len(ids)])
            at += len(ids)
        ids = [o.id for _, observations in recordings(size) for o in observations]
        bare, bare_cpu, hybrid, found_cpu, missed = [], [], [], [], 0
        for query in queries:
            begin, busy = time.perf_counter(), time.process_time()
            scores = matrix @ query
            best = np.argpartition(scores, -HITS)[-HITS:]
            bare.append(1000 * (time.perf_counter() - begin))
            bare_cpu.append(1000 * (time.process_time() - busy))
            begin, busy = time.perf_counter(), time.process_time()
            hits = store.view().nearest("e", query, HITS)
            hybrid.append(1000 * (time.perf_counter() - begin))
            found_cpu.append(1000 * (time.process_time() - busy))
            missed += len({ids[i] for i in best} - {hit.observation.id for hit in hits})
    recall = 1 - missed / (HITS * len(queries))
    return {
        "ours": statistics.median(hybrid),
        "numpy": statistics.median(bare),
        "ours_cpu": statistics.median(found_cpu),
        "numpy_cpu": statistics.median(bare_cpu),
        "recall": recall,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--peers", nargs="*", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--vectors", type=int, nargs="*", default=[100_000])
    parser.add_argument("--keep", type=Path, help="keep our memories here, and take them again")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size in options.sizes:
            result[str(size)] = at_size(size, options, Path(scratch))
        for size in options.vectors:
            figures = dense(size, Path(scratch, f"dense{size}"))
            result[f"vectors {size}"] = figures
            print(
                f"\n{size:,} vectors of {DIMENSION}, exact, 20 hits with text: ours "
                f"{figures['ours']:.1f} ms, bare numpy product {figures['numpy']:.1f} ms "
                f"({figures['ours'] / figures['numpy']:.2f}x; "
                f"cpu {figures['ours_cpu'] / figures['numpy_cpu']:.2f}x), "
                f"recall {figures['recall']:.3f}"
            )
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


def at_size(size: int, options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    folder = build((options.keep or scratch) / f"ours{size}", size)
    everything, selective = questions(size, options.queries)
    print(f"\n{size:,} observations; ms a query, {HITS} hits with text (p50 / p95 (cpu))")
    print(f"{'engine':12}{'up to now':>26}{'a wearer, an hour':>28}{'adding 1,000 (cpu)':>22}")
    figures: dict[str, Any] = {}

    def line(name: str, search: Search, add: dict[str, float] | None) -> None:
        now, hour = timed(search, everything), timed(search, selective)
        figures[name] = {"now": now, "hour": hour, "adding": add}
        cost = f"{add['wall']:.0f} ({add['cpu']:.0f})" if add else ""
        print(
            f"{name:12}{now['p50']:9.2f} /{now['p95']:7.2f} ({now['cpu']:5.2f})"
            f"{hour['p50']:11.2f} /{hour['p95']:7.2f} ({hour['cpu']:5.2f}){cost:>22}",
            flush=True,
        )

    with Store.open(folder) as store:
        line("egomem", ours(store), None)
    for name in options.peers:
        engine, package, most = ENGINES[name]
        if find_spec(package) is None or size > most:
            continue
        search, add = engine(size, scratch / f"{name}{size}")
        cost = None
        if add is not None:
            rows_ = [
                [Row(size + 1000 * b + i, "w0", 0.0, o.text) for i, o in enumerate(batch)]
                for b, batch in enumerate(fresh(size))
            ]
            cost = adding(add, rows_)
        line(name, search, cost)
        del search, add
    figures["alone"] = alone(folder, size)
    figures["shell"] = shell(folder)
    # Last, on a copy: what is kept stays as it was.
    with Store.open(copy(folder, scratch / f"grown{size}")) as store:
        figures["egomem"]["adding"] = adding(store.add, fresh(size))
    cost = figures["egomem"]["adding"]
    print(f"egomem, adding 1,000: {cost['wall']:.0f} ms (cpu {cost['cpu']:.0f})")
    print("egomem, alone: " + ", ".join(f"{k} {v:.3g}" for k, v in figures["alone"].items()))
    print(
        "from the shell, cpu s: " + ", ".join(f"{k} {v:.2f}" for k, v in figures["shell"].items())
    )
    return figures


def copy(folder: Path, to: Path) -> Path:
    import shutil

    shutil.copytree(folder, to)
    return to


if __name__ == "__main__":
    main()
