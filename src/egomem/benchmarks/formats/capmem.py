"""CapMem's release: one record a question, with facts of its video beside it.

The keys are our reconstruction (the paper states what a record holds, not how it is called): see
docs/reference/benchmark-formats.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from egomem.benchmarks.benchmark import BenchmarkFault
from egomem.benchmarks.fields import (
    matching_label,
    number_field,
    parse_options,
    parse_span,
    select_tags,
    text_field,
)
from egomem.benchmarks.rows import Fields, LoadedItem, ParsedRow, SourceRow, parse_rows, read_rows
from egomem.records import Evidence, Question, Video

LICENCE = "annotations CC BY-NC 4.0; source media under its providers' terms"

_VIDEO = ("duration", "source_dataset", "source_uid", "scenario", "domain")


def detect(row: Fields) -> bool:
    return {"qid", "video_id", "question"} <= row.keys() and "evidence_time_s" in row


def read(files: Sequence[Path]) -> Iterator[LoadedItem]:
    """Each video once, where its first question names it; one told otherwise later is a fault."""
    seen: dict[str, Video] = {}
    for path in files:
        for row in read_rows(path):
            if not row.fault:
                yield from _video(row.file, row.line, row.fields, seen)
            yield from _read(row)


def _read(row: SourceRow) -> Iterator[LoadedItem]:
    """Each question has one evidence time; one without it can be asked, and is told."""
    for made in parse_rows(iter([row]), _question, key="qid"):
        yield made
        if (
            isinstance(made, ParsedRow)
            and isinstance(made.made, Question)
            and not made.made.evidence
        ):
            said = "it has no evidence_time_s"
            yield BenchmarkFault(
                id=made.made.id, kind="evidence", message=said, file=row.file, line=row.line
            )


def _video(file: str, line: int, row: Fields, seen: dict[str, Video]) -> Iterator[LoadedItem]:
    id = str(row.get("video_id") or "").strip()
    if not id:
        return
    try:
        video = _of(row)
    except ValueError:
        return  # the question of this row fails for the same reason, and says so
    held = seen.setdefault(id, video)
    if held is video:
        yield video
        return
    for name in _VIDEO:
        if getattr(held, name) != getattr(video, name):
            told = f"{name} is {getattr(video, name)!r}, and was {getattr(held, name)!r}"
            yield BenchmarkFault(id=id, kind="video", message=told, file=file, line=line)


def _of(row: Fields) -> Video:
    return Video(
        id=text_field(row, "video_id"),
        duration=number_field(row, "duration_s"),
        source_dataset=text_field(row, "source_dataset", default=""),
        source_uid=text_field(row, "source_uid", default=""),
        scenario=text_field(row, "scenario", default=""),
        domain=text_field(row, "domain", default=""),
        licence=text_field(row, "licence", default=""),
    )


def _question(row: Fields) -> Question:
    video = text_field(row, "video_id")
    _of(row)
    choices = parse_options(row.get("options"))
    at = number_field(row, "evidence_time_s")
    held = parse_span(at, number_field(row, "evidence_end_s")) if at is not None else None
    return Question(
        id=text_field(row, "qid"),
        text=text_field(row, "question"),
        options=choices,
        recording=video,
        answer=matching_label(text_field(row, "answer"), choices),
        answerable=True,
        evidence=(Evidence(recording=video, span=held),) if held else (),
        tags=select_tags(row, "perspective", "intent", "template_id", "split", visual="tags"),
    )
