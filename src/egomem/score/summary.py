"""All that is said of one set of answers, as one value and as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.records import Record
from egomem.score.accuracy import Accuracies, accuracies
from egomem.score.answerability import Answerability, answerability
from egomem.score.cluster_bootstrap import Interval, interval_caution
from egomem.score.evidence_times import (
    TOLERANCES_S,
    EvidenceAccuracy,
    EvidenceTimes,
    evidence_baselines,
    evidence_times,
)
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
from egomem.score.small_samples import IntervalMethod


class ScoreSummary(Record):
    """`accuracy` is strict, with its interval over videos; None where nothing could be scored.

    `accuracies` holds it again, beside that of the replies that were read and the mean over videos.
    `clusters`: what was resampled, videos (a question that names no video stands for itself, as
    `lone` of them do);
    `caution` says where they are too few for the interval, or all draws are alike. `evidence`: of
    cited moments, None where no answer cites one or no key names one; its baselines cite blindly.
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
    evidence: EvidenceTimes | None
    evidence_baselines: tuple[EvidenceTimes, ...]
    tables: tuple[SliceTable, ...]


def duration_strata(
    scored: ScoredAnswers, edges: Sequence[float] = DURATION_EDGES_S[-1:]
) -> list[str]:
    """The regime of duration of each question's video: what videos are drawn within."""
    regimes = by_duration(edges)
    pairs = zip(scored.questions, scored.videos, strict=True)
    return [(regimes.labels(q, v) or ("not stated",))[0] for q, v in pairs]


def summarise(
    scored: ScoredAnswers,
    *,
    bins: int | Sequence[float] = 3,
    regimes: Sequence[float] = DURATION_EDGES_S,
    seed: int = 0,
    intervals: IntervalMethod = "widened",
) -> ScoreSummary:
    """Accuracy with its interval, MRR, Ans-F1 where items cannot be answered, and every view.

    `bins` of evidence positions, `regimes` of duration (edges in seconds): see `standard_slices`.
    """
    views = standard_slices(bins=bins, regimes=regimes)
    slices_of_sheet = list(slice_tables(scored, views).values())
    # 56 of CapMem's 75 videos come from one source: a figure over all may be a figure of that one.
    without = leave_one_out(scored, next(view for view in views if view.name == "source"))
    accuracy = (
        # Within short and long, as CapMem draws: the mix of lengths is the data set's design.
        accuracies([scored], duration_strata(scored, regimes[-1:]), seed=seed, intervals=intervals)[
            0
        ]
        if len(scored)
        else None
    )
    evidence = evidence_times(scored)
    has_cited = evidence is not None and evidence.cited > 0
    has_unanswerable = any(q.answerable is False for q in scored.questions)
    return ScoreSummary(
        n=len(scored),
        unscored=scored.unscored,
        clusters=len(set(scored.clusters)),
        lone=scored.lone,
        accuracy=accuracy.strict if accuracy else None,
        accuracies=accuracy,
        caution=interval_caution(accuracy.strict, accuracy.clusters, scored.lone)
        if accuracy
        else "",
        mrr=mrr(scored),
        # Where everything can be answered, F1 says only how often a reader abstained.
        answerability=answerability(scored) if has_unanswerable else None,
        evidence=evidence if has_cited else None,
        evidence_baselines=tuple(evidence_baselines(scored)) if has_cited else (),
        tables=(*slices_of_sheet, *([without] if without.rows else [])),
    )


def format_percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def slice_row_cells(label: str, figure: GroupAccuracy) -> list[str]:
    """A row: label, n, n by status, accuracy, chance and every blind baseline, in per cent."""
    statuses = ", ".join(f"{n} {status}" for status, n in figure.by_status.items())
    baselines = [
        f"{name} {format_percent(b.accuracy)}" + (f" (n {b.n})" if b.n < figure.n else "")
        for name, b in figure.blind.items()
    ]
    return [
        label,
        str(figure.n),
        statuses,
        format_percent(figure.accuracy),
        format_percent(figure.chance),
        ", ".join(baselines),
    ]


SLICE_HEADINGS = ("", "n", "n by status", "accuracy", "chance", "blind")

EVIDENCE_HEADINGS = (
    "evidence", "n", "cited", *(f"hit {t:g} s" for t in TOLERANCES_S), "IoU", "distance",
    "seconds cited", "right evidence", "wrong evidence", "no evidence",
)  # fmt: skip


def evidence_cells(figure: EvidenceTimes) -> list[str]:
    """A row of a table: hits and accuracies in per cent, times in seconds; "" for nothing."""
    return [
        figure.name,
        str(figure.n),
        str(figure.cited),
        *(f"{100 * hit:.1f}" for hit in figure.hits.values()),
        "" if figure.iou is None else f"{figure.iou:.2f}",
        "" if figure.distance is None else f"{figure.distance:.1f}",
        "" if figure.seconds is None else f"{figure.seconds:.1f}",
        *(_split_cell(part) for part in (figure.right, figure.wrong, figure.none)),
    ]


def _split_cell(part: EvidenceAccuracy | None) -> str:
    if part is None or part.accuracy is None:
        return ""
    return f"{100 * part.accuracy:.1f} of {part.n}"
