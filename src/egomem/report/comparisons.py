"""Which columns are set against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from egomem.evaluate.conditions import VIDEO
from egomem.report.bootstrap_columns import ColumnBootstrap
from egomem.report.columns import ReportColumn, short_model

MAX_ALL_PAIRS = 4
"""Readers, or captioners, of which all pairs are compared; of more, each with one of them."""

SettingColumns = dict[str, int]
"""Setting -> column, of one reader that reads captions of its own (or those of all)."""


class ColumnPair(NamedTuple):
    """Column a less column b; by setting, and the other cells that say so in a table."""

    setting: str
    labels: tuple[str, ...]
    a: int
    b: int


def columns_by_reader(own: ColumnBootstrap) -> dict[str, SettingColumns]:
    """The columns of each reader, without those of others' captions in cross-captioning."""
    found: dict[str, SettingColumns] = {}
    for k, entry in enumerate(own.entries):
        by_others = entry.run.config.cross and entry.column.captioner != entry.column.reader
        if entry.column.reader and not (entry.column.captioner and by_others):
            found.setdefault(entry.panel, {})[entry.column.setting] = k
    return found


def captions_minus_video(own: ColumnBootstrap) -> list[ColumnPair]:
    """CaptionQA, full or frame-aligned, less VideoQA of the same reader: (reader)."""
    found = []
    for name, at in columns_by_reader(own).items():
        video = at.get(VIDEO)
        for setting, k in at.items():
            if video is not None and own.entries[k].way.is_caption_qa:
                found.append(ColumnPair(setting, (name,), k, video))
    return found


def strategy_minus_base(own: ColumnBootstrap) -> list[ColumnPair]:
    """Each strategy less the answers that it starts from (verify less caption): (reader)."""
    found = []
    for k, entry in enumerate(own.entries):
        for base in entry.run.config.bases(entry.column).values():
            b = next((i for i, e in enumerate(own.entries) if _is(e, entry, base)), None)
            if b is not None:
                setting = f"{entry.series} less {own.entries[b].column.setting}"
                found.append(ColumnPair(setting, (entry.panel,), k, b))
    return found


def _is(other: ReportColumn, entry: ReportColumn, column: object) -> bool:
    return other.run is entry.run and other.column == column


def reader_pairs(own: ColumnBootstrap) -> list[ColumnPair]:
    """Two readers of one setting, of captions each of its own or of the same: (reader, less)."""
    groups: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(own.entries):
        column = entry.column
        if column.reader:
            groups.setdefault((column.setting, column.captioner), []).append(k)
            if column.captioner == column.reader:
                groups.setdefault((column.setting, "its own"), []).append(k)
    found = []
    for columns in groups.values():
        for a, b in _compared(own, columns, lambda some: _best(own, some)):
            one, other = own.entries[a], own.entries[b]
            if one.column.reader != other.column.reader:
                series = max(one.series, other.series, key=len)  # with whose captions, if named
                found.append(ColumnPair(series, (one.panel, other.panel), a, b))
    return found


def captioner_pairs(own: ColumnBootstrap) -> list[ColumnPair]:
    """Two captioners of one setting and reader: (reader, captions by, less)."""
    groups: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(own.entries):
        if entry.column.captioner:
            key = (entry.column.setting, entry.column.reader)
            groups.setdefault(key, []).append(k)
    found = []
    for columns in groups.values():
        for a, b in _compared(own, columns, lambda some: _own(own, some)):
            one, other = own.entries[a], own.entries[b]
            by = [short_model(e.column.captioner) for e in (one, other)]
            if one.column.captioner != other.column.captioner:
                found.append(ColumnPair(one.column.setting, (one.panel, *by), a, b))
    return found


def run_pairs(own: ColumnBootstrap) -> list[ColumnPair]:
    """One column in two runs: (reader, run, less)."""
    found = []
    for b, a in combinations(range(len(own.entries)), 2):
        one, other = own.entries[a], own.entries[b]
        if one.run is not other.run and one.column == other.column:
            names = [e.run.folder.resolve().name for e in (one, other)]
            reader = short_model(one.column.reader)
            found.append(ColumnPair(one.series, (reader, *names), a, b))
    return found


def _compared(
    own: ColumnBootstrap, columns: Sequence[int], choose: Callable[[Sequence[int]], int]
) -> Iterator[tuple[int, int]]:
    """Pairs within each run; and between runs, of the columns that no two of them hold."""
    runs = {id(own.entries[k].run): own.entries[k].run for k in columns}.values()
    for run in runs:
        within = [k for k in columns if own.entries[k].run is run]
        yield from _against(within, choose(within))
    held = Counter(own.entries[k].column for k in columns)
    alone = [k for k in columns if held[own.entries[k].column] == 1]
    for a, b in _against(alone, choose(alone)) if alone else ():
        if own.entries[a].run is not own.entries[b].run:
            yield a, b


def _against(columns: Sequence[int], chosen: int) -> Iterator[tuple[int, int]]:
    """All pairs, the later less the earlier; of many columns, each less the chosen one."""
    if len(columns) <= MAX_ALL_PAIRS:
        yield from ((a, b) for b, a in combinations(columns, 2))
    else:
        yield from ((k, chosen) for k in columns if k != chosen)


def _best(own: ColumnBootstrap, columns: Sequence[int]) -> int:
    return max(columns, key=lambda k: own.drawn.values[k])


def _own(own: ColumnBootstrap, columns: Sequence[int]) -> int:
    """The column of the reader's own captions, or the best."""
    held = [own.entries[k].column for k in columns]
    by_own = (k for k, c in zip(columns, held, strict=True) if c.captioner == c.reader)
    return next(by_own, _best(own, columns))


def is_above(own: ColumnBootstrap, a: int, b: int) -> bool:
    return bool(own.drawn.values[a] > own.drawn.values[b] + 1e-12)


def is_tied(own: ColumnBootstrap, a: int, b: int) -> bool:
    return bool(abs(own.drawn.values[a] - own.drawn.values[b]) <= 1e-12)
