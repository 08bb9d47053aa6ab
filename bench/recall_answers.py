"""How well the extractive reader answers and abstains, on data made by others.

    python bench/recall_answers.py --data ../shared/data [--embedder FOLDER] [--json FILE]

One line a set: multiple choice by accuracy (of the option with the highest score), abstention by
the AUROC of the answers' confidence, answerable against unanswerable. Beside each: chance, blind
baselines that see no memory, and the half of the videos or conversations (by SHA-256 of the id)
that settings were not chosen by. Intervals: bootstrap over videos or conversations.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from egomem.answer.extractive import ExtractiveSettings
from egomem.answer.strategy import Task, get
from egomem.memory import Store, View
from egomem.models.embedders import Embedder, embedder
from egomem.recall.vectors import add_vectors
from egomem.records import Answer, Observation, Question, Recording, Source
from egomem.text import stems, tokens
from egomem.timeline import Clock, Span

RESAMPLES = 2_000
Row = dict[str, Any]


@dataclass
class Result:
    """A line of the table. `interval`: 95 %, over all rows; `half`: on the half not chosen on."""

    name: str
    metric: str
    n: int
    value: float
    interval: tuple[float, float]
    half: float
    chance: float
    blind: dict[str, float] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def rows(data: Path, name: str) -> list[Row]:
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def held_out(id: str) -> bool:
    """The half of the videos or conversations that settings were not chosen on."""
    return hashlib.sha256(id.encode()).digest()[-1] % 2 == 0


# -------------------------------------------------------------------------------------- memories


def remember(folder: str, table: Iterable[Row], shape: Callable[[Row], Observation]) -> Store:
    """A memory of one recording a video; recordings without a clock, as the data gives none."""
    by_recording: dict[str, dict[str, Observation]] = defaultdict(dict)
    for row in table:
        o = shape(row)
        by_recording[o.recording or ""][o.id] = o
    store = Store.open(folder, create=True)
    for id, observations in by_recording.items():
        duration = max(o.span.end for o in observations.values())
        store.put_recording(Recording(id=id, name=id, duration=duration))
    store.add(o for observations in by_recording.values() for o in observations.values())
    return store


def caption(row: Row) -> Observation:
    start, end = float(row["start"]), float(row["end"])
    return observation(row["video_id"], Span(start, max(start, end)), row["text"])


def observation(recording: str, span: Span, text: str, source: Source = "caption") -> Observation:
    return Observation(
        recording=recording, span=span, text=text, source=source, track=f"{source}/data"
    )


# ------------------------------------------------------------------------------------- questions


def ask(view: View, question: Question, model: Embedder | None) -> Answer:
    strategy = get("extractive")
    task = Task(question=question, view=view, settings=strategy.configure(), embedder=model)
    return asyncio.run(_run(strategy.run, task))


async def _run(run: Callable[[Any], Any], task: Task[Any]) -> Answer:
    answer: Answer = await run(task)
    return answer


def choice(
    name: str, view: View, table: Sequence[Row], model: Embedder | None, chance: float
) -> Result:
    """Accuracy of the highest score; equal highest scores share the credit (faults 2.E, E1)."""
    begun = time.perf_counter()
    right, statuses = [], defaultdict(int)
    for row in table:
        question = Question.of(row["question"], row["choices"], recording=row["video_id"])
        answer = ask(view, question, model)
        statuses[answer.status.value] += 1
        scores = [answer.scores.get(o.label, 0.0) for o in question.options]
        right.append(credit(scores, row["answer_idx"]))
    groups = [row["video_id"] for row in table]
    return Result(
        name,
        "accuracy",
        len(table),
        float(np.mean(right)),
        interval(np.array(right), groups, lambda v: float(v.mean())),
        mean([r for r, g in zip(right, groups, strict=True) if held_out(g)]),
        chance,
        blind_choices(table),
        dict(statuses),
        time.perf_counter() - begun,
    )


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def credit(scores: Sequence[float], gold: int) -> float:
    best = max(scores)
    return (scores[gold] == best) / sum(s == best for s in scores)


def blind_choices(table: Sequence[Row]) -> dict[str, float]:
    """Accuracy without any memory: the longest option, the best fixed position, and the option that
    shares most words with the question."""
    longest = [credit([len(c) for c in r["choices"]], r["answer_idx"]) for r in table]
    places = np.bincount([r["answer_idx"] for r in table])
    overlap = []
    for r in table:
        asked = set(stems(tokens(r["question"])))
        shared = [float(len(asked & set(stems(tokens(c))))) for c in r["choices"]]
        overlap.append(credit(shared, r["answer_idx"]))
    return {
        "longest option": float(np.mean(longest)),
        "best fixed position": float(places.max() / len(table)),
        "words of the question": float(np.mean(overlap)),
    }


@dataclass(frozen=True)
class Judged:
    """A question's confidence, whether it can be answered, and what it is grouped and called by."""

    group: str
    text: str
    answerable: bool
    confidence: float
    kind: str = ""


def abstention(name: str, judged: Sequence[Judged], seconds: float) -> Result:
    """AUROC of the confidence; blind: how much of the answerable the question's own words tell."""
    value = _auroc_of(judged)
    groups = [j.group for j in judged]
    frame = np.array([[j.confidence, j.answerable] for j in judged], dtype=float)
    threshold = ExtractiveSettings().support
    answered = sum(j.confidence >= threshold for j in judged)
    return Result(
        name,
        "AUROC",
        len(judged),
        value,
        interval(frame, groups, lambda f: auroc(f[f[:, 1] == 1, 0], f[f[:, 1] == 0, 0])),
        _auroc_of([j for j in judged if held_out(j.group)]),
        0.5,
        {
            "first words of the question": _first_words(judged),
            "length of the question": _auroc_of(
                [Judged(j.group, j.text, j.answerable, -len(j.text)) for j in judged]
            ),
        },
        {"answered": answered, "abstained": len(judged) - answered},
        seconds,
    )


def _auroc_of(judged: Sequence[Judged]) -> float:
    return auroc(
        np.array([j.confidence for j in judged if j.answerable]),
        np.array([j.confidence for j in judged if not j.answerable]),
    )


def _first_words(judged: Sequence[Judged]) -> float:
    """How often questions with the same first two words are answerable, in other groups."""
    scored = []
    for j in judged:
        start = tokens(j.text)[:2]
        same = [o.answerable for o in judged if o.group != j.group and tokens(o.text)[:2] == start]
        value = (sum(same) + 1) / (len(same) + 2)
        scored.append(Judged(j.group, j.text, j.answerable, value))
    return _auroc_of(scored)


def auroc(positive: np.ndarray[Any, Any], negative: np.ndarray[Any, Any]) -> float:
    """The chance that a positive outranks a negative, ties half (Mann-Whitney)."""
    if not len(positive) or not len(negative):
        return float("nan")
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left")
    not_above = np.searchsorted(ordered, positive, "right")
    return float((below + not_above).sum() / 2 / len(positive) / len(negative))


def interval(
    values: np.ndarray[Any, Any],
    groups: Sequence[str],
    statistic: Callable[[np.ndarray[Any, Any]], float],
) -> tuple[float, float]:
    """95 % by resampling whole groups."""
    names = sorted(set(groups))
    members = [np.flatnonzero(np.array(groups) == name) for name in names]
    random = np.random.default_rng(0)
    intervals = []
    for _ in range(RESAMPLES):
        drawn = random.integers(len(names), size=len(names))
        intervals.append(statistic(values[np.concatenate([members[i] for i in drawn])]))
    low, high = np.nanpercentile(intervals, [2.5, 97.5])
    return float(low), float(high)


# ------------------------------------------------------------------------------------------ sets


def amb(data: Path, model: Embedder | None) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        store = remember(folder, rows(data, "epic_amb/epic_memory"), caption)
        view = store.view()
        items = [
            choice(f"AMB {q}", view, rows(data, f"epic_amb/amb_{q.lower()}_questions"), None, 0.2)
            for q in ("Q2", "Q3")
        ]
        store.close()
    return items


def nextgqa(data: Path, model: Embedder | None) -> list[Result]:
    """As one memory of all videos; a question is about one of them."""
    with tempfile.TemporaryDirectory() as folder:
        store = remember(folder, rows(data, "nextgqa/memory"), caption)
        table = rows(data, "nextgqa/questions")
        ids = {r.id for r in store.recordings()}
        table = [row for row in table if row["video_id"] in ids]
        results = [choice("NExT-GQA choice", store.view(), table, None, 0.2)]
        if model is not None:
            add_vectors(store, model)
            results.append(choice("NExT-GQA choice, embedder", store.view(), table, model, 0.2))
        store.close()
    return results


def locomo(data: Path, model: Embedder | None) -> list[Result]:
    """Each conversation is a memory; each session a recording that begins at its date."""
    turns, table = rows(data, "locomo/turns"), rows(data, "locomo/questions")
    judged: list[Judged] = []
    begun = time.perf_counter()
    for conversation in sorted({t["conv_id"] for t in turns}):
        with tempfile.TemporaryDirectory() as folder:
            store = converse(folder, [t for t in turns if t["conv_id"] == conversation])
            view = store.view()
            for row in table:
                if row["conv_id"] == conversation:
                    answer = ask(view, Question.of(row["question"]), model)
                    judged.append(
                        Judged(
                            conversation,
                            row["question"],
                            row["answerable"],
                            answer.confidence or 0.0,
                            str(row["category"]),
                        )
                    )
            store.close()
    seconds = time.perf_counter() - begun
    single = [j for j in judged if j.kind in ("4", "5")]
    return [
        abstention("LoCoMo answerable", judged, seconds),
        abstention("LoCoMo answerable, category 4", single, seconds),
    ]


def converse(folder: str, turns: Sequence[Row]) -> Store:
    store = Store.open(folder, create=True)
    sessions: dict[str, list[Row]] = defaultdict(list)
    for turn in turns:
        sessions[f"session {turn['session']}"].append(turn)
    for id, spoken in sessions.items():
        begins = datetime.strptime(spoken[0]["date_time"], "%I:%M %p on %d %B, %Y").replace(
            tzinfo=UTC
        )
        store.put_recording(
            Recording(
                id=id, name=id, duration=5.0 * len(spoken), clock=Clock(begins.replace(tzinfo=UTC))
            )
        )
        store.add(
            Observation(
                recording=id,
                span=Span(5.0 * i, 5.0 * i + 5.0),
                text=" ".join(filter(None, (turn["text"], turn["blip_caption"]))),
                source="speech",
                track="speech/chat",
                data={"speaker": turn["speaker"], "turn": turn["dia_id"]},
            )
            for i, turn in enumerate(spoken)
        )
    return store


def captaincook(data: Path, model: Embedder | None) -> list[Result]:
    """A step of the recipe is asked for; a skipped one is not in the memory."""
    with tempfile.TemporaryDirectory() as folder:
        store = remember(folder, rows(data, "captaincook4d/memory"), caption)
        view, begun = store.view(), time.perf_counter()
        judged = []
        for row in rows(data, "captaincook4d/step_queries"):
            question = Question.of(row["question"], recording=row["video_id"])
            answer = ask(view, question, model)
            judged.append(
                Judged(
                    row["video_id"], row["question"], row["answerable"], answer.confidence or 0.0
                )
            )
        store.close()
    return [abstention("CaptainCook4D skipped steps", judged, time.perf_counter() - begun)]


SETS = {"amb": amb, "nextgqa": nextgqa, "locomo": locomo, "captaincook": captaincook}


def measure(
    data: Path, embedder_folder: str | None = None, only: Sequence[str] = ()
) -> list[Result]:
    """All sets, or those named in `only`."""
    model = embedder(embedder_folder) if embedder_folder else None
    return [r for name, run in SETS.items() if not only or name in only for r in run(data, model)]


def table(results: Sequence[Result]) -> str:
    lines = [
        f"{'set':32} {'metric':9} {'n':>5} {'value':>6} {'95 %':>14} {'half':>6} {'chance':>6}"
        "  blind; n by status"
    ]
    for r in results:
        blind = ", ".join(f"{name} {value:.3f}" for name, value in r.blind.items())
        by_status = ", ".join(f"{name} {n}" for name, n in sorted(r.statuses.items()))
        lines.append(
            f"{r.name:32} {r.metric:9} {r.n:5d} {r.value:6.3f} "
            f"[{r.interval[0]:.3f}, {r.interval[1]:.3f}] {r.half:6.3f} {r.chance:6.2f}  "
            f"{blind}; {by_status} ({r.seconds:.0f} s)"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--embedder", help="a folder with model.onnx and tokenizer.json")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", choices=sorted(SETS), default=[])
    options = parser.parse_args()
    results = measure(options.data, options.embedder, options.only)
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")


if __name__ == "__main__":
    main()
