"""Tables cut to a page: by columns where one is too wide, by rows where one is too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.report.table import Cell, CellValue, ReportTable

LINE_WIDTH = 345.0
"""Points of a line of text: LaTeX's own article class; those of conferences are wider."""

MAX_ROWS = 45
"""Rows of a page in small print, below the headings."""

NARROW_CHARACTERS = frozenset(".,:;'|!()[]- ijltI")
TINY_SCALE, COLUMN_GAP = 0.82, 6.0
"""What is smaller still, against small print; and points between columns."""

MAX_UNBROKEN = 40
"""Characters from which a column of text is given a width, so that it can break."""


def paginate(
    part: ReportTable, wide: float = LINE_WIDTH, long: int = MAX_ROWS
) -> list[ReportTable]:
    """The table in parts that fit; each has the labels, the headings and the baselines again."""
    found = [_only(some, columns) for some in _rows(part, long) for columns in _columns(some, wide)]
    if len(found) < 2:
        return [part]
    return [
        piece.model_copy(update={"title": f"{part.title} ({k} of {len(found)})"})
        for k, piece in enumerate(found, 1)
    ]


def count_label_columns(part: ReportTable) -> int:
    """How many of the first columns say what a row is of."""
    count = 1
    while count < len(part.headings) - 1 and not part.is_number(count):
        count += 1
    return count


def column_width(part: ReportTable, column: int) -> float:
    """Points that a column takes."""
    texts = [row[column] for row in part.rows]
    if is_text_column(part, column):
        return LINE_WIDTH * text_column_share(part) + COLUMN_GAP
    heading = part.headings[column]
    over, below = _texts(heading)
    own = max((_points(text) for text in texts), default=0.0)
    return max(own, text_width(over), TINY_SCALE * text_width(below)) + COLUMN_GAP


def is_text_column(part: ReportTable, column: int) -> bool:
    """Whether a column holds texts that have to break."""
    longest = max((len(str(row[column])) for row in part.rows), default=0)
    return longest > MAX_UNBROKEN and not part.is_number(column)


def text_column_share(part: ReportTable) -> float:
    """Share of the line that a column of long texts is given: more in a list of names and texts."""
    return 0.3 if any(str(h) for h in part.headings) else 0.75


def text_width(text: str) -> float:
    """Width of a text in small print (8 points), by Computer Modern, and on the safe side."""
    return sum(
        3.0 if c in NARROW_CHARACTERS else 4.4 if c.islower() or c.isdigit() else 6.2 for c in text
    )


def _points(cell: Cell) -> float:
    text, small = _texts(cell)
    return text_width(text) + (TINY_SCALE * text_width(small) + 3 if small else 0.0)


def _texts(cell: Cell) -> tuple[str, str]:
    return (cell.text, cell.small) if isinstance(cell, CellValue) else (cell, "")


def _columns(part: ReportTable, wide: float) -> Iterator[list[int]]:
    """The columns of each piece. What stands below one heading stays together where it can."""
    every = range(len(part.headings))
    if not part.rows or sum(column_width(part, k) for k in every) <= wide:
        yield list(every)
        return
    first = list(range(count_label_columns(part)))
    left = wide - sum(column_width(part, k) for k in first)
    held: list[int] = []
    for group in _groups(part, len(first)):
        units = [group] if _sum(part, group) <= left else [[k] for k in group]
        for unit in units:
            if held and _sum(part, [*held, *unit]) > left:
                yield [*first, *held]
                held = []
            held += unit
    yield [*first, *held]


def _sum(part: ReportTable, columns: Sequence[int]) -> float:
    return sum(column_width(part, k) for k in columns)


def _groups(part: ReportTable, start: int) -> Iterator[list[int]]:
    at = 0
    for _, count in part.spans or [("", 1)] * len(part.headings):
        if columns := [k for k in range(at, at + count) if k >= start]:
            yield columns
        at += count


def _only(part: ReportTable, columns: Sequence[int]) -> ReportTable:
    if len(columns) == len(part.headings):
        return part
    return part.model_copy(
        update={
            "headings": tuple(part.headings[k] for k in columns),
            "rows": tuple(tuple(row[k] for k in columns) for row in part.rows),
            "spans": _spans(part, set(columns)),
        }
    )


def _spans(part: ReportTable, columns: set[int]) -> tuple[tuple[str, int], ...]:
    found, at = [], 0
    for name, count in part.spans:
        kept = sum(k in columns for k in range(at, at + count))
        found += [(name, kept)] if kept else []
        at += count
    return tuple(found)


def _rows(part: ReportTable, long: int) -> Iterator[ReportTable]:
    cut = len(part.rows) - part.foot
    size = max(1, long - part.foot)
    if cut <= size:
        yield part
        return
    for k in range(0, cut, size):
        rows = (*part.rows[k : min(cut, k + size)], *part.rows[cut:])
        yield part.model_copy(update={"rows": rows})
