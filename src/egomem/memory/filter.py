"""Which observations a view sees: by time, timeline, track and span.

The same answer in three forms: SQL conditions to read rows, positions in a segment to search, and
counts that mostly come from the tally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from egomem.errors import TimeError, UsageError
from egomem.memory.catalog import Catalog, Flags, Floats, Integers, Positions
from egomem.timeline import Moment, Span

LocalStretch = Callable[[tzinfo | None], tuple[datetime, datetime] | None]
"""A zone -> the bounds of a stretch of wall clock there."""

_NONE, _ALL, _SOME = 0, 1, 2
_FOREVER = 1e300
"""Stands for infinity in SQL."""


class ObservationColumns(Protocol):
    """One entry for each observation: row id, timeline and track numbers, and span.

    `runs`: where stretches of one timeline begin, and the end of the last one; `last`: the largest
    row id.
    """

    @property
    def last(self) -> int: ...

    @property
    def rowid(self) -> Integers: ...
    @property
    def timeline(self) -> Positions: ...
    @property
    def track(self) -> Positions: ...
    @property
    def start(self) -> Floats: ...
    @property
    def end(self) -> Floats: ...
    @property
    def runs(self) -> Integers: ...


@dataclass(frozen=True, eq=False)
class ViewFilter:
    """What a view may see. `cutoffs`: the second up to which each timeline is seen, NaN if unknown.

    `selected` flags the chosen timelines, `tracks` holds track numbers (None: all), and `spans`
    pairs of bounds in seconds of each timeline; an observation must overlap all of them.
    """

    catalog: Catalog
    cutoffs: Floats
    selected: Flags
    tracks: frozenset[int] | None = None
    spans: tuple[tuple[Floats, Floats], ...] = ()

    @classmethod
    def of(cls, catalog: Catalog, until: Moment | None) -> Self:
        return cls(catalog, _cutoffs(catalog, until), np.ones(len(catalog.ids), dtype=bool))

    # ------------------------------------------------------------------------------- narrowing

    def before(self, until: Moment) -> Self:
        return replace(self, cutoffs=np.minimum(self.cutoffs, _cutoffs(self.catalog, until)))

    def of_wearer(self, wearer: str) -> Self:
        no_timeline = np.zeros(len(self.catalog.ids), dtype=bool)
        flags = self.catalog.of_wearer.get(wearer, no_timeline)
        return replace(self, selected=self.selected & flags)

    def of_recordings(self, recordings: Iterable[str]) -> Self:
        flags = np.zeros(len(self.catalog.ids), dtype=bool)
        for id in set(recordings):
            flags[_place(self.catalog, id)] = True
        return replace(self, selected=self.selected & flags)

    def of_tracks(self, sources: Iterable[str] | None, tracks: Iterable[str] | None) -> Self:
        by_source = None if sources is None else set(sources)
        by_id = None if tracks is None else set(tracks)
        numbers = frozenset(
            number
            for number, (id, source) in self.catalog.tracks.items()
            if (by_source is None or source in by_source)
            and (by_id is None or id in by_id)
            and (self.tracks is None or number in self.tracks)
        )
        return replace(self, tracks=numbers)

    def without(self, source: str) -> Self:
        """All but the tracks of a source; this filter itself where there are none."""
        tracks = self.catalog.tracks
        if all(track_source != source for _, track_source in tracks.values()):
            return self
        others = {track_source for _, track_source in tracks.values()} - {source}
        return self.of_tracks(others, None)

    def within(self, span: Span) -> Self:
        """Only what overlaps a span of each recording; digests lie on none and are left out."""
        # A digest counts in POSIX seconds, and would overlap a span of a recording by mere numbers.
        is_digests = np.array([id is None for id in self.catalog.ids], dtype=bool)
        low, high = (np.where(is_digests, np.nan, bound) for bound in (span.start, span.end))
        return replace(self, spans=(*self.spans, (low, high)))

    def between(self, start: datetime, end: datetime) -> Self:
        low, high = _seconds(self.catalog, start), _seconds(self.catalog, end)
        if end.timestamp() < start.timestamp():
            raise TimeError(f"{end.isoformat()} is before {start.isoformat()}")
        return replace(self, spans=(*self.spans, (low, high)))

    def during(self, stretch: LocalStretch) -> Self:
        """Only what overlaps a stretch of wall clock, which each zone may read as another one.

        `stretch` gives the bounds for a zone (None for digests and unknown clocks), None for none.
        """
        bounds: dict[tzinfo | None, tuple[float, float]] = {}
        lows, highs = [], []
        for id, start in zip(self.catalog.ids, self.catalog.starts.tolist(), strict=True):
            recording = self.catalog.by_id.get(id) if id is not None else None
            zone = recording.clock.start.tzinfo if recording and recording.clock else None
            if zone not in bounds:
                instants = stretch(zone)
                low, high = instants or (None, None)
                bounds[zone] = (
                    (low.timestamp(), high.timestamp()) if low and high else (np.nan, np.nan)
                )
            lows.append(bounds[zone][0] - start)
            highs.append(bounds[zone][1] - start)
        return replace(self, spans=(*self.spans, (_exact(np.array(lows)), _exact(np.array(highs)))))

    # --------------------------------------------------------------------------------- figures

    @cached_property
    def cut(self) -> Floats:
        """The cutoff of every timeline, -inf for those that are not seen at all."""
        cut = np.where(self.selected & ~np.isnan(self.cutoffs), self.cutoffs, -np.inf)
        # An unknown clock is NaN, and what cannot be placed is not seen.
        for low, _ in self.spans:
            cut[np.isnan(low)] = -np.inf
        return cut

    @cached_property
    def _status(self) -> Integers:
        """For each tally entry: none, all or some of it is seen, as far as the tally can tell."""
        catalog = self.catalog
        cut = self.cut[catalog.tally_timeline]
        status = np.full(len(cut), _SOME)
        # Ends lie at or after starts: an entry that starts after the cutoff has nothing to show.
        out = catalog.tally_start > cut
        if self.tracks is not None:
            out |= ~np.isin(catalog.tally_track, list(self.tracks))
        for lows, highs in self.spans:
            low, high = lows[catalog.tally_timeline], highs[catalog.tally_timeline]
            out |= (catalog.tally_end < low) | (catalog.tally_start > high)
        if not self.spans:
            status[catalog.tally_end <= cut] = _ALL
        status[out] = _NONE
        return status

    @cached_property
    def whole(self) -> bool:
        """True where everything up to the horizon is seen."""
        return bool(np.all(self._status == _ALL))

    @cached_property
    def timelines(self) -> set[int]:
        """The numbers of the timelines of which something may be seen."""
        positions = self.catalog.tally_timeline[self._status != _NONE]
        return set(self.catalog.numbers[positions].tolist())

    @cached_property
    def counted(self) -> tuple[int, int]:
        """Observations in the entries that are seen entirely, and the tokens in them."""
        whole = self._status == _ALL
        catalog = self.catalog
        return int(catalog.tally_count[whole].sum()), int(catalog.tally_length[whole].sum())

    @cached_property
    def at_most(self) -> int:
        """An upper bound of the number of observations that are seen."""
        return int(self.catalog.tally_count[self._status != _NONE].sum())

    # ------------------------------------------------------------------------------------- SQL

    def conditions(self, *, counted: bool = True) -> list[tuple[str, list[object]]]:
        """WHERE clauses over `observation o` that together select what is seen, each row once.

        `counted=False` leaves out the entries whose figures `counted` has.
        """
        if counted and self.whole:
            return [("o.n <= ?", [self.catalog.horizon])]
        catalog, clauses = self.catalog, []
        relevant = self._status != _NONE if counted else self._status == _SOME
        # Not np.unique, which imports numpy.ma: too slow for the first search.
        for timeline in sorted(set(catalog.tally_timeline[relevant].tolist())):
            where, values = self._timeline_clause(timeline)
            if self.tracks is not None or not counted:
                tracks = catalog.tally_track[relevant & (catalog.tally_timeline == timeline)]
                where += f" AND o.track IN ({', '.join(map(str, tracks.tolist()))})"
            clauses.append((where, values))
        return clauses

    def stretch(self, recording: str, span: Span) -> tuple[str, list[object]]:
        """The WHERE clause of what overlaps a span (s) of a recording, without a new filter."""
        where, values = self._timeline_clause(_place(self.catalog, recording))
        if self.tracks is not None:
            where += f" AND o.track IN ({', '.join(map(str, sorted(self.tracks)))})"
        clause, bounds = _overlaps(span.start, span.end)
        return f"{where} AND {clause}", values + bounds

    def _timeline_clause(self, timeline: int) -> tuple[str, list[object]]:
        """The WHERE clause of what is seen of a timeline, over all tracks."""
        where = "o.recording = ? AND o.end <= ? AND o.n <= ?"
        cut = max(-_FOREVER, min(float(self.cut[timeline]), _FOREVER))
        values: list[object] = [int(self.catalog.numbers[timeline]), cut, self.catalog.horizon]
        for lows, highs in self.spans:
            clause, bounds = _overlaps(float(lows[timeline]), float(highs[timeline]))
            where += f" AND {clause}"
            values += bounds
        return where, values

    # ---------------------------------------------------------------------------------- flags

    @cached_property
    def _timeline_status(self) -> tuple[Integers, Integers]:
        """Recording number -> its position among the timelines, and how much of it is seen.

        The last entry stands for recordings that were added later, of which nothing is seen.
        """
        catalog = self.catalog
        size = int(catalog.numbers.max(initial=0)) + 2
        position = np.zeros(size, dtype=np.int64)
        position[catalog.numbers] = np.arange(len(catalog.numbers))
        status = np.full(size, _NONE)
        if len(self._status):
            first = catalog.tally_first
            min_status = np.minimum.reduceat(self._status, first)
            max_status = np.maximum.reduceat(self._status, first)
            number = catalog.numbers[catalog.tally_timeline[first]]
            status[number] = np.where(min_status == max_status, max_status, _SOME)
        return position, status

    def positions(self, columns: ObservationColumns) -> Positions | None:
        """Positions of a file's observations that are seen, ascending; None where all are."""
        inside = columns.last <= self.catalog.horizon
        if self.whole and inside:
            return None
        position, status = self._timeline_status
        runs = columns.runs
        # Most recordings lie wholly before or after a moment: one look for a run of rows.
        of_run = status[np.minimum(columns.timeline[runs[:-1]], len(status) - 1)]
        if inside and bool(np.all(of_run == _ALL)):
            return None
        visible_runs = np.flatnonzero(of_run != _NONE)
        if not len(visible_runs):
            return np.zeros(0, dtype=np.int32)
        lengths = np.diff(runs)[visible_runs]
        before = np.append(0, np.cumsum(lengths))
        candidates = np.arange(before[-1]) + np.repeat(runs[visible_runs] - before[:-1], lengths)
        undecided = np.repeat(of_run[visible_runs] == _SOME, lengths)
        if undecided.any():
            to_check = candidates[undecided]
            undecided[undecided] = ~self._exactly(
                columns, to_check, position[columns.timeline[to_check]]
            )
            candidates = candidates[~undecided]
        if not inside:
            candidates = candidates[columns.rowid[candidates] <= self.catalog.horizon]
        return np.asarray(candidates, dtype=np.int32)

    def _exactly(self, columns: ObservationColumns, at: Integers, timeline: Integers) -> Flags:
        start, end = columns.start[at], columns.end[at]
        visible = end <= self.cut[timeline]
        if self.tracks is not None:
            track = columns.track[at]
            is_chosen = np.zeros(max(int(track.max()), *self.tracks, 0) + 1, dtype=bool)
            is_chosen[list(self.tracks)] = True
            visible &= is_chosen[track]
        for lows, highs in self.spans:
            low, high = lows[timeline], highs[timeline]
            visible &= overlap_flags(start, end, low, high)
        return np.asarray(visible, dtype=bool)


def overlap_flags(start: Floats, end: Floats, low: Floats, high: Floats) -> Flags:
    """`Span.overlaps` of each span [start, end) with its bounds; bounds of NaN overlap nothing."""
    flags = np.where(
        low == high,
        (start <= low) & ((low < end) | (start == low)),
        np.where(start == end, (low <= start) & (start < high), (start < high) & (low < end)),
    )
    return np.asarray(flags, dtype=bool)


def _overlaps(low: float, high: float) -> tuple[str, list[object]]:
    """`Span.overlaps` in SQL; the first clause is there for the index."""
    if low == high:
        return "o.end >= ? AND o.start <= ? AND (? < o.end OR o.start = ?)", [low] * 4
    return (
        "o.end >= ? AND o.start < ? AND (? < o.end OR (o.start = o.end AND ? <= o.start))",
        [low, high, low, low],
    )


def _seconds(catalog: Catalog, instant: datetime) -> Floats:
    """An instant in seconds of each timeline; NaN where its clock is unknown."""
    if instant.utcoffset() is None:
        raise TimeError(f"{instant.isoformat()} has no zone", "write it with an offset")
    return _exact(instant.timestamp() - catalog.starts)


def _place(catalog: Catalog, recording: str) -> int:
    if recording not in catalog.positions:
        raise UsageError(f"there is no recording {recording!r} in this memory")
    return catalog.positions[recording]


def _cutoffs(catalog: Catalog, until: Moment | None) -> Floats:
    if until is None:
        return np.full(len(catalog.ids), np.inf)
    if isinstance(until, datetime):
        return _seconds(catalog, until)
    position = _place(catalog, until.recording)
    cutoffs = _exact(catalog.starts[position] + until.seconds - catalog.starts)
    cutoffs[position] = until.seconds
    return cutoffs


def _exact(seconds: Floats) -> Floats:
    """Seconds without the rounding error of subtracting POSIX times: instants have microseconds."""
    return np.asarray(np.round(seconds, 6), dtype=np.float64)
