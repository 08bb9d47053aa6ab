"""Which observations a view sees: by time, line, track and span.

The same answer in three forms, each for its use: SQL conditions for reading rows, flags over a
segment for searching, and figures that are mostly sums of the tally.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from egomem.errors import TimeError, UsageError
from egomem.memory.catalog import Catalog, Flags, Floats, Integers, Places
from egomem.timeline import Moment, Span

_NONE, _ALL, _SOME = 0, 1, 2
_FOREVER = 1e300
"""Stands for infinity in SQL."""


class ObservationColumns(Protocol):
    """One entry an observation: its row, line and track numbers, and its span.

    `runs`: where stretches of one line begin, and the end of the last one; `last`: the largest row.
    """

    @property
    def last(self) -> int: ...

    @property
    def n(self) -> Integers: ...
    @property
    def line(self) -> Places: ...
    @property
    def track(self) -> Places: ...
    @property
    def start(self) -> Floats: ...
    @property
    def end(self) -> Floats: ...
    @property
    def runs(self) -> Integers: ...


@dataclass(frozen=True, eq=False)
class ViewFilter:
    """`cutoffs`: up to which of its seconds each line is seen, NaN where it cannot be placed.

    `selected` flags the chosen lines, `tracks` holds track numbers (None: all), and `spans` pairs
    of bounds in seconds of each line, all of which an observation has to overlap.
    """

    shape: Catalog
    cutoffs: Floats
    selected: Flags
    tracks: frozenset[int] | None = None
    spans: tuple[tuple[Floats, Floats], ...] = ()

    @classmethod
    def of(cls, shape: Catalog, until: Moment | None) -> Self:
        return cls(shape, _cutoffs(shape, until), np.ones(len(shape.ids), dtype=bool))

    # ------------------------------------------------------------------------------- narrowing

    def before(self, until: Moment) -> Self:
        return replace(self, cutoffs=np.minimum(self.cutoffs, _cutoffs(self.shape, until)))

    def of_wearer(self, wearer: str) -> Self:
        nobody = np.zeros(len(self.shape.ids), dtype=bool)
        chosen = self.shape.of_wearer.get(wearer, nobody)
        return replace(self, selected=self.selected & chosen)

    def of_recordings(self, recordings: Iterable[str]) -> Self:
        chosen = np.zeros(len(self.shape.ids), dtype=bool)
        for id in set(recordings):
            chosen[_place(self.shape, id)] = True
        return replace(self, selected=self.selected & chosen)

    def of_tracks(self, sources: Iterable[str] | None, tracks: Iterable[str] | None) -> Self:
        by_source = None if sources is None else set(sources)
        by_id = None if tracks is None else set(tracks)
        chosen = frozenset(
            number
            for number, (id, source) in self.shape.tracks.items()
            if (by_source is None or source in by_source)
            and (by_id is None or id in by_id)
            and (self.tracks is None or number in self.tracks)
        )
        return replace(self, tracks=chosen)

    def within(self, span: Span) -> Self:
        """In seconds of each recording; a wearer's own timeline has none."""
        own = np.array([id is None for id in self.shape.ids], dtype=bool)
        low, high = (np.where(own, np.nan, bound) for bound in (span.start, span.end))
        return replace(self, spans=(*self.spans, (low, high)))

    def between(self, start: datetime, end: datetime) -> Self:
        low, high = _seconds(self.shape, start), _seconds(self.shape, end)
        if end < start:
            raise TimeError(f"{end.isoformat()} is before {start.isoformat()}")
        return replace(self, spans=(*self.spans, (low, high)))

    # --------------------------------------------------------------------------------- figures

    @cached_property
    def cut(self) -> Floats:
        """The cutoff of every line, -inf for those that are not seen at all."""
        cut = np.where(self.selected & ~np.isnan(self.cutoffs), self.cutoffs, -np.inf)
        for low, _ in self.spans:
            cut[np.isnan(low)] = -np.inf
        return cut

    @cached_property
    def _status(self) -> Integers:
        """How much of each entry of the tally is seen, as far as the tally can say."""
        shape = self.shape
        cut = self.cut[shape.tally_line]
        status = np.full(len(cut), _SOME)
        # Ends lie at or after starts: an entry that starts after the cutoff has nothing to show.
        out = shape.tally_start > cut
        if self.tracks is not None:
            out |= ~np.isin(shape.tally_track, list(self.tracks))
        for lows, highs in self.spans:
            low, high = lows[shape.tally_line], highs[shape.tally_line]
            out |= (shape.tally_end < low) | (shape.tally_start > high)
        if not self.spans:
            status[shape.tally_end <= cut] = _ALL
        status[out] = _NONE
        return status

    @cached_property
    def whole(self) -> bool:
        """True where everything up to the horizon is seen."""
        return bool(np.all(self._status == _ALL))

    @cached_property
    def lines(self) -> set[int]:
        """The numbers of the lines of which something may be seen."""
        seen = self.shape.tally_line[self._status != _NONE]
        return set(self.shape.numbers[seen].tolist())

    @cached_property
    def counted(self) -> tuple[int, int]:
        """Observations in the entries that are seen whole, and the tokens in them."""
        whole = self._status == _ALL
        return int(self.shape.tally_count[whole].sum()), int(self.shape.tally_length[whole].sum())

    @cached_property
    def at_most(self) -> int:
        """No more than so many observations are seen."""
        return int(self.shape.tally_count[self._status != _NONE].sum())

    # ------------------------------------------------------------------------------------- SQL

    def conditions(self, *, counted: bool = True) -> list[tuple[str, list[object]]]:
        """WHERE clauses over `observation o` that together give what is seen, each row once.

        `counted=False` leaves out the entries that `counted` has the figures of.
        """
        if counted and self.whole:
            return [("o.n <= ?", [self.shape.horizon])]
        shape, found = self.shape, []
        wanted = self._status != _NONE if counted else self._status == _SOME
        for line in sorted(set(shape.tally_line[wanted].tolist())):  # np.unique imports numpy.ma
            where, values = self._of_line(line)
            if self.tracks is not None or not counted:
                here = shape.tally_track[wanted & (shape.tally_line == line)]
                where += f" AND o.track IN ({', '.join(map(str, here.tolist()))})"
            found.append((where, values))
        return found

    def stretch(self, recording: str, span: Span) -> tuple[str, list[object]]:
        """As `conditions`, of what overlaps a span of a recording, in its seconds: what
        `of_recordings` and `within` give, without a scope of its own."""
        where, values = self._of_line(_place(self.shape, recording))
        if self.tracks is not None:
            where += f" AND o.track IN ({', '.join(map(str, sorted(self.tracks)))})"
        clause, bounds = _overlaps(span.start, span.end)
        return f"{where} AND {clause}", values + bounds

    def _of_line(self, line: int) -> tuple[str, list[object]]:
        """What is seen of a line, of all tracks."""
        where = "o.recording = ? AND o.end <= ? AND o.n <= ?"
        cut = max(-_FOREVER, min(float(self.cut[line]), _FOREVER))
        values: list[object] = [int(self.shape.numbers[line]), cut, self.shape.horizon]
        for lows, highs in self.spans:
            clause, more = _overlaps(float(lows[line]), float(highs[line]))
            where += f" AND {clause}"
            values += more
        return where, values

    # ---------------------------------------------------------------------------------- flags

    @cached_property
    def _lines(self) -> tuple[Integers, Integers]:
        """For each recording number, its place among the lines, and how much of it is seen.

        The last entry stands for recordings that were put later, of which nothing is seen.
        """
        shape = self.shape
        size = int(shape.numbers.max(initial=0)) + 2
        place = np.zeros(size, dtype=np.int64)
        place[shape.numbers] = np.arange(len(shape.numbers))
        status = np.full(size, _NONE)
        if len(self._status):
            first = shape.tally_first
            least = np.minimum.reduceat(self._status, first)
            most = np.maximum.reduceat(self._status, first)
            number = shape.numbers[shape.tally_line[first]]
            status[number] = np.where(least == most, most, _SOME)
        return place, status

    def places(self, columns: ObservationColumns) -> Places | None:
        """Which observations of a segment or a vector file are seen, ascending; None for all."""
        inside = columns.last <= self.shape.horizon
        if self.whole and inside:
            return None
        place, status = self._lines
        runs = columns.runs
        # Most recordings lie wholly before or after a moment: one look for a run of rows.
        of_run = status[np.minimum(columns.line[runs[:-1]], len(status) - 1)]
        if inside and bool(np.all(of_run == _ALL)):
            return None
        wanted = np.flatnonzero(of_run != _NONE)
        if not len(wanted):
            return np.zeros(0, dtype=np.int32)
        lengths = np.diff(runs)[wanted]
        before = np.append(0, np.cumsum(lengths))
        at = np.arange(before[-1]) + np.repeat(runs[wanted] - before[:-1], lengths)
        some = np.repeat(of_run[wanted] == _SOME, lengths)
        if some.any():
            doubtful = at[some]
            some[some] = ~self._exactly(columns, doubtful, place[columns.line[doubtful]])
            at = at[~some]
        if not inside:
            at = at[columns.n[at] <= self.shape.horizon]
        return np.asarray(at, dtype=np.int32)

    def _exactly(self, columns: ObservationColumns, at: Integers, line: Integers) -> Flags:
        start, end = columns.start[at], columns.end[at]
        seen = end <= self.cut[line]
        if self.tracks is not None:
            track = columns.track[at]
            chosen = np.zeros(max(int(track.max()), *self.tracks, 0) + 1, dtype=bool)
            chosen[list(self.tracks)] = True
            seen &= chosen[track]
        for lows, highs in self.spans:
            low, high = lows[line], highs[line]
            seen &= np.where(
                low == high,
                (start <= low) & ((low < end) | (start == low)),
                np.where(
                    start == end, (low <= start) & (start < high), (start < high) & (low < end)
                ),
            )
        return np.asarray(seen, dtype=bool)


def _overlaps(low: float, high: float) -> tuple[str, list[object]]:
    """`Span.overlaps` in SQL; the first clause is there for the index."""
    if low == high:
        return "o.end >= ? AND o.start <= ? AND (? < o.end OR o.start = ?)", [low] * 4
    return (
        "o.end >= ? AND o.start < ? AND (? < o.end OR (o.start = o.end AND ? <= o.start))",
        [low, high, low, low],
    )


def _seconds(shape: Catalog, instant: datetime) -> Floats:
    """An instant in seconds of each line; NaN where its clock is not known."""
    if instant.utcoffset() is None:
        raise TimeError(f"{instant.isoformat()} has no zone", "write it with an offset")
    return _exact(instant.timestamp() - shape.starts)


def _place(shape: Catalog, recording: str) -> int:
    if recording not in shape.places:
        raise UsageError(f"there is no recording {recording!r} in this memory")
    return shape.places[recording]


def _cutoffs(shape: Catalog, until: Moment | None) -> Floats:
    if until is None:
        return np.full(len(shape.ids), np.inf)
    if isinstance(until, datetime):
        return _seconds(shape, until)
    own = _place(shape, until.recording)
    cutoffs = _exact(shape.starts[own] + until.seconds - shape.starts)
    cutoffs[own] = until.seconds
    return cutoffs


def _exact(seconds: Floats) -> Floats:
    """Without the rounding error of subtracting two POSIX times: instants have microseconds."""
    return np.asarray(np.round(seconds, 6), dtype=np.float64)
