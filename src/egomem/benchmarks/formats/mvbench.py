"""MVBench: one JSON file per task; the answer is the text of one candidate.

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
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions
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
_SOURCE_OF_TASK = {task: source for source, tasks in _SOURCES.items() for task in tasks}
"""Where each task's videos are from, and the release's folder where names alone are no ids."""


def detect(row: Fields) -> bool:
    return {"video", "question", "candidates", "answer"} <= row.keys()


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    """A question's id follows from its task and content, since the files have none.

    `start` and `end` (`accurate_start` and `accurate_end` where given) are the part of the video
    that is asked about: they become evidence, in seconds of the uncut video.
    """
    videos: set[str] = set()
    task_of_digest: dict[str, str] = {}
    for path in files:
        stem = base_name(path).rpartition(".")[0]
        for row in read_rows(path):
            task = str(row.fields.get("task_type") or stem)
            digest = _digest(row.fields)
            # The release has the same questions in two files of tasks; counted twice they would
            # weigh double.
            first_task = task if row.fault else task_of_digest.setdefault(digest, task)
            if first_task != task:
                yield _duplicate(row, f"{task}-{digest}", first_task)
                continue
            source, folder = _SOURCE_OF_TASK.get(task, ("", ""))
            video = _video_id(row.fields, folder)
            fields = {**row.fields, "task": task, "id": f"{task}-{digest}", "video_id": video}
            if video and video not in videos:
                videos.add(video)
                yield _video(row.fields, video, source)
            yield from parse_rows(iter([row._replace(fields=fields)]), _question)


def _video_id(row: Fields, folder: str) -> str:
    name = str(row.get("video") or "").strip()
    # Names such as video_10009.mp4 stand for other videos in other sources.
    return f"{folder}/{name}" if name and folder else name


def _duplicate(row: SourceRow, id: str, first_task: str) -> BenchmarkFault:
    return BenchmarkFault(
        id=id,
        kind="duplicate",
        message=f"the same question stands in the task {first_task}; that one is kept",
        file=row.file,
        line=row.line,
        dropped=True,
    )


def _video(row: Fields, id: str, source: str) -> Video:
    stated = row.get("duration")
    duration = float(stated) if isinstance(stated, int | float) and stated >= 0 else None
    return Video(id=id, duration=duration, source_dataset=source, source_uid=str(row.get("video")))


def _digest(row: Fields) -> str:
    content = [str(row.get(k)) for k in ("video", "question", "candidates", "start", "end")]
    return hash_text("\x1f".join(content))[:ROW_ID_LENGTH]


def _question(row: Fields) -> Question:
    text_field(row, "video")
    candidates = row.get("candidates")
    choices = options_from_texts(candidates if isinstance(candidates, list) else [])
    start = number_field(row, "accurate_start", "start")
    end = number_field(row, "accurate_end", "end")
    span = None if start is None else parse_span(start, end)
    return Question(
        id=text_field(row, "id"),
        text=text_field(row, "question"),
        options=choices,
        recording=row["video_id"],
        answer=label_of_text(text_field(row, "answer"), choices),
        answerable=True,
        evidence=() if span is None else (Evidence(recording=row["video_id"], span=span),),
        tags=select_tags(row, "question_type", type="task"),
    )


FORMAT = BenchmarkFormat(
    name="mvbench",
    summary="MVBench and MLVU.",
    detect=detect,
    read=read,
    published={"MVBench": 4000},
    fields=(
        FormatField("video", "video", "the video's file name", "a.mp4", required=True),
        FormatField("question", "question", "the text", "What moved?", required=True),
        FormatField("candidates", "options", "a list of texts", ["cup", "ball", "hat"],
                    required=True),
        FormatField("answer", "answer", "the text of the right candidate", "ball", required=True),
        FormatField("start", "evidence", "where the part that is asked about begins, in seconds",
                    2.0),
        FormatField("end", "evidence", "where it ends, in seconds", 5.0),
        FormatField("accurate_start", "evidence", "instead of start"),
        FormatField("accurate_end", "evidence", "instead of end"),
        FormatField("task_type", "tag", "the task; default: the file's name"),
        FormatField("question_type", "tag", "MLVU's kind of question"),
        FormatField("duration", "fact", "MLVU: the video's length in seconds"),
    ),
)  # fmt: skip
