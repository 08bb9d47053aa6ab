"""A table as plain values, which every format prints the same; Markdown and CSV."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from egomem.records import Record


class CellValue(Record):
    """A cell with something beside its figure: n, or answers by status.

    The rest is for the long table: the figure itself and its interval in the unit that is shown, n,
    the answers by status, and the column that it is of (run, setting, reader, captioner).
    `questions` asks the page's browser for those that were counted: "setting=video&answer=wrong".
    """

    text: str
    small: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    by_status: dict[str, int] | None = None
    source: tuple[str, str, str, str] | None = None
    questions: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.small})" if self.small else self.text


Cell = str | CellValue


class ReportTable(Record):
    """`rows` have a cell for each heading. `note` says what a reader must know of the figures.

    The last `foot` rows are what the others are compared with, such as blind baselines. `spans`
    stand above the headings: (title, how many columns), from the first column to the last.
    """

    title: str
    headings: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    foot: int = 0
    spans: tuple[tuple[str, int], ...] = ()

    def is_number(self, column: int) -> bool:
        """Whether a column holds figures, which stand flush right."""
        held = [_text(row[column]) for row in self.rows]
        return column > 0 and all(_FIGURE.fullmatch(text) for text in held if text)


_FIGURE = re.compile(r"-|(at least |<)?[-+]?[\d.,]+( \[[-+\d., ]+\]| (to|of) [\d.]+)?")


class ChartPanel(Record):
    """One drawing of a chart: SVG without scripts."""

    title: str
    svg: str


class Chart(Record):
    """Drawings that share a legend: (name, small SVG of its mark)."""

    title: str
    panels: tuple[ChartPanel, ...]
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""


class Section(Record):
    title: str
    text: tuple[str, ...] = ()
    parts: tuple[ReportTable | Chart, ...] = ()

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def build_table(
    title: str,
    headings: Sequence[Cell],
    rows: Iterable[Sequence[object]],
    note: str = "",
    foot: int = 0,
    spans: Sequence[tuple[str, int]] = (),
) -> ReportTable:
    """A table; cells that are no text become text, and None an empty one."""
    return ReportTable(
        title=title,
        headings=tuple(_cell(h) for h in headings),
        rows=tuple(tuple(_cell(c) for c in row) for row in rows),
        note=note,
        foot=foot,
        spans=tuple((one_line(name), count) for name, count in spans),
    )


def _cell(value: object) -> Cell:
    if isinstance(value, CellValue):
        clean = {"text": one_line(value.text), "small": one_line(value.small)}
        return value.model_copy(update=clean)
    return "" if value is None else one_line(str(value))


def _text(cell: Cell) -> str:
    return cell.text if isinstance(cell, CellValue) else cell


_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Characters that turn the direction of the text after them."""


def one_line(text: str) -> str:
    """Without what would end a line, or turn the text around it: each becomes a space."""
    return "".join(" " if _is_odd(c) else c for c in text)


def _is_odd(c: str) -> bool:
    return c in _TURNS or unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")


def render_markdown(title: str, sections: Sequence[Section]) -> str:
    lines = [f"# {_escaped(one_line(title))}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        lines += [f"{_escaped(one_line(t))}\n" for t in section.text]
        for part in section.parts:
            if isinstance(part, Chart):
                continue
            if part.title:
                lines += [f"### {_escaped(one_line(part.title))}", ""]
            lines.append(_md(_spanned(part)))
            rule = ("---:" if part.is_number(k) else "---" for k in range(len(part.headings)))
            lines.append("|" + "|".join(rule) + "|")
            lines += [_md(row) for row in part.rows]
            lines += ["", *([_escaped(part.note), ""] if part.note else [])]
    return "\n".join(lines)


def _spanned(part: ReportTable) -> Sequence[Cell]:
    """Markdown has no spanning headings: each column says what it belongs to."""
    above = [name for name, count in part.spans for _ in range(count)]
    if not above:
        return part.headings
    pairs = zip(above, part.headings, strict=True)
    return [
        f"{name}, {heading}" if name and str(heading) else name or str(heading)
        for name, heading in pairs
    ]


def _md(cells: Sequence[Cell]) -> str:
    return "| " + " | ".join(_escaped(str(c)).replace("|", "\\|") for c in cells) + " |"


_MARKUP = re.compile(r"[`*\\]|<(?=[a-zA-Z/!?])|\](?=[(\[:])|(?<!\w)_|_(?!\w)|&(?=[#\w]+;)")


def _escaped(text: str) -> str:
    """So that no text of others becomes a tag, a link, a picture or emphasis."""
    return _MARKUP.sub(lambda found: "\\" + found[0], text)
