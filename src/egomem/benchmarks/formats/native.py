"""The native format: questions and videos as JSON Lines or Parquet.

A folder holds `questions.jsonl` and, as far as something is known of the videos, `videos.jsonl`
(or `.parquet` of either); `benchmark.json` states the name, licence and source of the whole. A lone
questions file is a benchmark, too. Every field is described in
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
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions
from egomem.benchmarks.rows import (
    Fields,
    InvalidRowError,
    LoadedItem,
    SourceRow,
    base_name,
    parse_rows,
    read_rows,
)
from egomem.errors import MissingExtraError, TimeError
from egomem.records import Question, Video
from egomem.timeline import Clock, RecordingTime

_OTHER_IDS = ("qid", "question_id")
_QUESTION_FIELDS = (
    "id", *_OTHER_IDS, "video", "video_id", "question", "options", "choices", "answer",
    "answer_idx", "answerable", "at", "evidence", "tags",
)  # fmt: skip
_VIDEO_FIELDS = (
    "id", "video_id", "path", "duration", "start", "end", "source_dataset", "source_uid",
    "scenario", "domain", "sha256", "licence", "clock", "tags",
)  # fmt: skip


def detect(row: Fields) -> bool:
    return "question" in row and bool({"id", *_OTHER_IDS} & row.keys())


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    """The videos, then the questions."""
    video_files = [path for path in files if base_name(path).rpartition(".")[0] == "videos"]
    for path in video_files:
        yield from parse_rows(_with_id(read_rows(path), "video_id"), _video)
    for path in files:
        if path not in video_files:
            yield from parse_rows(_with_id(read_rows(path), *_OTHER_IDS), _question)


def _with_id(rows: Iterator[SourceRow], *other_names: str) -> Iterator[SourceRow]:
    """Rows whose field `id` is set from the first of `id` and the other names that has a value."""
    for row in rows:
        ids = [v for name in ("id", *other_names) if (v := row.fields.get(name)) is not None]
        yield row._replace(fields={**row.fields, "id": next(iter(ids), None)})


def _video(row: Fields) -> Video:
    clock = row.get("clock")
    return Video(
        id=text_field(row, "id", "video_id"),
        path=row.get("path"),
        duration=number_field(row, "duration", "end"),
        source_dataset=text_field(row, "source_dataset", default=""),
        source_uid=text_field(row, "source_uid", default=""),
        scenario=text_field(row, "scenario", "scene", default=""),
        domain=text_field(row, "domain", default=""),
        sha256=row.get("sha256"),
        licence=text_field(row, "licence", default=""),
        clock=Clock(_parse_instant(clock)) if clock else None,
        tags=_tags(row, _VIDEO_FIELDS),
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
        at=_question_time(row.get("at"), video),
        recording=video,
        answer=_answer(row, choices),
        answerable=_parse_boolean(row.get("answerable"), "answerable"),
        evidence=parse_evidence(row.get("evidence"), video),
        tags=_tags(row, _QUESTION_FIELDS),
    )


def _parse_boolean(value: object, name: str) -> bool | None:
    if isinstance(value, str) and value.strip().casefold() in ("true", "false"):
        return value.strip().casefold() == "true"  # a cell of CSV
    if value is None or isinstance(value, bool):
        return value
    raise InvalidRowError(f"{name} is {value!r}, neither true nor false")


def _answer(row: Fields, choices: Sequence[Any]) -> str | None:
    index, answer = row.get("answer_idx"), row.get("answer")
    if choices and index is not None:
        return label_at_index(index, choices)
    if answer is None or answer == "":
        return None
    return matching_label(answer, choices) if choices else str(answer)


def _question_time(value: object, video: str | None) -> RecordingTime | datetime | None:
    if value is None:
        return None
    try:
        seconds = float(str(value))  # a Parquet column holds both kinds as text
    except ValueError:
        return _parse_instant(value)
    if not math.isfinite(seconds):
        raise InvalidRowError(f"at is {value!r}, not a time")
    if video is None:
        raise InvalidRowError("at is a second of a video, and no video is named")
    return RecordingTime(video, seconds)


def _parse_instant(value: object) -> datetime:
    try:
        instant = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise InvalidRowError(f"{value!r} is no time: write 2026-03-02T08:10:00+01:00") from None
    if instant.utcoffset() is None:
        raise TimeError(f"the time {value} has no zone", "write it with an offset, such as +01:00")
    return instant


def _tags(row: Fields, other_fields: Sequence[str]) -> dict[str, Any]:
    """The field `tags`, and every field that is not one of the others; Parquet's tags are JSON."""
    tags = row.get("tags")
    if isinstance(tags, str):
        try:
            tags = json.loads(tags)
        except ValueError:
            raise InvalidRowError(f"tags is {tags!r}, not a JSON object") from None
    if isinstance(tags, list):
        tags = {"visual": tags}
    if tags is not None and not isinstance(tags, dict):
        raise InvalidRowError(f"tags is {tags!r}, not an object")
    extra = {k: v for k, v in row.items() if k not in other_fields and v not in (None, "", [])}
    return {**extra, **(tags or {})}


def write(benchmark: Benchmark, folder: Path | str, *, parquet: bool = False) -> None:
    """Write a benchmark in this format; media is never copied and paths are left out.

    Raises MissingExtraError for Parquet without pyarrow.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "name": benchmark.name,
        "licence": benchmark.licence,
        "provenance": benchmark.provenance,
    }
    (folder / "benchmark.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    _write_rows(folder, "questions", [_question_row(q) for q in benchmark.questions], parquet)
    _write_rows(folder, "videos", [_video_row(v) for v in benchmark.videos], parquet)


def _write_rows(folder: Path, name: str, rows: list[dict[str, Any]], parquet: bool) -> None:
    if not parquet:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow, which writes Parquet,", "parquet") from None
    # A column has one type, and `at` and `tags` hold values of several.
    rows = [{**row, "at": None if row.get("at") is None else str(row["at"])} for row in rows]
    for row in rows:
        row["tags"] = json.dumps(row.get("tags", {}), ensure_ascii=False)
    pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")


def _question_row(question: Question) -> dict[str, Any]:
    at = question.at
    return {
        "id": question.id,
        "video": question.recording,
        "question": question.text,
        "options": [{"label": o.label, "text": o.text} for o in question.options] or None,
        "answer": question.answer,
        "answerable": question.answerable,
        "at": at.seconds if isinstance(at, RecordingTime) else at and at.isoformat(),
        "evidence": [
            {"start": e.span.start, "end": e.span.end, "video": e.recording, "quote": e.quote}
            for e in question.evidence
        ],
        "tags": question.tags,
    }


def _video_row(video: Video) -> dict[str, Any]:
    row = video.model_dump(mode="json", exclude={"path", "clock"}, exclude_defaults=True)
    if video.clock:
        row["clock"] = video.clock.start.isoformat()
    return {"id": video.id, **row}


FORMAT = BenchmarkFormat(
    name="native",
    summary="egomem's own: JSON Lines or Parquet.",
    detect=detect,
    read=read,
    priority=-1,  # rows of other formats also have a question and an id
    companions=("videos.",),
    states_media_licences=True,
    fields=(
        FormatField("id", "id", "unique; qid and question_id are read, too", "q", required=True),
        FormatField("question", "question", "the text", "Where is the red mug?", required=True),
        FormatField("video", "video", "the id of the video that it is about; also video_id",
                    "kitchen"),
        FormatField("options", "options", "a list or map of texts; also choices",
                    ["on the shelf", "in the sink", "on the table"]),
        FormatField("answer", "answer", "the right label, or the text of an open answer", "B"),
        FormatField("answer_idx", "answer", "instead: the right option's number, from 0"),
        FormatField("answerable", "answer", "false where the right answer is to abstain"),
        FormatField("evidence", "evidence", "a list of spans in seconds", [[61.5, 70]]),
        FormatField("at", "time", "when it is asked: a second of its video, or ISO 8601", 90),
        FormatField("tags", "tag", "an object; every other field becomes a tag, too",
                    {"visual": ["object"]}),
    ),
)  # fmt: skip
