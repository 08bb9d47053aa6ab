"""Intervals, tests and detectable differences, against scipy and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from egomem.errors import UsageError
from egomem.score import bootstrap, cluster_bootstrap, minimum_detectable, permutation_test
from egomem.score.cluster_bootstrap import _cluster_sums, _draw_counts, describe_clusters


def test_the_interval_is_scipys_where_each_question_is_a_video() -> None:
    right = np.random.default_rng(3).integers(0, 2, 120).astype(float)
    ours = bootstrap(right, [str(k) for k in range(120)], intervals="percentile").interval(0)
    theirs = scipy_stats.bootstrap(
        (right,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(5)
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.012)
    assert ours.value == right.mean()


def test_a_loop_over_the_same_draws_gives_the_same_samples() -> None:
    rng = np.random.default_rng(1)
    videos = [f"v{k}" for k in rng.integers(0, 12, 90)]
    right = rng.random((90, 3))
    strata = ["long" if int(v[1:]) % 3 else "short" for v in videos]
    got = bootstrap(right, videos, strata, resamples=50, seed=9)
    _, sizes, members = _cluster_sums(right, videos, strata)
    names = sorted(set(videos))
    weights = _draw_counts(np.random.default_rng(9), members, len(sizes), 50)
    for sample, counts in zip(got.samples, weights, strict=True):
        drawn = [
            i
            for name, count in zip(names, counts, strict=True)
            for _ in range(int(count))
            for i, video in enumerate(videos)
            if video == name
        ]
        assert sample == pytest.approx(right[drawn].mean(axis=0))


def test_each_stratum_gives_as_many_videos_as_it_has() -> None:
    clusters = [f"v{k}" for k in range(10)]
    strata = ["short"] * 3 + ["long"] * 7
    _, sizes, members = _cluster_sums(np.ones((10, 1)), clusters, strata)
    weights = _draw_counts(np.random.default_rng(0), members, len(sizes), 200)
    short = [sorted(clusters).index(f"v{k}") for k in range(3)]
    assert (weights[:, short].sum(axis=1) == 3).all()
    assert (weights.sum(axis=1) == 10).all()
    assert weights.max() > 1  # with replacement


def test_memory_is_bounded_whatever_the_number_of_videos(monkeypatch: pytest.MonkeyPatch) -> None:
    right = np.random.default_rng(7).integers(0, 2, 40).astype(float)
    whole = bootstrap(right, [str(k) for k in range(40)], resamples=4000)
    monkeypatch.setattr(cluster_bootstrap, "MAX_BLOCK_COUNTS", 300)
    drawn: list[int] = []
    draws = cluster_bootstrap._draw_counts

    def counted(*arguments: Any) -> Any:
        drawn.append(arguments[-1])
        return draws(*arguments)

    monkeypatch.setattr(cluster_bootstrap, "_draw_counts", counted)
    parts = bootstrap(right, [str(k) for k in range(40)], resamples=4000)
    assert max(drawn) == 7
    assert sum(drawn) == len(parts.samples) == 4000
    assert parts.interval(0).low == pytest.approx(whole.interval(0).low, abs=0.03)
    assert parts.standard_error(0) == pytest.approx(whole.standard_error(0), rel=0.05)


def test_questions_of_a_video_stay_together() -> None:
    # Two videos, one all right and one all wrong: a draw can only have 0, a half or 1.
    right = np.array([1.0] * 50 + [0.0] * 50)
    draws = bootstrap(right, ["a"] * 50 + ["b"] * 50, resamples=300)
    assert set(np.unique(draws.samples)) == {0.0, 0.5, 1.0}


def test_differences_are_paired_on_the_same_draws() -> None:
    rng = np.random.default_rng(2)
    base = rng.integers(0, 2, 200).astype(float)
    videos = [f"v{k % 20}" for k in range(200)]
    draws = bootstrap(np.column_stack([base, base, 1 - base]), videos, resamples=500)
    same = draws.difference(0, 1)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
    assert draws.interval(0).high > draws.interval(0).low
    mean = draws.difference([0, 2], [1, 1])
    assert mean.value == pytest.approx(((1 - base).mean() - base.mean()) / 2)


def test_seeds_repeat_and_faults_are_named() -> None:
    right, videos = np.array([1.0, 0.0, 1.0, 1.0]), ["a", "a", "b", "c"]
    one, two, other = (bootstrap(right, videos, resamples=80, seed=s).samples for s in (4, 4, 5))
    assert (one == two).all()
    assert (one != other).any()
    with pytest.raises(UsageError, match="a lie in two strata"):
        bootstrap(right, videos, ["long", "short", "long", "long"])
    with pytest.raises(UsageError, match="no questions"):
        bootstrap(np.empty((0, 2)), [])


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=3, max_size=8))
def test_the_permutation_test_is_scipys_exact_one(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(side, float) for side in zip(*pairs, strict=True))
    theirs = scipy_stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert permutation_test(a, b, [str(k) for k in range(len(a))]) == pytest.approx(theirs.pvalue)


def test_the_permutation_test_swaps_whole_videos() -> None:
    a, b = np.ones(40), np.zeros(40)
    assert permutation_test(a, b, ["one"] * 40) == 1.0  # one video proves nothing
    assert permutation_test(a, b, [str(k % 4) for k in range(40)]) == 2 / 16
    sampled = permutation_test(a, b, [str(k) for k in range(40)], resamples=999)
    assert sampled == 1 / 1000  # never 0


def test_the_detectable_difference_is_found_with_its_power() -> None:
    error = 0.017
    detectable = minimum_detectable(error, power=0.8)
    threshold = scipy_stats.norm.isf(0.025) * error
    assert scipy_stats.norm.sf(threshold, loc=detectable, scale=error) == pytest.approx(0.8)
    assert minimum_detectable(error, power=0.9) > detectable
    assert minimum_detectable(error, level=0.99) > detectable


def test_the_standard_error_is_that_of_a_mean() -> None:
    right = np.random.default_rng(0).integers(0, 2, 400).astype(float)
    draws = bootstrap(np.column_stack([right, np.roll(right, 1)]), [str(k) for k in range(400)])
    assert draws.standard_error(0) == pytest.approx(right.std() / 20, rel=0.03)
    gap = right - np.roll(right, 1)
    assert draws.standard_error(0, 1) == pytest.approx(gap.std() / 20, rel=0.03)


@pytest.mark.parametrize(
    ("count", "lone", "message"),
    [
        (7, 0, "7 videos"),
        (7, 2, "5 videos and 2 lone questions"),
        (2, 1, "1 video and 1 lone question"),
        (4, 4, "4 lone questions"),
        (0, 0, "0 videos"),
    ],
)
def test_questions_about_no_video_are_not_called_videos(
    count: int, lone: int, message: str
) -> None:
    assert describe_clusters(count, lone) == message
