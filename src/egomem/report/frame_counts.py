"""Frames by the protocol's accounting, beside those that the run used."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.caption_usage import CaptionUsage
from egomem.report.columns import ReportColumn
from egomem.report.table import ReportTable, build_table
from egomem.score import count_frames
from egomem.score.amortised_cost import AmortisedCost
from egomem.text import plural


def frame_table(costs: Sequence[tuple[ReportColumn, AmortisedCost, CaptionUsage]]) -> ReportTable:
    """The accounting of the first column's run, then the frames that each column used."""
    run = costs[0][0].run
    config, questions = run.config, run.questions
    asked_about = {question.recording for question in questions}
    videos = [video for video in run.benchmark.videos if video.id in asked_about]
    windows = {c.window for c in config.conditions if c.captions == "windows" and c.is_caption_qa}
    counts = count_frames(
        videos, questions, cap=config.frames, fps=config.fps, passes=len(windows) or 1
    )
    ratio = "" if counts.ratio is None else f"{counts.ratio:.2f} times the captions"
    passes = "one window length" if counts.passes == 1 else f"{counts.passes} window lengths"
    rows: list[list[object]] = [
        [f"by accounting: captions, {passes}", f"{counts.build:,}", f"{counts.per_pass:,} each"],
        ["by accounting: frames for each question", f"{counts.direct:,}", ratio],
    ]
    used = [*_caption_rows(costs), *_answer_rows(costs)]
    unknown = (
        f"; {plural(counts.unknown, 'video has', 'videos have')} no stated length"
        if counts.unknown
        else ""
    )
    note = (
        f"{plural(len(videos), 'video')}, {plural(len(questions), 'question')}. By accounting: the "
        f"protocol counts min({config.frames}, floor(seconds x {config.fps:g})) frames of a video, "
        f"once for its captions and once for each question{unknown}."
    )
    if used:
        note += (
            " As made and as sent: the frames that this run used. Every window is captioned, "
            "however long the video is, and a model may take fewer frames than the protocol counts."
        )
    return build_table("Frames", ("frames of", "frames", ""), [*rows, *used], note)


def _caption_rows(
    costs: Sequence[tuple[ReportColumn, AmortisedCost, CaptionUsage]],
) -> list[list[object]]:
    rows: list[list[object]] = []
    counted: set[tuple[int, int]] = set()
    for column, _, captions in costs:
        frames = sum(usage.frames for usage in captions.by_video.values())
        # Columns that read the same captions share one `CaptionUsage`.
        key = (id(column.run), id(captions))
        if key not in counted and frames:
            counted.add(key)
            per_video = f"{frames / len(captions.by_video):,.1f} a video"
            rows.append([f"as made: captions of {column.name}", f"{frames:,}", per_video])
    return rows


def _answer_rows(
    costs: Sequence[tuple[ReportColumn, AmortisedCost, CaptionUsage]],
) -> list[list[object]]:
    rows: list[list[object]] = []
    for column, cost, _ in costs:
        if column.condition.is_video_qa:
            limit = column.run.config.frame_limit(column.arm.reader)
            per_question = cost.frames_ask / max(1, cost.questions)
            sent = f"{per_question:,.1f} a question, at most {limit}"
            rows.append([f"as sent: {column.name}", f"{cost.frames_ask:,}", sent])
    return rows
