"""How figures are written into table cells: accuracies, intervals, p values, counts by status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from egomem.report.columns import ReportColumn, run_name
from egomem.report.table import CellValue
from egomem.score import (
    BASELINES,
    MIN_CLUSTERS,
    STATUSES,
    BaselineAccuracy,
    GroupAccuracy,
    Interval,
)
from egomem.score.summary import format_percent
from egomem.text import plural

NONE = "none"
"""The reader or captioner of a column that has none, and of a blind baseline."""

FigureSource = tuple[str, str, str, str]
"""Run ("" for several), setting, reader and captioner of a figure."""

STATUS_LETTERS = {
    "abstained": "a", "refused": "r", "truncated": "t", "unparsable": "u", "error": "e",
    "missing": "m",
}  # fmt: skip
"""Statuses of replies that were not read as a choice."""

STATUS_LETTERS_NOTE = (
    "Letters beside a figure count the replies that were not read as a choice: "
    + ", ".join(f"{letter} {status}" for status, letter in STATUS_LETTERS.items())
    + "."
)

INTERVAL_WARNINGS = (
    f'"few": from fewer than {MIN_CLUSTERS} clusters, for which an interval is still too narrow. '
    '"no spread": all resamples are equal, so the interval says nothing about other videos.'
)
"""What the warnings beside an interval mean."""


def accuracy_cell(figure: GroupAccuracy | None, n: int | None = None) -> CellValue:
    """An accuracy in per cent, "-" without one; its detail has n where it differs from `n`, and the
    replies that were not read as a choice."""
    if figure is None:
        return CellValue(text="-")
    details = [f"n {figure.n}"] if n is not None and figure.n != n else []
    details += [
        f"{count}{STATUS_LETTERS[status]}"
        for status, count in figure.by_status.items()
        if status in STATUS_LETTERS
    ]
    return CellValue(
        text=format_percent(figure.accuracy),
        detail=" ".join(details),
        value=None if figure.accuracy is None else 100 * figure.accuracy,
        n=figure.n,
        by_status=figure.by_status,
    )


def points_cell(interval: Interval, clusters: int, n: int | None = None) -> CellValue:
    """A difference in percentage points with its interval and the warnings on it."""
    return _interval_cell(interval, clusters, n, "+.1f")


def percent_cell(interval: Interval, clusters: int, n: int | None = None) -> CellValue:
    """An accuracy in per cent with its interval and the warnings on it."""
    return _interval_cell(interval, clusters, n, ".1f")


def _interval_cell(interval: Interval, clusters: int, n: int | None, format: str) -> CellValue:
    # Adding 0.0 turns -0.0 into 0.0, which would be printed as a loss of nothing.
    value, low, high = (100 * x + 0.0 for x in (interval.value, interval.low, interval.high))
    if clusters < 2:
        return CellValue(
            text=f"{value:{format}}", detail="one cluster, no interval", value=value, n=n
        )
    return CellValue(
        text=f"{value:{format}} [{low:{format}}, {high:{format}}]",
        detail=interval_warning(interval, clusters),
        value=value,
        low=low,
        high=high,
        n=n,
    )


def interval_warning(interval: Interval, clusters: int) -> str:
    """`few`, `no spread`, both or ""; see `INTERVAL_WARNINGS`."""
    warnings = ["few"] if clusters < MIN_CLUSTERS else []
    return ", ".join(warnings if interval.has_spread else [*warnings, "no spread"])


def with_source(column: ReportColumn, cell: CellValue) -> CellValue:
    """The cell with its run, setting, reader and captioner, for figures.csv."""
    return cell.model_copy(update={"source": column_source(column)})


def column_source(column: ReportColumn) -> FigureSource:
    """Run, setting, reader and captioner of a column."""
    arm = column.arm
    return run_name(column.run), arm.setting, arm.reader or NONE, arm.captioner or NONE


def joint_source(columns: Sequence[ReportColumn]) -> FigureSource:
    """That of a figure over several columns; what differs among them is told as `mean of 3`."""
    runs, settings, readers, captioners = (
        list(dict.fromkeys(values)) for values in zip(*map(column_source, columns), strict=True)
    )
    reads_own = all(column.arm.captioner == column.arm.reader for column in columns)
    captioner = captioners[0] if len(captioners) == 1 else "their own" if reads_own else "several"
    return (
        runs[0] if len(runs) == 1 else "",
        settings[0] if len(settings) == 1 else " and ".join(settings),
        readers[0] if len(readers) == 1 else f"mean of {len(readers)}",
        captioner,
    )


def cells_with_source(cells: Iterable[object], source: FigureSource) -> list[object]:
    """Cells of which every figure has a source; one that it has already stays."""
    return [
        cell.model_copy(update={"source": source})
        if isinstance(cell, CellValue) and cell.source is None
        else cell
        for cell in cells
    ]


def p_value_cell(p: float) -> CellValue:
    return CellValue(text="<0.001" if p < 0.0005 else f"{p:.3f}", value=p)


def format_statuses(figure: GroupAccuracy) -> str:
    """`38 parsed, 2 refused`"""
    return ", ".join(f"{count} {status}" for status, count in figure.by_status.items())


def format_unread(by_status: dict[str, int]) -> str:
    """`6u 1e`: the replies that were not read as a choice."""
    return " ".join(
        f"{count}{STATUS_LETTERS[status]}"
        for status, count in by_status.items()
        if status in STATUS_LETTERS
    )


def sum_by_status(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Answers by status of several figures together."""
    sums: Counter[str] = Counter()
    for by_status in counts:
        sums.update(by_status)
    return {status: sums[status] for status in STATUSES if sums[status]}


def best_baseline(figure: GroupAccuracy) -> tuple[str, BaselineAccuracy] | None:
    """The best blind baseline, by name.

    Baselines that can answer all questions come first: one that answers few of them may be lucky.
    """
    complete = {name: b for name, b in figure.blind.items() if b.n == figure.n} or figure.blind
    return max(complete.items(), key=lambda item: item[1].accuracy, default=None)


def best_baseline_cell(figure: GroupAccuracy) -> CellValue:
    """The best blind baseline's accuracy, with its name, and n where it cannot answer all."""
    best = best_baseline(figure)
    if best is None:
        return CellValue(text="-")
    name, baseline = best
    n = f", n {baseline.n}" if baseline.n < figure.n else ""
    return CellValue(
        text=format_percent(baseline.accuracy),
        detail=name + n,
        value=100 * baseline.accuracy,
        n=baseline.n,
    )


def baseline_rows(figures: Sequence[GroupAccuracy | None]) -> list[list[object]]:
    """A row for chance and for each blind baseline that can answer a question of any figure, with
    one cell per figure."""
    names = [x for x in BASELINES if any(f is not None and x in f.blind for f in figures)]
    return [
        ["chance", *(_chance_cell(figure) for figure in figures)],
        *([name, *(_baseline_cell(figure, name) for figure in figures)] for name in names),
    ]


def _chance_cell(figure: GroupAccuracy | None) -> object:
    if figure is None or figure.chance is None:
        return "-"
    return CellValue(text=format_percent(figure.chance), value=100 * figure.chance, n=figure.n)


def _baseline_cell(figure: GroupAccuracy | None, name: str) -> object:
    if figure is None or name not in figure.blind:
        return "-"
    baseline = figure.blind[name]
    return CellValue(
        text=format_percent(baseline.accuracy),
        detail=f"n {baseline.n}" if baseline.n < figure.n else "",
        value=100 * baseline.accuracy,
        n=baseline.n,
    )


def baselines_sentence(figure: GroupAccuracy) -> str:
    """All blind baselines of the questions that a table rests on, as a sentence of its note."""
    accuracies = ", ".join(f"{name} {cell}" for name, cell in baseline_rows([figure]))
    return f"Blind baselines on the same {plural(figure.n, 'question')}: {accuracies} %."
