"""MVBench: a JSON file a task; the answer is the text of one candidate.

MLVU's files have the same fields, and `duration`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from egomem.benchmarks.benchmark import BenchmarkFault
from egomem.benchmarks.fields import (
    label_of_text,
    number_field,
    options_from_texts,
    parse_span,
    select_tags,
    text_field,
)
from egomem.benchmarks.rows import Fields, LoadedItem, SourceRow, base_name, parse_rows, read_rows
from egomem.hashing import ROW_ID_LENGTH, hash_text
from egomem.records import Evidence, Question, Video

_SOURCES = {
    ("STAR", "star"): ("action_sequence", "action_prediction", "object_interaction"),
    ("Charades-STA", "sta"): ("action_localization",),
    ("CLEVRER", "clevrer"): ("moving_count", "moving_direction", "moving_attribute",
                             "object_existence", "counterfactual_inference"),
    ("Perception Test", "perception"): ("character_order", "object_shuffle", "state_change",
                                        "action_count"),
    ("Something-Something V2", ""): ("action_antonym",),
    ("VLN-CE", ""): ("egocentric_navigation",),
    ("TVQA", ""): ("episodic_reasoning",),
    ("Moments in Time", ""): ("fine_grained_action",),
    ("NTU RGB+D", ""): ("fine_grained_pose",),
    ("MoVQA", ""): ("scene_transition",),
    ("FunQA", ""): ("unexpected_action",),
}  # fmt: skip
_SOURCE = {task: source for source, tasks in _SOURCES.items() for task in tasks}
"""Where each task's videos are from, and the release's folder where names alone are no ids."""


def detect(row: Fields) -> bool:
    return {"video", "question", "candidates", "answer"} <= row.keys()


def read(files: Sequence[Path]) -> Iterator[LoadedItem]:
    """A question's id follows from its task and content, since the files have none.

    `start` and `end` (`accurate_start` and `accurate_end` where given) are the part of the video
    that is asked about: they stand as evidence. They are seconds of the uncut video.
    """
    videos: set[str] = set()
    tasks: dict[str, str] = {}
    for path in files:
        stem = base_name(path).rpartition(".")[0]
        for row in read_rows(path):
            task = str(row.fields.get("task_type") or stem)
            digest = _digest(row.fields)
            if not row.fault and tasks.setdefault(digest, task) != task:
                yield _told(row, f"{task}-{digest}", tasks[digest])
                continue
            source, folder = _SOURCE.get(task, ("", ""))
            video = _id(row.fields, folder)
            fields = {**row.fields, "task": task, "id": f"{task}-{digest}", "video_id": video}
            if video and video not in videos:
                videos.add(video)
                yield _video(row.fields, video, source)
            yield from parse_rows(iter([row._replace(fields=fields)]), _question)


def _id(row: Fields, folder: str) -> str:
    name = str(row.get("video") or "").strip()
    return f"{folder}/{name}" if name and folder else name


def _told(row: SourceRow, id: str, task: str) -> BenchmarkFault:
    said = f"the same question stands in the task {task}; that one is kept"
    return BenchmarkFault(
        id=id, kind="duplicate", message=said, file=row.file, line=row.line, dropped=True
    )


def _video(row: Fields, id: str, source: str) -> Video:
    told = row.get("duration")
    duration = float(told) if isinstance(told, int | float) and told >= 0 else None
    uid = str(row.get("video"))
    return Video(id=id, duration=duration, source_dataset=source, source_uid=uid)


def _digest(row: Fields) -> str:
    content = [str(row.get(k)) for k in ("video", "question", "candidates", "start", "end")]
    return hash_text("\x1f".join(content))[:ROW_ID_LENGTH]


def _question(row: Fields) -> Question:
    text_field(row, "video")
    given = row.get("candidates")
    choices = options_from_texts(given if isinstance(given, list) else [])
    start = number_field(row, "accurate_start", "start")
    held = (
        parse_span(start, number_field(row, "accurate_end", "end")) if start is not None else None
    )
    return Question(
        id=text_field(row, "id"),
        text=text_field(row, "question"),
        options=choices,
        recording=row["video_id"],
        answer=label_of_text(text_field(row, "answer"), choices),
        answerable=True,
        evidence=(Evidence(recording=row["video_id"], span=held),) if held else (),
        tags=select_tags(row, "question_type", type="task"),
    )
