"""One bootstrap for all columns that answer the same questions, so that differences are paired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from egomem.report.columns import ReportColumn, run_name
from egomem.score import Bootstrap, ScoredAnswers, bootstrap, duration_strata
from egomem.score.cluster_bootstrap import describe_clusters
from egomem.score.scored_answers import Floats, Mask
from egomem.text import plural


class ColumnBootstrap(NamedTuple):
    """Columns of the same questions on the same resamples.

    `clusters`: the video of each question; `right`: (questions, columns), in [0, 1]; `mask`: which
    of the columns' questions these are, None for all. `question_set` names the questions where a
    report has several sets, and is "" where it has one.
    """

    columns: list[ReportColumn]
    bootstrap: Bootstrap
    clusters: tuple[str, ...]
    right: Floats
    mask: Mask | None = None
    question_set: str = ""

    def titled(self, title: str) -> str:
        """A table's title, made unique where the report has the same table for other questions."""
        return f"{title}, {self.question_set}" if self.question_set else title

    @property
    def strata(self) -> list[str]:
        """The stratum of each question's video."""
        return _strata(self.columns[0], self.scored(0))

    def scored(self, k: int) -> ScoredAnswers:
        """The answers of column `k` to these questions."""
        scored = self.columns[k].scored
        return scored if self.mask is None else scored.only(self.mask)

    @property
    def n(self) -> int:
        """The number of questions."""
        return len(self.clusters)

    @property
    def n_clusters(self) -> int:
        """The number of clusters: videos, and questions that name no video."""
        return len(set(self.clusters))

    @property
    def cluster_counts(self) -> str:
        """The clusters in words: `5 videos and 3 lone questions`."""
        return describe_clusters(self.n_clusters, self.scored(0).lone)


def bootstrap_columns(columns: Sequence[ReportColumn]) -> list[ColumnBootstrap]:
    """One bootstrap for each set of questions that has keys.

    Columns of several runs that ask the same questions share one: their differences are paired.
    """
    groups: dict[object, list[ReportColumn]] = {}
    for column in columns:
        scored = column.scored
        keys = tuple((q.id, q.answer) for q in scored.questions)
        # Keys are part of it: a mended key makes other questions of the same ids.
        group = (keys, scored.clusters, tuple(_strata(column, scored)))
        groups.setdefault(group, []).append(column)
    # A set without keys has nothing to resample.
    results = [bootstrap_questions(group) for group in groups.values() if len(group[0].scored)]
    if len(results) < 2:
        return results
    return [result._replace(question_set=_question_set(result)) for result in results]


def _question_set(result: ColumnBootstrap) -> str:
    names = dict.fromkeys(run_name(column.run) for column in result.columns)
    return f"{plural(result.n, 'question')} of {' and '.join(names)}"


def bootstrap_questions(columns: list[ReportColumn], mask: Mask | None = None) -> ColumnBootstrap:
    """The columns' bootstrap on all their questions, or on those of `mask` (at least one)."""
    scored = columns[0].scored if mask is None else columns[0].scored.only(mask)
    right = np.column_stack([column.scored.right for column in columns])
    right = right if mask is None else right[mask]
    intervals = columns[0].options.intervals
    strata = _strata(columns[0], scored)
    resampled = bootstrap(right, scored.clusters, strata, intervals=intervals)
    return ColumnBootstrap(columns, resampled, scored.clusters, right, mask)


def _strata(column: ReportColumn, scored: ScoredAnswers) -> list[str]:
    return duration_strata(scored, column.options.regimes[-1:])
