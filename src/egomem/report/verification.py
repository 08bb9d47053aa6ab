"""What the verifier's look at the frames changed in the caption answers, by level of support."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.answer.verify.verdict import CAVEAT
from egomem.report.columns import ReportColumn
from egomem.report.table import Section, build_table
from egomem.score import effects_by_support
from egomem.score.verify_effects import NO_VERDICT


def verification_section(columns: Sequence[ReportColumn]) -> Section:
    """How many caption answers verification fixed, broke or was kept from changing."""
    rows: list[list[object]] = []
    for column in columns:
        if not column.condition.verifies:
            continue
        for level, counts in effects_by_support(column.scored).items():
            rows.append(
                [
                    column.name,
                    level,
                    counts.n,
                    _percent(counts.right_before, counts.n),
                    _percent(counts.right_after, counts.n),
                    f"{counts.gain:+.1f}" if counts.gain is not None else "",
                    counts.overridden,
                    counts.fixed,
                    counts.broken,
                    counts.blocked,
                    counts.blocked_clock,
                    counts.blocked_fix,
                    counts.blocked_break,
                ]
            )
    if not rows:
        return Section(title="Retrieve and verify")
    headings = (
        "setting", "support", "n", "captions", "verified", "gain", "overridden", "fixed", "broken",
        "blocked", "by a clock time", "would have fixed", "would have broken",
    )  # fmt: skip
    note = (
        "Captions, verified: strict accuracy of the caption answer and after verification, in "
        "percent; gain in points. The others: numbers of questions. Overridden: verification "
        "replaced the caption answer, which fixed a wrong one, broke a right one, or did neither. "
        "Blocked: the rule forbade a different answer, as its support was not strong or (next "
        "column) the question or an option names a clock time; the last two columns say what that "
        "answer would have done."
    )
    if any(row[1] == NO_VERDICT for row in rows):
        note += (
            " No verdict: no frame was looked at, or the verifier's reply could not be read; the "
            "caption answer was kept."
        )
    table = build_table("Effects", headings, rows, note)
    return Section(title="Retrieve and verify", text=(CAVEAT,), parts=(table,))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""
