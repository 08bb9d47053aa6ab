"""NExT-GQA and NExT-QA: `val.csv` or `test.csv` with five options; evidence in `gsub_val.json`.

NExT-GQA names its video `video_id` and gives the answer's text; NExT-QA, and the hub's Parquet of
it, says `video` and gives the answer's number, from 0.
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

LICENCE = "MIT (NExT-GQA's own licence file)"


def detect(row: Fields) -> bool:
    return {"question", "qid", "a0", "a1"} <= row.keys() and bool(
        {"video", "video_id"} & row.keys()
    )


def read(files: Sequence[Path]) -> Iterator[LoadedItem]:
    spans: dict[str, Any] = {}
    for path in files:
        if _has_spans(path):
            held = read_json(path)
            spans.update(held if isinstance(held, dict) else {})
    seen: set[str] = set()
    for path in files:
        if _has_spans(path):
            continue
        found = list(read_rows(path))
        told = [row.fields.get("answer") for row in found]
        numbered = all(_decimal(answer) for answer in told if answer is not None)
        for row in found:
            yield from _of(row, spans, seen, numbered)


def _has_spans(path: Path) -> bool:
    return base_name(path).startswith("gsub") and base_name(path).endswith(".json")


def _decimal(value: object) -> bool:
    return str(value).strip().removesuffix(".0").isdecimal()


def _of(
    row: SourceRow, spans: dict[str, Any], seen: set[str], numbered: bool
) -> Iterator[LoadedItem]:
    video = str(row.fields.get("video") or row.fields.get("video_id") or "").strip()
    about = spans.get(video)
    fields = {
        **row.fields,
        "video": video,
        "about": about if isinstance(about, dict) else {},
        "numbered": numbered,
    }
    found = row._replace(fields=fields)
    if video and video not in seen:
        seen.add(video)
        yield from parse_rows(iter([found]), _video, key="video")
    yield from parse_rows(iter([found]), _question, key="qid")


def _video(row: Fields) -> Video:
    duration = number_field(row["about"], "duration")
    fps, frames = number_field(row["about"], "fps"), number_field(row, "frame_count")
    if duration is None and fps and frames:
        duration = frames / fps
    return Video(id=text_field(row, "video"), duration=duration)


def _question(row: Fields) -> Question:
    video, qid = text_field(row, "video"), text_field(row, "qid")
    choices = options_from_texts(row[k] for k in sorted(row) if k[0] == "a" and k[1:].isdecimal())
    said = text_field(row, "answer")
    located = row["about"].get("location", {})
    if not isinstance(located, dict):
        raise InvalidRowError("location is not a map of question to spans")
    return Question(
        id=f"{video}_{qid}",
        text=text_field(row, "question"),
        options=choices,
        recording=video,
        answer=label_at_index(said, choices) if row["numbered"] else label_of_text(said, choices),
        answerable=True,
        evidence=parse_evidence(located.get(qid), video),
        tags=select_tags(row, "type"),
    )
