"""Tables of slices by column that fit a page, however many readers and settings there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from egomem.report.cell_format import accuracy_cell, baseline_rows, with_source
from egomem.report.columns import ReportColumn
from egomem.report.table import Cell, CellValue, ReportTable, build_table
from egomem.score import GroupAccuracy

MAX_GROUPS_ACROSS = 8
"""Labels of a slice side by side; with more, each label is a row."""

MAX_ROWS = 20
"""Columns of the report below each other; with more, a row is a reader and the settings are side by
side."""

MAX_FIGURES_ACROSS = 12
"""Figures in a row where settings are side by side."""

Figures = Mapping[str, GroupAccuracy]
"""Label -> the figure of that group of questions."""


def slice_tables(
    title: str,
    columns: Sequence[ReportColumn],
    labels: Sequence[str],
    figures: Sequence[Figures],
    note: str,
) -> list[ReportTable]:
    """Tables of every label and column, each with n and the blind baselines of its questions.

    `figures` has the figures of each of `columns`; a column may lack a label.
    """
    # n and the baselines of a label are the same for all columns that have it.
    first = {label: next(f[label] for f in figures if label in f) for label in labels}
    if len(labels) > MAX_GROUPS_ACROSS:
        return list(_row_per_label(title, columns, first, figures, note))
    if len(columns) <= MAX_ROWS:
        return [_row_per_column(title, columns, first, figures, note)]
    return list(_row_per_reader(title, columns, first, figures, note))


def _row_per_column(
    title: str,
    columns: Sequence[ReportColumn],
    first: Figures,
    figures: Sequence[Figures],
    note: str,
) -> ReportTable:
    rows = [[c.name, *_cells(c, f, first)] for c, f in zip(columns, figures, strict=True)]
    baselines = baseline_rows(list(first.values()))
    headings: list[Cell] = ["setting", *_headings(first)]
    return build_table(title, headings, [*rows, *baselines], note, footer_rows=len(baselines))


def _row_per_reader(
    title: str,
    columns: Sequence[ReportColumn],
    first: Figures,
    figures: Sequence[Figures],
    note: str,
) -> Iterator[ReportTable]:
    """A row for each reader; settings side by side, each with its labels, in several tables."""
    by_name = {(c.panel, c.series): (c, f) for c, f in zip(columns, figures, strict=True)}
    readers = list(dict.fromkeys(column.panel for column in columns))
    all_series = list(dict.fromkeys(column.series for column in columns))
    empty = [""] * len(first)
    for some in split_evenly(all_series, max(1, MAX_FIGURES_ACROSS // len(first))):
        rows = []
        for reader in readers:
            pairs = (by_name.get((reader, series)) for series in some)
            cells = (_cells(*pair, first) if pair else empty for pair in pairs)
            rows.append([reader, *(cell for series_cells in cells for cell in series_cells)])
        baselines = baseline_rows(list(first.values()) * len(some))
        yield build_table(
            f"{title}: {', '.join(some)}",
            ("reader", *(heading for _ in some for heading in _headings(first))),
            [*rows, *baselines],
            note,
            footer_rows=len(baselines),
            column_groups=(("", 1), *((series, len(first)) for series in some)),
        )


def _row_per_label(
    title: str,
    columns: Sequence[ReportColumn],
    first: Figures,
    figures: Sequence[Figures],
    note: str,
) -> Iterator[ReportTable]:
    """A row for each label; readers side by side, a table for each setting where there are many
    columns; the baselines have a table of their own."""
    pairs = list(zip(columns, figures, strict=True))
    by_series = [("", pairs)]
    if len(pairs) > MAX_GROUPS_ACROSS:
        names = dict.fromkeys(column.series for column in columns)
        by_series = [(name, [pair for pair in pairs if pair[0].series == name]) for name in names]
    for series, series_pairs in by_series:
        for some in split_evenly(series_pairs, MAX_GROUPS_ACROSS):
            rows = [
                [
                    label,
                    f.n,
                    *(_cell(column, column_figures, label, f) for column, column_figures in some),
                ]
                for label, f in first.items()
            ]
            headings = ("", "n", *(c.panel if series else c.name for c, _ in some))
            yield build_table(f"{title}: {series}" if series else title, headings, rows, note)
    baselines = baseline_rows(list(first.values()))
    rows = [
        [label, f.n, *(baseline[k] for baseline in baselines)]
        for k, (label, f) in enumerate(first.items(), 1)
    ]
    headings = ("", "n", *(str(baseline[0]) for baseline in baselines))
    yield build_table(f"{title}: blind baselines", headings, rows, note)


T = TypeVar("T")


def split_evenly(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Parts of at most `size`, in order and about equally long, so that none has a lone item."""
    count = -(-len(items) // size)
    return (items[k * len(items) // count : (k + 1) * len(items) // count] for k in range(count))


def _headings(first: Figures) -> list[CellValue]:
    return [CellValue(text=label, detail=f"n {f.n}", n=f.n) for label, f in first.items()]


def _cells(column: ReportColumn, figures: Figures, first: Figures) -> list[CellValue]:
    return [_cell(column, figures, label, f) for label, f in first.items()]


def _cell(column: ReportColumn, figures: Figures, label: str, first: GroupAccuracy) -> CellValue:
    return with_source(column, accuracy_cell(figures.get(label), first.n))
