"""A stream beside a recording: gaze, motion, position. One abstract shape for every format.

A reader of a format yields the rows of its file with the file's own times; `Stream.samples` leaves
out what cannot be used, and places the rest on the recording's time axis.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from egomem.media.streams.alignment import Alignment, ClockKind
from egomem.media.streams.increasing import increasing
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import UNITS, Samples, StreamKind
from egomem.timeline import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream(ABC):
    """A stream of one file, opened: its form is known, its rows are not read yet.

    `kind`: what it measures. `format`: the form of the file, for a person. `clock`: what its own
    times count: seconds of the recording, the wall clock (POSIX), or the device's own time.
    `columns`: those of `UNITS` that it has. `stated_rate`: samples a second that the file states.
    `notes`: lines on how an unclear header was read.
    """

    kind: StreamKind
    path: Path
    format: str
    clock: ClockKind | None
    columns: tuple[str, ...]
    stated_rate: float | None = None
    notes: tuple[str, ...] = ()

    @abstractmethod
    def rows(self, problems: ProblemLog) -> Iterator[Samples]:
        """Yield the file's rows in their order, in stretches of bounded size, with its own times.

        Rows that cannot be read are added to `problems` and left out. Raises MediaError where the
        file cannot be read at all.
        """

    @property
    def units(self) -> dict[str, str]:
        """The unit of each of its columns."""
        return {name: UNITS[self.kind][name] for name in self.columns}

    def samples(
        self,
        alignment: Alignment | None = None,
        *,
        span: Span | None = None,
        problems: ProblemLog | None = None,
    ) -> Iterator[Samples]:
        """Yield stretches of the stream in flat memory; times increase over all of them.

        With an alignment, times are seconds of the recording; without one, of the stream's own
        clock. `span` limits them, in the same seconds. Rows without a time, and those whose times
        run backwards or repeat, are left out and added to `problems`. Points have no times (NaN)
        and are yielded as they are.
        """
        problems = ProblemLog() if problems is None else problems
        if self.clock is None:
            yield from self.rows(problems)
            return
        for stretch in increasing(self.rows(problems), problems):
            if alignment is not None:
                stretch = Samples(alignment.seconds(stretch.times), stretch.columns)
            if span is not None:
                if len(stretch) and stretch.times[0] >= span.end:
                    return
                first, last = np.searchsorted(stretch.times, (span.start, span.end))
                stretch = stretch.take(slice(int(first), int(last)))
            if len(stretch):
                yield stretch

    def load(
        self,
        alignment: Alignment | None = None,
        *,
        span: Span | None = None,
        problems: ProblemLog | None = None,
    ) -> Samples:
        """All of `samples` at once: for short streams, and for stretches of long ones."""
        parts = list(self.samples(alignment, span=span, problems=problems))
        empty = Samples(np.empty(0), {name: np.empty(0) for name in self.columns})
        return Samples.joined([empty, *parts])
