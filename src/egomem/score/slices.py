"""Accuracy by view: each row has n by status and the blind baselines of the same questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from egomem.defaults import DEFAULT_FPS, MAX_FRAMES
from egomem.records import Question, Record, Video
from egomem.score.baselines import BASELINES, baseline_means
from egomem.score.scored_answers import ScoredAnswers

MINUTE_S = 60.0
DURATION_EDGES_S = (12 * MINUTE_S, 20 * MINUTE_S)
"""Edges of duration regimes in seconds (CapMem; that 12 is not a rounded 12.8 is our reading)."""

VIDEOMME_LENGTHS = ("short", "medium", "long")
"""Names of Video-MME's three groups of videos, in their order; other names come after them."""


class BaselineAccuracy(Record):
    """A baseline's accuracy over the `n` questions that it can answer."""

    accuracy: float
    n: int


class GroupAccuracy(Record):
    """Strict accuracy over all `n` questions of a group, wherever their replies ended.

    `right` may be a fraction where a judge gives part marks. `accuracy` is None where n is 0.
    """

    n: int
    right: float
    by_status: dict[str, int]
    chance: float | None = None
    blind: dict[str, BaselineAccuracy]

    @property
    def accuracy(self) -> float | None:
        return self.right / self.n if self.n else None


class SliceRow(Record):
    label: str
    figure: GroupAccuracy


class SliceTable(Record):
    """Accuracy of each group of one slice; with several labels a question counts in each row."""

    view: str
    rows: tuple[SliceRow, ...]
    note: str = ""

    def figure(self, label: str) -> GroupAccuracy:
        """The figure of the row of that label. Raises KeyError where there is none."""
        for row in self.rows:
            if row.label == label:
                return row.figure
        raise KeyError(label)


Labels = Callable[[Question, Video | None], Sequence[str]]
"""The rows of a view that a question belongs to."""

NOT_STATED = "not stated"


def group_accuracy(scored: ScoredAnswers) -> GroupAccuracy:
    """The strict accuracy of the scored questions, with what stands beside it."""
    baselines = baseline_means(scored.questions)
    return GroupAccuracy(
        n=len(scored),
        right=float(scored.right.sum()),
        by_status=scored.by_status(),
        chance=baselines["chance"][0] if "chance" in baselines else None,
        blind={
            x: BaselineAccuracy(accuracy=baselines[x][0], n=baselines[x][1])
            for x in BASELINES
            if x in baselines
        },
    )


@dataclass(frozen=True)
class Slice:
    """How questions are grouped. `order` are the labels that come first, in their order."""

    name: str
    labels: Labels
    order: tuple[str, ...] = ()
    note: str = ""


def slice_table(scored: ScoredAnswers, view: Slice) -> SliceTable:
    """A row for each label that occurs, in the view's order, then in that of the alphabet."""
    indexes: dict[str, list[int]] = {}
    for i, (question, video) in enumerate(zip(scored.questions, scored.videos, strict=True)):
        # Rows of a table must add up to all questions, so those without a label get one.
        for label in view.labels(question, video) or (NOT_STATED,):
            indexes.setdefault(label, []).append(i)
    ranks = {label: k for k, label in enumerate(view.order)}
    last = len(ranks)

    def rank(label: str) -> tuple[int, str]:
        return (last + 1 if label == NOT_STATED else ranks.get(label, last), label)

    rows = []
    for label in sorted(indexes, key=rank):
        mask = np.zeros(len(scored), bool)
        mask[indexes[label]] = True
        rows.append(SliceRow(label=label, figure=group_accuracy(scored.only(mask))))
    return SliceTable(view=view.name, rows=tuple(rows), note=view.note)


def by_tag(key: str) -> Labels:
    """Group by a key of `Question.tags`; a list gives a row for each of its values."""

    def labels(question: Question, video: Video | None) -> Sequence[str]:
        return _tag_values(question.tags.get(key, (video.tags.get(key) if video else None)))

    return labels


def by_video_field(field: str) -> Labels:
    """Group by a field of the video, or the tag of that name where the video states none."""
    labels_by_tag = by_tag(field)

    def labels(question: Question, video: Video | None) -> Sequence[str]:
        value = getattr(video, field, "") if video else ""
        return (value,) if value else labels_by_tag(question, video)

    return labels


def _tag_values(value: object) -> Sequence[str]:
    if value is None or value == "":
        return ()
    values: Iterable[object] = value if isinstance(value, list | tuple) else (value,)
    return [str(v) for v in values]


def by_evidence_position(bins: int | Sequence[float] = 3) -> Slice:
    """Where the first evidence begins, as a share of the video's length.

    `bins` equal parts, or inner edges in (0, 1). The bins are our reconstruction of CapMem's three.
    """
    edges = [k / bins for k in range(1, bins)] if isinstance(bins, int) else sorted(bins)
    bounds = [0.0, *edges, 1.0]
    names = [f"{low:.0%}-{high:.0%}" for low, high in pairwise(bounds)]

    def labels(question: Question, video: Video | None) -> Sequence[str]:
        at = evidence_position(question, video)
        if at is None:
            return ("no evidence",)
        # Bins [0,1/3), [1/3,2/3), [2/3,1]: an edge belongs to the later bin (CapMem does not say).
        return (names[sum(at >= edge for edge in edges)],)

    return Slice(
        "evidence position",
        labels,
        (*names, "no evidence"),
        "start of the first evidence as a share of the video; the bins are a reconstruction",
    )


def evidence_position(question: Question, video: Video | None) -> float | None:
    """Start of the first evidence as a share of the video's length, or None where not known."""
    if not question.evidence or video is None or not video.duration:
        return None
    first = min(
        # Evidence in another recording has no place on this video's length.
        (e.span.start for e in question.evidence if e.recording == question.recording),
        default=None,
    )
    if first is None:
        return None
    return min(1.0, max(0.0, first / video.duration))


def by_duration(edges: Sequence[float] = DURATION_EDGES_S) -> Slice:
    """Regimes of the video's length, split at `edges` (seconds); an edge belongs below it."""
    cuts = sorted(edges)
    minutes = [f"{cut / MINUTE_S:g}" for cut in cuts]
    names = (
        [f"<= {minutes[0]} min"]
        + [f"{low}-{high} min" for low, high in pairwise(minutes)]
        + [f"> {minutes[-1]} min"]
    )

    def labels(question: Question, video: Video | None) -> Sequence[str]:
        if video is None or video.duration is None:
            return ()
        # CapMem writes "<= 12" and "> 20 min": an edge belongs to the shorter regime.
        return (names[sum(video.duration > cut for cut in cuts)],)

    return Slice("duration", labels, tuple(names))


def by_frame_cap(cap: int = MAX_FRAMES, fps: float = DEFAULT_FPS) -> Slice:
    """Whether a video has more frames than a request may hold."""
    names = (f"within {cap} frames", f"over {cap} frames")

    def labels(question: Question, video: Video | None) -> Sequence[str]:
        if video is None or video.duration is None:
            return ()
        # At 1 fps CapMem's 768 frames are 12.8 minutes: longer videos are thinned out for direct
        # asking and captioned in full.
        return (names[math.floor(video.duration * fps) > cap],)

    return Slice("frame cap", labels, names)


def standard_slices(
    *,
    bins: int | Sequence[float] = 3,
    regimes: Sequence[float] = DURATION_EDGES_S,
    cap: int = MAX_FRAMES,
) -> tuple[Slice, ...]:
    """The views of a report, in its order."""
    return (
        Slice("overall", lambda question, video: ("all",)),
        Slice("visual tags", by_tag("visual"), note="a question counts in each of its tags"),
        by_evidence_position(bins),
        by_duration(regimes),
        # CapMem's headline: 792 of its 1,000 questions are on videos over 20 minutes.
        Slice("long", by_duration(regimes[-1:]).labels, by_duration(regimes[-1:]).order),
        by_frame_cap(cap),
        Slice(
            "length",
            by_tag("length"),
            VIDEOMME_LENGTHS,
            "as the data set names it, whatever its seconds",
        ),
        Slice("source", by_video_field("source_dataset")),
        Slice("scenario", by_video_field("scenario")),
        Slice("domain", by_video_field("domain")),
        Slice("sub-category", by_tag("sub_category")),
        Slice("perspective", by_tag("perspective")),
        Slice("intent", by_tag("intent")),
        Slice("type", by_tag("type")),
        Slice("answerable", _answerable_labels, ("answerable", "unanswerable")),
    )


def _answerable_labels(question: Question, video: Video | None) -> Sequence[str]:
    return ("unanswerable" if question.answerable is False else "answerable",)


def slice_tables(
    scored: ScoredAnswers, views: Sequence[Slice] | None = None
) -> dict[str, SliceTable]:
    """Every view by name; those that say nothing of any question are left out."""
    all_tables = (
        slice_table(scored, view) for view in (standard_slices() if views is None else views)
    )
    return {t.view: t for t in all_tables if [row.label for row in t.rows] != [NOT_STATED]}


def leave_one_out(scored: ScoredAnswers, view: Slice) -> SliceTable:
    """The figure without each label in turn: how much one source carries the whole."""
    labels_of_question = [
        set(view.labels(q, v)) for q, v in zip(scored.questions, scored.videos, strict=True)
    ]
    names = sorted(set().union(*labels_of_question))
    rows = tuple(
        SliceRow(
            label=f"without {name}",
            figure=group_accuracy(scored.only([name not in h for h in labels_of_question])),
        )
        for name in names
    )
    # With one source the figure without it is over nothing.
    return SliceTable(view=f"{view.name}, leave one out", rows=rows if len(names) > 1 else ())


def middle_drop(positions: SliceTable) -> float | None:
    """By how much the middle bin falls below the mean of the first and last one.

    Our reading of CapMem's middle drop: the bins that begin and end the video, and the mean of
    those between that hold questions. None where the first, the last, or all others hold none.
    """
    first: list[float] = []
    inner: list[float] = []
    last: list[float] = []
    for row in positions.rows:
        if row.figure.accuracy is None or row.label in ("no evidence", NOT_STATED):
            continue
        # By name, not by place in the table: an empty bin has no row.
        begins, ends = row.label.startswith("0%-"), row.label.endswith("-100%")
        (first if begins else last if ends else inner).append(row.figure.accuracy)
    if not (first and inner and last):
        return None
    return (first[0] + last[0]) / 2 - sum(inner) / len(inner)
