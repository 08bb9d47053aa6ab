"""How well recall finds the moment, on data made by others; and how fast.

    python bench/recall.py --data ../shared/data [--embedder FOLDER] [--json FILE] [--speed]

One line a set: R@1, R@3, R@5, R@10 and MRR of `egomem.recall.search` over a store, without a model
and (with --embedder) with one, beside plain BM25 (rank_bm25 over Porter's stems, k1 .9, b .4) and
chance on the same rows. A hit is a window that overlaps the evidence by more than nothing; MRR
counts ranks up to 100. Intervals: bootstrap
over videos or conversations. `half` is the half of them (by SHA-256 of the id) that no setting was
chosen on (of EgoLife, settings were chosen on days 1 and 2); --json has the other half, `chosen`,
too. --profile '{"softness": 0}' tries other
settings with the embedder (fields of egomem.recall.Profile). The lines of the extractive reader
come from bench/recall_answers.py, the speed table (--speed) from bench/recall_speed.py, which
compares with lancedb where installed. It needs rank_bm25 and snowballstemmer.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import snowballstemmer
from rank_bm25 import BM25Okapi

import recall_answers
import recall_speed
from egomem.benchmarks import load
from egomem.ingest.importing import import_files
from egomem.ingest.readers.options import read_options
from egomem.memory import Store, View
from egomem.models.embedders import Embedder, embedder
from egomem.recall import DEFAULT, HYBRID, MomentWindow, Profile, add_vectors, search, windows_of
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span, zone_of
from recall_answers import Row, held_out, remember, rows

RESAMPLES = 10_000
DEPTH = 100
PORTER = snowballstemmer.stemmer("porter")
ATTEMPTS = ("random", "BM25", "BM25 + options", "egomem", "egomem + embedder")


@dataclass(frozen=True)
class Query:
    """`group` is the video or conversation; `memory` the recordings that are searched, `until` the
    moment that is asked at."""

    group: str
    memory: tuple[str, ...]
    text: str
    options: tuple[str, ...]
    evidence: tuple[tuple[str, Span], ...]
    until: datetime | None = None


@dataclass
class Result:
    """A line of the table, over all rows; `half` holds the same on the half not chosen on, `chosen`
    on the other."""

    name: str
    method: str
    n: int
    windows: float
    r1: float
    r3: float
    r5: float
    r10: float
    mrr: float
    interval: tuple[float, float]
    half: dict[str, float]
    chosen: dict[str, float]
    seconds: float


# ----------------------------------------------------------------------------------------- sets


def _caption(row: Row) -> Observation:
    return Observation(
        recording=row["video_id"],
        span=Span(row["start"], row["end"]),
        text=row["text"],
        source="caption",
        track="caption/data",
    )


def _videos(table: Iterable[Row], *, together: bool = False) -> list[Query]:
    table = list(table)
    everything = tuple(sorted({row["video_id"] for row in table}))
    return [
        Query(
            row["video_id"],
            everything if together else (row["video_id"],),
            row["question"],
            tuple(row.get("choices") or ()),
            tuple((row["video_id"], Span(*span)) for span in row["evidence"]),
        )
        for row in table
    ]


def goalstep(data: Path, folder: str) -> tuple[Store, list[Query], float]:
    store = remember(folder, rows(data, "goalstep/memory"), _caption)
    return store, _videos(rows(data, "goalstep/category_queries")), 30.0


def nextgqa(data: Path, folder: str) -> tuple[Store, list[Query], float]:
    store = remember(folder, rows(data, "nextgqa/memory"), _caption)
    ids = {r.id for r in store.recordings()}
    table = [row for row in rows(data, "nextgqa/questions") if row["video_id"] in ids]
    every = tuple(sorted(ids))
    return store, [replace(q, memory=every) for q in _videos(table)], 5.0


def sounds(data: Path, folder: str) -> tuple[Store, list[Query], float]:
    store = remember(folder, rows(data, "epic_sounds/memory"), _caption)
    table = [row for row in rows(data, "epic_sounds/sound_queries") if row["type"] == "event"]
    return store, _videos(table), 30.0


def amb(data: Path, folder: str) -> tuple[Store, list[Query], float]:
    store = remember(folder, rows(data, "epic_amb/epic_memory"), _caption)
    table = [{**row, "choices": None} for row in rows(data, "epic_amb/amb_q7_questions")]
    return store, _videos(table), 30.0


TURN = 5.0
"""Seconds that a turn of a conversation is given: the data has none. A window is one turn."""


def locomo(data: Path, folder: str) -> tuple[Store, list[Query], float]:
    """A session is a recording with its clock; a picture that was sent is part of its turn."""
    store = Store.open(folder, create=True)
    sessions: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows(data, "locomo/turns"):
        sessions[row["conv_id"], row["session"]].append(row)
    place: dict[tuple[str, str], tuple[str, Span]] = {}
    observations = []
    for (conversation, session), turns in sessions.items():
        id = f"{conversation}-{session}"
        start = datetime.strptime(turns[0]["date_time"], "%I:%M %p on %d %B, %Y")
        store.put_recording(
            Recording(
                id=id,
                name=id,
                duration=TURN * len(turns),
                clock=Clock(start.replace(tzinfo=UTC), "import"),
            )
        )
        for i, turn in enumerate(turns):
            span = Span(i * TURN, (i + 1) * TURN)
            place[conversation, turn["dia_id"]] = id, span
            text = " ".join(filter(None, (turn["text"], turn["blip_caption"])))
            observations.append(
                Observation(
                    recording=id,
                    span=span,
                    text=text,
                    source="speech",
                    track="speech/data",
                    data={"speaker": turn["speaker"]},
                )
            )
    store.add(observations)
    queries = []
    for row in rows(data, "locomo/questions"):
        named = [d for e in row["evidence"] for d in re.findall(r"D\d+:\d+", e)]
        evidence = tuple(place[row["conv_id"], d] for d in named if (row["conv_id"], d) in place)
        memory = tuple(f"{c}-{s}" for c, s in sessions if c == row["conv_id"])
        if evidence:
            queries.append(Query(row["conv_id"], memory, row["question"], (), evidence))
    return store, queries, TURN


DAY_ONE = "2025-01-01"
"""The date that the shared rows of EgoLife give DAY1."""


def egolife(
    days: tuple[int, int], with_options: bool, data: Path, folder: str
) -> tuple[Store, list[Query], float]:
    """A week of one wearer, asked at each question's own moment; a clip of 30 s is a window."""
    store = Store.open(folder, create=True)
    import_files(store, [data / "egolife" / "memory.jsonl.gz"], read_options())
    clips = [(r.id, r.duration, r.clock.start) for r in store.recordings() if r.clock]
    questions = load(
        data / "egolife" / "questions.json",
        strict=False,
        zone=zone_of("Asia/Shanghai"),
        day_one=date.fromisoformat(DAY_ONE),
    ).questions
    queries = []
    for question in questions:
        assert isinstance(question.at, datetime)
        day = (question.at.date() - date.fromisoformat(DAY_ONE)).days + 1
        evidence = tuple(
            (id, Span(0.0, duration))
            for id, duration, start in clips
            for e in question.evidence
            if e.when and 0 <= (e.when - start).total_seconds() < duration
        )
        if days[0] <= day <= days[1]:
            options = tuple(o.text for o in question.options) if with_options else ()
            queries.append(
                Query(question.id, (), question.text, options, evidence, until=question.at)
            )
    return store, queries, 30.0


SETS = {
    "EgoLife, days 1 and 2": partial(egolife, (1, 2), False),
    "EgoLife, days 3 and 4": partial(egolife, (3, 4), False),
    "EgoLife, days 1 and 2, options": partial(egolife, (1, 2), True),
    "EgoLife, days 3 and 4, options": partial(egolife, (3, 4), True),
    "GoalStep, 30 s": goalstep,
    "NExT-GQA, one memory, 5 s": nextgqa,
    "LoCoMo turns": locomo,
    "EPIC-SOUNDS events, 30 s": sounds,
    "AMB Q7, 30 s (plumbing)": amb,
}


# ---------------------------------------------------------------------------------------- ranks

Places = list[tuple[str, Span]]


def _rank(places: Places, query: Query) -> float:
    """The rank of the first window that overlaps the evidence; infinite where none does."""
    for rank, (recording, span) in enumerate(places, start=1):
        if any(recording == r and span.overlaps(e) for r, e in query.evidence):
            return rank
    return math.inf


_WORDS = """
a an the and or of to in on at is are was were be been being it its i my me you your he she they we
him his her their our with for from by as this that do does did what when where which who how why
"""
_STOP = frozenset(_WORDS.split())


@lru_cache(maxsize=100_000)
def _porter(text: str) -> list[str]:
    """Porter's stems of a text's words, less English stop words."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return PORTER.stemWords([word for word in words if word not in _STOP])


class PlainBM25:
    """rank_bm25's Okapi over Porter's stems, k1 .9 and b .4, as others run it."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.index = BM25Okapi([_porter(text) for text in texts], k1=0.9, b=0.4)

    def scores(self, text: str) -> np.ndarray[Any, Any]:
        scores: np.ndarray[Any, Any] = self.index.get_scores(_porter(text))
        return scores


class SearchedMemory(NamedTuple):
    """What a question is asked of, and the same windows for plain BM25."""

    view: View
    places: Places
    plain: PlainBM25


class Memories:
    """The memories that questions are asked of; each is laid out once."""

    def __init__(self, store: Store, length: float) -> None:
        self._view = store.view()
        self._length = length
        self._ready: dict[tuple[str, ...], SearchedMemory] = {}
        self._windows: list[tuple[float, str, MomentWindow]] = []

    def of(self, query: Query) -> SearchedMemory:
        if query.until is not None:
            return self._until(query.until)
        if query.memory not in self._ready:
            view = self._view.narrow(recordings=query.memory)
            windows = windows_of(view.observations(), self._length)
            self._ready[query.memory] = _laid_out(view, [(_named(w), w) for w in windows])
        return self._ready[query.memory]

    def _until(self, moment: datetime) -> SearchedMemory:
        """Of a memory whose recordings are a window each, those that have ended by then."""
        if not self._windows:
            ends = {r.id: r.instant(r.duration) for r in self._view.recordings()}
            for window in windows_of(self._view.observations(), self._length):
                end = ends[window.recording or ""]
                if end is not None:
                    self._windows.append((end.timestamp(), _named(window), window))
            self._windows.sort(key=lambda row: row[0])
        ended = [(text, w) for end, text, w in self._windows if end <= moment.timestamp()]
        return _laid_out(self._view.narrow(until=moment), ended)


def _laid_out(view: View, windows: Sequence[tuple[str, MomentWindow]]) -> SearchedMemory:
    places = [(w.recording or "", w.span) for _, w in windows]
    return SearchedMemory(view, places, PlainBM25([text for text, _ in windows]))


def measure(
    name: str,
    data: Path,
    model: Embedder | None,
    sample: int | None = None,
    hybrid: Profile = HYBRID,
) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        store, queries, length = SETS[name](data, folder)
        if sample is not None and sample < len(queries):
            queries = random.Random(0).sample(queries, sample)
        if model is not None:
            add_vectors(store, model)
        ranks: dict[str, list[float]] = {method: [] for method in ATTEMPTS}
        seconds = dict.fromkeys(ATTEMPTS, 0.0)
        chance: list[tuple[int, int]] = []
        memories = Memories(store, length)
        for query in queries:
            memory = memories.of(query)
            view = memory.view
            right = sum(_rank([place], query) == 1 for place in memory.places)
            chance.append((len(memory.places), right))
            asked = {"BM25": query.text}
            if query.options:
                asked["BM25 + options"] = " ".join((query.text, *query.options))
            for method, text in asked.items():
                begun = time.perf_counter()
                order = np.argsort(-memory.plain.scores(text), kind="stable")
                ranks[method].append(_rank([memory.places[i] for i in order[:DEPTH]], query))
                seconds[method] += time.perf_counter() - begun
            for method, profile, with_model in (
                ("egomem", DEFAULT, None),
                ("egomem + embedder", hybrid, model),
            ):
                if method == "egomem + embedder" and model is None:
                    continue
                begun = time.perf_counter()
                hits = search(
                    view,
                    query.text,
                    options=query.options,
                    k=DEPTH,
                    window=length,
                    profile=replace(profile, unmatched=True),
                    embedder=with_model,
                    now=query.until,
                )
                seconds[method] += time.perf_counter() - begun
                ranks[method].append(_rank([(h.recording or "", h.span) for h in hits], query))
        store.close()
    groups = [q.group for q in queries]
    windows_each = float(np.mean([n for n, _ in chance]))
    results = [_chance(name, chance, groups)]
    results += [
        _summary(name, method, ranks[method], groups, windows_each, seconds[method])
        for method in ATTEMPTS[1:]
        if ranks[method]
    ]
    return results


def _named(window: MomentWindow) -> str:
    """A window's text, with the speakers' names before what they said."""
    return "\n".join(f"{o.data.get('speaker', '')} {o.text}" for o in window.observations)


def _figures(ranks: np.ndarray[Any, Any]) -> dict[str, float]:
    inverse = np.where(np.isfinite(ranks), 1 / ranks, 0.0)
    return {
        "r1": float(np.mean(ranks <= 1)),
        "r3": float(np.mean(ranks <= 3)),
        "r5": float(np.mean(ranks <= 5)),
        "r10": float(np.mean(ranks <= 10)),
        "mrr": float(np.mean(inverse)),
    }


def _summary(
    name: str, method: str, scores: Sequence[float], groups: Sequence[str], windows: float, s: float
) -> Result:
    ranks = np.array(scores)
    unseen = np.array([held_out(group) for group in groups])
    inverse = np.where(np.isfinite(ranks), 1 / ranks, 0.0)
    return Result(
        name,
        method,
        len(ranks),
        windows,
        **_figures(ranks),
        interval=_interval(inverse, groups),
        half=_figures(ranks[unseen]),
        chosen=_figures(ranks[~unseen]),
        seconds=s,
    )


def _chance(name: str, counts: Sequence[tuple[int, int]], groups: Sequence[str]) -> Result:
    """What a random order would score, exactly (MRR too)."""

    def within(n: int, right: int, k: int) -> float:
        missed = math.prod((n - right - i) / (n - i) for i in range(min(k, n)))
        return 1 - max(0.0, missed)

    def inverse(n: int, right: int) -> float:
        total, missed = 0.0, 1.0
        for rank in range(1, n - right + 2):
            total += missed * right / (n - rank + 1) / rank
            missed *= (n - right - rank + 1) / (n - rank + 1)
        return total

    cases = Counter(counts)
    mean = {
        key: sum(times * f(n, right) for (n, right), times in cases.items()) / len(counts)
        for key, f in {
            "r1": lambda n, right: within(n, right, 1),
            "r3": lambda n, right: within(n, right, 3),
            "r5": lambda n, right: within(n, right, 5),
            "r10": lambda n, right: within(n, right, 10),
            "mrr": inverse,
        }.items()
    }
    windows = float(np.mean([n for n, _ in counts]))
    return Result(
        name, "random", len(counts), windows, **mean, interval=(math.nan, math.nan), half={},
        chosen={}, seconds=0.0,
    )  # fmt: skip


def _interval(values: np.ndarray[Any, Any], groups: Sequence[str]) -> tuple[float, float]:
    """95 % percentile interval of the mean, resampling whole groups (seeded)."""
    names = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    group = np.array([names[g] for g in groups])
    sums = np.bincount(group, values)
    sizes = np.bincount(group)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)
    means = (drawn @ sums) / (drawn @ sizes)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def table(results: Sequence[Result]) -> str:
    lines = [
        f"{'set':31} {'method':18} {'n':>5} {'windows':>7} {'R@1':>6} {'R@3':>6} {'R@5':>6} "
        f"{'R@10':>6} {'MRR':>6} {'95 % of MRR':>15} {'half: R@1':>9} {'R@3':>6} {'R@5':>6} "
        f"{'R@10':>6} {'MRR':>6} "
        f"{'ms':>6}"
    ]
    for r in results:
        half = " ".join(f"{r.half[key]:6.3f}" for key in r.half)
        interval = f"[{r.interval[0]:.3f}, {r.interval[1]:.3f}]" if r.half else ""
        lines.append(
            f"{r.name:31} {r.method:18} {r.n:5d} {r.windows:7.1f} {r.r1:6.3f} {r.r3:6.3f} "
            f"{r.r5:6.3f} {r.r10:6.3f} {r.mrr:6.3f} {interval:>15}    {half} "
            f"{1000 * r.seconds / r.n:6.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--embedder", help="a folder with model.onnx and tokenizer.json")
    parser.add_argument("--vectors", type=Path, help="a file that keeps vectors between runs")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", choices=sorted(SETS), default=[])
    parser.add_argument("--sample", type=int, help="at most so many questions a set (seeded)")
    parser.add_argument("--profile", type=json.loads, default={}, help="JSON: see above")
    parser.add_argument("--no-answers", action="store_true", help="leave the reader's lines out")
    parser.add_argument("--speed", action="store_true", help="measure speed, too")
    parser.add_argument("--only-speed", action="store_true", help="measure nothing else")
    options = parser.parse_args()
    model = embedder(options.embedder) if options.embedder else None
    given = options.profile
    weights = {**HYBRID.weights, **given.pop("weights", {})}
    hybrid = replace(HYBRID, weights=weights, **given)
    figures: dict[str, list[Any]] = {"retrieval": [], "answers": [], "speed": []}

    def keep(part: str, results: Sequence[Any], method: str) -> None:
        print(method, flush=True)
        figures[part] += map(asdict, results)
        _write(options.json, figures)

    if options.speed or options.only_speed:
        speeds = recall_speed.measure(model)
        keep("speed", speeds, recall_speed.table(speeds))
    if options.only_speed:
        return
    if model is not None and options.vectors:
        model = recall_speed.Kept(model, options.vectors)
    for name in options.only or SETS:
        part_figures = measure(name, options.data, model, options.sample, hybrid)
        keep("retrieval", part_figures, table(part_figures))
    if not options.no_answers:
        for name in recall_answers.SETS:
            answers = recall_answers.measure(options.data, options.embedder, [name])
            keep("answers", answers, recall_answers.table(answers))


def _write(path: Path | None, figures: dict[str, Any]) -> None:
    if path:
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
