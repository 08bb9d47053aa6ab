"""MVBench: a JSON file a task; the answer is the text of one candidate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from egomem.benchmarks.fields import by_text, lettered, number, span, tags, text
from egomem.benchmarks.rows import Fields, Part, base, each, rows
from egomem.records import Evidence, Question, Video


def detect(row: Fields) -> bool:
    return {"video", "question", "candidates", "answer"} <= row.keys()


def read(files: Sequence[Path]) -> Iterator[Part]:
    """A question's id follows from its task and content, since the files have none.

    `start` and `end` are the part of the video that is asked about: they stand as evidence.
    """
    seen: set[str] = set()
    for path in files:
        task = base(path).rpartition(".")[0]
        for row in rows(path):
            fields = {**row.fields, "task": task}
            fields["id"] = f"{task}-{_digest(fields)}"
            found = row._replace(fields=fields)
            video = str(row.fields.get("video") or "")
            if video and video not in seen:
                seen.add(video)
                duration = _duration(row.fields)
                yield Video(id=video, duration=duration, source_dataset="MVBench")
            yield from each(iter([found]), _question)


def _duration(row: Fields) -> float | None:
    held = row.get("duration")
    return float(held) if isinstance(held, int | float) and held >= 0 else None


def _digest(row: Fields) -> str:
    content = [str(row.get(k)) for k in ("video", "question", "candidates", "start", "end")]
    return hashlib.sha256("\x1f".join(content).encode()).hexdigest()[:12]


def _question(row: Fields) -> Question:
    video = text(row, "video")
    given = row.get("candidates")
    choices = lettered(given if isinstance(given, list) else [])
    start = number(row, "start")
    held = span(start, number(row, "end")) if start is not None else None
    return Question(
        id=text(row, "id"),
        text=text(row, "question"),
        options=choices,
        recording=video,
        answer=by_text(text(row, "answer"), choices),
        answerable=True,
        evidence=(Evidence(recording=video, span=held),) if held else (),
        tags=tags(row, "question_type", type="task"),
    )
