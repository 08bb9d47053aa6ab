"""The past as a question may see it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from egomem.errors import TimeError, UsageError
from egomem.memory import bm25, rows
from egomem.memory.shape import Flags, Floats, Shape
from egomem.memory.tokens import terms
from egomem.records import Observation, Recording, Source
from egomem.timeline import Moment, Span

if TYPE_CHECKING:
    from egomem.memory.store import Store

QUERY_TERMS = 256
"""Only the first so many different terms of a query count."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An observation, its score, and what each query term gave to it (they sum up to the score)."""

    observation: Observation
    score: float
    parts: dict[str, float]


@dataclass(frozen=True)
class View:
    """An unchanging look at a memory: what ended at or before a moment, of some of its parts.

    A view of the whole memory until t reads the same as a view of a memory that was cut at t:
    recordings, observations, counts, hits and scores. An observation that straddles t is in
    neither. What is added later is not in a view that was made before; what is forgotten is in
    none.
    """

    store: Store
    shape: Shape
    until: Moment | None
    cutoffs: Floats
    selected: Flags
    tracks: frozenset[int] | None = None
    spans: tuple[tuple[Floats, Floats], ...] = ()

    @classmethod
    def of(cls, store: Store, shape: Shape, until: Moment | None) -> Self:
        return cls(store, shape, until, _cutoffs(shape, until), np.ones(len(shape.ids), dtype=bool))

    def narrow(
        self,
        *,
        until: Moment | None = None,
        wearer: str | None = None,
        recordings: Iterable[str] | None = None,
        sources: Iterable[Source] | None = None,
        tracks: Iterable[str] | None = None,
        span: Span | None = None,
        between: tuple[datetime, datetime] | None = None,
    ) -> Self:
        """A smaller view; it never sees more than this one.

        `span` is in seconds of each recording (and leaves digests out), `between` two aware
        instants: what overlaps them is kept. Raises UsageError for a recording that is not there.
        """
        view = self
        if until is not None:
            cutoffs = np.fmin(self.cutoffs, _cutoffs(self.shape, until))
            view = replace(view, until=until, cutoffs=cutoffs)
        if wearer is not None or recordings is not None:
            view = replace(view, selected=self.selected & self._chosen(wearer, recordings))
        if sources is not None or tracks is not None:
            view = replace(view, tracks=self._chosen_tracks(sources, tracks))
        if span is not None:
            own = np.array([id is None for id in self.shape.ids], dtype=bool)
            low = np.where(own, np.inf, span.start)
            view = replace(view, spans=(*view.spans, (low, np.where(own, np.inf, span.end))))
        if between is not None:
            low, high = (_seconds(self.shape, instant) for instant in between)
            if between[1] < between[0]:
                raise TimeError(f"{between[1]} is before {between[0]}")
            view = replace(view, spans=(*view.spans, (low, high)))
        return view

    def _chosen(self, wearer: str | None, recordings: Iterable[str] | None) -> Flags:
        chosen = np.ones(len(self.shape.ids), dtype=bool)
        if wearer is not None:
            chosen &= np.array([w == wearer for w in self.shape.wearers], dtype=bool)
        if recordings is not None:
            wanted = set(recordings)
            unknown = wanted.difference(id for id in self.shape.ids if id is not None)
            if unknown:
                raise UsageError(f"there is no recording {min(unknown)!r} in this memory")
            chosen &= np.array([id in wanted for id in self.shape.ids], dtype=bool)
        return chosen

    def _chosen_tracks(
        self, sources: Iterable[Source] | None, tracks: Iterable[str] | None
    ) -> frozenset[int]:
        by_source = None if sources is None else set(sources)
        by_id = None if tracks is None else set(tracks)
        return frozenset(
            number
            for number, (id, source) in self.shape.tracks.items()
            if (by_source is None or source in by_source)
            and (by_id is None or id in by_id)
            and (self.tracks is None or number in self.tracks)
        )

    # --------------------------------------------------------------------------------- recordings

    @property
    def _cut(self) -> Floats:
        return np.where(self.selected & ~np.isnan(self.cutoffs), self.cutoffs, -np.inf)

    def recordings(self) -> list[Recording]:
        """Those that had begun, in the order of the memory, with what was known of them by then.

        Of a recording that is still running at `until`, the duration is what has passed, and its
        facts (which were read from the whole file) are left out.
        """
        cut = {id: float(c) for id, c in zip(self.shape.ids, self._cut, strict=True)}
        found = []
        for r in self.shape.recordings:
            if cut[r.id] >= r.duration:
                found.append(r)
            elif cut[r.id] >= 0:
                found.append(r.model_copy(update={"duration": cut[r.id], "facts": {}}))
        return found

    def left_out(self) -> list[Recording]:
        """Recordings that cannot be placed before `until`, as a clock is not known."""
        lost = np.isnan(self.cutoffs) & self.selected
        return [r for r in self.shape.recordings if lost[self.shape.ids.index(r.id)]]

    def when(self, o: Observation) -> datetime | None:
        """The wall clock at the start of an observation, where it is known."""
        if o.recording is None:
            return self._local(o)
        r = self.shape.by_id.get(o.recording)
        return r.instant(o.span.start) if r else None

    def _local(self, digest: Observation) -> datetime:
        """A digest's start in the zone of the wearer's latest recording that had begun by then."""
        instant = rows.instant_of(digest.span.start)
        clocks = [r.clock for r in self.recordings() if r.clock and r.wearer == digest.wearer]
        begun = [c for c in clocks if c.start <= instant] or clocks
        return (
            instant.astimezone(max(begun, key=lambda c: c.start).start.tzinfo) if begun else instant
        )

    # ------------------------------------------------------------------------------- observations

    def observations(
        self,
        *,
        recording: str | None = None,
        span: Span | None = None,
        sources: Iterable[Source] | None = None,
        tracks: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
    ) -> list[Observation]:
        """Observations in time order; `span` as for `narrow`."""
        view = self.narrow(
            recordings=None if recording is None else [recording],
            sources=sources,
            tracks=tracks,
            span=span,
        )
        found = view._rows(rows.OBSERVATION, None if ids is None else list(ids))
        found.sort(key=view._order)
        return [rows.read_observation(row) for row in found]

    def _order(self, row: tuple[Any, ...]) -> tuple[float, str, float, float, str]:
        """By instant where it is known, then by recording; never by when it was added."""
        id, recording, _, start, end, *_, number = row
        line = int(np.searchsorted(self.shape.numbers, number))
        zero = float(self.shape.starts[line])
        return (math.inf if math.isnan(zero) else zero + start, recording or "", start, end, id)

    def _rows(self, columns: str, ids: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
        """Rows of everything in the view, or of those of `ids` that are in it."""
        found: list[tuple[Any, ...]] = []
        for where, values in self._conditions():
            sql = f"SELECT {columns} FROM {rows.JOINED} WHERE {where}"
            if ids is None:
                found += self.store._all(sql, values)
                continue
            for at in range(0, len(ids), 500):
                some = ids[at : at + 500]
                marks = ", ".join("?" * len(some))
                found += self.store._all(f"{sql} AND o.id IN ({marks})", (*values, *some))
        return found

    def _conditions(self) -> list[tuple[str, list[object]]]:
        """SQL that says what the view sees: one condition a line, or one for the whole memory."""
        tracks = ""
        if self.tracks is not None:
            tracks = f" AND o.track IN ({', '.join(map(str, sorted(self.tracks)))})"
        cut = self._cut
        horizon = self.shape.horizon
        if not self.spans and bool(np.all(cut == np.inf)):
            return [(f"o.n <= ?{tracks}", [horizon])]
        conditions = []
        for line in np.flatnonzero(cut > -np.inf):
            where = f"o.recording = ? AND o.end <= ? AND o.n <= ?{tracks}"
            # SQLite stores no infinities worth comparing with; the largest float will do.
            values: list[object] = [
                int(self.shape.numbers[line]),
                min(float(cut[line]), 1e300),
                horizon,
            ]
            for lows, highs in self.spans:
                low, high = float(lows[line]), float(highs[line])
                if not (math.isfinite(low) and math.isfinite(high)):
                    break
                clause, more = overlaps(low, high)
                where += f" AND {clause}"
                values += more
            else:
                conditions.append((where, values))
        return conditions

    # ------------------------------------------------------------------------------------- search

    def count(self) -> int:
        """How many observations the view holds."""
        return len(self._rows("o.n"))

    def mean_length(self) -> float:
        """Tokens per observation; 0 where there is none."""
        lengths = [row[0] for row in self._rows("o.length")]
        return sum(lengths) / len(lengths) if lengths else 0.0

    def document_frequency(self, wanted: Iterable[str]) -> dict[str, int]:
        """In how many of the view's observations each term (as `memory.terms` gives them) is."""
        counts = dict.fromkeys(wanted, 0)
        for (held,) in self._rows("o.terms"):
            for term in counts.keys() & set(held.split(" ")):
                counts[term] += 1
        return counts

    def search(self, query: str, k: int = 100) -> list[Scored]:
        """The `k` best observations by BM25 over the view's own statistics, best first.

        Equal scores are ordered by time. Any text is a query; one without words finds nothing.
        """
        wanted = list(dict.fromkeys(terms(query)[0]))[:QUERY_TERMS]
        if not wanted or k < 1:
            return []
        held = self._rows("o.n, o.terms, o.length")
        if not held:
            return []
        mean = sum(row[2] for row in held) / len(held)
        frequencies = []
        df = dict.fromkeys(wanted, 0)
        for n, text, length in held:
            words = text.split(" ")
            matching = {term: words.count(term) for term in df.keys() & set(words)}
            for term in matching:
                df[term] += 1
            if matching:
                frequencies.append((n, matching, length))
        idfs = {term: bm25.idf(len(held), df[term]) for term in wanted}
        scored = []
        for n, matching, length in frequencies:
            parts = bm25.parts(wanted, idfs, matching, length, mean)
            scored.append((sum(parts.values()), n, parts))
        scored.sort(key=lambda entry: -entry[0])
        if len(scored) > k:
            least = scored[k - 1][0]
            scored = [entry for entry in scored if entry[0] >= least]
        return self._fetch({n: parts for _, n, parts in scored})[:k]

    def _fetch(self, found: Mapping[int, dict[str, float]]) -> list[Scored]:
        table: list[tuple[Any, ...]] = []
        numbers = list(found)
        for at in range(0, len(numbers), 500):
            some = numbers[at : at + 500]
            table += self.store._all(
                f"SELECT {rows.OBSERVATION} FROM {rows.JOINED} "
                f"WHERE o.n IN ({', '.join('?' * len(some))})",
                some,
            )
        entries = [(sum(found[row[10]].values()), row) for row in table]
        entries.sort(key=lambda entry: (-entry[0], self._order(entry[1])))
        return [Scored(rows.read_observation(row), s, found[row[10]]) for s, row in entries]


def overlaps(low: float, high: float) -> tuple[str, list[object]]:
    """`Span.overlaps` in SQL."""
    if low == high:
        return "o.start <= ? AND (? < o.end OR o.start = ?)", [low, low, low]
    return (
        "(o.start < ? AND (? < o.end OR (o.start = o.end AND ? <= o.start)))",
        [high, low, low],
    )


def _seconds(shape: Shape, instant: datetime) -> Floats:
    """An instant in seconds of each line; NaN where its clock is not known."""
    if instant.utcoffset() is None:
        raise TimeError(f"{instant.isoformat()} has no zone", "write it with an offset")
    return _exact(instant.timestamp() - shape.starts)


def _cutoffs(shape: Shape, until: Moment | None) -> Floats:
    """Up to which of its seconds each line is seen; NaN where it cannot be placed."""
    if until is None:
        return np.full(len(shape.ids), np.inf)
    if isinstance(until, datetime):
        return _seconds(shape, until)
    if until.recording not in shape.ids:
        raise UsageError(f"there is no recording {until.recording!r} in this memory")
    own = shape.ids.index(until.recording)
    cutoffs = _exact(shape.starts[own] + until.seconds - shape.starts)
    cutoffs[own] = until.seconds
    return cutoffs


def _exact(seconds: Floats) -> Floats:
    """Without the rounding error of subtracting two POSIX times: instants have microseconds."""
    return np.asarray(np.round(seconds, 6), dtype=np.float64)
