"""How the report's columns become series of its charts: grouping, styles and legends."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.report import charts
from egomem.report.columns import ReportColumn


def series_styles(columns: Sequence[ReportColumn]) -> dict[str, charts.SeriesStyle]:
    """The style of each series, the same in all charts of a report: pass all its columns."""
    names = dict.fromkeys(column.series for column in columns)
    return {name: charts.series_style(k) for k, name in enumerate(names)}


def group_by_panel(columns: Sequence[ReportColumn]) -> dict[str, list[ReportColumn]]:
    """The columns of each panel of a chart, by the panel's title."""
    groups: dict[str, list[ReportColumn]] = {}
    for column in columns:
        groups.setdefault(column.panel, []).append(column)
    return groups


def legend(
    columns: Sequence[ReportColumn],
    *references: tuple[str, charts.SeriesStyle],
    all_columns: Sequence[ReportColumn] = (),
) -> tuple[tuple[str, str], ...]:
    """Name and sample of each series and reference.

    `all_columns` are those of the report, where `columns` are only some of them.
    """
    styles = series_styles(all_columns or columns)
    series = [(name, styles[name]) for name in dict.fromkeys(c.series for c in columns)]
    return tuple((name, charts.legend_swatch(style)) for name, style in [*series, *references])
