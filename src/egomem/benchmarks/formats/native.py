"""The format of our own: questions and videos as JSON Lines or Parquet.

A folder holds `questions.jsonl` and, as far as something is known of the videos, `videos.jsonl`
(or `.parquet` of either); `benchmark.json` names the whole, its licence and where it is from. A
lone questions file is a benchmark, too. Every field is described in
docs/reference/benchmark-formats.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.fields import (
    label_at_index,
    matching_label,
    number_field,
    parse_evidence,
    parse_options,
    text_field,
)
from egomem.benchmarks.rows import (
    Fields,
    InvalidRowError,
    LoadedItem,
    SourceRow,
    parse_rows,
    read_rows,
)
from egomem.errors import MissingExtraError, TimeError
from egomem.records import Question, Video
from egomem.timeline import Clock, RecordingTime

_QUESTION = (
    "id", "qid", "question_id", "video", "video_id", "question", "options", "choices", "answer",
    "answer_idx", "answerable", "at", "evidence", "tags",
)  # fmt: skip
_IDS = ("qid", "question_id")
_VIDEO = (
    "id", "video_id", "path", "duration", "start", "end", "source_dataset", "source_uid",
    "scenario", "domain", "sha256", "licence", "clock", "tags",
)  # fmt: skip


def detect(row: Fields) -> bool:
    return "question" in row and bool({"id", *_IDS} & row.keys())


def read(questions: Sequence[Path], videos: Sequence[Path]) -> Iterator[LoadedItem]:
    """The videos, then the questions."""
    for path in videos:
        yield from parse_rows(_named(read_rows(path), "video_id"), _video)
    for path in questions:
        yield from parse_rows(_named(read_rows(path), *_IDS), _question)


def _named(found: Iterator[SourceRow], *names: str) -> Iterator[SourceRow]:
    for row in found:
        said = [v for name in ("id", *names) if (v := row.fields.get(name)) is not None]
        yield row._replace(fields={**row.fields, "id": next(iter(said), None)})


def _video(row: Fields) -> Video:
    end = number_field(row, "duration", "end")
    clock = row.get("clock")
    return Video(
        id=text_field(row, "id", "video_id"),
        path=row.get("path"),
        duration=end,
        source_dataset=text_field(row, "source_dataset", default=""),
        source_uid=text_field(row, "source_uid", default=""),
        scenario=text_field(row, "scenario", "scene", default=""),
        domain=text_field(row, "domain", default=""),
        sha256=row.get("sha256"),
        licence=text_field(row, "licence", default=""),
        clock=Clock(_instant(clock)) if clock else None,
        tags=_tags(row, _VIDEO),
    )


def _question(row: Fields) -> Question:
    video = text_field(row, "video", "video_id", default="") or None
    choices = parse_options(
        row["options"] if row.get("options") is not None else row.get("choices")
    )
    return Question(
        id=text_field(row, "id"),
        text=text_field(row, "question"),
        options=choices,
        at=_moment(row.get("at"), video),
        recording=video,
        answer=_key(row, choices),
        answerable=_boolean(row.get("answerable"), "answerable"),
        evidence=parse_evidence(row.get("evidence"), video),
        tags=_tags(row, _QUESTION),
    )


def _boolean(value: object, name: str) -> bool | None:
    if isinstance(value, str) and value.strip().casefold() in ("true", "false"):
        return value.strip().casefold() == "true"  # a cell of CSV
    if value is None or isinstance(value, bool):
        return value
    raise InvalidRowError(f"{name} is {value!r}, neither true nor false")


def _key(row: Fields, choices: Sequence[Any]) -> str | None:
    index, said = row.get("answer_idx"), row.get("answer")
    if choices and index is not None:
        return label_at_index(index, choices)
    if said is None or said == "":
        return None
    return matching_label(said, choices) if choices else str(said)


def _moment(value: object, video: str | None) -> RecordingTime | datetime | None:
    if value is None:
        return None
    try:
        seconds = float(str(value))  # a Parquet column holds both kinds as text
    except ValueError:
        return _instant(value)
    if not math.isfinite(seconds):
        raise InvalidRowError(f"at is {value!r}, not a time")
    if video is None:
        raise InvalidRowError("at is a second of a video, and no video is named")
    return RecordingTime(video, seconds)


def _instant(value: object) -> datetime:
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise InvalidRowError(f"{value!r} is no time: write 2026-03-02T08:10:00+01:00") from None
    if found.utcoffset() is None:
        raise TimeError(f"the time {value} has no zone", "write it with an offset, such as +01:00")
    return found


def _tags(row: Fields, known: Sequence[str]) -> dict[str, Any]:
    """The field `tags`, and every field that has no other place; Parquet's tags are JSON text."""
    held = row.get("tags")
    if isinstance(held, str):
        try:
            held = json.loads(held)
        except ValueError:
            raise InvalidRowError(f"tags is {held!r}, not a JSON object") from None
    if isinstance(held, list):
        held = {"visual": held}
    if held is not None and not isinstance(held, dict):
        raise InvalidRowError(f"tags is {held!r}, not an object")
    extra = {k: v for k, v in row.items() if k not in known and v not in (None, "", [])}
    return {**extra, **(held or {})}


def write(benchmark: Benchmark, folder: Path | str, *, parquet: bool = False) -> None:
    """Write a benchmark in this format; media is never copied and paths are left out."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "name": benchmark.name,
        "licence": benchmark.licence,
        "provenance": benchmark.provenance,
    }
    (folder / "benchmark.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    _write(folder, "questions", [_of_question(q) for q in benchmark.questions], parquet)
    _write(folder, "videos", [_of_video(v) for v in benchmark.videos], parquet)


def _write(folder: Path, name: str, held: list[dict[str, Any]], parquet: bool) -> None:
    if not parquet:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in held]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow, which writes Parquet,", "parquet") from None
    columns = [{**row, "at": None if row.get("at") is None else str(row["at"])} for row in held]
    for row in columns:
        row["tags"] = json.dumps(row.get("tags", {}), ensure_ascii=False)
    pq.write_table(pa.Table.from_pylist(columns), folder / f"{name}.parquet")


def _of_question(q: Question) -> dict[str, Any]:
    at = q.at.seconds if isinstance(q.at, RecordingTime) else q.at and q.at.isoformat()
    return {
        "id": q.id,
        "video": q.recording,
        "question": q.text,
        "options": [{"label": o.label, "text": o.text} for o in q.options] or None,
        "answer": q.answer,
        "answerable": q.answerable,
        "at": at,
        "evidence": [
            {"start": e.span.start, "end": e.span.end, "video": e.recording, "quote": e.quote}
            for e in q.evidence
        ],
        "tags": q.tags,
    }


def _of_video(v: Video) -> dict[str, Any]:
    row = v.model_dump(mode="json", exclude={"path", "clock"}, exclude_defaults=True)
    if v.clock:
        row["clock"] = v.clock.start.isoformat()
    return {"id": v.id, **row}
