"""Paired differences between columns: tested, and adjusted for how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from egomem.report.bootstrap_columns import RESAMPLING, Draws, shown
from egomem.report.cell_format import FEW, p_value, points, without_looking
from egomem.report.comparisons import (
    MANY,
    Pair,
    less_captioners,
    less_captions,
    less_frames,
    less_readers,
    less_runs,
)
from egomem.report.table import Grid, Section, Value, grid
from egomem.score import FEW_CLUSTERS, figure, holm, minimum_detectable, permutation_tests
from egomem.text import plural


class Kind(NamedTuple):
    """A family of differences: their labels as headings, and what a reader must know."""

    title: str
    labels: tuple[str, ...]
    find: Callable[[Draws], list[Pair]]
    note: str = ""


METHOD = (
    f"{RESAMPLING}, on the same draws for both sides. p: two-sided permutation test that swaps "
    "whole clusters. MDD, minimum detectable difference: the smallest true difference in points "
    "that such a comparison would find with power 0.8; not given for fewer than "
    f"{FEW_CLUSTERS} clusters. {FEW[0].upper()}{FEW[1:]}."
)

ROWS = 20
"""Rows of a table; of more differences of a kind, each setting has a table of its own."""

CHOSEN = f"Of more than {MANY}, each is set against {{}}"

KINDS = (
    Kind("Captions less video", ("reader",), less_frames),
    Kind("A look at the frames less captions alone", ("reader",), less_captions),
    Kind(
        "Readers",
        ("reader", "less"),
        less_readers,
        CHOSEN.format("the best, whose lead is flattered by being chosen afterwards."),
    ),
    Kind(
        "Captioners",
        ("reader", "captions by", "less"),
        less_captioners,
        CHOSEN.format("the reader's own captions, or the best."),
    ),
    Kind("Runs", ("reader", "run", "less"), less_runs),
)


def paired_differences(held: Sequence[Draws]) -> Section:
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


def _tables(own: Draws) -> Iterator[Grid]:
    for kind in KINDS:
        pairs = kind.find(own)
        if not pairs:
            continue
        rows = list(zip(pairs, _tested(own, pairs), strict=True))
        if len(rows) <= ROWS:
            held = [[p.labels[0], p.setting, *p.labels[1:], *row] for p, row in rows]
            yield _table(own, kind, pairs, kind.title, held, "setting")
            continue
        for setting in dict.fromkeys(p.setting for p in pairs):
            held = [[*p.labels, *row] for p, row in rows if p.setting == setting]
            yield _table(own, kind, pairs, f"{kind.title}: {setting}", held)


def _table(
    own: Draws,
    kind: Kind,
    pairs: Sequence[Pair],
    title: str,
    rows: list[list[object]],
    *second: str,
) -> Grid:
    many = len({name for p in pairs for name in p.labels[-2:]}) > MANY
    heads = (
        kind.labels[0], *second, *kind.labels[1:], "n", "%", "less %", "points", "p", "p (Holm)",
        "MDD",
    )  # fmt: skip
    notes = [
        f"{own.counted}; p (Holm) is adjusted for {plural(len(pairs), 'test')}.",
        kind.note if many else "",
        without_looking(figure(own.sheet(0))),
    ]
    return grid(own.titled(title), heads, rows, " ".join(filter(None, notes)))


def _tested(own: Draws, pairs: Sequence[Pair]) -> Iterator[list[object]]:
    gaps = own.right[:, [p.a for p in pairs]] - own.right[:, [p.b for p in pairs]]
    tests = list(map(float, permutation_tests(gaps, own.clusters)))
    for pair, p, adjusted in zip(pairs, tests, holm(tests), strict=True):
        yield [
            own.n,
            shown(figure(own.sheet(pair.a)), own.n),
            shown(figure(own.sheet(pair.b)), own.n),
            points(own.drawn.difference(pair.a, pair.b), own.groups, own.n),
            p_value(p),
            p_value(adjusted),
            _detectable(own, pair),
        ]


def _detectable(own: Draws, pair: Pair) -> object:
    if own.groups < FEW_CLUSTERS:
        return "-"
    least = 100 * minimum_detectable(own.drawn.standard_error(pair.a, pair.b))
    return Value(text=f"{least:.1f}", value=least, n=own.n)
