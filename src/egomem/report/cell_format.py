"""How figures, differences and what stands beside them are written into cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from egomem.report.bootstrap_columns import STATUS_LETTERS
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue
from egomem.score import BASELINES, MIN_CLUSTERS, STATUSES, GroupAccuracy, Interval
from egomem.score.summary import format_percent
from egomem.text import plural

INTERVAL_WARNINGS = (
    f"few: fewer than {MIN_CLUSTERS} clusters, where such an interval is too narrow; no spread: "
    "all draws are alike, so the interval tells nothing of other videos"
)
"""What stands beside intervals that a reader must not trust."""


def points_cell(held: Interval, clusters: int, n: int | None = None) -> CellValue:
    """A difference in points with its interval, and a warning where that is not to be trusted."""
    return _value(held, clusters, n, "+.1f")


def percent_cell(held: Interval, clusters: int, n: int | None = None) -> CellValue:
    """An accuracy in per cent, likewise."""
    return _value(held, clusters, n, ".1f")


def _value(held: Interval, clusters: int, n: int | None, form: str) -> CellValue:
    value, low, high = (100 * x + 0.0 for x in (held.value, held.low, held.high))
    if clusters < 2:
        return CellValue(text=f"{value:{form}}", small="one cluster, no interval", value=value, n=n)
    return CellValue(
        text=f"{value:{form}} [{low:{form}}, {high:{form}}]",
        small=interval_warning(held, clusters),
        value=value,
        low=low,
        high=high,
        n=n,
    )


def with_source(entry: ReportColumn, cell: CellValue) -> CellValue:
    """A cell that says in the long table which column it is of."""
    c = entry.column
    source = (entry.run.folder.resolve().name, c.setting, c.reader, c.captioner)
    return cell.model_copy(update={"source": source})


def interval_warning(held: Interval, clusters: int) -> str:
    few = ["few"] if clusters < MIN_CLUSTERS else []
    return ", ".join([*few, *([] if held.has_spread else ["no spread"])])


def p_value_cell(p: float) -> CellValue:
    return CellValue(text="<0.001" if p < 0.0005 else f"{p:.3f}", value=p)


def format_unread(by_status: dict[str, int]) -> str:
    """`6u 1e`: the answers that were not read as a choice."""
    return " ".join(
        f"{n}{STATUS_LETTERS[status]}"
        for status, n in by_status.items()
        if status in STATUS_LETTERS
    )


def sum_by_status(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Answers by status of several figures."""
    found: Counter[str] = Counter()
    for by_status in counts:
        found.update(by_status)
    return {status: found[status] for status in STATUSES if found[status]}


def baseline_rows(figures: Sequence[GroupAccuracy | None]) -> list[list[object]]:
    """A row for chance and each blind baseline, a cell for each figure; those that can answer no
    question of any are left out."""
    rows: list[list[object]] = [["chance", *(_chance(f) for f in figures)]]
    names = [x for x in BASELINES if any(f is not None and x in f.blind for f in figures)]
    return [*rows, *([name, *(_blind(f, name) for f in figures)] for name in names)]


def _chance(made: GroupAccuracy | None) -> object:
    if made is None or made.chance is None:
        return "-"
    return CellValue(text=format_percent(made.chance), value=100 * made.chance, n=made.n)


def _blind(made: GroupAccuracy | None, name: str) -> object:
    if made is None or name not in made.blind:
        return "-"
    held = made.blind[name]
    few = f"n {held.n}" if held.n < made.n else ""
    return CellValue(
        text=format_percent(held.accuracy), small=few, value=100 * held.accuracy, n=held.n
    )


def baselines_sentence(made: GroupAccuracy) -> str:
    """All baselines of the questions that a table rests on, as a sentence of its note."""
    found = [f"{row[0]} {row[1]}" for row in baseline_rows([made])]
    asked = plural(made.n, "question gives", "questions give")
    return f"Without looking, the same {asked}: {', '.join(found)} %."
