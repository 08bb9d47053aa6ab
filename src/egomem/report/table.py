"""The parts of a report as plain values: sections, tables, cells and charts. Every format (page,
Markdown, CSV, LaTeX) prints the same ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from egomem.records import Record


class CellValue(Record):
    """A table cell with a figure: `text` is printed, `detail` in small print beside it.

    The other fields go into figures.csv: the figure and its interval in the printed unit, n, the
    answers by status, and the run, setting, reader and captioner (`source`). `question_filter`
    links the cell to the questions that it counts: "setting=video&answer=wrong".
    """

    text: str
    detail: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    by_status: dict[str, int] | None = None
    source: tuple[str, str, str, str] | None = None
    question_filter: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.detail})" if self.detail else self.text


Cell = str | CellValue


class ReportTable(Record):
    """A table with one cell per heading in each row; `note` explains its figures.

    The last `footer_rows` rows are what the others are compared with, such as blind baselines.
    `column_groups` are headings above the headings: (title, number of columns), left to right.
    """

    title: str
    headings: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    footer_rows: int = 0
    column_groups: tuple[tuple[str, int], ...] = ()

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds figures only, and is aligned to the right."""
        texts = [cell_text(row[column]) for row in self.rows]
        # The first column names the row: a name such as "12" is still a name.
        return column > 0 and all(_FIGURE.fullmatch(text) for text in texts if text)

    def group_titles(self) -> list[str]:
        """The title above each heading; "" where there is none."""
        if not self.column_groups:
            return [""] * len(self.headings)
        return [title for title, count in self.column_groups for _ in range(count)]


_FIGURE = re.compile(r"-|(at least |<)?[-+]?[\d.,]+( \[[-+\d., ]+\]| (to|of) [\d.]+)?")


class ChartPanel(Record):
    """One drawing of a chart, as SVG without scripts."""

    title: str
    svg: str


class Chart(Record):
    """Panels that share a legend of (series name, small SVG of its mark)."""

    title: str
    panels: tuple[ChartPanel, ...]
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""


class Section(Record):
    """A titled part of the report: a `lead` in large print, paragraphs, then tables and charts."""

    title: str
    lead: str = ""
    text: tuple[str, ...] = ()
    parts: tuple[ReportTable | Chart, ...] = ()

    @property
    def slug(self) -> str:
        """The title as an anchor in the page."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def build_table(
    title: str,
    headings: Sequence[Cell],
    rows: Iterable[Sequence[object]],
    note: str = "",
    footer_rows: int = 0,
    column_groups: Sequence[tuple[str, int]] = (),
) -> ReportTable:
    """A table of any values: None becomes an empty cell, everything else text on one line."""
    return ReportTable(
        title=title,
        headings=tuple(_cell(heading) for heading in headings),
        rows=tuple(tuple(_cell(value) for value in row) for row in rows),
        note=note,
        footer_rows=footer_rows,
        column_groups=tuple((one_line(group), count) for group, count in column_groups),
    )


def _cell(value: object) -> Cell:
    if isinstance(value, CellValue):
        # Names of models and data sets are texts of others, too.
        printable = {"text": one_line(value.text), "detail": one_line(value.detail)}
        return value.model_copy(update=printable)
    return "" if value is None else one_line(str(value))


def cell_text(cell: Cell) -> str:
    """A cell's text without its detail."""
    return cell.text if isinstance(cell, CellValue) else cell


def cell_detail(cell: Cell) -> str:
    """A cell's text in small print, "" where it has none."""
    return cell.detail if isinstance(cell, CellValue) else ""


# Questions and replies are texts of others. A bidirectional control in one would reorder the
# figures beside it, and a line break would end a Markdown row or a LaTeX comment.
_BIDI_CONTROLS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)


def one_line(text: str) -> str:
    """Text with line breaks, control characters and direction marks replaced by spaces."""
    return "".join(" " if _is_control(character) else character for character in text)


def _is_control(character: str) -> bool:
    return character in _BIDI_CONTROLS or unicodedata.category(character) in (
        "Cc",
        "Cs",
        "Zl",
        "Zp",
    )
