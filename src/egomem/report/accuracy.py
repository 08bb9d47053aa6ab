"""Accuracy of every column, with its interval, n by status and the blind baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.report import charts
from egomem.report.bootstrap_columns import (
    RESAMPLING,
    ColumnBootstrap,
    best_baseline,
    format_statuses,
    group_by_panel,
    series_styles,
)
from egomem.report.cell_format import INTERVAL_WARNINGS, baseline_rows, percent_cell, with_source
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue, Chart, ChartPanel, ReportTable, Section, build_table
from egomem.score import Accuracies, accuracies, answerability, group_accuracy
from egomem.score.summary import format_percent
from egomem.text import plural

MEANING = (
    "Strict: right over all questions; whatever is not a right answer is wrong. Answered: right "
    "over the questions whose reply was read, as a choice or as saying that it cannot be told; "
    "what was refused, cut off, unreadable, in error or missing is left out. Macro: the mean over "
    f"clusters of each one's strict accuracy. {RESAMPLING}. "
    f"{INTERVAL_WARNINGS[0].upper()}{INTERVAL_WARNINGS[1:]}. Below the line: what the "
    "questions give away without looking; a figure has to beat it."
)

MAX_ROWS = 20
"""Rows of a table of all columns; of more, each setting has a table of its own."""


def accuracy_section(entries: Sequence[ReportColumn], held: Sequence[ColumnBootstrap]) -> Section:
    """Strict accuracy with its interval, n by status, and the blind baselines."""
    unscored = sum(e.sheet.unscored for e in entries[:1])
    text = (
        [f"{plural(unscored, 'question has', 'questions have')} no key, and no score."]
        if unscored
        else []
    )
    parts: list[ReportTable | Chart] = []
    for drawn in held:
        parts += _tables(drawn)
        if drawn.groups > 1:
            parts.append(_chart(entries, drawn))
    if parts:
        text.append(MEANING)
    return Section(title="Accuracy", text=tuple(text), parts=(*parts, *_answerability(entries)))


def _tables(drawn: ColumnBootstrap) -> Iterator[ReportTable]:
    """One table, or one for each setting where there are many columns."""
    title = drawn.titled("Overall")
    held = accuracies([e.sheet for e in drawn.entries], drawn.strata)
    rows = [(e, _row(e, made)) for e, made in zip(drawn.entries, held, strict=True)]
    if len(rows) <= MAX_ROWS:
        yield _table(title, "setting", drawn, [[e.name, *row] for e, row in rows])
        return
    for series in dict.fromkeys(e.series for e in drawn.entries):
        own = [[e.panel, *row] for e, row in rows if e.series == series]
        yield _table(f"{title}, {series}", "reader", drawn, own)


def _row(entry: ReportColumn, made: Accuracies) -> list[object]:
    counts = group_accuracy(entry.sheet)
    strict = percent_cell(made.strict, made.clusters, made.n)
    answered = CellValue(text="-")
    if made.answered is not None:
        answered = percent_cell(made.answered, made.clusters, made.n_answered)
    return [
        made.n,
        with_source(entry, strict.model_copy(update={"by_status": counts.by_status})),
        with_source(entry, answered),
        made.n_answered,
        with_source(entry, percent_cell(made.macro, made.clusters, made.clusters)),
        made.clusters,
        format_statuses(counts),
    ]


def _table(title: str, first: str, drawn: ColumnBootstrap, rows: list[list[object]]) -> ReportTable:
    blind = [
        [name, drawn.n, value, "", "", "", "", ""]
        for name, value in baseline_rows([group_accuracy(drawn.entries[0].sheet)])
    ]
    return build_table(
        title,
        (first, "n", "strict %", "answered %", "n answered", "macro %", "clusters", "n by status"),
        [*rows, *blind],
        foot=len(blind),
    )


def _chart(entries: Sequence[ReportColumn], drawn: ColumnBootstrap) -> Chart:
    made = group_accuracy(drawn.entries[0].sheet)
    across = {"chance": 100 * (made.chance or 0.0)}
    if best := best_baseline(made):
        across[f"best blind baseline ({best[0]})"] = 100 * best[1].accuracy
    at = {id(e): k for k, e in enumerate(drawn.entries)}
    top = 100 * max(drawn.drawn.interval(k).high for k in at.values())
    found = []
    for title, own in group_by_panel(drawn.entries).items():
        rows = []
        for entry in own:
            held = drawn.drawn.interval(at[id(entry)])
            rows.append((entry.series, 100 * held.value, 100 * held.low, 100 * held.high))
        made_svg = charts.interval_chart(
            rows,
            x="accuracy %",
            looks=series_styles(entries),
            across=across,
            top=max(top, *across.values()),
        )
        found.append(ChartPanel(title=title, svg=made_svg))
    note = ", ".join(f"{name} {value:.1f} %" for name, value in across.items())
    return Chart(
        title=drawn.titled("Accuracy with 95 % intervals"),
        panels=tuple(found),
        note=f"n {made.n}. Dashed: {note}.",
    )


def _answerability(entries: Sequence[ReportColumn]) -> list[ReportTable]:
    if not any(q.answerable is False for e in entries[:1] for q in e.sheet.questions):
        return []
    rows = []
    for entry in entries:
        held = answerability(entry.sheet)
        rows.append(
            [
                entry.name,
                held.answerable,
                held.n - held.answerable,
                format_percent(held.f1),
                format_percent(held.f1_always_answering),
                format_percent(held.f1_unanswerable),
                format_percent(held.f1_macro),
            ]
        )
    heads = (
        "setting", "n answerable", "n unanswerable", "Ans-F1 %", "always answering %",
        "unanswerable F1 %", "macro F1 %",
    )  # fmt: skip
    note = "Positive is answerable (methods of SuperMemory-VQA, inferred)."
    return [build_table("Answerable or not", heads, rows, note)]
