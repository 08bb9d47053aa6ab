"""Columns of the same questions on the same draws, and how their figures are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from egomem.report import charts
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue
from egomem.score import (
    BaselineAccuracy,
    Bootstrap,
    GroupAccuracy,
    ScoredAnswers,
    bootstrap,
    duration_strata,
)
from egomem.score.cluster_bootstrap import describe_clusters
from egomem.score.scored_answers import Floats, Mask
from egomem.score.summary import format_percent
from egomem.text import plural

RESAMPLING = (
    "95 % percentile intervals of a bootstrap of 10,000 draws of whole clusters (a video; a "
    "question about none stands for itself) within regimes of duration (up to the last edge "
    "of --regimes, 20 min unless chosen, and longer)"
)

STATUS_LETTERS = {
    "abstained": "a", "refused": "r", "truncated": "t", "unparsable": "u", "error": "e",
    "missing": "m",
}  # fmt: skip
STATUS_LETTERS_NOTE = (
    "Small letters count the answers that were not read as a choice: "
    + ", ".join(f"{short} {status}" for status, short in STATUS_LETTERS.items())
    + "; all others were."
)


class ColumnBootstrap(NamedTuple):
    """Columns of the same questions on the same draws. `clusters`: the video of each question;
    `right`: (questions, columns); `keep`: which of the entries' questions these are, or all;
    `asked` names the set of questions where a report has several, and is "" where it has one."""

    entries: list[ReportColumn]
    drawn: Bootstrap
    clusters: tuple[str, ...]
    right: Floats
    keep: Mask | None = None
    asked: str = ""

    def titled(self, title: str) -> str:
        """A title that is not that of the same table over other questions."""
        return f"{title}, {self.asked}" if self.asked else title

    @property
    def strata(self) -> list[str]:
        """What each question's video is drawn within."""
        return _strata(self.entries[0], self.sheet(0))

    def sheet(self, k: int) -> ScoredAnswers:
        """A column's answers to these questions."""
        whole = self.entries[k].sheet
        return whole if self.keep is None else whole.only(self.keep)

    @property
    def n(self) -> int:
        """Questions."""
        return len(self.clusters)

    @property
    def groups(self) -> int:
        """What is drawn: videos, and questions about none."""
        return len(set(self.clusters))

    @property
    def counted(self) -> str:
        """The same in words: `5 videos and 3 lone questions`."""
        return describe_clusters(self.groups, self.sheet(0).lone)


def bootstrap_columns(entries: Sequence[ReportColumn]) -> list[ColumnBootstrap]:
    """A bootstrap for each set of questions that has keys. Runs of the same questions share it, so
    that their differences are paired."""
    sets: dict[object, list[ReportColumn]] = {}
    for entry in entries:
        sheet = entry.sheet
        asked = tuple((q.id, q.answer) for q in sheet.questions)
        sets.setdefault((asked, sheet.clusters, tuple(_strata(entry, sheet))), []).append(entry)
    found = [bootstrap_questions(own) for own in sets.values() if len(own[0].sheet)]
    return [one._replace(asked=_asked(one)) for one in found] if len(found) > 1 else found


def _asked(own: ColumnBootstrap) -> str:
    runs = dict.fromkeys(e.run.folder.resolve().name for e in own.entries)
    return f"{plural(own.n, 'question')} of {' and '.join(runs)}"


def bootstrap_questions(own: list[ReportColumn], keep: Mask | None = None) -> ColumnBootstrap:
    """On all questions, or on those of `keep`, of which there is one at least."""
    first = own[0].sheet if keep is None else own[0].sheet.only(keep)
    right = np.column_stack([e.sheet.right for e in own])
    right = right if keep is None else right[keep]
    held = bootstrap(right, first.clusters, _strata(own[0], first))
    return ColumnBootstrap(own, held, first.clusters, right, keep)


def _strata(entry: ReportColumn, held: ScoredAnswers) -> list[str]:
    return duration_strata(held, entry.choices.regimes[-1:])


def series_styles(entries: Sequence[ReportColumn]) -> dict[str, charts.SeriesStyle]:
    """How each series is drawn, in all drawings of a report."""
    names = dict.fromkeys(e.series for e in entries)
    return {name: charts.series_style(k) for k, name in enumerate(names)}


def group_by_panel(entries: Sequence[ReportColumn]) -> dict[str, list[ReportColumn]]:
    found: dict[str, list[ReportColumn]] = {}
    for entry in entries:
        found.setdefault(entry.panel, []).append(entry)
    return found


def legend(
    entries: Sequence[ReportColumn],
    *more: tuple[str, charts.SeriesStyle],
    among: Sequence[ReportColumn] = (),
) -> tuple[tuple[str, str], ...]:
    """Names and samples of the entries' series, as they look among all of a report."""
    all_looks = series_styles(among or entries)
    own = [(name, all_looks[name]) for name in dict.fromkeys(e.series for e in entries)]
    return tuple((name, charts.legend_swatch(look)) for name, look in [*own, *more])


def accuracy_cell(made: GroupAccuracy | None, n: int | None = None) -> CellValue:
    """An accuracy in per cent; beside it n where it is not `n`, and answers without a choice."""
    if made is None:
        return CellValue(text="-")
    more = [f"n {made.n}"] if n is not None and made.n != n else []
    more += [f"{v}{STATUS_LETTERS[k]}" for k, v in made.by_status.items() if k in STATUS_LETTERS]
    value = None if made.accuracy is None else 100 * made.accuracy
    return CellValue(
        text=format_percent(made.accuracy),
        small=" ".join(more),
        value=value,
        n=made.n,
        by_status=made.by_status,
    )


def best_baseline(made: GroupAccuracy) -> tuple[str, BaselineAccuracy] | None:
    """The best blind baseline, of those that can answer all questions where there is one."""
    whole = {name: b for name, b in made.blind.items() if b.n == made.n} or made.blind
    return max(whole.items(), key=lambda held: held[1].accuracy, default=None)


def best_baseline_cell(made: GroupAccuracy) -> CellValue:
    """The best blind baseline by name; with n where it cannot answer all questions."""
    best = best_baseline(made)
    if best is None:
        return CellValue(text="-")
    few = f", n {best[1].n}" if best[1].n < made.n else ""
    name, held = best
    share = 100 * held.accuracy
    return CellValue(text=format_percent(held.accuracy), small=name + few, value=share, n=held.n)


def format_statuses(made: GroupAccuracy) -> str:
    """`38 parsed, 2 refused`"""
    return ", ".join(f"{n} {status}" for status, n in made.by_status.items())
