"""Accuracy by tag, evidence position, duration, source and so on: tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from egomem.report import charts
from egomem.report.cell_format import (
    accuracy_cell,
    baseline_rows,
    best_baseline,
    format_unread,
    points_cell,
    sum_by_status,
    with_source,
)
from egomem.report.chart_series import group_by_panel, legend, series_styles
from egomem.report.columns import ReportColumn
from egomem.report.table import (
    Cell,
    CellValue,
    Chart,
    ChartPanel,
    ReportTable,
    Section,
    build_table,
)
from egomem.score import (
    BASELINES,
    GroupAccuracy,
    Slice,
    SliceRow,
    SliceTable,
    by_frame_cap,
    by_video_field,
    duration_strata,
    leave_one_out,
    middle_drop,
    middle_drop_interval,
    standard_slices,
)
from egomem.score.slices import NOT_STATED

TITLES = {"long": "duration, in two", "type": "type of question", "answerable": "answerable or not"}
"""Titles of the slices whose name is too short for one."""

EVIDENCE_POSITION = "evidence position"
CHARTED = ("duration", EVIDENCE_POSITION)
"""Slices with an order along which a line makes sense."""

UNPLACED = (NOT_STATED, "no evidence")
"""Labels of questions that have no place in that order."""


Figures = Mapping[str, GroupAccuracy]
"""Label -> the figure of that group of questions."""


def report_slices(columns: Sequence[ReportColumn]) -> list[Slice]:
    """The slices of a report, by its options; the frame cap is that of the first run."""
    config, options = columns[0].run.config, columns[0].options
    cap = by_frame_cap(config.frames, config.fps)
    slices = standard_slices(bins=options.bins, regimes=options.regimes)
    return [cap if by.name == cap.name else by for by in slices]


def slices_section(columns: Sequence[ReportColumn]) -> Section:
    """Accuracy by every slice that has two labels or more."""
    parts: list[ReportTable | Chart] = []
    for by in report_slices(columns)[1:]:  # the first one is the whole, which has its own section
        tables = [column.slice_table(by) for column in columns]
        labels = list(dict.fromkeys(row.label for table in tables for row in table.rows))
        if len(labels) < 2:
            continue
        parts += _tables(columns, by, tables, labels)
        placed = [label for label in labels if label not in UNPLACED]
        if by.name in CHARTED and len(placed) > 1:
            parts.append(_chart(columns, by, tables, placed))
        if by.name == EVIDENCE_POSITION:
            parts += _middle_drop(columns, by, tables)
    parts += _leave_one_source_out(columns)
    return Section(title="Accuracy by group", parts=tuple(parts))


def _tables(
    columns: Sequence[ReportColumn], by: Slice, tables: Sequence[SliceTable], labels: Sequence[str]
) -> list[ReportTable]:
    title = f"{TITLES.get(by.name, by.name).capitalize()}, accuracy %"
    figures = [{row.label: row.figure for row in table.rows} for table in tables]
    return [build_slice_table(title, columns, labels, figures, _sentence(by.note))]


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:].rstrip('.')}." if note else ""


def _find_figure(table: SliceTable, label: str) -> GroupAccuracy | None:
    return next((row.figure for row in table.rows if row.label == label), None)


def _chart(
    columns: Sequence[ReportColumn], by: Slice, tables: Sequence[SliceTable], labels: Sequence[str]
) -> Chart:
    first = [next(f for t in tables if (f := _find_figure(t, x)) is not None) for x in labels]
    categories = [(label, f"n {f.n}") for label, f in zip(labels, first, strict=True)]
    baseline = [
        None if (best := best_baseline(f)) is None else 100 * best[1].accuracy for f in first
    ]
    series = {
        column.name: [_percent(_find_figure(table, label)) for label in labels]
        for column, table in zip(columns, tables, strict=True)
    }
    values = [value for row in series.values() for value in row if value is not None]
    panels = []
    for title, panel_columns in group_by_panel(columns).items():
        lines = {column.series: series[column.name] for column in panel_columns}
        lines["best blind baseline"] = baseline
        svg = charts.line_chart(
            lines,
            categories,
            y_label="accuracy %",
            styles=series_styles(columns),
            y_max=max(values, default=None),
        )
        panels.append(ChartPanel(title=title, svg=svg))
    return Chart(
        title=f"Accuracy by {by.name}",
        panels=tuple(panels),
        legend=legend(columns, ("best blind baseline", charts.REFERENCE_STYLE)),
    )


def _percent(figure: GroupAccuracy | None) -> float | None:
    return None if figure is None or figure.accuracy is None else 100 * figure.accuracy


def _middle_drop(
    columns: Sequence[ReportColumn], by: Slice, tables: Sequence[SliceTable]
) -> list[ReportTable]:
    """The middle drop of each column and of each blind baseline."""
    rows: list[list[object]] = []
    for column, table in zip(columns, tables, strict=True):
        interval = middle_drop_interval(
            column.scored,
            by,
            duration_strata(column.scored, column.options.regimes[-1:]),
            intervals=column.options.intervals,
        )
        if interval is None:
            continue
        placed = [row.figure for row in table.rows if row.label not in UNPLACED]
        n, by_status = sum(f.n for f in placed), sum_by_status(f.by_status for f in placed)
        cell = points_cell(interval, len(set(column.scored.clusters)), n)
        cell = with_source(column, cell.model_copy(update={"by_status": by_status}))
        rows.append([column.name, n, cell, format_unread(by_status)])
    if not rows:
        return []
    baselines: list[list[object]] = []
    for name in BASELINES:
        drop = middle_drop(_baseline_table(tables[0], name))
        if drop is not None:
            baselines.append([name, rows[0][1], f"{100 * drop:+.1f}", ""])
    note = (
        "Middle drop: the mean accuracy of the first and the last bin, less that of the bins in "
        "between (our reading of CapMem's term)."
    )
    headings = ("setting", "n", "points", "not read")
    return [build_table("Middle drop", headings, [*rows, *baselines], note, len(baselines))]


def _baseline_table(table: SliceTable, name: str) -> SliceTable:
    """The same slice, answered by a blind baseline."""
    rows = []
    for row in table.rows:
        if name in row.figure.blind:
            baseline = row.figure.blind[name]
            right = baseline.accuracy * baseline.n
            figure = GroupAccuracy(n=baseline.n, right=right, by_status={}, blind={})
            rows.append(SliceRow(label=row.label, figure=figure))
    return SliceTable(view=table.view, rows=tuple(rows))


def _leave_one_source_out(columns: Sequence[ReportColumn]) -> list[ReportTable]:
    by = Slice("leave one source out", by_video_field("source_dataset"))
    tables = [leave_one_out(column.scored, by) for column in columns]
    labels = list(dict.fromkeys(row.label for table in tables for row in table.rows))
    return _tables(columns, by, tables, labels) if labels else []


def build_slice_table(
    title: str,
    columns: Sequence[ReportColumn],
    labels: Sequence[str],
    figures: Sequence[Figures],
    note: str,
) -> ReportTable:
    """One table of every column and label, each label with its n, and the blind baselines of the
    same questions below.

    `figures` has the figures of each of `columns`; a column may lack a label. However many columns
    there are, they are rows: a page scrolls down, and LaTeX splits rows and wide tables itself.
    """
    first = {label: next(f[label] for f in figures if label in f) for label in labels}
    rows = [[c.name, *_cells(c, f, first)] for c, f in zip(columns, figures, strict=True)]
    baselines = baseline_rows(list(first.values()))
    headings: list[Cell] = ["setting", *_headings(first)]
    return build_table(title, headings, [*rows, *baselines], note, footer_rows=len(baselines))


def _headings(first: Figures) -> list[CellValue]:
    return [CellValue(text=label, detail=f"n {f.n}", n=f.n) for label, f in first.items()]


def _cells(column: ReportColumn, figures: Figures, first: Figures) -> list[CellValue]:
    return [_cell(column, figures, label, f) for label, f in first.items()]


def _cell(column: ReportColumn, figures: Figures, label: str, first: GroupAccuracy) -> CellValue:
    return with_source(column, accuracy_cell(figures.get(label), first.n))
