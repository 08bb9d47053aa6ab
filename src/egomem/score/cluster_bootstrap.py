"""Uncertainty: which figures would come out with other videos of the same kind.

Videos are drawn, not questions, and within strata (regimes of duration), so that questions about
one video stay together (CapMem F.5). All columns are computed on the same draws: a difference of
two columns is paired. Intervals are widened for few videos (`small_samples`, our reconstruction).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from egomem.errors import UsageError
from egomem.records import Record
from egomem.score.scored_answers import Floats
from egomem.score.small_samples import IntervalMethod, interval_widening, spread_correction
from egomem.text import plural

RESAMPLES = 10_000
CONFIDENCE_LEVEL = 0.95
MIN_CLUSTERS = 10
"""Videos below which an interval is warned of and no detectable difference is given.

Our choice, by bench/intervals.py: from 10 videos on, widened 95 % intervals hold the truth in 91
to 97 % of its trials (plain percentiles in 85 to 95 %), below in as little as 90 % (69 %).
"""

Members = np.ndarray[tuple[int], np.dtype[np.intp]]
"""The indexes of the clusters of a stratum."""

MAX_BLOCK_COUNTS = 4_000_000
"""Counts (resamples times videos) that are held at once: some 100 MB."""


class Interval(Record):
    """A value with its interval over other videos."""

    value: float
    low: float
    high: float
    level: float = CONFIDENCE_LEVEL

    @property
    def has_spread(self) -> bool:
        """False where all draws are alike, so that the interval says nothing of other videos."""
        return self.high - self.low > 1e-12


def interval_caution(interval: Interval, count: int, lone: int = 0) -> str:
    """What a reader has to know of an interval over so many clusters, of which `lone` are questions
    about no video; "" where nothing."""
    warnings = [f"only {describe_clusters(count, lone)}"] if count < MIN_CLUSTERS else []
    warnings += [] if interval.has_spread else ["all draws are alike"]
    return ", ".join(warnings)


@dataclass(frozen=True)
class Bootstrap:
    """`values` (columns,) of the data; `samples` (resamples, columns) of the draws.

    `widening`: the factor on both sides of a percentile interval; `spread`: that of the draws'
    standard deviation (both 1 for plain percentiles). `bounds`: what a column's values lie within.
    """

    values: Floats
    samples: Floats
    level: float = CONFIDENCE_LEVEL
    widening: float = 1.0
    spread: float = 1.0
    bounds: tuple[float, float] = (0.0, 1.0)

    def derived(
        self, values: Floats, samples: Floats, bounds: tuple[float, float] | None = None
    ) -> Bootstrap:
        """Other figures of the same draws, with the same correction."""
        return replace(self, values=values, samples=samples, bounds=bounds or self.bounds)

    def interval(self, column: int) -> Interval:
        """Of one column's accuracy."""
        return self._interval(self.values[column], self.samples[:, column], self.bounds)

    def difference(self, a: int | Sequence[int], b: int | Sequence[int]) -> Interval:
        """Of column a minus column b, paired; of several pairs, their mean (CapMem: six models)."""
        left, right = np.atleast_1d(a), np.atleast_1d(b)
        value = float((self.values[left] - self.values[right]).mean())
        extent = self.bounds[1] - self.bounds[0]
        return self._interval(value, self._gaps(a, b), (-extent, extent))

    def standard_error(self, a: int | Sequence[int], b: int | Sequence[int] | None = None) -> float:
        """Of a column, or of the paired difference of two, or of the mean of several pairs."""
        draws = self.samples[:, np.atleast_1d(a)].mean(axis=1) if b is None else self._gaps(a, b)
        # NaN stands for draws in which a ratio has no denominator.
        return self.spread * float(np.nanstd(draws, ddof=1))

    def _gaps(self, a: int | Sequence[int], b: int | Sequence[int]) -> Floats:
        left, right = np.atleast_1d(a), np.atleast_1d(b)
        gaps: Floats = (self.samples[:, left] - self.samples[:, right]).mean(axis=1)
        return gaps

    def _interval(self, value: float, draws: Floats, bounds: tuple[float, float]) -> Interval:
        tail = (1 - self.level) / 2
        ends = np.nanquantile(draws, [tail, 1 - tail])
        low, high = np.clip(value + self.widening * (ends - value), *bounds)
        return Interval(value=float(value), low=float(low), high=float(high), level=self.level)


def bootstrap(
    right: Floats,
    clusters: Sequence[str],
    strata: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    level: float = CONFIDENCE_LEVEL,
    seed: int = 0,
    intervals: IntervalMethod = "widened",
) -> Bootstrap:
    """Resample videos within strata, with replacement, as many as each stratum has.

    `right` is (questions,) or (questions, columns), values in [0, 1]; `clusters` and `strata` are
    of the questions, and a cluster lies in one stratum. The statistic is the accuracy pooled over
    the questions drawn. `intervals`: `widened` corrects percentiles for few videos, and draws a
    video that is alone in its stratum with others; `percentile` does neither.
    Raises UsageError without questions or where a cluster is in two strata.
    """
    columns = right[:, None] if right.ndim == 1 else right
    sums, sizes, members = _cluster_sums(columns, clusters, strata)
    widening, spread = 1.0, 1.0
    if intervals == "widened":
        members = _without_lone_strata(members)
        widening = interval_widening(len(sizes), len(members), level)
        spread = spread_correction(len(sizes), len(members))
    rng = np.random.default_rng(seed)
    # A draw is how often it holds each video, so all draws of all columns are one matrix product:
    # 27 ms for 10,000 draws of 36 columns and 75 videos, where a loop over draws takes 1 s in
    # numpy.
    totals = np.column_stack([sums, sizes])
    # In blocks: 10,000 draws of 10,000 lone questions would take 800 MB at once.
    block = max(1, MAX_BLOCK_COUNTS // len(sizes))
    blocks = [min(block, resamples - k) for k in range(0, resamples, block)]
    drawn_totals = np.vstack([_draw_counts(rng, members, len(sizes), n) @ totals for n in blocks])
    return Bootstrap(
        values=sums.sum(axis=0) / sizes.sum(),
        # Divided by the questions of each draw, which differ where videos have different numbers of
        # them.
        samples=drawn_totals[:, :-1] / drawn_totals[:, -1:],
        level=level,
        widening=widening,
        spread=spread,
    )


def permutation_test(
    a: Floats,
    b: Floats,
    clusters: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> float:
    """Two-sided p of the paired difference of a and b, (questions,) each.

    Under the null hypothesis the two are exchangeable within a video, so each video's summed
    difference changes its sign at random. All sign patterns are counted where there are no more
    than `resamples` of them; else p has the usual +1 in both counts.
    """
    return float(permutation_tests((a - b)[:, None], clusters, resamples=resamples, seed=seed)[0])


def permutation_tests(
    gaps: Floats, clusters: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> Floats:
    """`permutation_test` of every column of paired differences, (questions, comparisons), at once.

    All columns see the same swaps. A column may be the mean of several pairs: then all pairs of a
    video are swapped together, as they are drawn together.
    """
    sums, _, _ = _cluster_sums(gaps, clusters, None)
    count = len(sums)
    # With 13 videos or fewer all sign patterns are fewer than the draws, and p is exact.
    if 2.0**count <= resamples:
        blocks = [np.arange(2**count)[:, None] >> np.arange(count) & 1]
        correction = 0
    else:
        rng = np.random.default_rng(seed)
        block = max(1, MAX_BLOCK_COUNTS // max(count, sums.shape[1]))
        sizes = [min(block, resamples - k) for k in range(0, resamples, block)]
        # int8: the patterns of 10,000 draws fit in memory eight times more easily than in the
        # default of 8 bytes.
        blocks = [rng.integers(0, 2, (n, count), np.int8) for n in sizes]
        correction = 1
    # The pattern that was observed must count itself, whatever the rounding of its sum.
    observed = np.abs(sums.sum(axis=0)) - 1e-9
    at_least = np.zeros(sums.shape[1])
    for patterns in blocks:
        totals = (2.0 * patterns - 1.0) @ sums
        at_least += np.count_nonzero(np.abs(totals) >= observed, axis=0)
    p_values: Floats = (at_least + correction) / (sum(map(len, blocks)) + correction)
    return p_values


def holm(p: Sequence[float]) -> list[float]:
    """p adjusted for all tests of a family (Holm 1979), in the order given.

    It bounds the chance of any false finding in the family, however the tests depend on each other.
    """
    order = sorted(range(len(p)), key=lambda k: p[k])
    adjusted, running_max = [1.0] * len(p), 0.0
    for rank, k in enumerate(order):
        # Adjusted values must not fall along the order: a larger p may not be the more certain
        # finding.
        running_max = max(running_max, min(1.0, (len(p) - rank) * p[k]))
        adjusted[k] = running_max
    return adjusted


def minimum_detectable(
    standard_error: float, *, level: float = CONFIDENCE_LEVEL, power: float = 0.8
) -> float:
    """The smallest true difference that such a comparison would find with that power.

    (z(1 - alpha/2) + z(power)) times the standard error of the paired difference.
    """
    normal = NormalDist()
    return (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) * standard_error


def _cluster_sums(
    columns: Floats, clusters: Sequence[str], strata: Sequence[str] | None
) -> tuple[Floats, Floats, list[Members]]:
    """Sums (clusters, columns), sizes (clusters,), and the clusters of each stratum."""
    if len(columns) == 0:
        raise UsageError("there are no questions to resample")
    names, index = np.unique(np.asarray(clusters), return_inverse=True)
    # `reduceat` sums runs, so the questions of a video must stand together.
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(len(names)))
    sums = np.add.reduceat(columns[order].astype(np.float64), starts, axis=0)
    sizes = np.bincount(index).astype(np.float64)
    if strata is None:
        return sums, sizes, [np.arange(len(names))]
    labels, of_question = np.unique(np.asarray(strata), return_inverse=True)
    of_cluster = of_question[order][starts]
    # A video drawn in one stratum would bring questions of another, and the sizes of strata would
    # vary.
    if (of_cluster[index] != of_question).any():
        name = names[index[np.flatnonzero(of_cluster[index] != of_question)[0]]]
        raise UsageError(f"the questions of {name} lie in two strata")
    return sums, sizes, [np.flatnonzero(of_cluster == k) for k in range(len(labels))]


def _without_lone_strata(members: list[Members]) -> list[Members]:
    """Strata of two clusters or more: lone ones are joined, or added to the smallest other one.

    A cluster that is alone in its stratum is in every draw once, as if it were no matter which.
    """
    lone = [m for m in members if len(m) == 1]
    others = sorted((m for m in members if len(m) > 1), key=len)
    if len(lone) == 1 and others:
        return [np.concatenate([others[0], lone[0]]), *others[1:]]
    return [np.concatenate(lone), *others] if lone else members


def _draw_counts(
    rng: np.random.Generator,
    members: Sequence[Members],
    clusters: int,
    resamples: int,
) -> Floats:
    """How often each draw holds each cluster, (resamples, clusters)."""
    # Each draw gets numbers of its own, so that one `bincount` counts all draws.
    rows = np.arange(resamples)[:, None] * clusters
    counts = np.zeros(resamples * clusters)
    for stratum in members:
        drawn = stratum[rng.integers(0, len(stratum), (resamples, len(stratum)))]
        counts += np.bincount((rows + drawn).ravel(), minlength=resamples * clusters)
    return counts.reshape(resamples, clusters)


def describe_clusters(count: int, lone: int) -> str:
    """What is drawn, of which so many are questions about no video: `5 videos and 3 lone
    questions`."""
    videos = [plural(count - lone, "video")] if count > lone or not lone else []
    return " and ".join([*videos, *([plural(lone, "lone question")] if lone else [])])
