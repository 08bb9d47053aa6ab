"""The report as one long table: a row for each cell of each table on the page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from egomem.evaluate.run_reader import Run
from egomem.report.cell_format import NONE, FigureSource, column_source
from egomem.report.columns import ReportColumn, run_name, short_model
from egomem.report.pagination import count_label_columns
from egomem.report.table import Cell, CellValue, ReportTable, Section, cell_text
from egomem.score import BASELINES

COLUMNS = (
    "run", "config_hash", "egomem", "setting", "reader", "captioner", "section", "table", "row",
    "column", "value", "low", "high", "n", "by_status", "text",
)  # fmt: skip

_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
_FIGURE = re.compile(
    rf"(?:at least )?(?P<value>{_NUMBER})%?(?: \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\])?"
    rf"(?: of (?P<n>\d+))?"
)

Source = FigureSource

ALL = "all"
BLIND = ("chance", *BASELINES)
"""Rows of what is answered without the video, by no reader."""


class _Names:
    """What the names in tables stand for: a column of the report, a reader, or a setting."""

    def __init__(self, columns: Sequence[ReportColumn]) -> None:
        self.columns = {column.name: column_source(column) for column in columns}
        self.readers = {
            name: column.arm.reader or NONE
            for column in columns
            for name in (column.panel, short_model(column.arm.reader), column.arm.reader)
        }
        self.settings = {
            name: column.arm.setting
            for column in columns
            for name in (column.series, column.arm.setting)
        }

    def source(self, texts: Sequence[str]) -> Source:
        """Run, setting, reader and captioner of a figure in a row with these labels, headings and
        title. What they leave open is `all`: the figure is over all of them."""
        for text in texts:
            if text in self.columns:
                return self.columns[text]
            if text in BLIND:
                return "", text, NONE, NONE
        setting = next((self.settings[text] for text in texts if text in self.settings), ALL)
        reader = next((self.readers[text] for text in texts if text in self.readers), ALL)
        return "", setting, reader, ALL


def render_csv(
    sections: Sequence[Section], runs: Sequence[Run], columns: Sequence[ReportColumn] = ()
) -> str:
    """CSV with the columns `COLUMNS`.

    `value`, `low` and `high` are in the unit of the table and not rounded where the page rounds;
    `text` is what the page prints. `setting`, `reader` and `captioner` are those of the figure's
    column: `none` where it has none, `all` where the figure is over all of them; of a blind
    baseline, `setting` is its name. `run` names all runs that a figure may rest on.
    """
    names = _Names(columns)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section in sections:
        for part in section.parts:
            if isinstance(part, ReportTable):
                writer.writerows(_rows(section.title, part, runs, names))
    return out.getvalue()


def _rows(
    section: str, table: ReportTable, runs: Sequence[Run], names: _Names
) -> Iterator[list[object]]:
    first = count_label_columns(table)
    groups_and_headings = zip(table.group_titles(), table.headings, strict=True)
    headings = [
        ", ".join(filter(None, (group, cell_text(heading))))
        for group, heading in groups_and_headings
    ]
    for row in table.rows:
        # Without the counts in small print: a row is found again when they change.
        labels = [cell_text(cell) for cell in row[:first]]
        label = " | ".join(filter(None, labels))
        cells = dict(zip(headings, row, strict=True))
        for k in range(first, len(row)):
            if not str(row[k]):
                continue
            texts = [*labels, cell_text(table.headings[k]), headings[k], table.title]
            source, figures = _figures(row[k], table.headings[k], cells)
            source = source or names.source(texts)
            run_fields = _run_fields(source, runs)
            yield [*run_fields, *source[1:], section, table.title, label, headings[k], *figures]


def _figures(cell: Cell, heading: Cell, row: dict[str, Cell]) -> tuple[Source | None, list[object]]:
    """The source of a cell, and its value, interval, n, answers by status and text."""
    figure = cell if isinstance(cell, CellValue) else CellValue(text=cell)
    value, low, high = figure.value, figure.low, figure.high
    n: float | None = figure.n
    # Cells that were written as plain text hold the same figures in print.
    if value is None and (match := _FIGURE.fullmatch(figure.text)):
        value, low, high, n = (_number(match[name]) for name in ("value", "low", "high", "n"))
    if n is None and isinstance(heading, CellValue):
        n = heading.n
    if n is None and "n" in row:
        n = _number(cell_text(row["n"]))
    by_status = ", ".join(f"{count} {status}" for status, count in (figure.by_status or {}).items())
    numbers = [_format_number(x) for x in (value, low, high, n)]
    return figure.source, [*numbers, by_status, str(cell)]


def _run_fields(source: Source, runs: Sequence[Run]) -> list[str]:
    """Name, configuration and egomem's version of the runs that a figure rests on."""
    sources = [run for run in runs if source[0] in ("", run_name(run))]
    versions = (run.about.get("versions", {}).get("egomem") for run in sources)
    return [
        "; ".join(run_name(run) for run in sources),
        "; ".join(str(run.about.get("config_hash") or run.config.hash) for run in sources),
        "; ".join(dict.fromkeys(str(version) for version in versions if version)),
    ]


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def _format_number(number: float | None) -> str:
    return "" if number is None else f"{number:.10g}"
