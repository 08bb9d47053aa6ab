"""Where to look: stretches of the recordings around the moments found, or that a question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """An interval for each of at most `most` seeds: the seed's window, the neighbours that adjoin
    it and `pad` seconds on each side, clipped to what has passed of the recording.

    `count` frame times each, at the centres of equal parts. The best seed first; intervals may
    overlap. Digests are no moments of a recording and are not looked at.
    """
    seeds = [h for h in hits if h.seed and h.recording in recordings][:most]
    looks: list[FrameTimes] = []
    for seed in seeds:
        recording = recordings[seed.recording or ""]
        beside = [h.span for h in hits if h.recording == seed.recording]
        start, end = seed.span.start, seed.span.end
        for span in beside:
            # CapMem centres an interval on each seed. Merging overlapping ones first left four
            # frames for stretches of up to 550 s.
            if abs(span.end - seed.span.start) < _NOTHING:
                start = min(start, span.start)
            if abs(span.start - seed.span.end) < _NOTHING:
                end = max(end, span.end)
        wide = Span(max(0.0, start - pad), end + pad).clip(Span(0.0, recording.duration))
        if wide is not None:
            looks.append(FrameTimes(recording, wide, tuple(uniform_times(wide, count))))
    return looks


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
    """The first looks whose frames one request may hold; the others are left out.

    Where not even the first one fits, it keeps so many frames as do.
    """
    kept: list[FrameTimes] = []
    for one in looks:
        if _count_times([*kept, one]) <= images:
            kept.append(one)
    if looks and not kept:
        first = looks[0]
        kept = [replace(first, times=tuple(uniform_times(first.span, max(1, images))))]
    return kept


def by_recording(
    looks: Sequence[FrameTimes], recordings: Mapping[str, Recording]
) -> list[FrameTimes]:
    """The looks as one for each recording, with all of their times in order, equal ones once."""
    joined: list[FrameTimes] = []
    for id, recording in recordings.items():
        its_looks = [one for one in looks if one.recording.id == id]
        if its_looks:
            times = sorted({time for one in its_looks for time in one.times})
            joined.append(
                FrameTimes(recording, _hull([one.span for one in its_looks]), tuple(times))
            )
    return joined


def _hull(spans: Sequence[Span]) -> Span:
    return Span(min(span.start for span in spans), max(span.end for span in spans))


def _count_times(looks: Sequence[FrameTimes]) -> int:
    return len({(one.recording.id, time) for one in looks for time in one.times})
