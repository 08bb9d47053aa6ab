"""Episodes out of observations, and how a moment is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from egomem.answer.extractive.view_index import IndexedObservation
from egomem.memory import View
from egomem.records import Evidence
from egomem.timeline import Span, format_span, format_time


@dataclass(frozen=True, slots=True)
class Episode:
    """One stretch of something: observations of a recording that overlap or nearly touch."""

    timeline: str
    span: Span
    entries: tuple[IndexedObservation, ...]

    @property
    def first(self) -> IndexedObservation:
        return self.entries[0]

    @property
    def recording(self) -> str | None:
        return self.first.observation.recording

    @property
    def recording_span(self) -> Span:
        """The same stretch on the timeline of the recording (of a digest: of the wearer)."""
        return self.span.shift(self.first.observation.span.start - self.first.span.start)


def episodes(entries: Iterable[IndexedObservation], gap: float) -> list[Episode]:
    """Merges what lies at most `gap` seconds apart in one recording; in time order."""
    merged: list[Episode] = []
    in_order = sorted(
        entries, key=lambda e: (e.timeline, e.observation.recording or "", e.span.start, e.span.end)
    )
    for entry in in_order:
        last = merged[-1] if merged else None
        if (
            last
            and last.timeline == entry.timeline
            and last.recording == entry.observation.recording
            and entry.span.start - last.span.end <= gap
        ):
            span = Span(last.span.start, max(last.span.end, entry.span.end))
            merged[-1] = Episode(last.timeline, span, (*last.entries, entry))
        else:
            merged.append(Episode(entry.timeline, entry.span, (entry,)))
    return sorted(merged, key=lambda e: (e.span.start, e.recording or ""))


@dataclass(frozen=True, slots=True)
class Event:
    """What happened once: an episode, with those of other recordings that show the same moment."""

    span: Span
    views: tuple[Episode, ...]


def events(stretches: Iterable[Episode], gap: float) -> list[Event]:
    """Episodes of several recordings of one wearer, at most `gap` seconds apart, are one event.

    Two cameras that ran at one moment are two views of it, and a split recording goes on in its
    next chapter. Episodes of one recording stay apart. In order of time.
    """
    joined: list[Event] = []
    open_events: dict[tuple[str, str], int] = {}
    for episode in sorted(stretches, key=lambda e: e.span.start):
        line = episode.timeline, episode.first.observation.wearer
        place = open_events.get(line)
        last = joined[place] if place is not None else None
        is_view = last is not None and episode.recording not in {v.recording for v in last.views}
        if place is not None and last and is_view and episode.span.start - last.span.end <= gap:
            span = Span(last.span.start, max(last.span.end, episode.span.end))
            joined[place] = Event(span, (*last.views, episode))
        else:
            open_events[line] = len(joined)
            joined.append(Event(episode.span, (episode,)))
    return joined


class Writer:
    """Writes moments as people read them: recording, time in it, wall clock where it is known."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._names: Mapping[str, str] = {r.id: r.name for r in view.recordings()}
        self._several = len(self._names) > 1

    def span(self, entry: IndexedObservation, span: Span | None = None) -> str:
        """`0:12-0:15 in bikes.mp4 (2026-03-02 08:10:12+01:00)`."""
        o = entry.observation
        span = span or o.span
        clock = self.clock(entry, span.start)
        if o.recording is None:
            return clock or "an unknown time"
        rounded = Span(round(span.start, 1), round(span.end, 1))
        name = f" in {self._names.get(o.recording, o.recording)}" if self._several else ""
        return f"{format_span(rounded)}{name}" + (f" ({clock})" if clock else "")

    def point(self, entry: IndexedObservation, seconds: float) -> str:
        return self.span(entry, Span(seconds, seconds))

    def clock(self, entry: IndexedObservation, seconds: float) -> str:
        """The wall clock at a second of the observation's recording; "" where it is not known."""
        when = self._view.when(entry.observation)
        if when is None:
            return ""
        moved = when.timestamp() + seconds - entry.observation.span.start
        there = when.fromtimestamp(moved, tz=when.tzinfo)
        return there.isoformat(sep=" ", timespec="seconds")

    def evidence(self, entry: IndexedObservation, score: float | None = None) -> Evidence:
        o = entry.observation
        return Evidence(
            recording=o.recording,
            span=o.span,
            quote=o.text,
            source=o.source,
            observation=o.id,
            when=self._view.when(o),
            score=None if score is None else round(score, 4),
        )


def seconds_text(seconds: float) -> str:
    """`4.2 s`, `1:05 min`, `1:02:03 h`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{format_time(float(round(seconds)))} {'min' if seconds < 3600 else 'h'}"
