"""Which windows of a view are scored: all of a small one, those that may matter of a large one.

Either way what is scored, and with which statistics, follows from the view's content alone.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egomem.memory import View
from egomem.recall.corpus import Corpus, Scores
from egomem.recall.moments import MomentWindow, spans_of, windows_of
from egomem.recall.signals import Statistics
from egomem.recall.terms import term_query
from egomem.recall.vectors import query_vector
from egomem.recall.view_cache import ViewCache
from egomem.records import Observation, Recording
from egomem.timeline import Span

if TYPE_CHECKING:
    from egomem.models.embedders import Embedder

SMALL = 20_000
"""Observations. A view of so many or fewer is scored whole."""
FROM_WORDS = 40
"""Windows of a large view that are scored for their words, for each text that is looked for."""
FROM_VECTORS = 12
"""Windows of a large view that are scored for their vectors, likewise."""


@dataclass(frozen=True)
class Candidates:
    """Windows to be scored. `statistics` is None where they are all that the view has."""

    view: View
    corpus: Corpus
    statistics: Statistics | None
    recordings: dict[str, Recording]

    @property
    def durations(self) -> dict[str, float]:
        return {id: r.duration for id, r in self.recordings.items()}

    def when(self, w: MomentWindow) -> datetime | None:
        """The wall clock at the start of a window, where it is known."""
        if w.recording is None:
            return self.view.when(w.observations[0])
        r = self.recordings.get(w.recording)
        return r.instant(w.span.start) if r else None

    def instant(self, w: MomentWindow) -> tuple[int, float]:
        """What orders windows in time: a known clock first, then recording by recording."""
        place, zero = self._zeros.get(w.recording or "", (-1, 0.0))
        return place, zero + w.span.start

    def timelines(self) -> tuple[NDArray[np.int64], Scores]:
        """For each observation the number of its timeline (a wearer's, or a recording's without a
        clock), and what is added to its seconds to count on that."""
        if self.corpus.timelines is None:
            wearers: dict[str, int] = {}
            lines, zeros = [], []
            for o in self.corpus.observations:
                place, zero = self._zeros.get(o.recording or "", (-1, 0.0))
                # What two wearers did at the same time is not what one did before or after.
                if place == self._shared:
                    place += wearers.setdefault(o.wearer, len(wearers))
                lines.append(place)
                zeros.append(zero)
            self.corpus.timelines = np.array(lines), np.array(zeros)
        return self.corpus.timelines

    @property
    def _shared(self) -> int:
        """The number of the timeline of known clocks, above those of all recordings."""
        return 2 * len(self.recordings)

    @cached_property
    def _zeros(self) -> dict[str, tuple[int, float]]:
        """Of each recording its timeline and second 0: known clocks (and digests) share one."""
        shared = self._shared
        zeros = {"": (shared, 0.0)}
        numbers = {id: number for number, id in enumerate(self.recordings)}
        chapters = self.view.filter.catalog.chapter_places
        for r in self.recordings.values():
            # A first chapter may be out of the view: its number stands for the timeline.
            # Cameras cut a long recording into files; without this, "after" would end at each
            # file's end.
            first, zero = chapters.get(r.id, (r.id, 0.0))
            number = numbers.setdefault(first, len(numbers))
            zeros[r.id] = (shared, r.clock.start.timestamp()) if r.clock else (number, zero)
        return zeros


def candidates(
    view: View,
    texts: Sequence[str],
    window: float,
    embedder: Embedder | None,
    *,
    least: int = 10,
    beside: bool = False,
    also: Sequence[str] = (),
) -> Candidates:
    """The windows of `window` seconds that any of the texts may be about.

    Of a large view it brings in twice `least` windows or more, and with `beside` the windows
    before and after each. `also` are ids of observations whose windows are brought in, too.
    """
    recordings = {r.id: r for r in view.recordings()}
    durations = {id: r.duration for id, r in recordings.items()}
    # Scoring only what the store's own search brings up would be faster and finds less: on
    # NExT-GQA, without a model, R@3 falls from .273 to .248.
    if view.count() <= SMALL:
        return Candidates(view, _whole(view, window, durations), None, recordings)
    keys: dict[tuple[str, str, Span], None] = {}
    from_words = max(FROM_WORDS, 2 * least)
    for text in texts:
        # The store matches stems alone: without their other forms "sat" would never bring up
        # "sits".
        words = [text, *(form for term in term_query(text).terms for form in term.own)]
        # Twice as many as windows are wanted: several matches often lie in one window.
        matches = [s.observation for s in view.search(" ".join(words), k=2 * from_words)]
        keys |= dict.fromkeys(_first(matches, window, from_words))
        if embedder is not None:
            vector = query_vector(embedder, text)
            matches = [s.observation for s in view.nearest(embedder.name, vector, 2 * FROM_VECTORS)]
            keys |= dict.fromkeys(_first(matches, window, FROM_VECTORS))
    if also:
        keys |= dict.fromkeys(_first(view.observations(ids=also), window, 2 * len(also)))
    stretches = _stretches(keys, window if beside else 0.0)
    observations = view.stretches([(r, span) for r, span in stretches if r is not None])
    digests: dict[str, Observation] = {}
    for r, span in stretches:
        if r is None:
            start, end = (datetime.fromtimestamp(at, UTC) for at in (span.start, span.end))
            # A digest lies in no recording, so the stretches of recordings cannot name it.
            overlapping = view.narrow(sources=["digest"], between=(start, end)).observations()
            digests |= {o.id: o for o in overlapping}
    observations += digests.values()
    stems = {s for text in texts for term in term_query(text).terms for s in term.stems}
    # Frequencies among the candidates would make every word of the question look common, as it is
    # what brought them here.
    statistics = Statistics(view.count(), view.document_frequency(stems))
    corpus = Corpus(windows_of(observations, window, durations))
    return Candidates(view, corpus, statistics, recordings)


def _first(matches: Iterable[Observation], window: float, most: int) -> list[tuple[str, str, Span]]:
    keys: dict[tuple[str, str, Span], None] = {}
    for o in matches:
        for span in spans_of(o, window):
            if len(keys) < most:
                keys.setdefault((o.recording or "", o.wearer, span))
    return list(keys)


def _stretches(
    keys: Iterable[tuple[str, str, Span]], margin: float
) -> list[tuple[str | None, Span]]:
    """Where to read: wanted windows and `margin` seconds on each side, joined where they touch."""
    joined: list[tuple[str | None, Span]] = []
    for recording, _, span in sorted(keys):
        wide = span if not recording else Span(max(0.0, span.start - margin), span.end + margin)
        if joined and joined[-1][0] == (recording or None) and wide.start <= joined[-1][1].end:
            wide = Span(joined[-1][1].start, max(wide.end, joined[-1][1].end))
            joined.pop()
        joined.append((recording or None, wide))
    return joined


_corpora: ViewCache[Corpus] = ViewCache()


def _whole(view: View, window: float, durations: dict[str, float]) -> Corpus:
    """All windows of a view; made once for all views that see the same."""

    def make() -> Corpus:
        with _uncollected():
            return Corpus(windows_of(view.observations(), window, durations))

    return _corpora.get(view, make, window, tuple(durations.items()))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for garbage: among many new objects that stay it costs a third of the time,
    and finds none."""
    if not gc.isenabled():
        yield
        return
    # Each new observation may start a collection, which walks all that are there already.
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
