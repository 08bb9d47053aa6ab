"""Video-MME: three questions a video, with options written "A. ..."; grouped or flat.

The hub's rows are flat. The authors' own grouped files name the same facts otherwise
(`duration_category`, `video_category`, `choices`); with a `response` they are results, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import (
    matching_label,
    options_from_lettered_texts,
    select_tags,
    text_field,
)
from egomem.benchmarks.rows import Fields, LoadedItem, SourceRow, parse_rows, read_rows
from egomem.records import Question, Video

LICENCE = "academic research only, no redistribution (Video-MME's own README)"

_NAMES = {
    "duration_category": "duration",
    "video_category": "domain",
    "video_sub_category": "sub_category",
    "video_subcategory": "sub_category",
    "choices": "options",
}


def detect(row: Fields) -> bool:
    nested = row.get("questions")
    if isinstance(nested, list) and nested and isinstance(nested[0], dict):
        return "question_id" in nested[0]
    return {"question_id", "video_id", "question"} <= row.keys() and bool(
        {"options", "choices"} & row.keys()
    )


def read(files: Sequence[Path]) -> Iterator[LoadedItem]:
    """Facts of a video that rows share (`duration`: short, medium or long) become tags."""
    seen: set[str] = set()
    for path in files:
        for row in _flat(read_rows(path)):
            if not row.fault:
                id = str(row.fields.get("video_id") or "")
                if id and id not in seen:
                    seen.add(id)
                    yield from parse_rows(iter([row]), _video, key="video_id")
            yield from parse_rows(iter([row]), _question, key="question_id")


def _flat(found: Iterator[SourceRow]) -> Iterator[SourceRow]:
    for row in found:
        nested = row.fields.get("questions")
        if not isinstance(nested, list):
            yield row._replace(fields=_named(row.fields))
            continue
        shared = {k: v for k, v in row.fields.items() if k != "questions"}
        for fields in nested:
            if isinstance(fields, dict):
                yield row._replace(fields=_named({**shared, **fields}))
            else:
                yield row._replace(fields=shared, fault="a question is not a JSON object")


def _named(row: Fields) -> dict[str, Any]:
    return {_NAMES.get(name, name): value for name, value in row.items()}


def _video(row: Fields) -> Video:
    """Media files are named by the last part of the address, which hub rows give as `videoID`."""
    url = text_field(row, "url", default="")
    return Video(
        id=text_field(row, "video_id"),
        source_dataset="Video-MME",
        source_uid=text_field(
            row, "videoID", default=url.rpartition("?v=")[2] if "?v=" in url else ""
        ),
        domain=text_field(row, "domain", default=""),
        tags=select_tags(row, "sub_category", "url", length="duration"),
    )


def _question(row: Fields) -> Question:
    given = row.get("options")
    if isinstance(given, str):
        given = given.splitlines()  # so in Video-MME-v2
    choices = options_from_lettered_texts(given if isinstance(given, list) else [])
    return Question(
        id=text_field(row, "question_id"),
        text=text_field(row, "question"),
        options=choices,
        recording=text_field(row, "video_id"),
        answer=matching_label(text_field(row, "answer"), choices),
        answerable=True,
        tags=select_tags(row, "sub_category", type="task_type", length="duration"),
    )
