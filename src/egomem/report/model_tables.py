"""Readers by setting, each with its better caption window; and readers by captioner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.evaluate.conditions import VIDEO
from egomem.report.bootstrap_columns import ColumnBootstrap
from egomem.report.cell_format import (
    accuracy_cell,
    baseline_rows,
    baselines_sentence,
    points_cell,
    with_source,
)
from egomem.report.columns import ReportColumn, short_model
from egomem.report.comparisons import SettingColumns, columns_by_reader, is_above
from egomem.report.open_weights import UNKNOWN
from egomem.report.table import ReportTable, Section, build_table
from egomem.score import group_accuracy


def model_section(groups: Sequence[ColumnBootstrap]) -> Section:
    """The paper's table of models (readers by setting), and the better window of each reader."""
    tables: list[ReportTable] = []
    text: list[str] = []
    for group in groups:
        readers = columns_by_reader(group)
        if readers:
            tables.append(_reader_table(group, readers))
        better = {
            reader: k
            for reader, settings in readers.items()
            if (k := _better_window(group, settings)) is not None
        }
        if any(VIDEO in readers[reader] for reader in better):
            text += _win_sentences(group, readers)
            tables.append(_better_window_table(group, readers, better))
    return Section(title="Models", text=tuple(text), parts=tuple(tables))


def _window_columns(group: ColumnBootstrap, settings: SettingColumns) -> list[int]:
    """The columns of CaptionQA with windows, in order; aligned captions and those of
    whole videos are no choice of window."""
    conditions = ((k, group.columns[k].condition) for k in settings.values())
    return [k for k, c in conditions if c.is_caption_qa and c.captions not in ("aligned", "whole")]


def _better_window(group: ColumnBootstrap, settings: SettingColumns) -> int | None:
    indexes = _window_columns(group, settings)
    return max(indexes, key=lambda k: group.columns[k].accuracy or 0.0) if indexes else None


def _reader_table(group: ColumnBootstrap, readers: dict[str, SettingColumns]) -> ReportTable:
    """A row for each reader, a column for each setting."""
    all_settings = list(dict.fromkeys(s for settings in readers.values() for s in settings))
    figures = [group_accuracy(column.scored) for column in group.columns]
    rows: list[list[object]] = []
    for reader, settings in readers.items():
        weights = group.columns[next(iter(settings.values()))].weights
        cells = {
            setting: with_source(group.columns[k], accuracy_cell(figures[k], group.n))
            for setting, k in settings.items()
        }
        rows.append([reader, weights, group.n, *(cells.get(name, "") for name in all_settings)])
    baselines = [
        [name, "", group.n, *(cell for _ in all_settings)]
        for name, cell in baseline_rows([figures[0]])
    ]
    return build_table(
        group.titled("Accuracy % by reader"),
        ("reader", "weights", "n", *all_settings),
        [*rows, *baselines],
        "Weights: open where anyone can download them, by egomem's table of model families. "
        "Correct it with --open MODEL and --closed MODEL.",
        footer_rows=len(baselines),
    )


def _better_window_table(
    group: ColumnBootstrap, readers: dict[str, SettingColumns], better: dict[str, int]
) -> ReportTable:
    rows: list[list[object]] = []
    for reader, k in better.items():
        video = readers[reader].get(VIDEO)
        column = group.columns[k]
        row = [reader, column.weights, column.arm.setting, group.n]
        row.append(accuracy_cell(group_accuracy(column.scored)))
        if video is None:
            rows.append([*row, "-", "-"])
            continue
        points = points_cell(group.bootstrap.difference(k, video), group.n_clusters, group.n)
        rows.append([*row, accuracy_cell(group_accuracy(group.columns[video].scored)), points])
    return build_table(
        group.titled("Better window of each reader"),
        ("reader", "weights", "window", "n", "captions %", "video %", "points"),
        rows,
        "The window with the higher accuracy. It was chosen after seeing the results, which "
        f"favours captions. {baselines_sentence(group_accuracy(group.columns[0].scored))}",
    )


def _win_sentences(group: ColumnBootstrap, readers: dict[str, SettingColumns]) -> Iterator[str]:
    """How many readers do better with captions than with frames, counted as the paper does."""
    by_setting: dict[str, list[bool]] = {}
    by_weights: dict[str, list[bool]] = {}
    for settings in readers.values():
        better, video = _better_window(group, settings), settings.get(VIDEO)
        if video is None or better is None:
            continue
        for k in _window_columns(group, settings):
            wins = by_setting.setdefault(group.columns[k].arm.setting, [])
            wins.append(is_above(group, k, video))
        weights = group.columns[video].weights
        by_weights.setdefault(weights, []).append(is_above(group, better, video))
    if by_setting:
        windows = ", ".join(f"{s} {sum(wins)} of {len(wins)}" for s, wins in by_setting.items())
        weights = ", ".join(
            f"{kind if kind != UNKNOWN else 'weights not known'} {sum(wins)} of {len(wins)}"
            for kind, wins in by_weights.items()
        )
        title = group.titled("Readers that do better with captions than with frames")
        yield (
            f"{title}: {windows}; with the better window of each reader, by weights: {weights}. "
            "The better window was chosen after seeing the results, which favours captions."
        )


def cross_captioning_section(columns: Sequence[ReportColumn]) -> Section:
    """Captioner by reader, with the spread over captioners, where a run has `--cross`."""
    tables = []
    for setting in dict.fromkeys(c.arm.setting for c in columns if c.arm.captioner):
        captioned = [c for c in columns if c.arm.setting == setting and c.arm.captioner]
        captioners = list(dict.fromkeys(c.arm.captioner for c in captioned))
        readers = list(dict.fromkeys(c.arm.reader for c in captioned))
        if len(captioners) > 1 and any(c.run.config.cross for c in captioned):
            tables.append(_cross_table(setting, captioned, captioners, readers))
    return Section(title="Cross-captioning", parts=tuple(tables))


def _cross_table(
    setting: str, columns: Sequence[ReportColumn], captioners: list[str], readers: list[str]
) -> ReportTable:
    by_models = {(c.arm.captioner, c.arm.reader): c for c in columns}
    rows: list[list[object]] = []
    for captioner in captioners:
        row = [by_models.get((captioner, reader)) for reader in readers]
        cells = [with_source(c, accuracy_cell(group_accuracy(c.scored))) if c else "-" for c in row]
        rows.append([short_model(captioner), *cells])
    spread = []
    for reader in readers:
        accuracies = [
            column.accuracy
            for captioner in captioners
            if (column := by_models.get((captioner, reader))) and column.accuracy is not None
        ]
        spread.append(f"{max(accuracies) - min(accuracies):.1f}" if len(accuracies) > 1 else "")
    rows.append(["max - min", *spread])
    first = group_accuracy(columns[0].scored)
    baselines = [[name, *(cell for _ in readers)] for name, cell in baseline_rows([first])]
    headings = ("captions by", *map(short_model, readers))
    title = f"{setting}, accuracy %, n {first.n}"
    return build_table(title, headings, [*rows, *baselines], footer_rows=1 + len(baselines))
