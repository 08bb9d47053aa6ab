"""Paired differences between columns: tested, and adjusted for how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from egomem.evaluate.report.draws import RESAMPLING, Draws, shown
from egomem.evaluate.report.grid import Grid, Section, Value, grid
from egomem.evaluate.report.pairs import (
    MANY,
    Pair,
    less_captioners,
    less_captions,
    less_frames,
    less_readers,
    less_runs,
)
from egomem.evaluate.report.values import FEW, p_value, points, without_looking
from egomem.score import FEW_CLUSTERS, figure, holm, minimum_detectable, permutation_tests


class Kind(NamedTuple):
    """A family of differences: their labels as headings, and what a reader must know."""

    title: str
    labels: tuple[str, ...]
    find: Callable[[Draws], list[Pair]]
    note: str = ""


METHOD = (
    f"{RESAMPLING}, on the same draws for both sides. p: two-sided permutation test that swaps "
    "whole videos. Detectable: the smallest true difference in points that such a comparison would "
    f"find with power 0.8; not given for fewer than {FEW_CLUSTERS} videos. "
    f"{FEW[0].upper()}{FEW[1:]}."
)

CHOSEN = f"Of more than {MANY}, each is set against {{}}"

KINDS = (
    Kind("Captions less video", ("reader", "setting"), less_frames),
    Kind("A look at the frames less captions alone", ("reader", "setting", "less"), less_captions),
    Kind(
        "Readers",
        ("setting", "reader", "less"),
        less_readers,
        CHOSEN.format("the best, which being chosen afterwards favours."),
    ),
    Kind(
        "Captioners",
        ("setting", "reader", "captions by", "less"),
        less_captioners,
        CHOSEN.format("the reader's own captions, or the best."),
    ),
    Kind("Runs", ("setting", "reader", "run", "less"), less_runs),
)


def paired_differences(held: Sequence[Draws]) -> Section:
    """A table for each family of differences that the runs hold."""
    made = [part for own in held for part in _tables(own)]
    count = sum(len(part.rows) for part in made)
    text = (
        f"{count} differences are tested in {len(made)} tables. By chance alone one test in twenty "
        "falls below p = 0.05: read p (Holm), which is adjusted for all tests of its table.",
        METHOD,
    )
    return Section(title="Differences", text=text if made else (), parts=tuple(made))


def _tables(own: Draws) -> Iterator[Grid]:
    for kind in KINDS:
        pairs = kind.find(own)
        if pairs:
            yield _table(own, kind, pairs)


def _table(own: Draws, kind: Kind, pairs: Sequence[Pair]) -> Grid:
    gaps = own.right[:, [p.a for p in pairs]] - own.right[:, [p.b for p in pairs]]
    tests = list(map(float, permutation_tests(gaps, own.clusters)))
    rows: list[list[object]] = []
    for pair, p, adjusted in zip(pairs, tests, holm(tests), strict=True):
        rows.append(
            [
                *pair.labels,
                own.n,
                shown(figure(own.sheet(pair.a)), own.n),
                shown(figure(own.sheet(pair.b)), own.n),
                points(own.drawn.difference(pair.a, pair.b), own.groups, own.n),
                p_value(p),
                p_value(adjusted),
                _detectable(own, pair),
            ]
        )
    heads = (
        *kind.labels, "n", "%", "less %", "points", "p", "p (Holm)", "detectable",
    )  # fmt: skip
    notes = [
        f"{own.groups} videos, {len(pairs)} tests.",
        kind.note,
        without_looking(figure(own.sheet(pairs[0].a))),
    ]
    return grid(kind.title, heads, rows, " ".join(filter(None, notes)))


def _detectable(own: Draws, pair: Pair) -> object:
    if own.groups < FEW_CLUSTERS:
        return "-"
    least = 100 * minimum_detectable(own.drawn.standard_error(pair.a, pair.b))
    return Value(text=f"{least:.1f}", value=least, n=own.n)
