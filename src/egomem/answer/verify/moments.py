"""Where to look: stretches of the recordings around the moments found, or that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from egomem.answer.frames import FrameTimes
from egomem.answer.strategy import Task
from egomem.answer.verify.settings import VerifySettings
from egomem.recall import Hit, Query
from egomem.records import Recording
from egomem.timeline import Span, uniform_times


def intervals(
    hits: Sequence[Hit], recordings: dict[str, Recording], *, most: int, count: int, pad: float
) -> list[FrameTimes]:
    """At most `most` stretches: each seed with the neighbours that adjoin it and `pad` seconds on
    each side, clipped to what has passed of the recording; those that overlap are one.

    Frame times are the centres of `count` equal parts. In order of recording and time. Digests are
    no moments of a recording and are not looked at.
    """
    seeds = [h for h in hits if h.seed and h.recording in recordings][:most]
    spans: dict[str, list[Span]] = {}
    for seed in seeds:
        beside = [h.span for h in hits if not h.seed and h.recording == seed.recording]
        start, end = seed.span.start, seed.span.end
        for span in sorted(beside):
            if abs(span.end - seed.span.start) < _NOTHING:
                start = span.start
            if abs(span.start - seed.span.end) < _NOTHING:
                end = span.end
        whole = Span(0.0, recordings[seed.recording or ""].duration)
        wide = Span(max(0.0, start - pad), end + pad).clip(whole)
        if wide is not None:
            spans.setdefault(seed.recording or "", []).append(wide)
    return [
        FrameTimes(recording, span, tuple(uniform_times(span, count)))
        for id, recording in recordings.items()
        for span in merged(spans.get(id, ()))
    ]


_NOTHING = 1e-6


def merged(spans: Sequence[Span]) -> list[Span]:
    """Spans in order of time, those that overlap or touch joined."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def named_moments(
    task: Task[VerifySettings], query: Query, recordings: dict[str, Recording]
) -> list[FrameTimes]:
    """Where the times that the question names lie in the recordings: stretches to look at."""
    spans: dict[str, list[Span]] = {}
    for when in query.times:
        for recording in recordings.values():
            span = None
            if when.span is not None and len(recordings) == 1:
                span = when.span
            elif (clock := recording.clock) is not None:
                instants = when.instants_in(clock.start.tzinfo)
                if instants is not None:
                    span = Span(clock.seconds(instants.start), clock.seconds(instants.end))
            if span is None:
                continue
            pad = task.settings.pad
            inside = Span(span.start - pad, span.end + pad).clip(Span(0.0, recording.duration))
            if inside is not None:
                spans.setdefault(recording.id, []).append(inside)
    settings = task.settings
    looks = [
        FrameTimes(recordings[id], span, tuple(uniform_times(span, settings.frames)))
        for id in recordings
        for span in merged(spans.get(id, ()))
    ]
    return looks[: settings.intervals]


def within(looks: Sequence[FrameTimes], images: int) -> list[FrameTimes]:
    """The looks with so many frames in all that one request may hold, the same for each."""
    most = max(1, images // max(1, len(looks)))
    return [
        one if len(one.times) <= most else replace(one, times=tuple(uniform_times(one.span, most)))
        for one in looks
    ]
