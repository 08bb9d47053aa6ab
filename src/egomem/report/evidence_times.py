"""Cited against the key's evidence: hits, overlap and distance beside blind baselines."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.report.columns import ReportColumn
from egomem.report.table import Section, build_table
from egomem.score import evidence_baselines, evidence_times
from egomem.score.evidence_times import BASELINE_S, RIGHT_EVIDENCE_S
from egomem.score.summary import EVIDENCE_HEADINGS, evidence_cells


def evidence_section(columns: Sequence[ReportColumn]) -> Section:
    """Whether the answers of each column rest on the key's moments; empty where none cites any."""
    figures = {column.name: evidence_times(column.scored, column.name) for column in columns}
    cited = [column for column in columns if (f := figures[column.name]) and f.cited]
    if not cited:
        return Section(title="Evidence time")
    rows = [evidence_cells(figure) for c in cited if (figure := figures[c.name])]
    # The questions are those of the column that has most: baselines look at no answer.
    widest = max(cited, key=lambda column: len(column.scored))
    baselines = [evidence_cells(figure) for figure in evidence_baselines(widest.scored)]
    note = (
        f"Of the n questions whose key names evidence. Hit: cited evidence lies within so many "
        f"seconds of the key's, in per cent of n; who cites nothing has missed. IoU: mean of "
        f"intersection over union, where the key's evidence has a length. Distance and seconds "
        f"cited: medians in seconds, of the answers that cite. The last three columns: strict "
        f"accuracy in per cent (and n) with evidence within {RIGHT_EVIDENCE_S:g} s, with other "
        f"evidence, and with none. Below: baselines that cite {BASELINE_S:g} s without a look, "
        f"just before the question is asked (the video's end where no time is known) and in the "
        f"middle of what has passed. Tolerances and lengths are our reconstruction."
    )
    table = build_table(
        "Cited evidence", EVIDENCE_HEADINGS, [*rows, *baselines], note, len(baselines)
    )
    return Section(title="Evidence time", parts=(table,))
