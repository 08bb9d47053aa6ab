"""What is wrong with a benchmark: row by row, and as a whole."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from egomem.benchmarks.benchmark import Benchmark, BenchmarkFault
from egomem.benchmarks.registry import FORMATS
from egomem.errors import EgomemError
from egomem.hashing import hash_file
from egomem.records import Question, Video
from egomem.timeline import RecordingTime

END_TOLERANCE_S = 0.5
"""Seconds by which a time may lie past the stated end, since lengths are often rounded."""

DURATION_TOLERANCE_S = 1.0
"""Seconds by which a stated length may differ from that of the file."""

MIN_BALANCE_P = 0.001
"""Below this p the keys are called unbalanced over the positions."""


MeasureDuration = Callable[[Path], float]
"""The seconds of a file; raises EgomemError where it cannot be read."""


def validate(
    benchmark: Benchmark, *, hash_media: bool = False, length_of: MeasureDuration | None = None
) -> list[BenchmarkFault]:
    """Every fault: those of loading, of each question, of each video, and of the whole.

    A fault says whether its row was left out (`dropped`); the others are for the user to judge.
    Media is looked for where any video has a path; `hash_media` reads the files and compares.
    `length_of` measures those that are there: times are held against the file, not against what is
    stated of it.
    """
    media = any(video.path for video in benchmark.videos)
    # Loading may have said it already: one line a video is enough.
    reported = {f.id for f in benchmark.faults if f.kind == "media"}
    measured, unreadable = _measure_durations(benchmark.videos, length_of)
    videos = {
        # The file is the truth: stated lengths are rounded, or of another cut.
        id: video.model_copy(update={"duration": measured.get(id, video.duration)})
        for id, video in benchmark.by_id.items()
    }
    return [
        *benchmark.faults,
        *(f for q in benchmark.questions for f in question_faults(q, videos)),
        *_duplicate_faults(benchmark),
        *(
            f
            for v in benchmark.videos
            if media and v.id not in reported
            for f in _media_faults(v, hash_media)
        ),
        *unreadable,
        *(f for v in benchmark.videos for f in _duration_faults(v, measured.get(v.id))),
        *_benchmark_faults(benchmark.with_lengths(measured)),
    ]


def _measure_durations(
    videos: Iterable[Video], length_of: MeasureDuration | None
) -> tuple[dict[str, float], list[BenchmarkFault]]:
    """The lengths of the files that are there, and the faults of those that cannot be read."""
    durations: dict[str, float] = {}
    faults = []
    for video in videos if length_of else ():
        path = Path(video.path or "")
        if not path.is_file():
            continue
        try:
            durations[video.id] = length_of(path) if length_of else 0.0
        except EgomemError as error:
            faults.append(BenchmarkFault(id=video.id, kind="media", message=error.message))
    return durations, faults


def _duration_faults(video: Video, measured: float | None) -> Iterator[BenchmarkFault]:
    stated = video.duration
    if (
        stated is not None
        and measured is not None
        and abs(stated - measured) > DURATION_TOLERANCE_S
    ):
        message = f"it is stated to have {stated:g} s, and its file has {measured:g} s"
        yield BenchmarkFault(id=video.id, kind="duration", message=message)


def question_faults(question: Question, videos: Mapping[str, Video]) -> list[BenchmarkFault]:
    """Why a question cannot be used as it stands; empty where it can."""
    return [
        BenchmarkFault(id=question.id, kind=kind, message=message)
        for kind, message in (*_option_faults(question), *_time_faults(question, videos))
    ]


def _option_faults(question: Question) -> Iterator[tuple[str, str]]:
    label_of_text: dict[str, str] = {}
    if len(question.options) == 1:
        yield "options", "it has a single option"
    for option in question.options:
        # Two equal options make a question that half of all right answers get wrong.
        other = label_of_text.setdefault(normalise_option(option.text), option.label)
        if other != option.label:
            yield "options", f"options {other} and {option.label} are the same: {option.text!r}"
    if question.options and question.answer is not None:
        labels = [o.label for o in question.options]
        if question.answer not in labels:
            yield "key", f"the answer {question.answer!r} is none of the options"


def normalise_option(text: str) -> str:
    """NFKC, case folded, white space as one space, end punctuation off."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!?;,: ") or folded


def _time_faults(question: Question, videos: Mapping[str, Video]) -> Iterator[tuple[str, str]]:
    def length_of(id: str | None) -> float | None:
        video = videos.get(id or "")
        return video.duration if video else None

    for piece in question.evidence:
        length = length_of(piece.recording)
        # An unknown length accuses nobody; that it is unknown is a fault of its own, said once
        # below.
        if length is not None and piece.span.end > length + END_TOLERANCE_S:
            yield (
                "evidence",
                f"the evidence ends at {piece.span.end:g} s, and the video at {length:g} s",
            )
    at = question.at
    if isinstance(at, RecordingTime):
        length = length_of(at.recording)
        if at.seconds < 0:
            yield "time", f"it is asked at {at.seconds:g} s"
        if length is not None and at.seconds > length + END_TOLERANCE_S:
            yield "time", f"it is asked at {at.seconds:g} s, and the video ends at {length:g} s"
        evidence_there = [e for e in question.evidence if e.recording == at.recording]
        # Evidence on both sides is no fault: a question may be about what is going on.
        if evidence_there and all(e.span.start > at.seconds for e in evidence_there):
            first = min(e.span.start for e in evidence_there)
            yield "time", f"it is asked at {at.seconds:g} s, before its evidence at {first:g} s"
    elif at is not None:
        instants = [e.when for e in question.evidence if e.when is not None]
        first_evidence = min(instants, key=datetime.timestamp, default=None)
        if first_evidence and first_evidence.timestamp() > at.timestamp():
            message = f"it is asked on {at:%Y-%m-%d %H:%M:%S}, before its evidence on "
            yield "time", message + f"{first_evidence:%Y-%m-%d %H:%M:%S}"


def _duplicate_faults(benchmark: Benchmark) -> Iterator[BenchmarkFault]:
    for what, ids in (
        ("question", Counter(q.id for q in benchmark.questions)),
        ("video", Counter(v.id for v in benchmark.videos)),
    ):
        for id, count in ids.items():
            if count > 1:
                yield BenchmarkFault(
                    id=id, kind="duplicate", message=f"{count} {what}s have this id"
                )


def _media_faults(video: Video, compare_hash: bool) -> Iterator[BenchmarkFault]:
    if video.path is None:
        yield BenchmarkFault(id=video.id, kind="media", message="the video's file is not at hand")
    elif not Path(video.path).is_file():
        yield BenchmarkFault(id=video.id, kind="media", message=f"there is no file at {video.path}")
    elif compare_hash and video.sha256 and hash_file(Path(video.path)) != video.sha256:
        yield BenchmarkFault(
            id=video.id, kind="media", message=f"{video.path} is not the file it was"
        )


def _benchmark_faults(benchmark: Benchmark) -> Iterator[BenchmarkFault]:
    if not benchmark.licence:
        yield BenchmarkFault(
            id="", kind="licence", message="no licence of the annotations is stated"
        )
    sources = {v.source_dataset for v in benchmark.videos if v.source_dataset and not v.licence}
    # A format without a field for it cannot be blamed for leaving it out.
    if sources and _states_media_licences(benchmark):
        names = ", ".join(sorted(sources))
        yield BenchmarkFault(
            id="", kind="licence", message=f"no licence of the media is stated: {names}"
        )
    unknown = [v.id for v in benchmark.videos if v.duration is None]
    if unknown:
        yield BenchmarkFault(
            id="",
            kind="duration",
            message=f"{len(unknown)} of {len(benchmark.videos)} videos state no length, "
            f"{unknown[0]} among them: whether evidence lies inside is not known",
        )
    unbalanced = _balance_fault(benchmark.questions)
    if unbalanced is not None:
        yield unbalanced


def _states_media_licences(benchmark: Benchmark) -> bool:
    """Whether rows of this format have a place for each video's licence."""
    is_registered = benchmark.format in FORMATS.names()
    return is_registered and FORMATS.get(benchmark.format).states_media_licences


def key_position_counts(questions: Iterable[Question]) -> dict[int, Counter[int]]:
    """How often each position holds the key, for each number of options."""
    counts_by_size: dict[int, Counter[int]] = {}
    for question in questions:
        labels = [o.label for o in question.options]
        if question.answer in labels:
            counts_by_size.setdefault(len(labels), Counter())[labels.index(question.answer)] += 1
    return counts_by_size


def _balance_fault(questions: Iterable[Question]) -> BenchmarkFault | None:
    """The keys' positions against an even spread: a chi-squared test over all sizes together."""
    statistic, freedom = 0.0, 0
    counts_by_size = key_position_counts(questions)
    for size, counts in counts_by_size.items():
        expected = sum(counts.values()) / size
        # Questions with four options and with five are tested together, each against its own even
        # spread.
        statistic += sum((counts[k] - expected) ** 2 / expected for k in range(size))
        freedom += size - 1
    p = chi_squared_tail(statistic, freedom)
    if p >= MIN_BALANCE_P:
        return None
    position_counts: Counter[int] = Counter()
    for counts in counts_by_size.values():
        position_counts += counts
    position, count = position_counts.most_common(1)[0]
    return BenchmarkFault(
        id="",
        kind="balance",
        message=(
            f"{count} of {position_counts.total()} keys are at position {position + 1}: an "
            f"even spread is unlikely (chi-squared {statistic:.1f}, {freedom} degrees of freedom, "
            f"p {p:.1g})"
        ),
    )


def chi_squared_tail(statistic: float, freedom: int) -> float:
    """P(X >= statistic) for a chi-squared X: the closed recurrences in `freedom`."""
    if freedom <= 0 or statistic <= 0:
        return 1.0
    half = statistic / 2
    if freedom % 2:
        tail = math.erfc(math.sqrt(half))
        # Closed forms, so that a chi-squared tail needs no SciPy.
        term = math.sqrt(half / math.pi) * 2 * math.exp(-half)
        start = 3
    else:
        tail = term = math.exp(-half)
        start = 4
        term *= half
    for k in range(start, freedom + 1, 2):
        tail += term
        term *= statistic / k
    return tail
