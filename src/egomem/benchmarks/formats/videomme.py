"""Video-MME: three questions per video, with options written "A. ..."; grouped or flat.

The hub's rows are flat. The authors' own grouped files name the same facts otherwise
(`duration_category`, `video_category`, `choices`); with a `response` they are results, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import (
    matching_label,
    options_from_lettered_texts,
    select_tags,
    text_field,
)
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions, Submission
from egomem.benchmarks.rows import Fields, LoadedItem, SourceRow, parse_rows, read_rows
from egomem.records import Question, Video

_FIELD_NAMES = {
    "duration_category": "duration",
    "video_category": "domain",
    "video_sub_category": "sub_category",
    "video_subcategory": "sub_category",
    "choices": "options",
}
"""The authors' other names of fields -> the hub's."""


def detect(row: Fields) -> bool:
    nested = row.get("questions")
    if isinstance(nested, list) and nested and isinstance(nested[0], dict):
        return "question_id" in nested[0]
    return {"question_id", "video_id", "question"} <= row.keys() and bool(
        {"options", "choices"} & row.keys()
    )


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    """Facts of a video that its rows share (`duration`: short, medium or long) become tags."""
    videos: set[str] = set()
    for path in files:
        for row in _flat_rows(read_rows(path)):
            if not row.fault:
                id = str(row.fields.get("video_id") or "")
                # Flat rows repeat the facts of their video in each question.
                if id and id not in videos:
                    videos.add(id)
                    yield from parse_rows(iter([row]), _video, key="video_id")
            yield from parse_rows(iter([row]), _question, key="question_id")


def _flat_rows(rows: Iterator[SourceRow]) -> Iterator[SourceRow]:
    for row in rows:
        nested = row.fields.get("questions")
        if not isinstance(nested, list):
            yield row._replace(fields=_hub_names(row.fields))
            continue
        shared = {k: v for k, v in row.fields.items() if k != "questions"}
        for fields in nested:
            if isinstance(fields, dict):
                yield row._replace(fields=_hub_names({**shared, **fields}))
            else:
                yield row._replace(fields=shared, fault="a question is not a JSON object")


def _hub_names(row: Fields) -> dict[str, Any]:
    return {_FIELD_NAMES.get(name, name): value for name, value in row.items()}


def _video(row: Fields) -> Video:
    """Media files are named by the last part of the address, which hub rows give as `videoID`."""
    url = text_field(row, "url", default="")
    id_in_url = url.rpartition("?v=")[2] if "?v=" in url else ""
    return Video(
        id=text_field(row, "video_id"),
        source_dataset="Video-MME",
        source_uid=text_field(row, "videoID", default=id_in_url),
        domain=text_field(row, "domain", default=""),
        tags=select_tags(row, "sub_category", "url", length="duration"),
    )


def _question(row: Fields) -> Question:
    texts = row.get("options")
    if isinstance(texts, str):
        texts = texts.splitlines()  # Video-MME-v2 has them in one text
    choices = options_from_lettered_texts(texts if isinstance(texts, list) else [])
    return Question(
        id=text_field(row, "question_id"),
        text=text_field(row, "question"),
        options=choices,
        recording=text_field(row, "video_id"),
        answer=matching_label(text_field(row, "answer"), choices),
        answerable=True,
        tags=select_tags(row, "sub_category", type="task_type", length="duration"),
    )


def read_result(entry: Any) -> list[dict[str, Any]] | None:
    """Rows of predictions in one entry of a result file: a video's questions, or one of them."""
    if not isinstance(entry, Mapping):
        return None
    questions = entry.get("questions")
    if not isinstance(questions, list):
        if "response" not in entry or "question_id" not in entry:
            return None
        return [{"id": entry["question_id"], "response": entry["response"]}]
    rows: list[dict[str, Any]] = []
    for question in questions:
        # What is no result is passed on, so that it is reported and not lost.
        rows += read_result(question) or [question]
    return rows


FORMAT = BenchmarkFormat(
    name="videomme",
    summary="Video-MME, grouped or flat.",
    detect=detect,
    read=read,
    licence="academic research only, no redistribution (Video-MME's own README)",
    published={"all": 2700},
    submission=Submission(
        "the questions, by video or flat, each with the reply as response", read_result
    ),
    fields=(
        FormatField("question_id", "id", "the question's id", "001-", required=True),
        FormatField("video_id", "video", "the video's id", "001", required=True),
        FormatField("question", "question", "the text", "How many?", required=True),
        FormatField("options", "options", 'texts that begin "A. "; choices in other files',
                    ["A. One.", "B. Two.", "C. Three."], required=True),
        FormatField("answer", "answer", "the label of the right option", "C", required=True),
        FormatField("questions", "question", "grouped files: the questions of one video"),
        FormatField("task_type", "tag", "the kind of question, as the tag type", "Counting"),
        FormatField("duration", "tag", "short, medium or long, as the tag length", "short"),
        FormatField("sub_category", "tag", "the finer area of the video", "Pets"),
        FormatField("domain", "fact", "the area of the video", "Life"),
        FormatField("videoID", "fact", "the id in the video's address"),
        FormatField("url", "fact", "the video's address"),
    ),
)  # fmt: skip
