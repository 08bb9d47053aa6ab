"""Captions against frames, the headline of CapMem: the mean over readers with its interval, by
duration and frame cap, and how many readers do better with captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from egomem.evaluate.bias_gate import bias_gates
from egomem.report.bootstrap_columns import RESAMPLING, ColumnBootstrap, bootstrap_questions
from egomem.report.cell_format import (
    INTERVAL_WARNINGS,
    STATUS_LETTERS_NOTE,
    accuracy_cell,
    best_baseline_cell,
    format_unread,
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

METHOD = (
    "Points: the accuracy of the setting less that of video by the same reader, averaged over "
    f"readers. {RESAMPLING}. A resampled video brings all its questions and all readers: an "
    "interval is about other videos, not about other models. p: two-sided permutation test that "
    f"swaps whole videos, for all readers at once. {INTERVAL_WARNINGS} {STATUS_LETTERS_NOTE}"
)

MAX_ROWS = 20
"""Rows of a table of readers and settings; with more, each setting has its own table."""

ALL_VIDEOS = "all"

Subsets = dict[str, ColumnBootstrap]
"""Which videos -> the same columns on the questions about them."""

SettingPairs = dict[str, list[ColumnPair]]
"""Setting -> captions minus video of each reader."""


def captions_vs_video_section(groups: Sequence[ColumnBootstrap]) -> Section:
    """Captions minus video, as the mean over readers and for each reader, by duration."""
    text: list[str] = []
    tables: list[ReportTable] = []
    for group in groups:
        pairs = captions_minus_video(group)
        if not pairs:
            continue
        subsets = bootstrap_by_duration(group)
        settings = _by_setting(group, pairs)
        text += _sentences(subsets, settings)
        text += _gate_sentences(group, pairs)
        tables.append(_mean_table(subsets, settings))
        tables += _reader_tables(subsets, settings)
    if tables:
        text.append(METHOD)
    return Section(title="Captions against frames", text=tuple(text), parts=tuple(tables))


def _by_setting(group: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> SettingPairs:
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


def _mean_table(subsets: Subsets, settings: SettingPairs) -> ReportTable:
    p_values = {name: _p_values(subset, settings) for name, subset in subsets.items()}
    keys = [(setting, name) for setting in settings for name in subsets]
    # Over the whole table: who looks at twenty rows for a small p finds one by chance.
    adjusted = holm([p_values[name][setting] for setting, name in keys])
    rows: list[list[object]] = []
    for (setting, name), p_adjusted in zip(keys, adjusted, strict=True):
        subset, pairs = subsets[name], settings[setting]
        captions, videos = [pair.a for pair in pairs], [pair.b for pair in pairs]
        rows.append(
            [
                setting,
                name,
                CellValue(text=str(subset.n), detail=subset.cluster_counts, n=subset.n),
                _mean_cell([group_accuracy(subset.scored(k)) for k in captions]),
                _mean_cell([group_accuracy(subset.scored(k)) for k in videos]),
                best_baseline_cell(group_accuracy(subset.scored(captions[0]))),
                points_cell(
                    subset.bootstrap.difference(captions, videos), subset.n_clusters, subset.n
                ),
                p_value_cell(p_values[name][setting]),
                p_value_cell(p_adjusted),
                _wins_cell(subset, pairs),
            ]
        )
    headings = (
        "setting", "videos", "n", "captions %", "video %", "best blind %", "points", "p",
        "p (Holm)", "above video",
    )  # fmt: skip
    counts = sorted({len(pairs) for pairs in settings.values()})
    readers = " or ".join(map(str, counts)) + (" reader" if counts == [1] else " readers")
    return build_table(
        subsets[ALL_VIDEOS].titled(f"Captions less video, mean of {readers}"),
        headings,
        rows,
        "Captions % and video %: means over readers; beside them the unread replies of all readers "
        f"together. p (Holm): adjusted for the {plural(len(rows), 'test')} of this table. Above "
        "video: how many readers do better with captions.",
    )


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


def _reader_tables(subsets: Subsets, settings: SettingPairs) -> Iterator[ReportTable]:
    """Each reader's differences by duration, in one table or in one for each setting."""
    title = subsets[ALL_VIDEOS].titled("Captions less video, by reader")
    # The frame cap is left out: it divides the videos almost as the durations do.
    by_duration = {name: s for name, s in subsets.items() if not name.endswith("frames")}
    pairs = [pair for setting_pairs in settings.values() for pair in setting_pairs]
    # A page holds no more without becoming unreadable.
    if len(pairs) <= MAX_ROWS:
        rows = [[p.labels[0], p.setting, *_reader_cells(by_duration, p)] for p in pairs]
        yield _reader_table(title, ("reader", "setting"), by_duration, rows)
        return
    for setting, setting_pairs in settings.items():
        rows = [[p.labels[0], *_reader_cells(by_duration, p)] for p in setting_pairs]
        yield _reader_table(f"{title}: {setting}", ("reader",), by_duration, rows)


def _reader_cells(subsets: Subsets, pair: ColumnPair) -> Iterator[object]:
    everything = subsets[ALL_VIDEOS]
    unread = (format_unread(everything.scored(k).by_status()) for k in (pair.a, pair.b))
    yield ", ".join(counts or "0" for counts in unread)
    for subset in subsets.values():
        difference = subset.bootstrap.difference(pair.a, pair.b)
        yield points_cell(difference, subset.n_clusters, subset.n)


def _reader_table(
    title: str, labels: tuple[str, ...], subsets: Subsets, rows: list[list[object]]
) -> ReportTable:
    headings = [
        CellValue(text=name, detail=f"n {subset.n}, {subset.cluster_counts}", n=subset.n)
        for name, subset in subsets.items()
    ]
    return build_table(
        title,
        (*labels, "not read", *headings),
        rows,
        "Paired differences in points. Not read: replies that were not read as a choice, first "
        "those of the setting, then those of video.",
    )


def _sentences(subsets: Subsets, settings: SettingPairs) -> Iterator[str]:
    """The headline in words: each setting over all, short and long videos."""
    edges = subsets[ALL_VIDEOS].columns[0].options.regimes
    names = [x for x in (ALL_VIDEOS, *by_duration(edges[-1:]).order) if x in subsets]
    for setting, pairs in settings.items():
        captions, videos = [pair.a for pair in pairs], [pair.b for pair in pairs]
        clauses = []
        for name in names:
            subset = subsets[name]
            points = points_cell(subset.bootstrap.difference(captions, videos), subset.n_clusters)
            where = "over all videos" if name == ALL_VIDEOS else f"on videos {name}"
            wins = _wins_cell(subset, pairs)
            readers = "reader" if len(pairs) == 1 else "readers"
            ties = f", {wins.detail}" if wins.detail else ""
            clauses.append(f"{points} points {where} ({wins.text} {readers} above{ties})")
        mean = f"mean of {len(pairs)} readers" if len(pairs) > 1 else "one reader"
        what = subsets[ALL_VIDEOS].titled(f"{setting} less video, {mean}")
        yield f"{what}: {'; '.join(clauses)}."


def _gate_sentences(group: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> Iterator[str]:
    """Which of the readers failed the bias gate, where the run let them continue."""
    runs = {id(column.run): column.run for column in group.columns}.values()
    readers = {group.columns[pair.a].arm.reader for pair in pairs}
    # A gate that is only reported must be seen beside the figures that it puts in doubt.
    failed = [
        short_model(gate.reader) + (f" ({run_name(run)})" if len(runs) > 1 else "")
        for run in runs
        for gate in bias_gates(run.questions, run.config, run.cells)
        if gate.n and gate.reader in readers and gate.passed is False
    ]
    if failed:
        yield f"These figures include readers that failed the bias gate: {', '.join(failed)}."
