"""Which columns are compared with each other: pairs of columns, by family of comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from egomem.evaluate.conditions import VIDEO
from egomem.report.bootstrap_columns import ColumnBootstrap
from egomem.report.columns import ReportColumn, run_name, short_model

MAX_ALL_PAIRS = 4
"""Up to so many readers or captioners are all paired; of more, each is compared with one of them.
The number of pairs grows with the square, and every test raises p (Holm) of the others."""

TOLERANCE = 1e-12
"""Accuracies that differ by less are equal: they are sums of floats in different orders."""

SettingColumns = dict[str, int]
"""Setting -> index of the column, of one reader."""


class ColumnPair(NamedTuple):
    """The difference of column `a` minus column `b`.

    `setting` and `labels` are the cells that name the pair in a table.
    """

    setting: str
    labels: tuple[str, ...]
    a: int
    b: int


def columns_by_reader(group: ColumnBootstrap) -> dict[str, SettingColumns]:
    """The columns of each reader by setting.

    In cross-captioning those with another model's captions are left out: a setting then has one
    column per reader, that of the reader's own captions.
    """
    readers: dict[str, SettingColumns] = {}
    for k, column in enumerate(group.columns):
        arm = column.arm
        # Else the reader with most captioners would have most say in the mean.
        is_cross = column.run.config.cross and arm.captioner != arm.reader
        if arm.reader and not (arm.captioner and is_cross):
            readers.setdefault(column.panel, {})[arm.setting] = k
    return readers


def captions_minus_video(group: ColumnBootstrap) -> list[ColumnPair]:
    """CaptionQA, with windows or aligned, minus VideoQA of the same reader. Labels: reader."""
    pairs = []
    for reader, settings in columns_by_reader(group).items():
        video = settings.get(VIDEO)
        for setting, k in settings.items():
            # The same reader on both sides: another one's video would be a difference of readers.
            if video is not None and group.columns[k].condition.is_caption_qa:
                pairs.append(ColumnPair(setting, (reader,), k, video))
    return pairs


def strategy_minus_base(group: ColumnBootstrap) -> list[ColumnPair]:
    """Each strategy minus the answers it starts from (verify minus caption). Labels: reader."""
    pairs = []
    for a, column in enumerate(group.columns):
        bases = column.run.config.bases(column.arm).values()
        for b, other in enumerate(group.columns):
            # Within one run: there it started from that very answer.
            if other.run is column.run and other.arm in bases:
                setting = f"{column.series} less {other.arm.setting}"
                pairs.append(ColumnPair(setting, (column.panel,), a, b))
    return pairs


def reader_pairs(group: ColumnBootstrap) -> list[ColumnPair]:
    """Two readers of one setting, each with its own captions or both with the same ones.

    Labels: reader, and the reader it is compared with.
    """
    settings: dict[tuple[str, str], list[int]] = {}
    for k, column in enumerate(group.columns):
        arm = column.arm
        if arm.reader:
            settings.setdefault((arm.setting, arm.captioner), []).append(k)
            if arm.captioner == arm.reader:
                settings.setdefault((arm.setting, "its own"), []).append(k)
    pairs = []
    for indexes in settings.values():
        for a, b in _pair_up(group, indexes, lambda some: _best(group, some)):
            one, other = group.columns[a], group.columns[b]
            if one.arm.reader != other.arm.reader:
                # The longer of the two also says whose captions were read, where that is named.
                series = max(one.series, other.series, key=len)
                pairs.append(ColumnPair(series, (one.panel, other.panel), a, b))
    return pairs


def captioner_pairs(group: ColumnBootstrap) -> list[ColumnPair]:
    """Two captioners of one setting and reader.

    Labels: reader, captioner, and the captioner it is compared with.
    """
    settings: dict[tuple[str, str], list[int]] = {}
    for k, column in enumerate(group.columns):
        if column.arm.captioner:
            settings.setdefault((column.arm.setting, column.arm.reader), []).append(k)
    pairs = []
    for indexes in settings.values():
        for a, b in _pair_up(group, indexes, lambda some: _own_captions(group, some)):
            one, other = group.columns[a], group.columns[b]
            captioners = [short_model(column.arm.captioner) for column in (one, other)]
            if one.arm.captioner != other.arm.captioner:
                pairs.append(ColumnPair(one.arm.setting, (one.panel, *captioners), a, b))
    return pairs


def run_pairs(group: ColumnBootstrap) -> list[ColumnPair]:
    """The same arm in two runs. Labels: reader, run, and the run it is compared with."""
    pairs = []
    # The later minus the earlier, so that a newer run that is better is above 0.
    for b, a in combinations(range(len(group.columns)), 2):
        one, other = group.columns[a], group.columns[b]
        if one.run is not other.run and one.arm == other.arm:
            labels = (short_model(one.arm.reader), run_name(one.run), run_name(other.run))
            pairs.append(ColumnPair(one.series, labels, a, b))
    return pairs


def _pair_up(
    group: ColumnBootstrap, indexes: Sequence[int], choose: Callable[[Sequence[int]], int]
) -> Iterator[tuple[int, int]]:
    """Pairs within each run; and across runs, of the arms that only one of the runs has: an arm of
    two runs is already compared with the others within each."""
    runs = {id(group.columns[k].run): group.columns[k].run for k in indexes}.values()
    for run in runs:
        within = [k for k in indexes if group.columns[k].run is run]
        yield from _all_or_chosen(within, choose(within))
    counts = Counter(group.columns[k].arm for k in indexes)
    single = [k for k in indexes if counts[group.columns[k].arm] == 1]
    for a, b in _all_or_chosen(single, choose(single)) if single else ():
        if group.columns[a].run is not group.columns[b].run:
            yield a, b


def _all_or_chosen(indexes: Sequence[int], chosen: int) -> Iterator[tuple[int, int]]:
    """All pairs, the later minus the earlier; of many columns, each minus the chosen one."""
    if len(indexes) <= MAX_ALL_PAIRS:
        yield from ((a, b) for b, a in combinations(indexes, 2))
    else:
        yield from ((k, chosen) for k in indexes if k != chosen)


def _best(group: ColumnBootstrap, indexes: Sequence[int]) -> int:
    return max(indexes, key=lambda k: group.bootstrap.values[k])


def _own_captions(group: ColumnBootstrap, indexes: Sequence[int]) -> int:
    """The column with the reader's own captions, or else the best one."""

    def is_own(column: ReportColumn) -> bool:
        return column.arm.captioner == column.arm.reader

    return next((k for k in indexes if is_own(group.columns[k])), _best(group, indexes))


def is_above(group: ColumnBootstrap, a: int, b: int) -> bool:
    """Whether column `a` is more accurate than column `b`."""
    # Means of equal counts differ in the last bits where they were summed in another order.
    return bool(group.bootstrap.values[a] > group.bootstrap.values[b] + TOLERANCE)


def is_tied(group: ColumnBootstrap, a: int, b: int) -> bool:
    """Whether two columns are equally accurate."""
    return bool(abs(group.bootstrap.values[a] - group.bootstrap.values[b]) <= TOLERANCE)
