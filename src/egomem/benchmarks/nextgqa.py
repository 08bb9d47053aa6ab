"""NExT-GQA: `val.csv` or `test.csv` with five options, `gsub_val.json` with evidence spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import by_index, by_text, evidence, lettered, number, tags, text
from egomem.benchmarks.rows import Fields, Part, RowError, base, document, each, rows
from egomem.records import Question, Video

LICENCE = "MIT (NExT-GQA's own licence file)"


def detect(row: Fields) -> bool:
    return {"video", "question", "a0", "a1"} <= row.keys()


def read(files: Sequence[Path]) -> Iterator[Part]:
    spans: dict[str, Any] = {}
    for path in files:
        if base(path).startswith("gsub") and base(path).endswith(".json"):
            held = document(path)
            spans.update(held if isinstance(held, dict) else {})
    for path in files:
        if not base(path).endswith(".csv"):
            continue
        seen: set[str] = set()
        for row in rows(path):
            video = str(row.fields.get("video") or row.fields.get("video_id") or "")
            about = spans.get(video)
            fields = {**row.fields, "about": about if isinstance(about, dict) else {}}
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
        answer=by_index(said, choices) if said.isdecimal() else by_text(said, choices),
        answerable=True,
        evidence=evidence(located.get(qid), video),
        tags=tags(row, "type"),
    )
