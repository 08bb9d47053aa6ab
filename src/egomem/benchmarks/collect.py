"""What a format reads -> questions and videos without doubles, and the faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from egomem.benchmarks.benchmark import BenchmarkFault
from egomem.benchmarks.checks import question_faults
from egomem.benchmarks.rows import LoadedItem, ParsedRow
from egomem.records import Question, Video

Collected = tuple[tuple[Question, ...], tuple[Video, ...], tuple[BenchmarkFault, ...]]


def collect(items: Iterable[LoadedItem], strict: bool) -> Collected:
    """Questions, videos and faults in order.

    A second item of the same id is a fault, and the first is kept. With `strict`, so is a question
    that cannot be used. A video that questions name and no row describes has an id alone.
    """
    videos: dict[str, Video] = {}
    questions: dict[str, Question] = {}
    places: dict[str, dict[str, Any]] = {}
    faults: list[BenchmarkFault] = []
    for item in items:
        if isinstance(item, BenchmarkFault):
            faults.append(item)
            continue
        record = item.item if isinstance(item, ParsedRow) else item
        place = {"file": item.file, "line": item.line} if isinstance(item, ParsedRow) else {}
        first: Question | Video
        if isinstance(record, Question):
            first = questions.setdefault(record.id, record)
            places.setdefault(record.id, place)
        else:
            first = videos.setdefault(record.id, record)
        if first is not record:
            faults.append(_duplicate(record, place))
    for question in questions.values():
        for id in (question.recording, *(piece.recording for piece in question.evidence)):
            if id is not None:
                videos.setdefault(id, Video(id=id))
    usable, unusable = _usable(questions, videos, places) if strict else (questions, [])
    return tuple(usable.values()), tuple(videos.values()), (*faults, *unusable)


def _duplicate(record: Question | Video, place: Mapping[str, Any]) -> BenchmarkFault:
    noun = "video" if isinstance(record, Video) else "question"
    message = f"a second {noun} has this id; the first is kept"
    return BenchmarkFault(id=record.id, kind="duplicate", message=message, dropped=True, **place)


def _usable(
    questions: Mapping[str, Question],
    videos: Mapping[str, Video],
    places: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, Question], list[BenchmarkFault]]:
    """Questions without a fault, and the faults of the others, which say that they are dropped."""
    usable: dict[str, Question] = {}
    faults: list[BenchmarkFault] = []
    for id, question in questions.items():
        question_problems = question_faults(question, videos)
        faults += [f.model_copy(update={"dropped": True, **places[id]}) for f in question_problems]
        if not question_problems:
            usable[id] = question
    return usable, faults
