"""A benchmark in numbers: durations, evidence, gaps, tags, sources, keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.checks import key_position_counts
from egomem.records import Question, Record
from egomem.timeline import RecordingTime


class Distribution(Record):
    """How values lie; all None where there are none. Units are those of the values."""

    n: int
    total: float | None = None
    least: float | None = None
    median: float | None = None
    mean: float | None = None
    most: float | None = None


class BenchmarkStats(Record):
    """What `stats` counts. Times are in seconds.

    `durations` of videos with a stated length; `evidence_count` and `evidence_length` per question
    with evidence; `evidence_position`: its start as a share of the video's length; `gaps` from the
    end of the last evidence to the question's time, where it has one. `counts`: questions by each
    tag and by facts of their video; a question counts in each value of a list.
    """

    questions: int
    videos: int
    durations: Distribution
    evidence_count: Distribution
    evidence_length: Distribution
    evidence_position: Distribution
    gaps: Distribution
    options: dict[str, int]
    keys: dict[str, int]
    answerable: dict[str, int]
    counts: dict[str, dict[str, int]]
    videos_by_source: dict[str, int]


MAX_TAG_VALUES = 40
"""A tag with more values than this identifies items rather than groups them, and is left out."""


def stats(benchmark: Benchmark) -> BenchmarkStats:
    """Tables of a benchmark's questions and videos."""
    questions = benchmark.questions
    values = measured_values(benchmark)
    keys: Counter[str] = Counter()
    for counts in key_position_counts(questions).values():
        keys.update({str(k + 1): n for k, n in counts.items()})
    return BenchmarkStats(
        questions=len(questions),
        videos=len(benchmark.videos),
        **{name: distribution(values[name]) for name in _DISTRIBUTIONS},
        options=_sorted_counts(str(len(q.options)) if q.options else "open" for q in questions),
        keys=dict(sorted(keys.items(), key=lambda kv: int(kv[0]))),
        answerable=_sorted_counts(
            "unanswerable" if q.answerable is False else "answerable" for q in questions
        ),
        counts=_tag_counts(benchmark),
        videos_by_source=_sorted_counts(v.source_dataset or "not stated" for v in benchmark.videos),
    )


_DISTRIBUTIONS = ("durations", "evidence_count", "evidence_length", "evidence_position", "gaps")


def measured_values(benchmark: Benchmark) -> dict[str, list[float]]:
    """The numbers that the spreads, and the plots, are made of."""
    values: dict[str, list[float]] = {name: [] for name in _DISTRIBUTIONS}
    values["durations"] = [v.duration for v in benchmark.videos if v.duration is not None]
    for question in benchmark.questions:
        if not question.evidence:
            continue
        spans = [piece.span for piece in question.evidence]
        values["evidence_count"].append(len(spans))
        values["evidence_length"].append(sum(span.length for span in spans))
        video = benchmark.video_of(question)
        if video is not None and video.duration:
            starts = [p.span.start for p in question.evidence if p.recording == video.id]
            if starts:
                values["evidence_position"].append(min(1.0, min(starts) / video.duration))
        gap = _gap_to_question(question)
        if gap is not None:
            values["gaps"].append(gap)
    return values


def _gap_to_question(question: Question) -> float | None:
    at = question.at
    if at is None:
        return None
    if isinstance(at, RecordingTime):
        ends = [e.span.end for e in question.evidence if e.recording == at.recording]
        return at.seconds - max(ends) if ends else None
    ends = [e.span.end for e in question.evidence if e.recording is None]
    return at.timestamp() - max(ends) if ends else None


def distribution(values: Sequence[float]) -> Distribution:
    if not values:
        return Distribution(n=0)
    array = np.asarray(values, np.float64)
    return Distribution(
        n=len(values),
        total=float(array.sum()),
        least=float(array.min()),
        median=float(np.median(array)),
        mean=float(array.mean()),
        most=float(array.max()),
    )


def _sorted_counts(labels: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(labels).items()))


def _tag_counts(benchmark: Benchmark) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for question in benchmark.questions:
        video = benchmark.video_of(question)
        facts: Mapping[str, Any] = {
            "source": video.source_dataset if video else "",
            "scenario": video.scenario if video else "",
            "domain": video.domain if video else "",
            **question.tags,
        }
        for name, value in facts.items():
            labels = value if isinstance(value, list | tuple) else [value]
            for label in labels:
                if isinstance(label, str | int | bool) and label != "":
                    counts.setdefault(name, Counter())[str(label)] += 1
    return {
        name: dict(counter.most_common())
        for name, counter in counts.items()
        if len(counter) <= MAX_TAG_VALUES
    }
