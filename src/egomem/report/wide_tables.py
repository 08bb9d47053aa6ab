"""Tables of groups by column that fit a page, however many readers and settings there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from egomem.report.bootstrap_columns import accuracy_cell
from egomem.report.cell_format import baseline_rows, with_source
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue, ReportTable, build_table
from egomem.score import GroupAccuracy

MAX_GROUPS_ACROSS = 8
"""Groups that are set beside each other; more stand below each other."""

MAX_ROWS = 20
"""Settings of all readers that stand below each other; of more, a row is a reader and the settings
stand side by side."""

MAX_FIGURES_ACROSS = 12
"""Figures in a row, where settings stand side by side."""

Groups = Mapping[str, GroupAccuracy]
"""A column's figure of each group that it has."""


def slice_tables(
    title: str,
    entries: Sequence[ReportColumn],
    labels: Sequence[str],
    held: Sequence[Groups],
    note: str,
) -> list[ReportTable]:
    """Tables of every group and column; `held` belongs to `entries`. Beside the figures stand n and
    the blind baselines of the same questions."""
    first = {x: next(own[x] for own in held if x in own) for x in labels}
    if len(labels) > MAX_GROUPS_ACROSS:
        return list(_groups_below(title, entries, first, held, note))
    if len(entries) <= MAX_ROWS:
        return [_columns_below(title, entries, first, held, note)]
    return list(_readers_below(title, entries, first, held, note))


def _columns_below(
    title: str, entries: Sequence[ReportColumn], first: Groups, held: Sequence[Groups], note: str
) -> ReportTable:
    """A row for each column of the report, the groups side by side."""
    rows = [[e.name, *_cells(e, own, first)] for e, own in zip(entries, held, strict=True)]
    blind = baseline_rows(list(first.values()))
    return build_table(title, ("setting", *_heads(first)), [*rows, *blind], note, foot=len(blind))


def _readers_below(
    title: str, entries: Sequence[ReportColumn], first: Groups, held: Sequence[Groups], note: str
) -> Iterator[ReportTable]:
    """A row for each reader; the settings side by side, each with its groups, in several tables."""
    at = {(e.panel, e.series): (e, own) for e, own in zip(entries, held, strict=True)}
    readers = list(dict.fromkeys(e.panel for e in entries))
    every = list(dict.fromkeys(e.series for e in entries))
    gap = [""] * len(first)
    for series in split_evenly(every, max(1, MAX_FIGURES_ACROSS // len(first))):
        rows = []
        for reader in readers:
            found = (at.get((reader, s)) for s in series)
            rows.append([reader, *(c for f in found for c in (_cells(*f, first) if f else gap))])
        blind = baseline_rows(list(first.values()) * len(series))
        yield build_table(
            f"{title}: {', '.join(series)}",
            ("reader", *(head for _ in series for head in _heads(first))),
            [*rows, *blind],
            note,
            foot=len(blind),
            spans=(("", 1), *((s, len(first)) for s in series)),
        )


def _groups_below(
    title: str, entries: Sequence[ReportColumn], first: Groups, held: Sequence[Groups], note: str
) -> Iterator[ReportTable]:
    """A row for each group; readers side by side, a table for each setting where there are many;
    and the blind baselines of the groups."""
    each = list(zip(entries, held, strict=True))
    every = [("", each)]
    if len(each) > MAX_GROUPS_ACROSS:
        names = dict.fromkeys(e.series for e in entries)
        every = [(s, [x for x in each if x[0].series == s]) for s in names]
    for series, own in every:
        for some in split_evenly(own, MAX_GROUPS_ACROSS):
            rows = [
                [label, made.n, *(_cell(e, groups, label, made) for e, groups in some)]
                for label, made in first.items()
            ]
            heads = ("", "n", *(e.panel if series else e.name for e, _ in some))
            yield build_table(f"{title}: {series}" if series else title, heads, rows, note)
    blind = baseline_rows(list(first.values()))
    rows = [[x, f.n, *(row[k] for row in blind)] for k, (x, f) in enumerate(first.items(), 1)]
    yield build_table(
        f"{title}: without looking", ("", "n", *(str(row[0]) for row in blind)), rows, note
    )


T = TypeVar("T")


def split_evenly(held: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Parts of at most `size`, in order; of about the same size, so that none is left over."""
    count = -(-len(held) // size)
    return (held[k * len(held) // count : (k + 1) * len(held) // count] for k in range(count))


def _heads(first: Groups) -> list[CellValue]:
    return [CellValue(text=x, small=f"n {f.n}", n=f.n) for x, f in first.items()]


def _cells(entry: ReportColumn, own: Groups, first: Groups) -> list[CellValue]:
    return [_cell(entry, own, x, made) for x, made in first.items()]


def _cell(entry: ReportColumn, own: Groups, label: str, made: GroupAccuracy) -> CellValue:
    return with_source(entry, accuracy_cell(own.get(label), made.n))
