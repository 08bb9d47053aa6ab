"""All that is said of one set of answers, as one value and as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.records import Record
from egomem.score.accuracy import Accuracies, accuracies
from egomem.score.answerability import Answerability, answerability
from egomem.score.cluster_bootstrap import Interval, interval_caution
from egomem.score.ranking import Mrr, mrr
from egomem.score.scored_answers import ScoredAnswers
from egomem.score.slices import (
    DURATION_EDGES_S,
    GroupAccuracy,
    SliceTable,
    by_duration,
    leave_one_out,
    slice_tables,
    standard_slices,
)


class ScoreSummary(Record):
    """`accuracy` is strict, with its interval over videos; None where nothing could be scored.

    `accuracies` holds it again, beside that of the replies that were read and the mean over videos.
    `clusters`: what was resampled, videos (a question that names no video stands for itself, as
    `lone` of them do);
    `caution` says where they are too few for the interval, or all draws are alike.
    """

    n: int
    unscored: int
    clusters: int
    lone: int
    accuracy: Interval | None
    accuracies: Accuracies | None
    caution: str
    mrr: Mrr
    answerability: Answerability | None
    tables: tuple[SliceTable, ...]


def duration_strata(
    sheet: ScoredAnswers, edges: Sequence[float] = DURATION_EDGES_S[-1:]
) -> list[str]:
    """The regime of duration of each question's video: what videos are drawn within."""
    view = by_duration(edges)
    pairs = zip(sheet.questions, sheet.videos, strict=True)
    return [(view.labels(q, v) or ("not stated",))[0] for q, v in pairs]


def summarise(
    sheet: ScoredAnswers,
    *,
    bins: int | Sequence[float] = 3,
    regimes: Sequence[float] = DURATION_EDGES_S,
    seed: int = 0,
) -> ScoreSummary:
    """Accuracy with its interval, MRR, Ans-F1 where items cannot be answered, and every view.

    `bins` of evidence positions, `regimes` of duration (edges in seconds): see `standard_slices`.
    """
    views = standard_slices(bins=bins, regimes=regimes)
    made = list(slice_tables(sheet, views).values())
    without = leave_one_out(sheet, next(view for view in views if view.name == "source"))
    held = (
        accuracies([sheet], duration_strata(sheet, regimes[-1:]), seed=seed)[0]
        if len(sheet)
        else None
    )
    cannot = any(q.answerable is False for q in sheet.questions)
    return ScoreSummary(
        n=len(sheet),
        unscored=sheet.unscored,
        clusters=len(set(sheet.clusters)),
        lone=sheet.lone,
        accuracy=held.strict if held else None,
        accuracies=held,
        caution=interval_caution(held.strict, held.clusters, sheet.lone) if held else "",
        mrr=mrr(sheet),
        answerability=answerability(sheet) if cannot else None,
        tables=(*made, *([without] if without.rows else [])),
    )


def format_percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def slice_row_cells(label: str, figure: GroupAccuracy) -> list[str]:
    """A row: label, n, n by status, accuracy, chance and every blind baseline, in per cent."""
    statuses = ", ".join(f"{n} {status}" for status, n in figure.by_status.items())
    blind = [
        f"{name} {format_percent(b.accuracy)}" + (f" (n {b.n})" if b.n < figure.n else "")
        for name, b in figure.blind.items()
    ]
    return [
        label,
        str(figure.n),
        statuses,
        format_percent(figure.accuracy),
        format_percent(figure.chance),
        ", ".join(blind),
    ]


SLICE_HEADINGS = ("", "n", "n by status", "accuracy", "chance", "blind")
