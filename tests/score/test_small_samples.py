"""Intervals over few videos: Student's t against scipy, and what widening does to draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from egomem.score import bootstrap
from egomem.score.small_samples import interval_widening, spread_correction, student_quantile


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 22, 73, 640])
@pytest.mark.parametrize("p", [0.9, 0.975, 0.995])
def test_the_quantile_is_scipys(p: float, df: int) -> None:
    assert student_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), abs=1e-9)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert student_quantile(0.975, 100_000) == pytest.approx(stats.norm.ppf(0.975), abs=1e-6)


def test_the_factor_shrinks_to_one_as_videos_are_added() -> None:
    factors = [interval_widening(n, 2, 0.95) for n in (4, 6, 12, 30, 75, 5_000)]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] > 3
    assert factors[-1] == pytest.approx(1, abs=0.001)
    by_hand = math.sqrt(12 / 10) * stats.t.ppf(0.975, 10) / stats.norm.ppf(0.975)
    assert factors[2] == pytest.approx(by_hand)


def test_a_widened_interval_is_the_percentile_one_stretched_about_its_value() -> None:
    rng = np.random.default_rng(4)
    videos = [f"v{k}" for k in rng.integers(0, 9, 140)]
    right = (rng.random((140, 2)) < (0.5, 0.35)).astype(float)
    plain = bootstrap(right, videos, intervals="percentile")
    wide = bootstrap(right, videos)
    assert (plain.samples == wide.samples).all()
    factor = interval_widening(9, 1, 0.95)
    for a, b in (
        (plain.interval(1), wide.interval(1)),
        (plain.difference(0, 1), wide.difference(0, 1)),
    ):
        assert b.value == a.value
        assert b.low == pytest.approx(a.value - factor * (a.value - a.low))
        assert b.high == pytest.approx(a.value + factor * (a.high - a.value))
    assert wide.standard_error(0) == pytest.approx(
        spread_correction(9, 1) * plain.standard_error(0)
    )


def test_an_interval_stays_within_what_its_figure_can_be() -> None:
    right = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    draws = bootstrap(np.column_stack([right, 1 - right]), list("aabbb"))
    assert (draws.interval(0).low, draws.interval(0).high) == (0.0, 1.0)
    gap = draws.difference(0, 1)
    assert (gap.low, gap.high) == (-1.0, 1.0)


def test_a_video_alone_in_its_stratum_is_drawn_with_others() -> None:
    right, videos = np.array([1.0, 0.0]), ["a", "b"]
    strata = ["long", "short"]
    assert bootstrap(right, videos, strata).interval(0).has_spread
    assert not bootstrap(right, videos, strata, intervals="percentile").interval(0).has_spread
    # With a third stratum of two that are alike, the lone one joins the smaller of the others.
    right = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    draws = bootstrap(right, list("abcdef"), ["x", "x", "y", "z", "z", "z"])
    assert set(np.round(6 * np.unique(draws.samples))) == {0.0, 1.0, 2.0, 3.0}


def test_it_covers_more_than_percentiles_over_few_videos() -> None:
    """95 % intervals over five videos of six questions; the truth is a half."""
    rng = np.random.default_rng(12)
    videos = [f"v{k // 6}" for k in range(30)]
    covered = {"percentile": 0, "widened": 0}
    for _ in range(300):
        hard = 1 / (1 + np.exp(-rng.normal(0, 2, 5)))[np.arange(30) // 6]
        right = (rng.random(30) < hard).astype(float)
        for name in covered:
            draws = bootstrap(right, videos, resamples=300, intervals=name)  # type: ignore[arg-type]
            covered[name] += draws.interval(0).low <= 0.5 <= draws.interval(0).high
    assert covered["percentile"] < 270
    assert covered["widened"] > 276
