"""How much wider an interval over few videos has to be than the percentiles of its draws.

Percentiles of a bootstrap over few clusters are too narrow for two reasons. A draw of n from n
varies (n - 1)/n as much as the figure itself does, stratum by stratum; and with few clusters the
spread is itself uncertain, which Student's t allows for. Both are corrected by one factor on each
side of the value (as the expanded percentiles of Hesterberg 2015, The American Statistician 69:4,
which a factor applies where the draws have too few distinct values for quantiles far out).
CapMem names the bootstrap and not its interval, so that the correction is our reconstruction; at
its 75 videos the factor is 1.03. `bench/intervals.py` measures what it gains.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

IntervalMethod = Literal["widened", "percentile"]

MAX_DF = 2_000
"""Degrees of freedom from which Student's t is the normal distribution to three digits."""


def spread_correction(clusters: int, strata: int) -> float:
    """What the standard deviation of the draws is multiplied by to estimate that of the figure."""
    return math.sqrt(clusters / max(1, clusters - strata))


def interval_widening(clusters: int, strata: int, level: float) -> float:
    """The factor on both sides of a percentile interval over so many clusters in so many strata."""
    df = max(1, clusters - strata)
    normal = NormalDist().inv_cdf((1 + level) / 2)
    return spread_correction(clusters, strata) * student_quantile((1 + level) / 2, df) / normal


def student_quantile(p: float, df: int) -> float:
    """The p-quantile, .5 < p < 1, of Student's t with `df` degrees of freedom, to nine digits."""
    if df > MAX_DF:
        return NormalDist().inv_cdf(p)
    low, high = 0.0, 1.0
    while _central_mass(high, df) < 2 * p - 1:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _central_mass(middle, df) < 2 * p - 1 else (low, middle)
    return high


def _central_mass(t: float, df: int) -> float:
    """The probability of -t to t; the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(df))
    cosine, sine = math.cos(angle), math.sin(angle)
    term = cosine if df % 2 else 1.0
    total = term if df > 1 else 0.0
    for k in range(3 if df % 2 else 2, df - 1, 2):
        term *= (k - 1) / k * cosine**2
        total += term
    return 2 / math.pi * (angle + sine * total) if df % 2 else sine * total
