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
    found = measured_values(benchmark)
    keys: Counter[str] = Counter()
    for counts in key_position_counts(questions).values():
        keys.update({str(k + 1): n for k, n in counts.items()})
    return BenchmarkStats(
        questions=len(questions),
        videos=len(benchmark.videos),
        **{name: distribution(found[name]) for name in _DISTRIBUTIONS},
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
    found: dict[str, list[float]] = {name: [] for name in _DISTRIBUTIONS}
    found["durations"] = [v.duration for v in benchmark.videos if v.duration is not None]
    for question in benchmark.questions:
        if not question.evidence:
            continue
        spans = [piece.span for piece in question.evidence]
        found["evidence_count"].append(len(spans))
        found["evidence_length"].append(sum(span.length for span in spans))
        video = benchmark.video_of(question)
        if video is not None and video.duration:
            starts = [p.span.start for p in question.evidence if p.recording == video.id]
            if starts:
                found["evidence_position"].append(min(1.0, min(starts) / video.duration))
        gap = _gap_to_question(question)
        if gap is not None:
            found["gaps"].append(gap)
    return found


def _gap_to_question(question: Question) -> float | None:
    at = question.at
    if at is None:
        return None
    if isinstance(at, RecordingTime):
        ends = [e.span.end for e in question.evidence if e.recording == at.recording]
        return at.seconds - max(ends) if ends else None
    ends = [e.span.end for e in question.evidence if e.recording is None]
    return at.timestamp() - max(ends) if ends else None


def distribution(found: Sequence[float]) -> Distribution:
    if not found:
        return Distribution(n=0)
    held = np.asarray(found, np.float64)
    return Distribution(
        n=len(found),
        total=float(held.sum()),
        least=float(held.min()),
        median=float(np.median(held)),
        mean=float(held.mean()),
        most=float(held.max()),
    )


def _sorted_counts(found: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(found).items()))


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
            listed = value if isinstance(value, list | tuple) else [value]
            for one in listed:
                if isinstance(one, str | int | bool) and one != "":
                    counts.setdefault(name, Counter())[str(one)] += 1
    return {
        name: dict(found.most_common())
        for name, found in counts.items()
        if len(found) <= MAX_TAG_VALUES
    }
