"""How well recall finds the moment, on data made by others; and how fast.

    python bench/recall.py --data ../shared/data [--embedder FOLDER] [--json FILE] [--speed]

One line a set: R@1, R@3, R@5 and MRR of `egomem.recall.search` over a store, without a model and
(with --embedder) with one, beside plain BM25 (Okapi) and chance on the same rows. A hit is a window
that overlaps the evidence by more than nothing; MRR counts ranks up to 100. Intervals: bootstrap
over videos or conversations. `half` is the half of them (by SHA-256 of the id) that no setting was
chosen on; --json has the other half, `chosen`, too. --profile '{"softness": 0}' tries other
settings with the embedder (fields of egomem.recall.Profile). The lines of the extractive reader
come from bench/recall_answers.py, the speed table (--speed) from bench/recall_speed.py, which
compares with rank_bm25 and lancedb where installed.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import recall_answers
import recall_speed
from egomem.memory import Store
from egomem.models.embedders import Embedder, embedder
from egomem.recall import DEFAULT, HYBRID, MomentWindow, Profile, add_vectors, search, windows_of
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span
from recall_answers import Row, held_out, remember, rows

RESAMPLES = 10_000
DEPTH = 100
ATTEMPTS = ("random", "Okapi", "egomem", "egomem + embedder")


@dataclass(frozen=True)
class Query:
    """`group` is the video or conversation; `memory` the recordings that are searched."""

    group: str
    memory: tuple[str, ...]
    text: str
    options: tuple[str, ...]
    evidence: tuple[tuple[str, Span], ...]


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


SETS = {
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


def _light(text: str) -> list[str]:
    """Words less English stop words, with common endings cut off."""
    scores = []
    for word in re.findall(r"[a-z0-9]+", text.lower()):
        if word not in _STOP:
            end = next((e for e in ("ing", "ed", "es", "s") if word.endswith(e)), "")
            scores.append(word[: -len(end)] if end and len(word) - len(end) >= 3 else word)
    return scores


_WORDS = """
a an the and or of to in on at is are was were be been being it its i my me you your he she they we
him his her their our with for from by as this that do does did what when where which who how why
"""
_STOP = frozenset(_WORDS.split())


class Okapi:
    """BM25 as rank_bm25's Okapi writes it: k1 1.5, b .75, negative idf raised to a quarter mean."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.words = [Counter(_light(text)) for text in texts]
        self.lengths = np.array([sum(words.values()) for words in self.words], dtype=float)
        n = len(texts)
        df = Counter(word for words in self.words for word in words)
        idf = {word: math.log(n - d + 0.5) - math.log(d + 0.5) for word, d in df.items()}
        floor = 0.25 * sum(idf.values()) / max(1, len(idf))
        self.idf = {word: value if value >= 0 else floor for word, value in idf.items()}

    def scores(self, text: str) -> np.ndarray[Any, Any]:
        damp = 1.5 * (0.25 + 0.75 * self.lengths / self.lengths.mean())
        total = np.zeros(len(self.words))
        for word in _light(text):
            if word in self.idf:
                times = np.array([words[word] for words in self.words])
                total += self.idf[word] * times * 2.5 / (times + damp)
        return total


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
        everything = store.view()
        views, plain, places = {}, {}, {}
        for query in queries:
            if query.memory not in views:
                view = everything.narrow(recordings=query.memory)
                windows = windows_of(view.observations(), length)
                views[query.memory] = view
                places[query.memory] = [(w.recording or "", w.span) for w in windows]
                plain[query.memory] = Okapi([_named(w) for w in windows])
            view, all_places = views[query.memory], places[query.memory]
            right = sum(_rank([place], query) == 1 for place in all_places)
            chance.append((len(all_places), right))
            begun = time.perf_counter()
            order = np.argsort(-plain[query.memory].scores(query.text), kind="stable")
            ranks["Okapi"].append(_rank([all_places[i] for i in order[:DEPTH]], query))
            seconds["Okapi"] += time.perf_counter() - begun
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
        f"{'set':26} {'method':18} {'n':>5} {'windows':>7} {'R@1':>6} {'R@3':>6} {'R@5':>6} "
        f"{'MRR':>6} {'95 % of MRR':>15} {'half: R@1':>9} {'R@3':>6} {'R@5':>6} {'MRR':>6} "
        f"{'ms':>6}"
    ]
    for r in results:
        half = " ".join(f"{r.half[key]:6.3f}" for key in r.half)
        interval = f"[{r.interval[0]:.3f}, {r.interval[1]:.3f}]" if r.half else ""
        lines.append(
            f"{r.name:26} {r.method:18} {r.n:5d} {r.windows:7.1f} {r.r1:6.3f} {r.r3:6.3f} "
            f"{r.r5:6.3f} {r.mrr:6.3f} {interval:>15}    {half} {1000 * r.seconds / r.n:6.1f}"
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
