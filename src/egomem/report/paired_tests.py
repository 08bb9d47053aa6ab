"""Paired differences between columns: tested, and adjusted for how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from egomem.report.bootstrap_columns import RESAMPLING, ColumnBootstrap, accuracy_cell
from egomem.report.cell_format import (
    INTERVAL_WARNINGS,
    baselines_sentence,
    p_value_cell,
    points_cell,
)
from egomem.report.comparisons import (
    MAX_ALL_PAIRS,
    ColumnPair,
    captioner_pairs,
    captions_minus_video,
    reader_pairs,
    run_pairs,
    strategy_minus_base,
)
from egomem.report.table import CellValue, ReportTable, Section, build_table
from egomem.score import MIN_CLUSTERS, group_accuracy, holm, minimum_detectable, permutation_tests
from egomem.text import plural


class ComparisonFamily(NamedTuple):
    """A family of differences: their labels as headings, and what a reader must know."""

    title: str
    labels: tuple[str, ...]
    find: Callable[[ColumnBootstrap], list[ColumnPair]]
    note: str = ""


METHOD = (
    f"{RESAMPLING}, on the same draws for both sides. p: two-sided permutation test that swaps "
    "whole clusters. MDD, minimum detectable difference: the smallest true difference in points "
    "that such a comparison would find with power 0.8; not given for fewer than "
    f"{MIN_CLUSTERS} clusters. {INTERVAL_WARNINGS[0].upper()}{INTERVAL_WARNINGS[1:]}."
)

MAX_ROWS = 20
"""Rows of a table; of more differences of a kind, each setting has a table of its own."""

CHOSEN_COLUMN_NOTE = f"Of more than {MAX_ALL_PAIRS}, each is set against {{}}"

FAMILIES = (
    ComparisonFamily("Captions less video", ("reader",), captions_minus_video),
    ComparisonFamily("A look at the frames less captions alone", ("reader",), strategy_minus_base),
    ComparisonFamily(
        "Readers",
        ("reader", "less"),
        reader_pairs,
        CHOSEN_COLUMN_NOTE.format("the best, whose lead is flattered by being chosen afterwards."),
    ),
    ComparisonFamily(
        "Captioners",
        ("reader", "captions by", "less"),
        captioner_pairs,
        CHOSEN_COLUMN_NOTE.format("the reader's own captions, or the best."),
    ),
    ComparisonFamily("Runs", ("reader", "run", "less"), run_pairs),
)


def paired_tests_section(held: Sequence[ColumnBootstrap]) -> Section:
    """A table for each family of differences that the runs hold."""
    made = [part for own in held for part in _tables(own)]
    count = sum(len(part.rows) for part in made)
    text = (
        f"{plural(count, 'difference is', 'differences are')} tested. By chance alone one test "
        "in twenty falls below p = 0.05: read p (Holm), which is adjusted for all tests of its "
        "kind.",
        METHOD,
    )
    return Section(title="Differences", text=text if made else (), parts=tuple(made))


def _tables(own: ColumnBootstrap) -> Iterator[ReportTable]:
    for kind in FAMILIES:
        pairs = kind.find(own)
        if not pairs:
            continue
        rows = list(zip(pairs, _tested(own, pairs), strict=True))
        if len(rows) <= MAX_ROWS:
            held = [[p.labels[0], p.setting, *p.labels[1:], *row] for p, row in rows]
            yield _table(own, kind, pairs, kind.title, held, "setting")
            continue
        for setting in dict.fromkeys(p.setting for p in pairs):
            held = [[*p.labels, *row] for p, row in rows if p.setting == setting]
            yield _table(own, kind, pairs, f"{kind.title}: {setting}", held)


def _table(
    own: ColumnBootstrap,
    kind: ComparisonFamily,
    pairs: Sequence[ColumnPair],
    title: str,
    rows: list[list[object]],
    *second: str,
) -> ReportTable:
    many = len({name for p in pairs for name in p.labels[-2:]}) > MAX_ALL_PAIRS
    heads = (
        kind.labels[0], *second, *kind.labels[1:], "n", "%", "less %", "points", "p", "p (Holm)",
        "MDD",
    )  # fmt: skip
    notes = [
        f"{own.counted}; p (Holm) is adjusted for {plural(len(pairs), 'test')}.",
        kind.note if many else "",
        baselines_sentence(group_accuracy(own.sheet(0))),
    ]
    return build_table(own.titled(title), heads, rows, " ".join(filter(None, notes)))


def _tested(own: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> Iterator[list[object]]:
    gaps = own.right[:, [p.a for p in pairs]] - own.right[:, [p.b for p in pairs]]
    tests = list(map(float, permutation_tests(gaps, own.clusters)))
    for pair, p, adjusted in zip(pairs, tests, holm(tests), strict=True):
        yield [
            own.n,
            accuracy_cell(group_accuracy(own.sheet(pair.a)), own.n),
            accuracy_cell(group_accuracy(own.sheet(pair.b)), own.n),
            points_cell(own.drawn.difference(pair.a, pair.b), own.groups, own.n),
            p_value_cell(p),
            p_value_cell(adjusted),
            _detectable(own, pair),
        ]


def _detectable(own: ColumnBootstrap, pair: ColumnPair) -> object:
    if own.groups < MIN_CLUSTERS:
        return "-"
    least = 100 * minimum_detectable(own.drawn.standard_error(pair.a, pair.b))
    return CellValue(text=f"{least:.1f}", value=least, n=own.n)
