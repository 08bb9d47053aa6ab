"""NExT-GQA and NExT-QA: `val.csv` or `test.csv` with five options; evidence in `gsub_val.json`.

NExT-GQA names its video `video_id` and gives the answer's text; NExT-QA, and the hub's Parquet of
it, says `video` and gives the answer's number, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import by_index, by_text, evidence, lettered, number, tags, text
from egomem.benchmarks.rows import Fields, Part, Row, RowError, base, document, each, rows
from egomem.records import Question, Video

LICENCE = "MIT (NExT-GQA's own licence file)"


def detect(row: Fields) -> bool:
    return {"question", "qid", "a0", "a1"} <= row.keys() and bool(
        {"video", "video_id"} & row.keys()
    )


def read(files: Sequence[Path]) -> Iterator[Part]:
    spans: dict[str, Any] = {}
    for path in files:
        if _has_spans(path):
            held = document(path)
            spans.update(held if isinstance(held, dict) else {})
    seen: set[str] = set()
    for path in files:
        if _has_spans(path):
            continue
        found = list(rows(path))
        told = [row.fields.get("answer") for row in found]
        numbered = all(_decimal(answer) for answer in told if answer is not None)
        for row in found:
            yield from _of(row, spans, seen, numbered)


def _has_spans(path: Path) -> bool:
    return base(path).startswith("gsub") and base(path).endswith(".json")


def _decimal(value: object) -> bool:
    return str(value).strip().removesuffix(".0").isdecimal()


def _of(row: Row, spans: dict[str, Any], seen: set[str], numbered: bool) -> Iterator[Part]:
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
        yield from each(iter([found]), _video, key="video")
    yield from each(iter([found]), _question, key="qid")


def _video(row: Fields) -> Video:
    duration = number(row["about"], "duration")
    fps, frames = number(row["about"], "fps"), number(row, "frame_count")
    if duration is None and fps and frames:
        duration = frames / fps
    return Video(id=text(row, "video"), duration=duration)


def _question(row: Fields) -> Question:
    video, qid = text(row, "video"), text(row, "qid")
    choices = lettered(row[k] for k in sorted(row) if k[0] == "a" and k[1:].isdecimal())
    said = text(row, "answer")
    located = row["about"].get("location", {})
    if not isinstance(located, dict):
        raise RowError("location is not a map of question to spans")
    return Question(
        id=f"{video}_{qid}",
        text=text(row, "question"),
        options=choices,
        recording=video,
        answer=by_index(said, choices) if row["numbered"] else by_text(said, choices),
        answerable=True,
        evidence=evidence(located.get(qid), video),
        tags=tags(row, "type"),
    )
