"""The bootstrap over videos beside a numpy loop and a pure Python loop, on the same task.

36 columns (12 models in 3 settings) over 1,000 questions about 75 videos, two strata, 10,000
resamples: CapMem's tables. Seconds are CPU seconds of one thread, the best of several rounds. The
loops draw videos and average their questions; a third one takes each video's sums first. Their
intervals must agree with ours.

    python bench/bootstrap.py [--resamples 10000] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: one thread for everyone

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from egomem.score import bootstrap

COLUMNS, QUESTIONS, VIDEOS, LONG = 36, 1_000, 75, 47
NUMPY_LOOP, PYTHON_LOOP = 30, 500
"""How many times faster ours has to be."""


def task(seed: int = 0) -> tuple[np.ndarray, list[str], list[str]]:
    rng = np.random.default_rng(seed)
    of = np.concatenate([np.arange(VIDEOS), rng.integers(0, VIDEOS, QUESTIONS - VIDEOS)])
    hard = rng.normal(0, 0.1, VIDEOS)[of, None]
    right = (rng.random((QUESTIONS, COLUMNS)) < 0.42 + hard).astype(np.float64)
    return right, [f"v{k:02d}" for k in of], ["long" if k < LONG else "short" for k in of]


def ours(right: np.ndarray, videos: list[str], strata: list[str], resamples: int) -> np.ndarray:
    return bootstrap(right, videos, strata, resamples=resamples).samples


def numpy_loop(
    right: np.ndarray, videos: list[str], strata: list[str], resamples: int
) -> np.ndarray:
    """One resample at a time: draw videos of each stratum, take their questions, average."""
    questions, members = _videos(videos, strata)
    arrays = [np.array(q) for q in questions]
    rng = np.random.default_rng(1)
    out = np.empty((resamples, right.shape[1]))
    for r in range(resamples):
        drawn = np.concatenate([rng.choice(m, len(m)) for m in members])
        out[r] = right[np.concatenate([arrays[v] for v in drawn])].mean(axis=0)
    return out


def numpy_sums(
    right: np.ndarray, videos: list[str], strata: list[str], resamples: int
) -> np.ndarray:
    """The same with each video's sums taken before the loop."""
    questions, members = _videos(videos, strata)
    sums = np.array([right[q].sum(axis=0) for q in questions])
    sizes = np.array([len(q) for q in questions], np.float64)
    rng = np.random.default_rng(1)
    out = np.empty((resamples, right.shape[1]))
    for r in range(resamples):
        drawn = np.concatenate([rng.choice(m, len(m)) for m in members])
        out[r] = sums[drawn].sum(axis=0) / sizes[drawn].sum()
    return out


def python_loop(
    right: np.ndarray, videos: list[str], strata: list[str], resamples: int
) -> np.ndarray:
    """In lists and floats alone: draw videos, go through their questions, add up."""
    questions, members = _videos(videos, strata)
    rows = right.tolist()
    rng = random.Random(1)
    columns = range(right.shape[1])
    out = []
    for _ in range(resamples):
        total, n = [0.0] * len(columns), 0
        for stratum in members:
            for video in rng.choices(stratum, k=len(stratum)):
                for question in questions[video]:
                    row = rows[question]
                    n += 1
                    for c in columns:
                        total[c] += row[c]
        out.append([t / n for t in total])
    return np.array(out)


def _videos(videos: list[str], strata: list[str]) -> tuple[list[list[int]], list[list[int]]]:
    """The questions of each video, and the videos of each stratum."""
    names = sorted(set(videos))
    questions = [[i for i, v in enumerate(videos) if v == name] for name in names]
    stratum = dict(zip(videos, strata, strict=True))
    return questions, [
        [k for k, v in enumerate(names) if stratum[v] == s] for s in ("long", "short")
    ]


def timed(run: Callable[[], np.ndarray], rounds: int) -> tuple[float, np.ndarray]:
    best, out = float("inf"), np.empty(0)
    for _ in range(rounds):
        began = time.process_time()
        out = run()
        best = min(best, time.process_time() - began)
    return best, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    data, n = task(), options.resamples
    rows = {}
    for name, run, rounds in (
        ("egomem.score.cluster_bootstrap", ours, options.rounds * 2),
        ("numpy loop", numpy_loop, options.rounds),
        ("numpy loop over sums", numpy_sums, options.rounds),
        ("pure Python loop", python_loop, 1),
    ):
        seconds, samples = timed(lambda run=run: run(*data, n), rounds)  # type: ignore[misc]
        low, high = np.quantile(samples, [0.025, 0.975], axis=0)
        rows[name] = {"seconds": seconds, "low": low.mean(), "high": high.mean()}
    base = rows["egomem.score.cluster_bootstrap"]
    print(f"{COLUMNS} columns, {QUESTIONS} questions, {VIDEOS} videos, {n} resamples")
    print(f"{'':26}{'CPU s':>9}{'slower':>9}{'mean interval':>20}")
    for name, row in rows.items():
        row["times"] = row["seconds"] / base["seconds"]
        print(
            f"{name:26}{row['seconds']:9.3f}{row['times']:8.0f}x"
            f"{row['low']:12.4f}-{row['high']:.4f}"
        )
    agree = all(abs(row[k] - base[k]) < 0.003 for row in rows.values() for k in ("low", "high"))
    fast = rows["numpy loop"]["times"] >= NUMPY_LOOP
    fast &= rows["pure Python loop"]["times"] >= PYTHON_LOOP
    print("intervals agree" if agree else "intervals DIFFER")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    sys.exit(0 if agree and fast else 1)


if __name__ == "__main__":
    main()
