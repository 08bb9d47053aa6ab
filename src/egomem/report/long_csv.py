"""The report as one long table: a row for each cell of each table on the page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from egomem.evaluate.run_reader import Run
from egomem.report.pagination import count_label_columns
from egomem.report.table import Cell, CellValue, ReportTable, Section

COLUMNS = (
    "run", "config_hash", "egomem", "setting", "reader", "captioner", "section", "table", "row",
    "column", "value", "low", "high", "n", "by_status", "text",
)  # fmt: skip

_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
_FIGURE = re.compile(
    rf"(?:at least )?(?P<value>{_NUMBER})%?(?: \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\])?"
    rf"(?: of (?P<n>\d+))?"
)


def render_csv(sections: Sequence[Section], runs: Sequence[Run]) -> str:
    """CSV with the columns `COLUMNS`.

    `value`, `low` and `high` are in the unit of the table and not rounded where the page rounds;
    `text` is what the page shows. `run`, `setting`, `reader` and `captioner` are filled where a
    figure is of one column of one run; what rests on several runs names them all.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section in sections:
        for part in section.parts:
            if isinstance(part, ReportTable):
                writer.writerows(_rows(section.title, part, runs))
    return out.getvalue()


def _rows(section: str, part: ReportTable, runs: Sequence[Run]) -> Iterator[list[object]]:
    first = count_label_columns(part)
    above = [name for name, count in part.spans for _ in range(count)] or [""] * len(part.headings)
    heads = [
        ", ".join(filter(None, (over, _text(head))))
        for over, head in zip(above, part.headings, strict=True)
    ]
    for row in part.rows:
        name = " | ".join(filter(None, (str(cell) for cell in row[:first])))
        held = dict(zip(heads, row, strict=True))
        for k in range(first, len(row)):
            if not str(row[k]):
                continue
            source, figures = _cell(row[k], part.headings[k], held)
            yield [*_run(source, runs), *source[1:], section, part.title, name, heads[k], *figures]


def _cell(
    cell: Cell, heading: Cell, row: dict[str, Cell]
) -> tuple[tuple[str, str, str, str], list[object]]:
    """Where a figure comes from; its value, interval, n, answers by status, and its text."""
    made = cell if isinstance(cell, CellValue) else CellValue(text=cell)
    value, low, high = made.value, made.low, made.high
    n: float | None = made.n
    if value is None and (found := _FIGURE.fullmatch(made.text)):
        value, low, high, n = (_number(found[name]) for name in ("value", "low", "high", "n"))
    if n is None and isinstance(heading, CellValue):
        n = heading.n
    if n is None and "n" in row:
        n = _number(_text(row["n"]))
    statuses = made.by_status or {}
    said = ", ".join(f"{count} {status}" for status, count in statuses.items())
    figures = [_written(x) for x in (value, low, high, n)]
    return made.source or ("", "", "", ""), [*figures, said, str(cell)]


def _run(source: tuple[str, str, str, str], runs: Sequence[Run]) -> list[str]:
    names = [run.folder.resolve().name for run in runs]
    own = [run for run, name in zip(runs, names, strict=True) if source[0] in ("", name)]
    versions = (run.about.get("versions", {}).get("egomem") for run in own)
    return [
        "; ".join(run.folder.resolve().name for run in own),
        "; ".join(str(run.about.get("config_hash") or run.config.hash) for run in own),
        "; ".join(dict.fromkeys(str(v) for v in versions if v)),
    ]


def _text(cell: Cell) -> str:
    return cell.text if isinstance(cell, CellValue) else cell


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def _written(number: float | None) -> str:
    return "" if number is None else f"{number:.10g}"
