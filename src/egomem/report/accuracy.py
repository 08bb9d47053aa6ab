"""Accuracy of every column, with its interval, n by status and the blind baselines."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.report import charts
from egomem.report.bootstrap_columns import ColumnBootstrap
from egomem.report.cell_format import (
    baseline_rows,
    best_baseline,
    format_statuses,
    percent_cell,
    with_source,
)
from egomem.report.chart_series import group_by_panel, series_styles
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue, Chart, ChartPanel, ReportTable, Section, build_table
from egomem.score import Accuracies, accuracies, answerability, group_accuracy
from egomem.score.summary import format_percent
from egomem.text import plural


def accuracy_section(columns: Sequence[ReportColumn], groups: Sequence[ColumnBootstrap]) -> Section:
    """Strict, answered and macro accuracy with intervals, n by status, and the blind baselines."""
    unscored = sum(column.scored.unscored for column in columns[:1])
    text = (
        [f"{plural(unscored, 'question has', 'questions have')} no key, and no score."]
        if unscored
        else []
    )
    parts: list[ReportTable | Chart] = []
    for group in groups:
        parts.append(_overall(group))
        if group.n_clusters > 1:
            parts.append(_chart(columns, group))
    return Section(title="Accuracy", text=tuple(text), parts=(*parts, *_answerability(columns)))


def _overall(group: ColumnBootstrap) -> ReportTable:
    """A row for each column, and the blind baselines."""
    all_accuracies = accuracies(
        [column.scored for column in group.columns],
        group.strata,
        intervals=group.columns[0].options.intervals,
    )
    rows = [
        [column.name, *_row(column, accuracy)]
        for column, accuracy in zip(group.columns, all_accuracies, strict=True)
    ]
    return _table(group.titled("Overall"), "setting", group, rows)


def _row(column: ReportColumn, accuracy: Accuracies) -> list[object]:
    counts = group_accuracy(column.scored)
    strict = percent_cell(accuracy.strict, accuracy.clusters, accuracy.n)
    answered = CellValue(text="-")
    if accuracy.answered is not None:
        answered = percent_cell(accuracy.answered, accuracy.clusters, accuracy.n_answered)
    return [
        accuracy.n,
        with_source(column, strict.model_copy(update={"by_status": counts.by_status})),
        with_source(column, answered),
        accuracy.n_answered,
        with_source(column, percent_cell(accuracy.macro, accuracy.clusters, accuracy.clusters)),
        accuracy.clusters,
        format_statuses(counts),
    ]


def _table(
    title: str, first_heading: str, group: ColumnBootstrap, rows: list[list[object]]
) -> ReportTable:
    baselines = [
        [name, group.n, cell, "", "", "", "", ""]
        for name, cell in baseline_rows([group_accuracy(group.columns[0].scored)])
    ]
    headings = (
        first_heading, "n", "strict %", "answered %", "n answered", "macro %", "clusters",
        "n by status",
    )  # fmt: skip
    return build_table(title, headings, [*rows, *baselines], footer_rows=len(baselines))


def _chart(columns: Sequence[ReportColumn], group: ColumnBootstrap) -> Chart:
    first = group_accuracy(group.columns[0].scored)
    references = {"chance": 100 * (first.chance or 0.0)}
    if best := best_baseline(first):
        references[f"best blind baseline ({best[0]})"] = 100 * best[1].accuracy
    intervals = {column.name: group.bootstrap.interval(k) for k, column in enumerate(group.columns)}
    x_max = max(*references.values(), *(100 * interval.high for interval in intervals.values()))
    panels = []
    for title, panel_columns in group_by_panel(group.columns).items():
        rows = []
        for column in panel_columns:
            interval = intervals[column.name]
            percents = (100 * interval.value, 100 * interval.low, 100 * interval.high)
            rows.append((column.series, *percents))
        svg = charts.interval_chart(
            rows,
            x_label="accuracy %",
            styles=series_styles(columns),
            references=references,
            x_max=x_max,
        )
        panels.append(ChartPanel(title=title, svg=svg))
    values = ", ".join(f"{name} {value:.1f} %" for name, value in references.items())
    return Chart(
        title=group.titled("Accuracy with 95 % intervals"),
        panels=tuple(panels),
        note=f"n {first.n}. Dashed lines: {values}.",
    )


def _answerability(columns: Sequence[ReportColumn]) -> list[ReportTable]:
    """How well each column tells which questions can be answered; none where all can be."""
    if not any(q.answerable is False for c in columns[:1] for q in c.scored.questions):
        return []
    rows = []
    for column in columns:
        counts = answerability(column.scored)
        rows.append(
            [
                column.name,
                counts.answerable,
                counts.n - counts.answerable,
                format_percent(counts.f1),
                format_percent(counts.f1_always_answering),
                format_percent(counts.f1_unanswerable),
                format_percent(counts.f1_macro),
            ]
        )
    headings = (
        "setting", "n answerable", "n unanswerable", "Ans-F1 %", "always answering %",
        "unanswerable F1 %", "macro F1 %",
    )  # fmt: skip
    note = (
        "Ans-F1 after SuperMemory-VQA, with answerable as the positive class; that choice is "
        "inferred from its methods."
    )
    return [build_table("Answerable or not", headings, rows, note)]
