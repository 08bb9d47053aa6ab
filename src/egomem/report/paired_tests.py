"""Paired differences between columns: tested, and adjusted for the number of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from egomem.report.bootstrap_columns import ColumnBootstrap
from egomem.report.cell_format import (
    accuracy_cell,
    baselines_sentence,
    cells_with_source,
    column_source,
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
    """Differences of one kind: `labels` are the headings of their names, `note` applies where not
    all pairs are compared."""

    title: str
    labels: tuple[str, ...]
    find_pairs: Callable[[ColumnBootstrap], list[ColumnPair]]
    note: str = ""


CHOSEN_COLUMN_NOTE = f"With more than {MAX_ALL_PAIRS}, each is compared with {{}}"

FAMILIES = (
    ComparisonFamily("Captions less video", ("reader",), captions_minus_video),
    ComparisonFamily(
        "Strategies less the answers that they start from", ("reader",), strategy_minus_base
    ),
    ComparisonFamily(
        "Readers",
        ("reader", "less"),
        reader_pairs,
        CHOSEN_COLUMN_NOTE.format(
            "the best one; its lead is overestimated, because it was chosen after seeing the "
            "results."
        ),
    ),
    ComparisonFamily(
        "Captioners",
        ("reader", "captions by", "less"),
        captioner_pairs,
        CHOSEN_COLUMN_NOTE.format("the reader's own captions, or else with the best ones."),
    ),
    ComparisonFamily("Runs", ("reader", "run", "less"), run_pairs),
)


def paired_tests_section(groups: Sequence[ColumnBootstrap]) -> Section:
    """A table for each family of differences that the runs allow."""
    tables = [table for group in groups for table in _tables(group)]
    count = sum(len(table.rows) for table in tables)
    text = (
        f"{plural(count, 'difference is', 'differences are')} tested. By chance alone, one test in "
        "twenty falls below p = 0.05; p (Holm) is adjusted for all tests of its family.",
    )
    return Section(title="Differences", text=text if tables else (), parts=tuple(tables))


def _tables(group: ColumnBootstrap) -> Iterator[ReportTable]:
    for family in FAMILIES:
        pairs = family.find_pairs(group)
        if not pairs:
            continue
        rows = [
            [
                pair.labels[0],
                pair.setting,
                *pair.labels[1:],
                *cells_with_source(cells, column_source(group.columns[pair.a])),
            ]
            for pair, cells in zip(pairs, _test(group, pairs), strict=True)
        ]
        yield _table(group, family, pairs, rows)


def _table(
    group: ColumnBootstrap,
    family: ComparisonFamily,
    pairs: Sequence[ColumnPair],
    rows: list[list[object]],
) -> ReportTable:
    is_chosen = len({name for pair in pairs for name in pair.labels[-2:]}) > MAX_ALL_PAIRS
    headings = (
        family.labels[0], "setting", *family.labels[1:], "n", "%", "less %", "points", "p",
        "p (Holm)", "MDD",
    )  # fmt: skip
    notes = [
        f"{group.cluster_counts}; p (Holm) is adjusted for {plural(len(pairs), 'test')}.",
        family.note if is_chosen else "",
        baselines_sentence(group_accuracy(group.scored(0))),
    ]
    return build_table(group.titled(family.title), headings, rows, " ".join(filter(None, notes)))


def _test(group: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> Iterator[list[object]]:
    """The cells of each pair: n, both accuracies, their difference, p, p (Holm) and MDD."""
    differences = group.right[:, [p.a for p in pairs]] - group.right[:, [p.b for p in pairs]]
    p_values = list(map(float, permutation_tests(differences, group.clusters)))
    for pair, p, adjusted in zip(pairs, p_values, holm(p_values), strict=True):
        yield [
            group.n,
            accuracy_cell(group_accuracy(group.scored(pair.a)), group.n),
            accuracy_cell(group_accuracy(group.scored(pair.b)), group.n),
            points_cell(group.bootstrap.difference(pair.a, pair.b), group.n_clusters, group.n),
            p_value_cell(p),
            p_value_cell(adjusted),
            _minimum_detectable_cell(group, pair),
        ]


def _minimum_detectable_cell(group: ColumnBootstrap, pair: ColumnPair) -> object:
    # It rests on the bootstrap's standard error, which few clusters underestimate.
    if group.n_clusters < MIN_CLUSTERS:
        return "-"
    mdd = 100 * minimum_detectable(group.bootstrap.standard_error(pair.a, pair.b))
    return CellValue(text=f"{mdd:.1f}", value=mdd, n=group.n)
