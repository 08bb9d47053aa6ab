"""The three accuracies of a column, with intervals on the same draws of videos."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.records import Record, Status
from egomem.score.cluster_bootstrap import Bootstrap, Interval, bootstrap
from egomem.score.scored_answers import Floats, ScoredAnswers
from egomem.score.small_samples import IntervalMethod

READ_STATUSES = (Status.PARSED.value, Status.ABSTAINED.value)
"""Statuses of replies that were read: as a choice, or as saying that it cannot be told."""


class Accuracies(Record):
    """`strict`: right over all `n` questions, wherever their replies ended.

    `answered`: right over the `n_answered` whose reply was read, as a choice or an abstention; None
    where there is none. What was refused, cut off, unreadable, in error or missing is left out of
    it (CapMem: an unreadable reply is wrong in the strict figure only).
    `macro`: the mean over `clusters` of each one's strict accuracy, so that a video counts once
    however many questions it has; a question that names no video stands for itself.
    """

    n: int
    n_answered: int
    clusters: int
    strict: Interval
    answered: Interval | None
    macro: Interval


def read_mask(scored: ScoredAnswers) -> Floats:
    """1 for each question whose reply was read, else 0."""
    return np.array([float(status in READ_STATUSES) for status in scored.statuses])


def accuracies(
    answer_sets: Sequence[ScoredAnswers],
    strata: Sequence[str] | None = None,
    *,
    seed: int = 0,
    intervals: IntervalMethod = "widened",
) -> list[Accuracies]:
    """The accuracies of each set of answers to the same questions, all on the same draws.

    `strata`: of each question, what its video is drawn within.

    Raises UsageError without questions.
    """
    if not answer_sets:
        return []
    clusters = answer_sets[0].clusters
    # One call for all sets: figures that are compared must rest on the same draws of videos, else
    # chance between draws widens their difference.
    right = np.column_stack([s.right for s in answer_sets])
    read = np.column_stack([read_mask(s) for s in answer_sets])
    both = np.column_stack([right, read])
    draws = bootstrap(both, clusters, strata, seed=seed, intervals=intervals)
    cluster_values = _cluster_means(right, clusters, strata)
    # The mean over videos needs draws of its own: its unit is the video, so each counts once and
    # has no size to be weighed by.
    macro = bootstrap(*cluster_values, seed=seed, intervals=intervals)
    columns, answered = len(answer_sets), _answered_accuracy(draws, len(answer_sets))
    return [
        Accuracies(
            n=len(clusters),
            n_answered=int(read[:, i].sum()),
            clusters=len(cluster_values[1]),
            strict=draws.interval(i),
            # Without a reply that was read there is no accuracy among read ones; 0 would look like
            # a bad reader.
            answered=answered.interval(i) if draws.values[columns + i] else None,
            macro=macro.interval(i),
        )
        for i in range(columns)
    ]


def _answered_accuracy(draws: Bootstrap, columns: int) -> Bootstrap:
    """Right among what was read (nothing else is right); NaN in a draw in which nothing was."""
    # A draw may hold only videos whose replies all failed. Its NaN is left out of the quantiles; 0
    # would pull the interval down.
    with np.errstate(invalid="ignore", divide="ignore"):
        return draws.derived(
            draws.values[:columns] / draws.values[columns:],
            draws.samples[:, :columns] / draws.samples[:, columns:],
        )


def _cluster_means(
    right: Floats, clusters: Sequence[str], strata: Sequence[str] | None
) -> tuple[Floats, list[str], list[str] | None]:
    """Each cluster as one question: its means (clusters, columns), its name and its stratum."""
    names, first_rows, index = np.unique(
        np.asarray(clusters), return_index=True, return_inverse=True
    )
    sums = np.zeros((len(names), right.shape[1]))
    np.add.at(sums, index, right)
    means = sums / np.bincount(index)[:, None]
    return means, list(map(str, names)), [strata[k] for k in first_rows] if strata else None
