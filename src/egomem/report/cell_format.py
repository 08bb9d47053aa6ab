"""How figures, differences and what stands beside them are written into cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from egomem.report.bootstrap_columns import SHORT
from egomem.report.columns import Entry
from egomem.report.table import Value
from egomem.score import BASELINES, FEW_CLUSTERS, STATUSES, Figure, Interval
from egomem.score.summary import percent
from egomem.text import plural

FEW = (
    f"few: fewer than {FEW_CLUSTERS} clusters, where such an interval is too narrow; no spread: "
    "all draws are alike, so the interval tells nothing of other videos"
)
"""What stands beside intervals that a reader must not trust."""


def points(held: Interval, clusters: int, n: int | None = None) -> Value:
    """A difference in points with its interval, and a warning where that is not to be trusted."""
    return _value(held, clusters, n, "+.1f")


def share(held: Interval, clusters: int, n: int | None = None) -> Value:
    """An accuracy in per cent, likewise."""
    return _value(held, clusters, n, ".1f")


def _value(held: Interval, clusters: int, n: int | None, form: str) -> Value:
    value, low, high = (100 * x + 0.0 for x in (held.value, held.low, held.high))
    if clusters < 2:
        return Value(text=f"{value:{form}}", small="one cluster, no interval", value=value, n=n)
    return Value(
        text=f"{value:{form}} [{low:{form}}, {high:{form}}]",
        small=warning(held, clusters),
        value=value,
        low=low,
        high=high,
        n=n,
    )


def of(entry: Entry, cell: Value) -> Value:
    """A cell that says in the long table which column it is of."""
    c = entry.column
    source = (entry.run.folder.resolve().name, c.setting, c.reader, c.captioner)
    return cell.model_copy(update={"source": source})


def warning(held: Interval, clusters: int) -> str:
    few = ["few"] if clusters < FEW_CLUSTERS else []
    return ", ".join([*few, *([] if held.has_spread else ["no spread"])])


def p_value(p: float) -> Value:
    return Value(text="<0.001" if p < 0.0005 else f"{p:.3f}", value=p)


def unread(by_status: dict[str, int]) -> str:
    """`6u 1e`: the answers that were not read as a choice."""
    return " ".join(f"{n}{SHORT[status]}" for status, n in by_status.items() if status in SHORT)


def total(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Answers by status of several figures."""
    found: Counter[str] = Counter()
    for by_status in counts:
        found.update(by_status)
    return {status: found[status] for status in STATUSES if found[status]}


def baselines(figures: Sequence[Figure | None]) -> list[list[object]]:
    """A row for chance and each blind baseline, a cell for each figure; those that can answer no
    question of any are left out."""
    rows: list[list[object]] = [["chance", *(_chance(f) for f in figures)]]
    names = [x for x in BASELINES if any(f is not None and x in f.blind for f in figures)]
    return [*rows, *([name, *(_blind(f, name) for f in figures)] for name in names)]


def _chance(made: Figure | None) -> object:
    if made is None or made.chance is None:
        return "-"
    return Value(text=percent(made.chance), value=100 * made.chance, n=made.n)


def _blind(made: Figure | None, name: str) -> object:
    if made is None or name not in made.blind:
        return "-"
    held = made.blind[name]
    few = f"n {held.n}" if held.n < made.n else ""
    return Value(text=percent(held.accuracy), small=few, value=100 * held.accuracy, n=held.n)


def without_looking(made: Figure) -> str:
    """All baselines of the questions that a table rests on, as a sentence of its note."""
    found = [f"{row[0]} {row[1]}" for row in baselines([made])]
    asked = plural(made.n, "question gives", "questions give")
    return f"Without looking, the same {asked}: {', '.join(found)} %."
