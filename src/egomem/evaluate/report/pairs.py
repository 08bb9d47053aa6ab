"""Which columns are set against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from egomem.evaluate.report.draws import Draws
from egomem.evaluate.report.entries import Entry, short_model

MANY = 4
"""Readers, or captioners, of which all pairs are compared; of more, each with one of them."""

Columns = dict[str, int]
"""Setting -> column, of one reader that reads captions of its own (or those of all)."""


class Pair(NamedTuple):
    """Column a less column b; by setting, and the other cells that say so in a table."""

    setting: str
    labels: tuple[str, ...]
    a: int
    b: int


def by_reader(own: Draws) -> dict[str, Columns]:
    """The columns of each reader, without those of others' captions in cross-captioning."""
    found: dict[str, Columns] = {}
    for k, entry in enumerate(own.entries):
        by_others = entry.run.config.cross and entry.column.captioner != entry.column.reader
        if entry.column.reader and not (entry.column.captioner and by_others):
            found.setdefault(entry.panel, {})[entry.column.setting] = k
    return found


def less_frames(own: Draws) -> list[Pair]:
    """CaptionQA, full or frame-aligned, less VideoQA of the same reader: (reader)."""
    found = []
    for name, at in by_reader(own).items():
        video = at.get("video")
        for setting, k in at.items():
            if video is not None and own.entries[k].way.strategy == "caption":
                found.append(Pair(setting, (name,), k, video))
    return found


def less_captions(own: Draws) -> list[Pair]:
    """Retrieve-and-verify less the caption answers that it starts from: (reader)."""
    found = []
    for k, entry in enumerate(own.entries):
        base = entry.run.config.base(entry.column)
        b = next((i for i, e in enumerate(own.entries) if _is(e, entry, base)), None)
        if b is not None:
            setting = f"{entry.series} less {own.entries[b].column.setting}"
            found.append(Pair(setting, (entry.panel,), k, b))
    return found


def _is(other: Entry, entry: Entry, column: object) -> bool:
    return other.run is entry.run and other.column == column


def less_readers(own: Draws) -> list[Pair]:
    """Two readers of one setting, of captions each of its own or of the same: (reader, less)."""
    groups: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(own.entries):
        column = entry.column
        if column.reader:
            by = "own" if column.captioner == column.reader else column.captioner
            groups.setdefault((column.setting, by), []).append(k)
    found = []
    for columns in groups.values():
        for a, b in _against(own, columns, _best(own, columns)):
            one, other = own.entries[a], own.entries[b]
            if one.column.reader != other.column.reader and not _doubled(own, a, b):
                found.append(Pair(one.series, (one.panel, other.panel), a, b))
    return found


def less_captioners(own: Draws) -> list[Pair]:
    """Two captioners of one setting and reader: (reader, captions by, less)."""
    groups: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(own.entries):
        if entry.column.captioner:
            key = (entry.column.setting, entry.column.reader)
            groups.setdefault(key, []).append(k)
    found = []
    for columns in groups.values():
        each = (
            k for k in columns if own.entries[k].column.captioner == own.entries[k].column.reader
        )
        for a, b in _against(own, columns, next(each, _best(own, columns))):
            one, other = own.entries[a], own.entries[b]
            by = [short_model(e.column.captioner) for e in (one, other)]
            if one.column.captioner != other.column.captioner and not _doubled(own, a, b):
                found.append(Pair(one.column.setting, (one.panel, *by), a, b))
    return found


def less_runs(own: Draws) -> list[Pair]:
    """One column in two runs: (reader, run, less)."""
    found = []
    for b, a in combinations(range(len(own.entries)), 2):
        one, other = own.entries[a], own.entries[b]
        if one.run is not other.run and one.column == other.column:
            names = [e.run.folder.resolve().name for e in (one, other)]
            reader = short_model(one.column.reader)
            found.append(Pair(one.series, (reader, *names), a, b))
    return found


def _against(own: Draws, columns: Sequence[int], chosen: int) -> Iterator[tuple[int, int]]:
    """All pairs, the later less the earlier; of many columns, each less the chosen one."""
    if len(columns) <= MANY:
        yield from ((a, b) for b, a in combinations(columns, 2))
    else:
        yield from ((k, chosen) for k in columns if k != chosen)


def _best(own: Draws, columns: Sequence[int]) -> int:
    return max(columns, key=lambda k: own.drawn.values[k])


def _doubled(own: Draws, a: int, b: int) -> bool:
    """Whether one of two runs holds both columns, so that they are compared there."""
    runs = own.entries[a].run, own.entries[b].run
    if runs[0] is runs[1]:
        return False
    held = [{e.column for e in own.entries if e.run is run} for run in runs]
    return own.entries[b].column in held[0] or own.entries[a].column in held[1]


def above(own: Draws, a: int, b: int) -> bool:
    return bool(own.drawn.values[a] > own.drawn.values[b] + 1e-12)


def tied(own: Draws, a: int, b: int) -> bool:
    return bool(abs(own.drawn.values[a] - own.drawn.values[b]) <= 1e-12)
