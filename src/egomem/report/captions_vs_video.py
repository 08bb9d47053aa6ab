"""Captions against frames, the headline of CapMem: the mean over readers with its interval, by
duration and frame cap, and how many readers do better with captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from egomem.evaluate.bias_gate import bias_gates
from egomem.report.bootstrap_columns import ColumnBootstrap, bootstrap_questions
from egomem.report.cell_format import (
    accuracy_cell,
    best_baseline_cell,
    cells_with_source,
    column_source,
    format_unread,
    joint_source,
    p_value_cell,
    points_cell,
    sum_by_status,
)
from egomem.report.columns import run_name, short_model
from egomem.report.comparisons import ColumnPair, captions_minus_video, is_above, is_tied
from egomem.report.table import CellValue, ReportTable, Section, build_table
from egomem.score import (
    GroupAccuracy,
    Slice,
    by_duration,
    by_frame_cap,
    group_accuracy,
    holm,
    permutation_tests,
)
from egomem.text import plural

ALL_VIDEOS = "all"

Subsets = dict[str, ColumnBootstrap]
"""Which videos -> the same columns on the questions about them."""

SettingPairs = dict[str, list[ColumnPair]]
"""Setting -> captions minus video of each reader."""


def captions_vs_video_section(
    groups: Sequence[ColumnBootstrap], others: Sequence[ReportTable] = ()
) -> Section:
    """Captions minus video, as the mean over readers and for each reader, by duration; then
    `others`."""
    tables: list[ReportTable] = []
    for group in groups:
        pairs = captions_minus_video(group)
        if not pairs:
            continue
        subsets = bootstrap_by_duration(group)
        tables.append(_mean_table(subsets, pairs))
        tables.append(_reader_table(subsets, by_setting(group, pairs)))
    return Section(title="Captions against frames", parts=(*tables, *others))


def by_setting(group: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> SettingPairs:
    """The pairs to average: the readers of one setting, within one run where a reader is in
    several."""
    arms = [group.columns[pair.a].arm for pair in pairs]
    # A reader of two runs would count twice in a mean over readers.
    has_repeats = len(set(arms)) < len(arms)
    settings: SettingPairs = {}
    for pair in pairs:
        run = run_name(group.columns[pair.a].run)
        name = f"{run}: {pair.setting}" if has_repeats else pair.setting
        settings.setdefault(name, []).append(pair)
    return settings


def bootstrap_by_duration(group: ColumnBootstrap) -> Subsets:
    """The same columns on all videos, on long and on short ones, by regime of duration, and within
    and over the frame cap; without subsets that hold no video, or all of them."""
    first = group.columns[0].scored
    config, edges = group.columns[0].run.config, group.columns[0].options.regimes
    slices: Sequence[Slice] = (
        by_duration(edges[-1:]),
        by_duration(edges),
        by_frame_cap(config.frames, config.fps),
    )
    subsets = {ALL_VIDEOS: group}
    pairs = list(zip(first.questions, first.videos, strict=True))
    for by in slices:
        for label in by.order:
            mask = np.array(
                [label in by.labels(question, video) for question, video in pairs], bool
            )
            # Two slices may cut alike (over 20 minutes is a regime of both): one row each.
            if mask.any() and not mask.all() and label not in subsets:
                subsets[label] = bootstrap_questions(group.columns, mask)
    return subsets


def _mean_table(subsets: Subsets, pairs: Sequence[ColumnPair]) -> ReportTable:
    """The mean over the readers that pass the bias gate, and that of all beside it."""
    group = subsets[ALL_VIDEOS]
    every, settings = by_setting(group, pairs), by_setting(group, counted_pairs(group, pairs))
    p_values = {name: _p_values(subset, settings) for name, subset in subsets.items()}
    keys = [(setting, name) for setting in settings for name in subsets]
    adjusted = holm([p_values[name][setting] for setting, name in keys])
    has_others = settings != every
    rows: list[list[object]] = []
    for (setting, name), p_adjusted in zip(keys, adjusted, strict=True):
        subset, counted = subsets[name], settings[setting]
        captions, videos = [pair.a for pair in counted], [pair.b for pair in counted]
        row: list[object] = [
            setting,
            name,
            CellValue(text=str(subset.n), detail=subset.cluster_counts, n=subset.n),
            _mean_cell([group_accuracy(subset.scored(k)) for k in captions]),
            _mean_cell([group_accuracy(subset.scored(k)) for k in videos]),
            best_baseline_cell(group_accuracy(subset.scored(captions[0]))),
            mean_points(subset, counted),
            p_value_cell(p_values[name][setting]),
            p_value_cell(p_adjusted),
            _wins_cell(subset, counted),
            *([mean_points(subset, every[setting])] if has_others else []),
        ]
        source = joint_source([group.columns[k] for k in captions])
        rows.append(cells_with_source(row, source))
    counts = sorted({len(counted) for counted in settings.values()})
    readers = " or ".join(map(str, counts)) + (" reader" if counts == [1] else " readers")
    headings = [
        "setting", "videos", "n", "captions %", "video %", "best blind %", "points", "p",
        "p (Holm)", "above video",
    ]  # fmt: skip
    passing = ""
    if has_others:
        headings.append(f"points, all {max(map(len, every.values()))} readers")
        passing = " that pass the bias gate"
    return build_table(
        group.titled(f"Captions less video, mean of {readers}{passing}"),
        headings,
        rows,
        "Captions % and video %: means over readers; beside them the unread replies of all readers "
        f"together. p (Holm): adjusted for the {plural(len(rows), 'test')} of this table. Above "
        "video: how many readers do better with captions.",
    )


def mean_points(subset: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> CellValue:
    """The mean over readers of captions minus video on these questions."""
    difference = subset.bootstrap.difference([p.a for p in pairs], [p.b for p in pairs])
    return points_cell(difference, subset.n_clusters, subset.n)


def _p_values(subset: ColumnBootstrap, settings: SettingPairs) -> dict[str, float]:
    # Of the mean over readers, as the readers of a video are swapped together: they saw the same
    # frames.
    differences = [
        subset.right[:, [pair.a for pair in pairs]].mean(axis=1)
        - subset.right[:, [pair.b for pair in pairs]].mean(axis=1)
        for pairs in settings.values()
    ]
    p_values = permutation_tests(np.column_stack(differences), subset.clusters)
    return dict(zip(settings, map(float, p_values), strict=True))


def _mean_cell(figures: Sequence[GroupAccuracy]) -> CellValue:
    """The mean accuracy of several readers, and their answers by status together.

    All readers answer the same questions, so the pooled accuracy is the mean of theirs.
    """
    pooled = GroupAccuracy(
        n=sum(f.n for f in figures),
        right=sum(f.right for f in figures),
        by_status=sum_by_status(f.by_status for f in figures),
        blind={},
    )
    return accuracy_cell(pooled, pooled.n)


def _wins_cell(subset: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> CellValue:
    wins = sum(is_above(subset, pair.a, pair.b) for pair in pairs)
    ties = sum(is_tied(subset, pair.a, pair.b) for pair in pairs)
    detail = f"{ties} tied" if ties else ""
    return CellValue(text=f"{wins} of {len(pairs)}", detail=detail, value=wins, n=len(pairs))


def _reader_cells(subsets: Subsets, pair: ColumnPair) -> Iterator[object]:
    for subset in subsets.values():
        yield mean_points(subset, [pair])
    everything = subsets[ALL_VIDEOS]
    unread = (format_unread(everything.scored(k).by_status()) for k in (pair.a, pair.b))
    yield ", ".join(counts or "0" for counts in unread)


def _reader_table(subsets: Subsets, settings: SettingPairs) -> ReportTable:
    """Each reader's differences by duration."""
    # The frame cap is left out: it divides the videos almost as the durations do.
    by_length = {name: s for name, s in subsets.items() if not name.endswith("frames")}
    group = subsets[ALL_VIDEOS]
    rows = [
        [
            pair.labels[0],
            pair.setting,
            *cells_with_source(
                _reader_cells(by_length, pair), column_source(group.columns[pair.a])
            ),
        ]
        for pairs in settings.values()
        for pair in pairs
    ]
    headings = [
        CellValue(text=name, detail=f"n {subset.n}, {subset.cluster_counts}", n=subset.n)
        for name, subset in by_length.items()
    ]
    return build_table(
        group.titled("Captions less video, by reader"),
        ("reader", "setting", *headings, "not read"),
        rows,
        "Paired differences in points. Not read: replies that were not read as a choice, first "
        "those of the setting, then those of video.",
    )


def counted_pairs(group: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> list[ColumnPair]:
    """The pairs of readers that pass the bias gate; all where no reader was asked blind, or none
    passes."""
    failing = failing_readers(group)
    arms = [(id(group.columns[pair.a].run), group.columns[pair.a].arm.reader) for pair in pairs]
    passing = [pair for pair, arm in zip(pairs, arms, strict=True) if arm not in failing]
    # Each setting keeps a reader, or the headline would drop a setting without a word.
    kept = by_setting(group, passing).keys()
    return passing if kept == by_setting(group, pairs).keys() else list(pairs)


def failing_readers(group: ColumnBootstrap) -> dict[tuple[int, str], str]:
    """(id of the run, reader) -> name, of those that fail the bias gate or cannot be judged."""
    runs = {id(column.run): column.run for column in group.columns}
    return {
        (id(run), gate.reader): short_model(gate.reader)
        + (f" ({run_name(run)})" if len(runs) > 1 else "")
        for run in runs.values()
        for gate in bias_gates(run.questions, run.config, run.cells)
        if gate.n and not gate.passed
    }
