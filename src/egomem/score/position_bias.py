"""The middle drop with its interval, on draws of whole videos."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.score.cluster_bootstrap import Interval, bootstrap
from egomem.score.scored_answers import ScoredAnswers
from egomem.score.slices import NOT_STATED, Slice
from egomem.score.small_samples import IntervalMethod


def middle_drop_interval(
    scored: ScoredAnswers,
    positions: Slice,
    strata: Sequence[str] | None = None,
    *,
    seed: int = 0,
    intervals: IntervalMethod = "widened",
) -> Interval | None:
    """`middle_drop` of a view of evidence positions, drawn as the accuracies are.

    None where the first bin, the last, or all others hold no question. A draw that leaves one of
    the bins empty is left out.
    """
    pairs = zip(scored.questions, scored.videos, strict=True)
    labels = [next(iter(positions.labels(q, v)), NOT_STATED) for q, v in pairs]
    bins = [name for name in positions.order if name.endswith("%") and name in labels]
    first, last = (
        next(iter(b for b in bins if test(b)), None) for test in (_is_first_bin, _is_last_bin)
    )
    inner = [b for b in bins if b not in (first, last)]
    if first is None or last is None or not inner:
        return None
    # Right answers and questions of each bin are drawn together: a bin's size varies from draw to
    # draw.
    in_bin = np.array([[float(x == b) for b in (first, *inner, last)] for x in labels])
    draws = bootstrap(
        np.column_stack([scored.right[:, None] * in_bin, in_bin]),
        scored.clusters,
        strata,
        seed=seed,
        intervals=intervals,
    )
    bin_count = in_bin.shape[1]
    # As `middle_drop`: a mean of bins, not of questions, so a full bin does not drown an empty one.
    shares = np.array([0.5, *[-1 / len(inner)] * len(inner), 0.5])
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (draws.values[:bin_count] / draws.values[bin_count:]) @ shares
        samples = (draws.samples[:, :bin_count] / draws.samples[:, bin_count:]) @ shares
    return draws.derived(np.array([value]), samples[:, None], (-1.0, 1.0)).interval(0)


def _is_first_bin(name: str) -> bool:
    return name.startswith("0%-")


def _is_last_bin(name: str) -> bool:
    return name.endswith("-100%")
