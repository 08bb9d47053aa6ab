"""Captions against frames by visual tag and by place of the evidence, each with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from egomem.report.bootstrap_columns import ColumnBootstrap, bootstrap_questions
from egomem.report.captions_vs_video import SettingPairs, by_setting, counted_pairs, mean_points
from egomem.report.cell_format import (
    best_baseline_cell,
    cells_with_source,
    column_source,
    joint_source,
)
from egomem.report.comparisons import captions_minus_video
from egomem.report.slices import EVIDENCE_POSITION, TITLES, report_slices
from egomem.report.table import CellValue, ReportTable, build_table
from egomem.score import Slice, group_accuracy

VISUAL_TAG = "visual tags"
BY = (VISUAL_TAG, EVIDENCE_POSITION)
"""The slices by which CapMem compares captions with frames, beside durations."""


def gap_tables(groups: Sequence[ColumnBootstrap]) -> list[ReportTable]:
    """Captions minus video in each group of questions: the mean over readers, then each reader."""
    tables = []
    for group in groups:
        if pairs := captions_minus_video(group):
            settings = by_setting(group, counted_pairs(group, pairs))
            slices = [by for by in report_slices(group.columns) if by.name in BY]
            tables += [_table(group, by, settings) for by in slices]
    return [table for table in tables if table.rows]


def _table(group: ColumnBootstrap, by: Slice, settings: SettingPairs) -> ReportTable:
    subsets = _by_label(group, by)
    rows: list[list[object]] = []
    # A single label is all questions, whose difference stands above.
    for setting, pairs in settings.items() if len(subsets) > 1 else ():
        some = [("mean", pairs)] if len(pairs) > 1 else []
        for reader, of in [*some, *((pair.labels[0], [pair]) for pair in pairs)]:
            columns = [group.columns[pair.a] for pair in of]
            source = joint_source(columns) if len(of) > 1 else column_source(columns[0])
            cells = (mean_points(subset, of) for subset in subsets.values())
            rows.append([setting, reader, *cells_with_source(cells, source)])
    headings = [
        CellValue(text=label, detail=f"n {subset.n}, {subset.cluster_counts}", n=subset.n)
        for label, subset in subsets.items()
    ]
    blind = [best_baseline_cell(group_accuracy(s.scored(0))) for s in subsets.values()]
    return build_table(
        group.titled(f"Captions less video by {TITLES.get(by.name, by.name)}, points"),
        ("setting", "reader", *headings),
        [*rows, *([["best blind, %", "", *blind]] if rows else [])],
        "Mean: of the readers that pass the bias gate." if rows else "",
        footer_rows=1 if rows else 0,
    )


def _by_label(group: ColumnBootstrap, by: Slice) -> dict[str, ColumnBootstrap]:
    first = group.scored(0)
    labels = [by.labels(q, v) for q, v in zip(first.questions, first.videos, strict=True)]
    names = dict.fromkeys([*by.order, *sorted({x for of in labels for x in of})])
    return {name: subset for name in names for subset in _subset(group, labels, name)}


def _subset(
    group: ColumnBootstrap, labels: Sequence[Sequence[str]], name: str
) -> Iterator[ColumnBootstrap]:
    mask = np.array([name in of for of in labels], bool)
    if mask.any():
        yield bootstrap_questions(group.columns, mask)
