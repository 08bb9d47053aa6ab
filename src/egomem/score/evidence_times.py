"""Cited evidence against the key's: does an answer rest on the right moment, and is it right then?

Hits, IoU and distances are printed beside two baselines that look at nothing: the stretch just
before the question is asked, and the middle of what has passed. Their length, the tolerances and
the one that makes evidence right are our reconstruction; the papers score no evidence time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import NamedTuple

from egomem.records import Answer, Evidence, Question, Record, Video
from egomem.score.scored_answers import ScoredAnswers
from egomem.timeline import RecordingTime, Span

TOLERANCES_S = (0.0, 15.0, 30.0)
"""Seconds by which cited evidence may miss the key's and still be a hit."""

RIGHT_EVIDENCE_S = 15.0
"""The tolerance by which accuracy is split into that with right and with wrong evidence."""

BASELINE_S = 30.0
"""Length of the stretch that a baseline cites."""

ABSOLUTE = None
"""The recording of spans on the wearer's timeline, in POSIX seconds."""

Spans = Mapping[str | None, Sequence[Span]]


class EvidenceAccuracy(Record):
    """Accuracy over the `n` answers whose evidence is of one kind; None over none."""

    n: int
    accuracy: float | None


class EvidenceTimes(Record):
    """Cited evidence over `n` questions whose key names evidence.

    `cited`: answers that cite any. `hits`: shares of all n by tolerance in seconds ("0", "15",
    "30"); an answer that cites nothing has missed. `iou`: mean of intersection over union of the
    `n_iou` questions whose evidence has a length. `distance`: median seconds between the nearest
    cited and key's stretch, over the `n_distance` answers that cite the right recording.
    `seconds`: median seconds cited, as who cites everything hits everything.
    `right`, `wrong`, `none`: accuracy with right evidence (a hit within `RIGHT_EVIDENCE_S`), with
    wrong evidence, and without any; None for a baseline.
    """

    name: str
    n: int
    cited: int
    hits: dict[str, float]
    iou: float | None
    n_iou: int
    distance: float | None
    n_distance: int
    seconds: float | None
    right: EvidenceAccuracy | None = None
    wrong: EvidenceAccuracy | None = None
    none: EvidenceAccuracy | None = None


def evidence_times(scored: ScoredAnswers, name: str = "answers") -> EvidenceTimes | None:
    """Compare what answers cite with the key; None where no question's key names evidence."""
    rows = _comparisons(scored, lambda question, video, answer: _cited(question, answer))
    if not rows:
        return None
    kinds = {"right": True, "wrong": False, "none": None}
    accuracy = {
        name: _accuracy([float(scored.right[i]) for i, row in rows if row.is_right is kind])
        for name, kind in kinds.items()
    }
    return _figures(name, [row for _, row in rows]).model_copy(update=accuracy)


def evidence_baselines(scored: ScoredAnswers) -> list[EvidenceTimes]:
    """The baselines over the same questions, those aside whose video has no known length."""
    baselines = (("nearest in time", _nearest), ("middle of video", _middle))
    figures = []
    for name, guess in baselines:
        rows = _comparisons(scored, guess)
        if rows:
            figures.append(_figures(name, [row for _, row in rows]))
    return figures


class _Comparison(NamedTuple):
    """`gap`: seconds between the nearest stretches, None without one of the same recording.
    `iou`: None where the key's evidence has no length. `seconds`: cited, None where nothing is."""

    gap: float | None
    iou: float | None
    seconds: float | None

    @property
    def is_right(self) -> bool | None:
        if self.seconds is None:
            return None
        return self.gap is not None and self.gap <= RIGHT_EVIDENCE_S


Guess = Callable[[Question, Video | None, Answer | None], Spans | None]
"""What is cited for a question; None where it cannot be told, and the question is left out."""


def _comparisons(scored: ScoredAnswers, cite: Guess) -> list[tuple[int, _Comparison]]:
    """Each question whose key names evidence, by its index in the sheet."""
    rows = []
    for i, question in enumerate(scored.questions):
        gold = _spans(question.evidence, question.recording)
        if not gold:
            continue
        if len(gold) > 1:  # what lies in a recording need not be compared on the timeline again
            gold.pop(ABSOLUTE, None)
        cited = cite(question, scored.videos[i], scored.answers[i])
        if cited is not None:
            rows.append((i, _compare(gold, cited)))
    return rows


def _compare(gold: Spans, cited: Spans) -> _Comparison:
    gaps = [
        max(0.0, one.start - other.end, other.start - one.end)
        for recording, spans in gold.items()
        for one in spans
        for other in cited.get(recording, ())
    ]
    gold_s, cited_s = _length(gold), _length(cited)
    shared = sum(
        _overlap(_joined(spans), _joined(cited.get(recording, ())))
        for recording, spans in gold.items()
    )
    iou = shared / (gold_s + cited_s - shared) if gold_s > 0 else None
    return _Comparison(min(gaps, default=None), iou, cited_s if cited else None)


def _figures(name: str, rows: Sequence[_Comparison]) -> EvidenceTimes:
    gaps = [row.gap for row in rows if row.gap is not None]
    ious = [row.iou for row in rows if row.iou is not None]
    seconds = [row.seconds for row in rows if row.seconds is not None]
    return EvidenceTimes(
        name=name,
        n=len(rows),
        cited=len(seconds),
        hits={f"{t:g}": sum(gap <= t for gap in gaps) / len(rows) for t in TOLERANCES_S},
        iou=sum(ious) / len(ious) if ious else None,
        n_iou=len(ious),
        distance=median(gaps) if gaps else None,
        n_distance=len(gaps),
        seconds=median(seconds) if seconds else None,
    )


def _accuracy(values: Sequence[float]) -> EvidenceAccuracy:
    return EvidenceAccuracy(n=len(values), accuracy=sum(values) / len(values) if values else None)


def _cited(question: Question, answer: Answer | None) -> Spans:
    return _spans(answer.evidence if answer else (), question.recording)


def _nearest(question: Question, video: Video | None, answer: Answer | None) -> Spans | None:
    """The last stretch before the question is asked."""
    if isinstance(question.at, datetime):
        now = question.at.timestamp()
        return {ABSOLUTE: [Span(now - BASELINE_S, now)]}
    passed = _passed(question, video)
    if passed is None:
        return None
    recording, end = passed
    return {recording: [Span(max(0.0, end - BASELINE_S), end)]}


def _middle(question: Question, video: Video | None, answer: Answer | None) -> Spans | None:
    """The middle of what has passed of the video when the question is asked."""
    passed = _passed(question, video)
    if passed is None:
        return None
    recording, end = passed
    return {recording: [Span(max(0.0, (end - BASELINE_S) / 2), min(end, (end + BASELINE_S) / 2))]}


def _passed(question: Question, video: Video | None) -> tuple[str | None, float] | None:
    """The recording and the seconds of it that have passed; None where its length is not known."""
    if isinstance(question.at, RecordingTime):
        return question.at.recording, question.at.seconds
    if question.at is None and video is not None and video.duration:
        return video.id, video.duration
    return None


def _spans(evidence: Iterable[Evidence], recording: str | None) -> dict[str | None, list[Span]]:
    """Stretches by recording; of evidence with an instant, on the wearer's timeline, too."""
    spans: dict[str | None, list[Span]] = {}
    for piece in evidence:
        # A digest cited lies on the timeline; a row without a video means the question's.
        is_absolute = piece.recording is None and (piece.when is not None or recording is None)
        place = ABSOLUTE if is_absolute else piece.recording or recording
        spans.setdefault(place, []).append(piece.span)
        if place is not ABSOLUTE and piece.when is not None:
            start = piece.when.timestamp()
            spans.setdefault(ABSOLUTE, []).append(Span(start, start + piece.span.length))
    return spans


def _length(spans: Spans) -> float:
    """Seconds of the stretches. What lies on the timeline repeats what a recording holds."""
    named: list[str | None] = [place for place in spans if place is not ABSOLUTE]
    places = named or list(spans)
    return sum(span.length for place in places for span in _joined(spans[place]))


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def _overlap(one: Sequence[Span], other: Sequence[Span]) -> float:
    return sum(max(0.0, min(a.end, b.end) - max(a.start, b.start)) for a in one for b in other)
