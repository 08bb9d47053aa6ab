"""Candidate windows as arrays: which observations they hold, and which words those hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egomem.recall.moments import MomentWindow
from egomem.recall.speech import said
from egomem.recall.stem_index import StemIndex
from egomem.recall.terms import bag_of
from egomem.records import Observation

if TYPE_CHECKING:
    from egomem.models.embedders import Vectors

Scores = NDArray[np.float64]


class Corpus:
    """Windows to be scored. Scores of windows and of observations are arrays in the order here.

    The words of a line of speech are those that were said: a leading `Name:` is its speaker.
    """

    def __init__(self, windows: Sequence[MomentWindow]) -> None:
        self.windows = tuple(windows)
        place: dict[str, int] = {}
        self.place = place
        observations: list[Observation] = []
        window_of: list[int] = []
        observation_of: list[int] = []
        for w, window in enumerate(self.windows):
            for o in window.observations:
                # A long observation stands in several windows; it is scored once.
                row = place.setdefault(o.id, len(observations))
                if row == len(observations):
                    observations.append(o)
                window_of.append(w)
                observation_of.append(row)
        self.observations = tuple(observations)
        self._window = np.array(window_of, dtype=np.int64)
        self._observation = np.array(observation_of, dtype=np.int64)
        # `reduceat` needs no loop over windows, and no window is empty, which it could not do.
        self._starts = np.searchsorted(self._window, np.arange(len(self.windows)))
        self.starts = np.array([o.span.start for o in observations])
        self.ends = np.array([o.span.end for o in observations])
        # Without the leading `Name:`, which would match a question about that person in each of her
        # lines.
        self.index = StemIndex(said(o)[1] for o in observations)
        self.lengths = self.index.lengths
        self._distinct: dict[int, frozenset[str]] = {}
        self.timelines: tuple[NDArray[np.int64], Scores] | None = None
        self.vectors: dict[str, tuple[Vectors, Scores]] = {}

    @cached_property
    def window_lengths(self) -> Scores:
        return self.sums(self.lengths)

    @cached_property
    def window_starts(self) -> Scores:
        return np.array([w.span.start for w in self.windows])

    @cached_property
    def lines_a_window(self) -> float:
        """How many observations a window holds on average."""
        return max(1.0, len(self._window) / max(1, len(self.windows)))

    def sums(self, of_observations: Scores) -> Scores:
        """The sum over each window's observations."""
        if not self.windows:
            return np.zeros(0)
        return np.add.reduceat(of_observations[self._observation], self._starts)

    def means(self, of_observations: Scores) -> Scores:
        return self.sums(of_observations) / self.sums(np.ones(len(self.observations)))

    def norms(self, of_observations: Vectors) -> Scores:
        """The length of the mean of each window's vectors."""
        rows = np.add.reduceat(of_observations[self._observation], self._starts, axis=0)
        mean = rows / self.sums(np.ones(len(self.observations)))[:, None]
        # Vectors are of length 1 and their mean is shorter: the cosine has to be divided by its
        # length.
        lengths: Scores = np.linalg.norm(mean, axis=1).astype(np.float64)
        return lengths

    def best(self, of_observations: Scores) -> Scores:
        """The highest among each window's observations."""
        if not self.windows:
            return np.zeros(0)
        return np.maximum.reduceat(of_observations[self._observation], self._starts)

    def words(self, window: int) -> frozenset[str]:
        """The different words of a window."""
        if window not in self._distinct:
            bags = (bag_of(said(o)[1]) for o in self.windows[window].observations)
            self._distinct[window] = frozenset(word for bag in bags for word in bag.words)
        return self._distinct[window]

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks in each observation; "" where nobody is named."""
        return tuple(said(o)[0] for o in self.observations)

    @cached_property
    def asked_before(self) -> NDArray[np.int64]:
        """For each line of speech, the line before it where another asked a question; else -1."""
        before = np.full(len(self.observations), -1, dtype=np.int64)
        speech = [i for i, o in enumerate(self.observations) if o.source == "speech"]
        speech.sort(key=lambda i: (self.observations[i].recording or "", self.starts[i]))
        for earlier, later in pairwise(speech):
            a, b = self.observations[earlier], self.observations[later]
            another = self.speakers[earlier] != self.speakers[later]
            # Who goes on talking after a question of her own does not answer it.
            if a.recording == b.recording and another and a.text.rstrip().endswith("?"):
                before[later] = earlier
        return before
