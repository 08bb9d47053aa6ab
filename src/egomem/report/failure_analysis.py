"""What a look at the frames changed, and why answers are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from egomem.answer.verify.verdict import CAVEAT
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue, Section, build_table
from egomem.score import (
    Explanation,
    FailureMode,
    OracleAnswer,
    count_failure_modes,
    effects_by_support,
    explain_failure,
)
from egomem.score.verify_effects import NO_VERDICT


def verification_section(entries: Sequence[ReportColumn]) -> Section:
    """What the look at the frames did to the caption answers, by level of support."""
    rows: list[list[object]] = []
    for entry in entries:
        if not entry.way.verifies:
            continue
        for level, made in effects_by_support(entry.sheet).items():
            rows.append(
                [
                    entry.name,
                    level,
                    made.n,
                    made.overridden,
                    made.fixed,
                    made.broken,
                    made.blocked,
                    made.blocked_fix,
                    made.blocked_break,
                ]
            )
    heads = (
        "setting", "support", "n", "overridden", "fixed", "broken", "blocked",
        "would have fixed", "would have broken",
    )  # fmt: skip
    note = (
        "Questions. Overridden: the caption answer was replaced, which fixed a wrong one, broke a "
        "right one, or neither. Blocked: the rule forbade another answer; what it would have done."
    )
    if any(row[1] == NO_VERDICT for row in rows):
        note += (
            " No verdict: nothing was looked at, or what was said of it could not be read; no "
            "answer was replaced."
        )
    return Section(
        title="Retrieve and verify",
        text=(CAVEAT,) if rows else (),
        parts=(build_table("Effects", heads, rows, note),) if rows else (),
    )


def is_explainable(entry: ReportColumn) -> bool:
    """Whether wrong answers of a column have a reason: not where nothing is read, and not of the
    oracles, which give the reasons."""
    return not entry.way.bounds


class OracleColumns(NamedTuple):
    """The oracle settings that explain a column. `other`: how the captions that the first one
    reads differ from those of the column; "" where they are the same."""

    captions: ReportColumn | None
    frames: ReportColumn | None
    other: str = ""


def oracle_columns(entry: ReportColumn, entries: Sequence[ReportColumn]) -> OracleColumns:
    """Those of the same run and reader; of captions, the ones of the same track where there are."""
    mine = [
        e
        for e in entries
        if e.run is entry.run
        and e.column.reader == entry.column.reader
        and e.column.captioner in ("", entry.column.captioner)
    ]
    frames = next((e for e in mine if e.way.oracle == "frames"), None)
    if entry.way.captions == "none":
        return OracleColumns(None, frames)
    if entry.way.reads_track:
        fit = [e for e in mine if e.way.oracle == "captions"]
    else:
        fit = [e for e in mine if e.way.evidence and e.way.strategy == entry.way.strategy]
    captions = min(fit, key=lambda e: _read(e) != _read(entry), default=None)
    if captions is None or _read(captions) == _read(entry):
        return OracleColumns(captions, frames)
    return OracleColumns(captions, frames, f"of other captions: {_captions_of(captions)}")


def _read(entry: ReportColumn) -> tuple[object, ...]:
    """Which captions a column reads."""
    track = entry.run.about.get("tracks", {}).get(entry.column.label)
    return entry.way.captions, entry.way.window, track


def _captions_of(entry: ReportColumn) -> str:
    way = entry.way
    if way.window is None:
        return "those of the memory"
    return f"{way.window:g} s windows{' of aligned frames' if way.captions == 'aligned' else ''}"


def explain_column(
    entry: ReportColumn, entries: Sequence[ReportColumn]
) -> dict[str, Explanation | None]:
    """Why each answer of a column is wrong, by question; from its trace and the oracle settings of
    the same reader."""
    held = oracle_columns(entry, entries)

    def given(by: ReportColumn | None, id: str, other: str = "") -> OracleAnswer | None:
        answer = by.answers.get(id) if by else None
        if by is None or answer is None:
            return None
        return OracleAnswer(answer=answer, name=by.column.setting, other=other)

    return {
        q.id: explain_failure(
            q,
            entry.answers.get(q.id),
            oracle_captions=given(held.captions, q.id, held.other),
            oracle_frames=given(held.frames, q.id),
        )
        for q in entry.sheet.questions
    }


def failure_section(entries: Sequence[ReportColumn]) -> Section:
    """How many wrong answers fall under each reason, and by which oracles."""
    rows: list[list[object]] = []
    for entry in entries:
        if not is_explainable(entry):
            continue
        found = explain_column(entry, entries)
        counts = count_failure_modes(found.values())
        sure = sum(e.sure for e in found.values() if e is not None)
        wrong = sum(e is not None for e in found.values())
        by, missing = _used(entry, oracle_columns(entry, entries))
        counted = [_linked(n, setting=entry.name, why=why) for why, n in counts.items()]
        shown = _linked(wrong, setting=entry.name, answer="wrong")
        rows.append([entry.name, len(found), shown, *counted, sure, by, missing])
    heads = (
        "setting", "n", "wrong", *(why.value for why in FailureMode),
        "of these shown, not inferred", "oracles", "would show more",
    )  # fmt: skip
    note = (
        "Questions. From the trace and the oracle settings, which are shown the evidence alone. A "
        "reason is shown where the trace tells it, with an oracle of the very captions or of no "
        "more frames of the evidence; else it is what is left. An oracle of other captions shows "
        "nothing for sure. Misread by the look: verify replaced an answer by a wrong one."
    )
    parts = (build_table("Wrong answers by reason", heads, rows, note),) if rows else ()
    return Section(title="Why wrong", parts=parts)


def _linked(count: int, **wanted: str) -> CellValue:
    """A count of questions that leads to them."""
    return CellValue(text=str(count), questions=urlencode(wanted) if count else "")


def _used(entry: ReportColumn, held: OracleColumns) -> tuple[str, str]:
    """The oracles that explain a column, and the settings that a run needs to show more."""
    used = [
        f"{by.column.setting}{f' ({other})' if other else ''}"
        for by, other in ((held.captions, held.other), (held.frames, ""))
        if by is not None
    ]
    missing = []
    if entry.way.captions != "none" and (held.captions is None or held.other):
        missing.append(_wanted(entry))
    if held.frames is None and entry.way.asks:
        missing.append("video@evidence")
    return ", ".join(used) or "none", ", ".join(missing)


def _wanted(entry: ReportColumn) -> str:
    """The setting that reads the evidence alone of the captions that a column reads."""
    way = entry.way
    if not way.reads_track:
        return f"{way.name}@evidence"
    if way.window is None:
        return "caption@evidence"
    return f"{'aligned' if way.captions == 'aligned' else 'caption'}@{way.window:g}@evidence"
