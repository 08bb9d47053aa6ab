"""CapMem's release: one record per question, with facts of its video beside it.

The keys are our reconstruction: the paper states what a record holds, not how its keys are called
(see docs/reference/benchmark-formats.md).
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
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions
from egomem.benchmarks.rows import Fields, LoadedItem, ParsedRow, SourceRow, parse_rows, read_rows
from egomem.records import Evidence, Question, Video

_VIDEO_FACTS = ("duration", "source_dataset", "source_uid", "scenario", "domain")


def detect(row: Fields) -> bool:
    return {"qid", "video_id", "question"} <= row.keys() and "evidence_time_s" in row


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    """Each video once, where its first question names it; a later row that differs is a fault."""
    videos: dict[str, Video] = {}
    for path in files:
        for row in read_rows(path):
            if not row.fault:
                yield from _read_video(row, videos)
            yield from _read_question(row)


def _read_question(row: SourceRow) -> Iterator[LoadedItem]:
    """Each question has one evidence time; one without it can be asked, and the fault says so."""
    for item in parse_rows(iter([row]), _question, key="qid"):
        yield item
        if (
            isinstance(item, ParsedRow)
            and isinstance(item.item, Question)
            and not item.item.evidence
        ):
            yield BenchmarkFault(
                id=item.item.id,
                kind="evidence",
                message="it has no evidence_time_s",
                file=row.file,
                line=row.line,
            )


def _read_video(row: SourceRow, videos: dict[str, Video]) -> Iterator[LoadedItem]:
    id = str(row.fields.get("video_id") or "").strip()
    if not id:
        return
    try:
        video = _video(row.fields)
    except ValueError:
        return  # the question of this row fails for the same reason, and reports it
    first = videos.setdefault(id, video)
    if first is video:
        yield video
        return
    for name in _VIDEO_FACTS:
        if getattr(first, name) != getattr(video, name):
            message = f"{name} is {getattr(video, name)!r}, and was {getattr(first, name)!r}"
            yield BenchmarkFault(id=id, kind="video", message=message, file=row.file, line=row.line)


def _video(row: Fields) -> Video:
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
    _video(row)  # a row with an unreadable fact of its video is a fault of the question, too
    video = text_field(row, "video_id")
    choices = parse_options(row.get("options"))
    start = number_field(row, "evidence_time_s")
    span = None if start is None else parse_span(start, number_field(row, "evidence_end_s"))
    return Question(
        id=text_field(row, "qid"),
        text=text_field(row, "question"),
        options=choices,
        recording=video,
        answer=matching_label(text_field(row, "answer"), choices),
        answerable=True,
        evidence=() if span is None else (Evidence(recording=video, span=span),),
        tags=select_tags(row, "perspective", "intent", "template_id", "split", visual="tags"),
    )


FORMAT = BenchmarkFormat(
    name="capmem",
    summary="CapMem's release (reconstructed).",
    detect=detect,
    read=read,
    licence="annotations CC BY-NC 4.0; source media under its providers' terms",
    published={"all": 1000},
    fields=(
        FormatField("qid", "id", "the question's id", "c", required=True),
        FormatField("video_id", "video", "the video's id", "v1", required=True),
        FormatField("question", "question", "the text", "What was cut?", required=True),
        FormatField("options", "options", "a map of label to text",
                    {"A": "bread", "B": "wood", "C": "paper", "D": "hair"}),
        FormatField("answer", "answer", "the label of the right option", "B", required=True),
        FormatField("evidence_time_s", "evidence", "when the evidence begins, in seconds", 7.25),
        FormatField("evidence_end_s", "evidence", "when it ends, in seconds"),
        FormatField("duration_s", "fact", "the video's length in seconds", 1500.5),
        FormatField("source_dataset", "fact", "the data set that the video is from", "Ego4D"),
        FormatField("source_uid", "fact", "its id there", "u-1"),
        FormatField("scenario", "fact", "what the wearer does", "cooking"),
        FormatField("domain", "fact", "the area of use", "home"),
        FormatField("perspective", "tag", "ego or exo", "ego"),
        FormatField("intent", "tag", "what is asked for", "what"),
        FormatField("tags", "tag", "visual tags: object, attribute, spatial, action", ["object"]),
        FormatField("template_id", "tag", "the template that the question was made from"),
        FormatField("split", "tag", "the split"),
    ),
)  # fmt: skip
