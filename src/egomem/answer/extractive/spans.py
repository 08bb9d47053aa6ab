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

    line: str
    span: Span
    seen: tuple[IndexedObservation, ...]

    @property
    def recording(self) -> str | None:
        return self.seen[0].observation.recording

    @property
    def shown(self) -> Span:
        """The same stretch on the time line of the recording (of a digest: of the wearer)."""
        return self.span.shift(self.seen[0].observation.span.start - self.seen[0].span.start)


def episodes(seen: Iterable[IndexedObservation], gap: float) -> list[Episode]:
    """Merges what lies at most `gap` seconds apart in one recording; in time order."""
    merged: list[Episode] = []
    ordered = sorted(
        seen, key=lambda s: (s.line, s.observation.recording or "", s.span.start, s.span.end)
    )
    for s in ordered:
        last = merged[-1] if merged else None
        if (
            last
            and last.line == s.line
            and last.recording == s.observation.recording
            and s.span.start - last.span.end <= gap
        ):
            span = Span(last.span.start, max(last.span.end, s.span.end))
            merged[-1] = Episode(last.line, span, (*last.seen, s))
        else:
            merged.append(Episode(s.line, s.span, (s,)))
    return sorted(merged, key=lambda e: (e.span.start, e.recording or ""))


class Writer:
    """Writes moments as people read them: recording, time in it, wall clock where it is known."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._names: Mapping[str, str] = {r.id: r.name for r in view.recordings()}
        self._several = len(self._names) > 1

    def span(self, seen: IndexedObservation, span: Span | None = None) -> str:
        """`0:12-0:15 in bikes.mp4 (2026-03-02 08:10:12+01:00)`."""
        o = seen.observation
        shown = span or o.span
        clock = self.clock(seen, shown.start)
        if o.recording is None:
            return clock or "an unknown time"
        rounded = Span(round(shown.start, 1), round(shown.end, 1))
        name = f" in {self._names.get(o.recording, o.recording)}" if self._several else ""
        return f"{format_span(rounded)}{name}" + (f" ({clock})" if clock else "")

    def point(self, seen: IndexedObservation, seconds: float) -> str:
        return self.span(seen, Span(seconds, seconds))

    def clock(self, seen: IndexedObservation, seconds: float) -> str:
        """The wall clock at a second of the observation's recording; "" where it is not known."""
        when = self._view.when(seen.observation)
        if when is None:
            return ""
        moved = when.timestamp() + seconds - seen.observation.span.start
        there = when.fromtimestamp(moved, tz=when.tzinfo)
        return there.isoformat(sep=" ", timespec="seconds")

    def evidence(self, seen: IndexedObservation, score: float | None = None) -> Evidence:
        o = seen.observation
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
