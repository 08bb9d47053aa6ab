"""Why answers are wrong: not observed, not retrieved, misread or wrongly abstained, as far as the
traces and the oracle settings tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from egomem.evaluate.conditions import ALIGNED, CAPTION, EVIDENCE, VIDEO
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue, Section, build_table
from egomem.score import (
    Explanation,
    FailureMode,
    OracleAnswer,
    count_failure_modes,
    explain_failure,
)


def is_explainable(column: ReportColumn) -> bool:
    """Whether wrong answers of a column have a reason to look for: the blind ones read nothing, and
    the oracles are what gives the reasons of the others."""
    return not column.condition.bounds


class OracleColumns(NamedTuple):
    """The oracle columns that explain a column.

    `difference` says how the captions of the first one differ from those of the column; "" where
    they are the same.
    """

    captions: ReportColumn | None
    frames: ReportColumn | None
    difference: str = ""


def oracle_columns(column: ReportColumn, columns: Sequence[ReportColumn]) -> OracleColumns:
    """The oracles of the same run and reader; of captions, the one of the same track where there is
    one."""
    related = [
        other
        for other in columns
        if other.run is column.run
        # Another reader's oracle tells what that one can read.
        and other.arm.reader == column.arm.reader
        and other.arm.captioner in ("", column.arm.captioner)
    ]
    frames = next((c for c in related if c.condition.oracle == "frames"), None)
    condition = column.condition
    if condition.captions == "none":
        return OracleColumns(None, frames)
    if condition.reads_track:
        candidates = [c for c in related if c.condition.oracle == "captions"]
    else:
        candidates = [
            c
            for c in related
            if c.condition.evidence and c.condition.strategy == condition.strategy
        ]
    # Any oracle of captions is better than none, and the right one is better than any.
    captions = min(
        candidates, key=lambda c: _captions_read(c) != _captions_read(column), default=None
    )
    # The difference is told with each reason that rests on it.
    if captions is None or _captions_read(captions) == _captions_read(column):
        return OracleColumns(captions, frames)
    return OracleColumns(captions, frames, f"of other captions: {_describe_captions(captions)}")


def _captions_read(column: ReportColumn) -> tuple[object, ...]:
    """What decides which captions a column reads."""
    return column.condition.captions, column.condition.window, column.track


def _describe_captions(column: ReportColumn) -> str:
    condition = column.condition
    if condition.captions == "whole":
        return "one of the whole video"
    if condition.window is None:
        return "those of the memory"
    aligned = " of aligned frames" if condition.captions == "aligned" else ""
    return f"{condition.window:g} s windows{aligned}"


def explain_column(
    column: ReportColumn, columns: Sequence[ReportColumn]
) -> dict[str, Explanation | None]:
    """Why each answer of a column is wrong, by question id; None for the right ones."""
    oracles = oracle_columns(column, columns)

    def oracle_answer(
        source: ReportColumn | None, id: str, difference: str = ""
    ) -> OracleAnswer | None:
        answer = source.answers.get(id) if source else None
        if source is None or answer is None:
            return None
        return OracleAnswer(answer=answer, name=source.arm.setting, other=difference)

    return {
        question.id: explain_failure(
            question,
            column.answers.get(question.id),
            oracle_captions=oracle_answer(oracles.captions, question.id, oracles.difference),
            oracle_frames=oracle_answer(oracles.frames, question.id),
        )
        for question in column.scored.questions
    }


def failure_section(columns: Sequence[ReportColumn]) -> Section:
    """How many wrong answers have each reason, and which oracles the reasons rest on."""
    rows: list[list[object]] = []
    for column in columns:
        if not is_explainable(column):
            continue
        explanations = explain_column(column, columns)
        wrong = [e for e in explanations.values() if e is not None]
        used, missing = _oracle_settings(column, oracle_columns(column, columns))
        counts = [
            _linked_cell(count, setting=column.name, why=reason)
            for reason, count in count_failure_modes(explanations.values()).items()
        ]
        rows.append(
            [
                column.name,
                len(explanations),
                _linked_cell(len(wrong), setting=column.name, answer="wrong"),
                *counts,
                sum(e.sure for e in wrong),
                used,
                missing,
            ]
        )
    headings = (
        "setting", "n", "wrong", *(mode.value for mode in FailureMode), "of these certain",
        "oracles used", "oracles to add",
    )  # fmt: skip
    note = (
        "Numbers of questions. The reasons follow from each answer's trace and from the oracle "
        "settings, which get the evidence alone. A reason is certain where the trace shows it, "
        "together with an oracle that read the same captions or saw no more frames of the "
        "evidence; otherwise it is inferred by exclusion. An oracle that read other captions makes "
        "nothing certain. Misread by the look: verification replaced the right answer by a wrong "
        "one."
    )
    tables = (build_table("Wrong answers by reason", headings, rows, note),) if rows else ()
    return Section(title="Why wrong", parts=tables)


def _linked_cell(count: int, **filters: str) -> CellValue:
    """A count of questions that links to them in the question browser."""
    return CellValue(text=str(count), question_filter=urlencode(filters) if count else "")


def _oracle_settings(column: ReportColumn, oracles: OracleColumns) -> tuple[str, str]:
    """The oracles that explain a column, and the settings to add to a run to explain more."""
    used = []
    if oracles.captions is not None:
        difference = f" ({oracles.difference})" if oracles.difference else ""
        used.append(f"{oracles.captions.arm.setting}{difference}")
    if oracles.frames is not None:
        used.append(oracles.frames.arm.setting)
    missing = []
    condition = column.condition
    # One caption of a whole video has no part that is the evidence's alone.
    if condition.captions not in ("none", "whole") and (
        oracles.captions is None or oracles.difference
    ):
        missing.append(_caption_oracle_setting(column))
    if condition.asks and oracles.frames is None:
        missing.append(f"{VIDEO}@{EVIDENCE}")
    return ", ".join(used) or "none", ", ".join(missing)


def _caption_oracle_setting(column: ReportColumn) -> str:
    """The setting that reads only the evidence of the very captions that a column reads."""
    condition = column.condition
    if not condition.reads_track:
        return f"{condition.name}@{EVIDENCE}"
    if condition.window is None:
        return f"{CAPTION}@{EVIDENCE}"
    kind = ALIGNED if condition.captions == "aligned" else CAPTION
    return f"{kind}@{condition.window:g}@{EVIDENCE}"
