"""Captions against frames, as CapMem's headline has it: the mean over readers, with its interval,
by duration and frame cap; and how many readers do better with captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from egomem.evaluate.bias_gate import bias_gates
from egomem.report.bootstrap_columns import (
    RESAMPLING,
    STATUS_LETTERS_NOTE,
    ColumnBootstrap,
    accuracy_cell,
    best_baseline_cell,
    bootstrap_questions,
)
from egomem.report.cell_format import (
    INTERVAL_WARNINGS,
    format_unread,
    p_value_cell,
    points_cell,
    sum_by_status,
)
from egomem.report.columns import short_model
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
    f"Points: the setting less video, of the same reader, averaged over readers. {RESAMPLING}; a "
    "drawn video brings all its questions and all readers, so an interval covers videos, not "
    "models. p: two-sided permutation test that swaps whole videos, for all readers at once. "
    f"{INTERVAL_WARNINGS[0].upper()}{INTERVAL_WARNINGS[1:]}. {STATUS_LETTERS_NOTE}"
)

MAX_ROWS = 20
"""Rows of a table of readers and settings; of more, each setting has a table of its own."""


def captions_vs_video_section(held: Sequence[ColumnBootstrap]) -> Section:
    """The mean over readers of captions less frames, and each reader's, by duration."""
    text: list[str] = []
    parts: list[ReportTable] = []
    for own in held:
        pairs = captions_minus_video(own)
        if not pairs:
            continue
        within = bootstrap_by_duration(own)
        by_setting = _by_setting(own, pairs)
        text += _sentences(within, by_setting)
        text += _gated(own, pairs)
        parts.append(_means(within, by_setting))
        parts += _each(within, by_setting)
    if parts:
        text.append(METHOD)
    return Section(title="Captions against frames", text=tuple(text), parts=tuple(parts))


def _by_setting(own: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> dict[str, list[ColumnPair]]:
    """What is averaged: the readers of a setting; of one run, where a reader stands in several."""
    columns = [own.entries[p.a].column for p in pairs]
    doubled = len(set(columns)) < len(columns)
    found: dict[str, list[ColumnPair]] = {}
    for pair in pairs:
        run = own.entries[pair.a].run.folder.resolve().name
        name = f"{run}: {pair.setting}" if doubled else pair.setting
        found.setdefault(name, []).append(pair)
    return found


def bootstrap_by_duration(own: ColumnBootstrap) -> dict[str, ColumnBootstrap]:
    """The same columns on all videos, up to and over 20 min, by three regimes of duration, and
    within and over the frame cap; without those that hold no video, or all."""
    first = own.entries[0].sheet
    config, edges = own.entries[0].run.config, own.entries[0].choices.regimes
    views: Sequence[Slice] = (
        by_duration(edges[-1:]),
        by_duration(edges),
        by_frame_cap(config.frames, config.fps),
    )
    found = {"all": own}
    pairs = list(zip(first.questions, first.videos, strict=True))
    for view in views:
        for label in view.order:
            keep = np.array([label in view.labels(q, v) for q, v in pairs], bool)
            if keep.any() and not keep.all() and label not in found:
                found[label] = bootstrap_questions(own.entries, keep)
    return found


def _means(
    within: dict[str, ColumnBootstrap], by_setting: dict[str, list[ColumnPair]]
) -> ReportTable:
    tests = {name: _p_values(part, by_setting) for name, part in within.items()}
    keys = [(setting, name) for setting in by_setting for name in within]
    adjusted = dict(zip(keys, holm([tests[name][setting] for setting, name in keys]), strict=True))
    rows: list[list[object]] = []
    for setting, name in keys:
        part, pairs = within[name], by_setting[setting]
        left, right = [p.a for p in pairs], [p.b for p in pairs]
        own = [part.sheet(k) for k in (*left, *right)]
        made = group_accuracy(own[0])
        rows.append(
            [
                setting,
                name,
                CellValue(text=str(part.n), small=part.counted, n=part.n),
                _mean([group_accuracy(s) for s in own[: len(left)]]),
                _mean([group_accuracy(s) for s in own[len(left) :]]),
                best_baseline_cell(made),
                points_cell(part.drawn.difference(left, right), part.groups, part.n),
                p_value_cell(tests[name][setting]),
                p_value_cell(adjusted[setting, name]),
                _won(part, pairs),
            ]
        )
    heads = (
        "setting", "videos", "n", "captions %", "video %", "best blind %", "points", "p",
        "p (Holm)", "above video",
    )  # fmt: skip
    counts = sorted({len(pairs) for pairs in by_setting.values()})
    many = " or ".join(map(str, counts)) + (" reader" if counts == [1] else " readers")
    return build_table(
        within["all"].titled(f"Captions less video, mean of {many}"),
        heads,
        rows,
        f"Captions %, video %: means over readers, with the answers of all of them that were not "
        f"read. p (Holm): adjusted for the {plural(len(rows), 'test')} of this table. Above video: "
        "readers that do better with captions.",
    )


def _p_values(part: ColumnBootstrap, by_setting: dict[str, list[ColumnPair]]) -> dict[str, float]:
    gaps = [
        part.right[:, [p.a for p in pairs]].mean(axis=1)
        - part.right[:, [p.b for p in pairs]].mean(axis=1)
        for pairs in by_setting.values()
    ]
    found = permutation_tests(np.column_stack(gaps), part.clusters)
    return dict(zip(by_setting, map(float, found), strict=True))


def _mean(figures: Sequence[GroupAccuracy]) -> CellValue:
    """The mean accuracy of several readers of the same questions, and their answers by status."""
    pooled = GroupAccuracy(
        n=sum(f.n for f in figures),
        right=sum(f.right for f in figures),
        by_status=sum_by_status(f.by_status for f in figures),
        blind={},
    )
    return accuracy_cell(pooled, pooled.n)


def _won(part: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> CellValue:
    won = sum(is_above(part, p.a, p.b) for p in pairs)
    ties = sum(is_tied(part, p.a, p.b) for p in pairs)
    small = f"{ties} tied" if ties else ""
    return CellValue(text=f"{won} of {len(pairs)}", small=small, value=won, n=len(pairs))


def _each(
    within: dict[str, ColumnBootstrap], by_setting: dict[str, list[ColumnPair]]
) -> Iterator[ReportTable]:
    """Each reader's differences by duration, in one table or in one for each setting."""
    title = within["all"].titled("Captions less video, by reader")
    some = {name: part for name, part in within.items() if not name.endswith("frames")}
    whole = [pair for pairs in by_setting.values() for pair in pairs]
    if len(whole) <= MAX_ROWS:
        rows = [[p.labels[0], p.setting, *_gaps(some, p)] for p in whole]
        yield _by_duration(title, ("reader", "setting"), some, rows)
        return
    for setting, pairs in by_setting.items():
        rows = [[p.labels[0], *_gaps(some, p)] for p in pairs]
        yield _by_duration(f"{title}: {setting}", ("reader",), some, rows)


def _gaps(within: dict[str, ColumnBootstrap], pair: ColumnPair) -> Iterator[object]:
    whole = within["all"]
    yield ", ".join(format_unread(whole.sheet(k).by_status()) or "0" for k in (pair.a, pair.b))
    for part in within.values():
        yield points_cell(part.drawn.difference(pair.a, pair.b), part.groups, part.n)


def _by_duration(
    title: str,
    labels: tuple[str, ...],
    within: dict[str, ColumnBootstrap],
    rows: list[list[object]],
) -> ReportTable:
    heads = [
        CellValue(text=name, small=f"n {part.n}, {part.counted}", n=part.n)
        for name, part in within.items()
    ]
    return build_table(
        title,
        (*labels, "not read", *heads),
        rows,
        "Points, paired. Not read: answers of the setting, then of video, that were not read as a "
        "choice.",
    )


def _sentences(
    within: dict[str, ColumnBootstrap], by_setting: dict[str, list[ColumnPair]]
) -> Iterator[str]:
    """The headline in words: for each setting over all, long and short videos."""
    edges = within["all"].entries[0].choices.regimes
    names = [x for x in ("all", *by_duration(edges[-1:]).order) if x in within]
    for setting, pairs in by_setting.items():
        left, right = [p.a for p in pairs], [p.b for p in pairs]
        said = []
        for name in names:
            part = within[name]
            gap = points_cell(part.drawn.difference(left, right), part.groups)
            where = "over all videos" if name == "all" else f"on videos {name}"
            won = _won(part, pairs)
            readers = "reader" if len(pairs) == 1 else "readers"
            ties = f", {won.small}" if won.small else ""
            said.append(f"{gap} points {where} ({won.text} {readers} above{ties})")
        mean = f"mean of {len(pairs)} readers" if len(pairs) > 1 else "one reader"
        what = within["all"].titled(f"{setting} less video, {mean}")
        yield f"{what}: {'; '.join(said)}."


def _gated(own: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> Iterator[str]:
    """Readers that the gate stops, where the run let them go on."""
    runs = {id(e.run): e.run for e in own.entries}.values()
    asked = {own.entries[p.a].column.reader for p in pairs}
    failed = [
        short_model(gate.reader) + (f" ({run.folder.resolve().name})" if len(runs) > 1 else "")
        for run in runs
        for gate in bias_gates(run.questions, run.config, run.cells)
        if gate.n and gate.reader in asked and gate.passed is False
    ]
    if failed:
        yield f"Counted here although the gate of stage 1 stops them: {', '.join(failed)}."
