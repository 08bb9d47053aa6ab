"""The three accuracies of a column, with intervals on the same draws of videos."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.records import Record, Status
from egomem.score.cluster_bootstrap import Bootstrap, Interval, bootstrap
from egomem.score.scored_answers import Floats, ScoredAnswers

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


def read_mask(sheet: ScoredAnswers) -> Floats:
    """1 for each question whose reply was read, else 0."""
    return np.array([float(status in READ_STATUSES) for status in sheet.statuses])


def accuracies(
    sheets: Sequence[ScoredAnswers], strata: Sequence[str] | None = None, *, seed: int = 0
) -> list[Accuracies]:
    """Of sheets of the same questions, one draw for all; `strata` are of the questions.

    Raises UsageError without questions.
    """
    if not sheets:
        return []
    clusters = sheets[0].clusters
    right = np.column_stack([s.right for s in sheets])
    read = np.column_stack([read_mask(s) for s in sheets])
    held = bootstrap(np.column_stack([right, read]), clusters, strata, seed=seed)
    own = _cluster_means(right, clusters, strata)
    macro = bootstrap(*own, seed=seed)
    k, answered = len(sheets), _answered_accuracy(held, len(sheets))
    return [
        Accuracies(
            n=len(clusters),
            n_answered=int(read[:, i].sum()),
            clusters=len(own[1]),
            strict=held.interval(i),
            answered=answered.interval(i) if held.values[k + i] else None,
            macro=macro.interval(i),
        )
        for i in range(k)
    ]


def _answered_accuracy(held: Bootstrap, k: int) -> Bootstrap:
    """Right among what was read (nothing else is right); NaN in a draw in which nothing was."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return Bootstrap(
            held.values[:k] / held.values[k:], held.samples[:, :k] / held.samples[:, k:], held.level
        )


def _cluster_means(
    right: Floats, clusters: Sequence[str], strata: Sequence[str] | None
) -> tuple[Floats, list[str], list[str] | None]:
    """Each cluster as one question: its means (clusters, columns), its name and its stratum."""
    names, first, index = np.unique(np.asarray(clusters), return_index=True, return_inverse=True)
    sums = np.zeros((len(names), right.shape[1]))
    np.add.at(sums, index, right)
    means = sums / np.bincount(index)[:, None]
    return means, list(map(str, names)), [strata[k] for k in first] if strata else None
