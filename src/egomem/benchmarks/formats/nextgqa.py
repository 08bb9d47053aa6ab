"""NExT-GQA and NExT-QA: `val.csv` or `test.csv` with five options; evidence in `gsub_val.json`.

NExT-GQA names its video `video_id` and gives the answer's text; NExT-QA, and the hub's Parquet of
it, has `video` and the answer's number, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import (
    label_at_index,
    label_of_text,
    number_field,
    options_from_texts,
    parse_evidence,
    select_tags,
    text_field,
)
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions
from egomem.benchmarks.rows import (
    Fields,
    InvalidRowError,
    LoadedItem,
    SourceRow,
    base_name,
    parse_rows,
    read_json,
    read_rows,
)
from egomem.records import Question, Video

_SPANS_FILE = "gsub"


def detect(row: Fields) -> bool:
    return {"question", "qid", "a0", "a1"} <= row.keys() and bool(
        {"video", "video_id"} & row.keys()
    )


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    spans: dict[str, Any] = {}
    for path in files:
        if _has_spans(path):
            document = read_json(path)
            spans.update(document if isinstance(document, dict) else {})
    videos: set[str] = set()
    for path in files:
        if _has_spans(path):
            continue
        rows = list(read_rows(path))
        answers = [row.fields.get("answer") for row in rows]
        # A file is numbered as a whole: "3" may also be the text of an option.
        numbered = all(_is_number(answer) for answer in answers if answer is not None)
        for row in rows:
            yield from _read_row(row, spans, videos, numbered)


def _has_spans(path: Path) -> bool:
    return base_name(path).startswith(_SPANS_FILE) and base_name(path).endswith(".json")


def _is_number(value: object) -> bool:
    return str(value).strip().removesuffix(".0").isdecimal()


def _read_row(
    row: SourceRow, spans: dict[str, Any], videos: set[str], numbered: bool
) -> Iterator[LoadedItem]:
    video = str(row.fields.get("video") or row.fields.get("video_id") or "").strip()
    video_facts = spans.get(video)
    fields = {
        **row.fields,
        "video": video,
        "about": video_facts if isinstance(video_facts, dict) else {},
        "numbered": numbered,
    }
    joined_row = row._replace(fields=fields)
    if video and video not in videos:
        videos.add(video)
        yield from parse_rows(iter([joined_row]), _video, key="video")
    yield from parse_rows(iter([joined_row]), _question, key="qid")


def _video(row: Fields) -> Video:
    duration = number_field(row["about"], "duration")
    fps, frames = number_field(row["about"], "fps"), number_field(row, "frame_count")
    if duration is None and fps and frames:
        duration = frames / fps
    return Video(id=text_field(row, "video"), duration=duration)


def _question(row: Fields) -> Question:
    video, qid = text_field(row, "video"), text_field(row, "qid")
    choices = options_from_texts(row[k] for k in sorted(row) if k[0] == "a" and k[1:].isdecimal())
    answer = text_field(row, "answer")
    spans = row["about"].get("location", {})
    if not isinstance(spans, dict):
        raise InvalidRowError("location is not a map of question to spans")
    return Question(
        # `qid` counts within a video.
        id=f"{video}_{qid}",
        text=text_field(row, "question"),
        options=choices,
        recording=video,
        answer=(label_at_index if row["numbered"] else label_of_text)(answer, choices),
        answerable=True,
        evidence=parse_evidence(spans.get(qid), video),
        tags=select_tags(row, "type"),
    )


FORMAT = BenchmarkFormat(
    name="nextgqa",
    summary="NExT-GQA and NExT-QA.",
    detect=detect,
    read=read,
    companions=(f"{_SPANS_FILE}_",),
    licence="MIT (NExT-GQA's own licence file)",
    published={"NExT-GQA val": 3358, "NExT-GQA test": 5553, "NExT-QA val": 4996,
               "NExT-QA test": 8564},
    fields=(
        FormatField("video", "video", "the video's id; video_id in NExT-GQA", "91", required=True),
        FormatField("qid", "id", "the question's number within its video", "3", required=True),
        FormatField("question", "question", "the text", "why did she stop", required=True),
        FormatField("a0", "options", "the first option, and so on", "red light"),
        FormatField("a1", "options", "the second", "to rest"),
        FormatField("a2", "options", "the third", "she fell"),
        FormatField("answer", "answer", "the right option's number, from 0, or its text",
                    "to rest", required=True),
        FormatField("type", "tag", "the kind of question", "CW"),
        FormatField("frame_count", "fact", "frames of the video; with fps of the spans its length"),
    ),
)  # fmt: skip
