"""The past as a question may see it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from egomem.errors import UsageError
from egomem.memory import bm25, rows
from egomem.memory.filter import ViewFilter
from egomem.memory.segment import id_keys
from egomem.memory.top_k import QueryPostings, VisibleSegment, document_frequencies, top_rows
from egomem.memory.vectors import Matrix, VectorFile, nearest_rows, normalise_rows
from egomem.records import Observation, Recording, Source
from egomem.text import terms
from egomem.timeline import Moment, Span

if TYPE_CHECKING:
    from egomem.memory.store import Store

MAX_QUERY_TERMS = 256
"""Only the first so many different terms of a query count."""


@dataclass(frozen=True, slots=True)
class ScoredObservation:
    """An observation, its score, and what each query term gave to it (they sum up to the score)."""

    observation: Observation
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, eq=False)
class View:
    """An unchanging look at a memory: what ended at or before a moment, of some of its parts.

    A view of the whole memory until t reads the same as a view of a memory that was cut at t:
    recordings, observations, counts, hits and scores. An observation that straddles t is in
    neither. What is added later is not in a view that was made before. Views are cheap: make one
    for each question; one that was made before something was forgotten has to be made anew.
    """

    store: Store
    scope: ViewFilter
    until: Moment | None

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
        """A smaller view; it never sees more than this one, and has statistics of its own.

        `span` is in seconds of each recording (and leaves digests out), `between` two aware
        instants: what overlaps them is kept. Raises UsageError for a recording that is not there,
        TimeError for an instant without a zone.
        """
        scope = self.scope
        if until is not None:
            scope = scope.before(until)
        if wearer is not None:
            scope = scope.of_wearer(wearer)
        if recordings is not None:
            scope = scope.of_recordings(recordings)
        if sources is not None or tracks is not None:
            scope = scope.of_tracks(sources, tracks)
        if span is not None:
            scope = scope.within(span)
        if between is not None:
            scope = scope.between(*between)
        return type(self)(self.store, scope, self.until if until is None else until)

    # --------------------------------------------------------------------------------- recordings

    def recordings(self) -> list[Recording]:
        """Those that had begun, in the order of the memory, with what was known of them by then.

        Of a recording that is still running at `until`, the duration is what has passed, and its
        facts (which were read from the whole file) are left out.
        """
        shape = self.scope.shape
        cut = dict(zip(shape.ids, self.scope.cut.tolist(), strict=True))
        found = []
        for r in shape.recordings:
            if cut[r.id] >= r.duration:
                found.append(r)
            elif cut[r.id] >= 0:
                found.append(r.model_copy(update={"duration": cut[r.id], "facts": {}}))
        return found

    def left_out(self) -> list[Recording]:
        """Recordings that cannot be placed before `until`, as a clock is not known."""
        scope = self.scope
        lost = dict(zip(scope.shape.ids, np.isnan(scope.cutoffs) & scope.selected, strict=True))
        return [r for r in scope.shape.recordings if lost[r.id]]

    def when(self, o: Observation) -> datetime | None:
        """The wall clock at the start of an observation, where it is known.

        Of a digest: in the zone of the wearer's latest recording that had begun by then, or UTC.
        """
        if o.recording is not None:
            r = self.scope.shape.by_id.get(o.recording)
            return r.instant(o.span.start) if r else None
        instant = rows.instant_of(o.span.start)
        starts = [r.clock.start for r in self.recordings() if r.clock and r.wearer == o.wearer]
        begun = [start for start in starts if start <= instant]
        return instant.astimezone(max(begun).tzinfo) if begun else instant

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
        found = view._rows() if ids is None else view._by_id(set(ids))
        found.sort(key=view._order)
        return [rows.read_observation(row) for row in found]

    def stretches(self, wanted: Iterable[tuple[str, Span]]) -> list[Observation]:
        """Observations that overlap any of some spans, each a recording and seconds of it, in time
        order: those of a narrower view for each, without making one."""
        found: dict[str, tuple[Any, ...]] = {}
        for recording, span in wanted:
            where, values = self.scope.stretch(recording, span)
            found |= {row[0]: row for row in self._where(where, values)}
        return [rows.read_observation(row) for row in sorted(found.values(), key=self._order)]

    def _order(self, row: tuple[Any, ...]) -> tuple[float, str, float, float, str]:
        """By instant where it is known, then by recording; never by when it was added."""
        id, recording, _, start, end = row[:5]
        zero = self.scope.shape.zeros[row[11]]
        return (math.inf if math.isnan(zero) else zero + start, recording or "", start, end, id)

    def _rows(self) -> list[tuple[Any, ...]]:
        """Rows of everything in the view."""
        found: list[tuple[Any, ...]] = []
        for where, values in self.scope.conditions():
            found += self._where(where, values)
        return found

    def _where(self, where: str, values: list[object]) -> list[tuple[Any, ...]]:
        sql = f"SELECT {rows.OBSERVATION_COLUMNS} FROM {rows.OBSERVATION_TABLES} WHERE {where}"
        return self.store._all(sql, values)

    def _by_id(self, ids: set[str]) -> list[tuple[Any, ...]]:
        """Rows of those of `ids` that are in the view."""
        wanted = id_keys(id for id in ids if re.fullmatch("[0-9a-f]{16,}", id))
        numbers: list[int] = []
        for part in self._parts:
            at = part.segment.find(wanted)
            if part.places is not None:
                at = at[np.isin(at, part.places, assume_unique=True)]
            numbers += part.segment.n[at].tolist()
        found = self._by_row(rows.OBSERVATION_COLUMNS, rows.OBSERVATION_TABLES, numbers)
        return [row for row in found if row[0] in ids]

    # ---------------------------------------------------------------------------------- statistics

    @cached_property
    def _figures(self) -> tuple[int, int]:
        """Observations, and tokens in them."""
        if "_parts" in self.__dict__ and all(part.small for part in self._parts):
            # A search has just listed the few that are seen.
            lengths = [part.length.sum(dtype=np.float64) for part in self._parts]
            return sum(len(part.n) for part in self._parts), int(sum(lengths))
        count, length = self.scope.counted
        for where, values in self.scope.conditions(counted=False):
            sql = f"SELECT count(*), coalesce(sum(o.length), 0) FROM observation o WHERE {where}"
            more, longer = self.store._all(sql, values)[0]
            count += more
            length += longer
        return count, length

    def count(self) -> int:
        """How many observations the view holds."""
        return self._figures[0]

    def mean_length(self) -> float:
        """Tokens per observation; 0 where there is none."""
        count, length = self._figures
        return length / count if count else 0.0

    def document_frequency(self, wanted: Iterable[str]) -> dict[str, int]:
        """In how many of the view's observations each term (as `egomem.text.terms` gives it) is."""
        wanted = list(dict.fromkeys(wanted))
        return document_frequencies([QueryPostings(part, wanted) for part in self._parts], wanted)

    @cached_property
    def _parts(self) -> list[VisibleSegment]:
        found = []
        for segment in self.store.segments(self.scope.shape.horizon):
            places = self.scope.places(segment)
            if places is None or len(places):
                found.append(VisibleSegment(segment, places))
        return found

    # -------------------------------------------------------------------------------------- search

    def search(self, query: str, k: int = 100) -> list[ScoredObservation]:
        """The `k` best observations by BM25 over the view's own statistics, best first.

        Equal scores are ordered by time. Any text is a query; one without words finds nothing.
        """
        wanted = list(dict.fromkeys(terms(query)[0]))[:MAX_QUERY_TERMS]
        if not wanted or k < 1:
            return []
        held = [QueryPostings(part, wanted) for part in self._parts]
        count, length = self._figures
        if not count:
            return []
        mean = max(length / count, 1e-9)
        df = document_frequencies(held, wanted)
        idfs = {term: bm25.idf(count, df[term]) for term in wanted}
        numbers = top_rows(held, idfs, mean, k).tolist()
        return self._ranked(self._by_row(_SCORED, rows.OBSERVATION_TABLES, numbers), idfs, mean, k)

    def _ranked(
        self, candidates: Sequence[tuple[Any, ...]], idfs: dict[str, float], mean: float, k: int
    ) -> list[ScoredObservation]:
        """The k best of candidate rows, by their exact scores."""
        scored: list[tuple[float, dict[str, float], tuple[Any, ...]]] = []
        for row in candidates:
            parts = bm25.term_scores(idfs, row[-2].split(" "), row[-1], mean)
            scored.append((sum(parts.values()), parts, row))
        return self._first(scored, k)

    def _first(
        self, scored: list[tuple[float, dict[str, float], tuple[Any, ...]]], k: int
    ) -> list[ScoredObservation]:
        scored.sort(key=lambda entry: (-entry[0], self._order(entry[2])))
        return [
            ScoredObservation(rows.read_observation(row), s, parts) for s, parts, row in scored[:k]
        ]

    def _by_row(self, columns: str, table: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for at in range(0, len(numbers), 500):
            some = numbers[at : at + 500]
            marks = ", ".join("?" * len(some))
            found += self.store._all(f"SELECT {columns} FROM {table} WHERE o.n IN ({marks})", some)
        return found

    # ------------------------------------------------------------------------------------- vectors

    def nearest(
        self, embedder: str, vector: npt.ArrayLike, k: int = 100
    ) -> list[ScoredObservation]:
        """The `k` observations whose vectors have the largest cosine with `vector`, best first.

        An exact scan of what the view sees. Observations without a vector are not found; equal
        scores are ordered by time. Raises UsageError where the dimension does not fit.
        """
        files = self._vector_files(embedder)
        query = normalise_rows(vector)
        if files and query.shape != (files[0].matrix.shape[1],):
            raise UsageError(
                f"{embedder} has vectors of {files[0].matrix.shape[1]} numbers, not {query.shape}"
            )
        nearest = nearest_rows(files, self.scope, query, k) if k > 0 else []
        found = {
            row[10]: row
            for row in self._by_row(
                rows.OBSERVATION_COLUMNS, rows.OBSERVATION_TABLES, [n for n, _ in nearest]
            )
        }
        return self._first([(s, {"cosine": s}, found[n]) for n, s in nearest if n in found], k)

    def vectors(self, embedder: str, ids: Iterable[str] | None = None) -> tuple[list[str], Matrix]:
        """The ids of the observations (of `ids` alone where given) that have a vector, and the
        matrix (ids, dimension)."""
        numbers, pieces = [], []
        if ids is None:
            files = self._vector_files(embedder)
            held = {}
        else:
            found = self._by_id(set(ids))
            held = {row[10]: row[0] for row in found}
            files = self.store.vector_files(embedder, {row[11] for row in found})
        wanted = np.array(list(held), dtype=np.int64)
        for file in files:
            places = self.scope.places(file) if ids is None else np.isin(file.n, wanted)
            at = slice(None) if places is None else places
            numbers += file.n[at].tolist()
            pieces.append(file.matrix[at])
        if ids is None:
            held = dict(self._by_row("o.n, o.id", "observation o", numbers))
        matrix = np.concatenate(pieces) if pieces else np.zeros((0, 0), dtype=np.float32)
        return [held[n] for n in numbers], matrix

    def _vector_files(self, embedder: str) -> list[VectorFile]:
        return self.store.vector_files(embedder, self.scope.lines)


_SCORED = f"{rows.OBSERVATION_COLUMNS}, o.terms, o.length"
