"""Tables split to fit a page: by columns where one is too wide, by rows where one is too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.report.table import Cell, ReportTable, cell_detail, cell_text

LINE_WIDTH = 345.0
"""Points of a line in LaTeX's article class; the classes of conferences have wider ones."""

MAX_ROWS = 45
"""Rows of a page in small print, without the headings."""

NARROW_CHARACTERS = frozenset(".,:;'|!()[]- ijltI")
TINY_SCALE = 0.82
"""Width of tiny print compared with small print."""
COLUMN_GAP = 6.0
"""Points between columns."""

MAX_UNBROKEN = 40
"""Longer texts make a text column, with a set width in which they break."""


def paginate(
    table: ReportTable, line_width: float = LINE_WIDTH, max_rows: int = MAX_ROWS
) -> list[ReportTable]:
    """The table in pieces that fit, each with the row labels, headings and footer repeated."""
    pieces = [
        _select_columns(rows, columns)
        for rows in _split_rows(table, max_rows)
        for columns in _split_columns(rows, line_width)
    ]
    if len(pieces) < 2:
        return [table]
    return [
        piece.model_copy(update={"title": f"{table.title} ({k} of {len(pieces)})"})
        for k, piece in enumerate(pieces, 1)
    ]


def count_label_columns(table: ReportTable) -> int:
    """How many of the first columns name the row: those before the first numeric one."""
    count = 1
    # Repeated in each piece: a row without its name says nothing.
    while count < len(table.headings) - 1 and not table.is_numeric(count):
        count += 1
    return count


def column_width(table: ReportTable, column: int) -> float:
    """The width of a column in points."""
    if is_text_column(table, column):
        return LINE_WIDTH * text_column_share(table) + COLUMN_GAP
    heading = table.headings[column]
    cells = max((_cell_width(row[column]) for row in table.rows), default=0.0)
    detail = TINY_SCALE * text_width(cell_detail(heading))
    return max(cells, text_width(cell_text(heading)), detail) + COLUMN_GAP


def is_text_column(table: ReportTable, column: int) -> bool:
    """Whether a column holds texts that have to break."""
    longest = max((len(str(row[column])) for row in table.rows), default=0)
    return longest > MAX_UNBROKEN and not table.is_numeric(column)


def text_column_share(table: ReportTable) -> float:
    """The share of the line for a text column: more in a list of names and texts, which has no
    headings and no other columns."""
    return 0.3 if any(str(heading) for heading in table.headings) else 0.75


def text_width(text: str) -> float:
    """Upper estimate of a text's width in points, in small print (8 points) of Computer Modern.

    Measuring would need the font; too wide an estimate only splits a table earlier.
    """
    return sum(
        3.0 if c in NARROW_CHARACTERS else 4.4 if c.islower() or c.isdigit() else 6.2 for c in text
    )


def _cell_width(cell: Cell) -> float:
    detail = cell_detail(cell)
    return text_width(cell_text(cell)) + (TINY_SCALE * text_width(detail) + 3 if detail else 0.0)


def _split_columns(table: ReportTable, line_width: float) -> Iterator[list[int]]:
    """The columns of each piece; those of one column group stay together where they fit."""
    every = range(len(table.headings))
    if not table.rows or _total_width(table, every) <= line_width:
        yield list(every)
        return
    labels = list(range(count_label_columns(table)))
    room = line_width - _total_width(table, labels)
    piece: list[int] = []
    for group in _column_groups(table, len(labels)):
        units = [group] if _total_width(table, group) <= room else [[k] for k in group]
        for unit in units:
            if piece and _total_width(table, [*piece, *unit]) > room:
                yield [*labels, *piece]
                piece = []
            piece += unit
    yield [*labels, *piece]


def _total_width(table: ReportTable, columns: Sequence[int]) -> float:
    return sum(column_width(table, k) for k in columns)


def _column_groups(table: ReportTable, start: int) -> Iterator[list[int]]:
    """The columns from `start` on, by column group."""
    first = 0
    for _, count in table.column_groups or [("", 1)] * len(table.headings):
        if columns := [k for k in range(first, first + count) if k >= start]:
            yield columns
        first += count


def _select_columns(table: ReportTable, columns: Sequence[int]) -> ReportTable:
    if len(columns) == len(table.headings):
        return table
    return table.model_copy(
        update={
            "headings": tuple(table.headings[k] for k in columns),
            "rows": tuple(tuple(row[k] for k in columns) for row in table.rows),
            "column_groups": _select_groups(table, set(columns)),
        }
    )


def _select_groups(table: ReportTable, columns: set[int]) -> tuple[tuple[str, int], ...]:
    groups, first = [], 0
    for title, count in table.column_groups:
        kept = sum(k in columns for k in range(first, first + count))
        groups += [(title, kept)] if kept else []
        first += count
    return tuple(groups)


def _split_rows(table: ReportTable, max_rows: int) -> Iterator[ReportTable]:
    body = len(table.rows) - table.footer_rows
    size = max(1, max_rows - table.footer_rows)
    if body <= size:
        yield table
        return
    for k in range(0, body, size):
        rows = (*table.rows[k : min(body, k + size)], *table.rows[body:])
        yield table.model_copy(update={"rows": rows})
