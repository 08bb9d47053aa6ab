"""How often 95 % intervals over few videos hold the truth, by how they are made.

    python bench/intervals.py [--trials 400] [--json FILE]

Made-up benchmarks of 5 to 75 videos (63 % of them long, the two strata), whose truth is known: each
video has an ease of its own, each question one that both settings share, and captions gain a little
over frames, more on some videos than on others. Per number of videos and kind of benchmark: the
share of trials in which the interval of captions' accuracy, and of captions less frames, holds the
truth, and the interval's mean width. Beside percentiles and egomem's default (`widened`) stand
Student's t with the linearised standard error, BCa and bootstrap-t, written here in numpy.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small matrices, many trials

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from egomem.score import bootstrap
from egomem.score.small_samples import student_quantile

VIDEOS = (5, 8, 10, 15, 20, 25, 40, 75)
RESAMPLES = 600
NORMAL = NormalDist()


class World(NamedTuple):
    """`per`: questions of a video; `ease`: how much videos differ; `readers`: averaged over;
    `size_effect`: how much easier videos with more questions are."""

    per: float = 13.3
    ease: float = 0.8
    readers: int = 1
    size_effect: float = 0.0


WORLDS = {
    "as CapMem's": World(),
    "videos differ more": World(ease=1.3),
    "mean of six readers": World(readers=6),
    "4 questions a video": World(per=4.0),
    "size matters": World(size_effect=0.5),
}


class Sample(NamedTuple):
    """`sums`: right answers of captions and of frames by video; `sizes`: questions."""

    sums: np.ndarray
    sizes: np.ndarray
    strata: np.ndarray


def draw(rng: np.random.Generator, world: World, videos: int) -> Sample:
    strata = (rng.random(videos) < 0.63).astype(int)
    sizes = 1 + rng.poisson(rng.gamma(2.0, (world.per - 1) / 2.0, videos))
    of = np.repeat(np.arange(videos), sizes)
    base = rng.normal(-0.35, world.ease, videos) + world.size_effect * np.log(sizes / world.per)
    gain = rng.normal(0.15, world.ease / 2, videos)
    ease = base[of] + rng.normal(0, 0.8, len(of))
    sums = np.zeros((videos, 2))
    for k, logit in enumerate((ease + gain[of], ease)):
        right = rng.random((world.readers, len(of))) < 1 / (1 + np.exp(-logit))
        np.add.at(sums[:, k], of, right.mean(axis=0))
    return Sample(sums, sizes.astype(float), strata)


def peers(
    rng: np.random.Generator, sums: np.ndarray, sample: Sample
) -> dict[str, tuple[float, ...]]:
    """The intervals of the ratio sums / sizes by three other methods, over the same strata."""
    sizes, strata, n = sample.sizes, sample.strata, len(sample.sizes)
    counts = np.zeros((RESAMPLES, n))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        shares = np.full(len(members), 1 / len(members))
        counts[:, members] = rng.multinomial(len(members), shares, RESAMPLES)
    value, draws = sums.sum() / sizes.sum(), counts @ sums / (counts @ sizes)
    error = linearised(np.ones((1, n)), sums, sample, np.array([value]))[0]
    t = student_quantile(0.975, max(1, n - len(np.unique(strata))))
    intervals = {"Student's t": (value - t * error, value + t * error)}
    with np.errstate(invalid="ignore", divide="ignore"):
        studentised = (draws - value) / linearised(counts, sums, sample, draws)
    studentised = studentised[np.isfinite(studentised)]
    if len(studentised) > RESAMPLES / 2:
        low, high = np.quantile(studentised, [0.025, 0.975])
        intervals["bootstrap-t"] = (value - high * error, value - low * error)
    below = float(np.clip((draws < value).mean() + (draws == value).mean() / 2, 1e-4, 1 - 1e-4))
    bias = NORMAL.inv_cdf(below)
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    gaps = without.mean() - without
    scale = 6 * (gaps**2).sum() ** 1.5
    skew = (gaps**3).sum() / scale if scale else 0.0
    levels = [
        NORMAL.cdf(bias + (bias + z) / (1 - skew * (bias + z)))
        for z in (NORMAL.inv_cdf(0.025), NORMAL.inv_cdf(0.975))
    ]
    return intervals | {"BCa": tuple(np.quantile(draws, levels))}


def linearised(
    counts: np.ndarray, sums: np.ndarray, sample: Sample, ratio: np.ndarray
) -> np.ndarray:
    """The standard error of the ratio of each draw, from its residuals within strata."""
    variance = np.zeros(len(counts))
    for stratum in np.unique(sample.strata):
        k = sample.strata == stratum
        n, drawn, x, m = k.sum(), counts[:, k], sums[k], sample.sizes[k]
        if n > 1:
            total = drawn @ x - ratio * (drawn @ m)
            squares = drawn @ x**2 - 2 * ratio * (drawn @ (x * m)) + ratio**2 * (drawn @ m**2)
            variance += n / (n - 1) * np.maximum(squares - total**2 / n, 0)
    return np.sqrt(variance) / (counts @ sample.sizes)


def trial(rng: np.random.Generator, sample: Sample) -> dict[tuple[str, str], tuple[float, ...]]:
    """(figure, method) -> interval."""
    n, sizes = len(sample.sizes), sample.sizes.astype(int)
    # Each question of a video gets the video's mean: sums and sizes are all that intervals rest on.
    right = np.repeat(sample.sums / sample.sizes[:, None], sizes, axis=0)
    videos = np.repeat([f"v{k:02}" for k in range(n)], sizes).tolist()
    strata = np.repeat(sample.strata.astype(str), sizes).tolist()
    intervals: dict[tuple[str, str], tuple[float, ...]] = {}
    for method in ("percentile", "widened"):
        seed = int(rng.integers(1 << 30))
        draws = bootstrap(right, videos, strata, resamples=RESAMPLES, seed=seed, intervals=method)
        for figure, of in (("accuracy", draws.interval(0)), ("points", draws.difference(0, 1))):
            intervals[figure, method] = (of.low, of.high)
    gap = sample.sums[:, 0] - sample.sums[:, 1]
    for figure, sums in (("accuracy", sample.sums[:, 0]), ("points", gap)):
        for method, ends in peers(rng, sums, sample).items():
            intervals[figure, method] = ends
    return intervals


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for name, world in WORLDS.items():
        everything = draw(np.random.default_rng(99), world, 60_000)
        accuracy = everything.sums.sum(axis=0) / everything.sizes.sum()
        truth = {"accuracy": accuracy[0], "points": accuracy[0] - accuracy[1]}
        for videos in VIDEOS:
            rng = np.random.default_rng(videos)
            covered: dict[tuple[str, str], list[bool]] = defaultdict(list)
            widths: dict[tuple[str, str], list[float]] = defaultdict(list)
            for _ in range(options.trials):
                for key, (low, high) in trial(rng, draw(rng, world, videos)).items():
                    covered[key].append(low - 1e-12 <= truth[key[0]] <= high + 1e-12)
                    widths[key].append(high - low)
            for (figure, method), hits in covered.items():
                rows.append(
                    {
                        "benchmark": name,
                        "videos": videos,
                        "figure": figure,
                        "method": method,
                        "covered": 100 * float(np.mean(hits)),
                        # A median: bootstrap-t is at times wider than all there is.
                        "width": 100 * float(np.median(widths[figure, method])),
                    }
                )
    methods = list(dict.fromkeys(row["method"] for row in rows))
    print(f"{options.trials} trials; nominal 95 %; covered % (median width in points)")
    print(f"{'':22}{'':>7}{'':10}" + "".join(f"{method:>18}" for method in methods))
    for name in WORLDS:
        for videos in VIDEOS:
            for figure in ("accuracy", "points"):
                cells = {
                    row["method"]: f"{row['covered']:.1f} ({row['width']:.0f})"
                    for row in rows
                    if (row["benchmark"], row["videos"], row["figure"]) == (name, videos, figure)
                }
                line = "".join(f"{cells.get(method, '-'):>18}" for method in methods)
                print(f"{name:22}{videos:>7} {figure:9}{line}")
    for method in methods:
        few = [r["covered"] for r in rows if r["method"] == method and r["videos"] < 10]
        more = [r["covered"] for r in rows if r["method"] == method and r["videos"] >= 10]
        print(
            f"{method:14} below 10 videos {min(few):.1f} to {max(few):.1f} %, "
            f"from 10 on {min(more):.1f} to {max(more):.1f} %"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
