"""Views: a memory as it was at a moment, which is all that a question may see."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from egomem.errors import UsageError
from egomem.memory import bm25, rows
from egomem.memory.columns import ViewColumns, holding
from egomem.memory.filter import LocalStretch, ViewFilter
from egomem.memory.nearest import mean_row, nearest_rows, visible_rows
from egomem.memory.reader import MemoryReader
from egomem.memory.segment import id_keys
from egomem.memory.top_k import QueryPostings, VisibleSegment, document_frequencies, top_rows
from egomem.memory.vectors import Matrix, VectorFile, normalise_rows
from egomem.records import Observation, Recording, Source
from egomem.text import terms
from egomem.timeline import Moment, Span

MAX_QUERY_TERMS = 256
"""Only the first so many different terms of a query count."""


@dataclass(frozen=True, slots=True)
class ScoredObservation:
    """An observation, its score, and the share of each query term (they sum up to the score)."""

    observation: Observation
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, eq=False)
class View:
    """An immutable look at a memory: what had ended by a moment, of some of its parts.

    A view of the whole memory until t equals a view of a memory that was cut at t: recordings,
    observations, counts, hits and scores. An observation that straddles t is in neither. Rows that
    are added later are not in it. Views are cheap: make one for each question, and make a new one
    after something was forgotten.
    """

    store: MemoryReader
    filter: ViewFilter
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
        between: tuple[datetime, datetime] | LocalStretch | None = None,
    ) -> Self:
        """A smaller view, with statistics of its own; it never sees more than this one.

        `span` is in seconds of each recording (and leaves digests out), `between` two aware
        instants, or what gives them for a zone: what overlaps them is kept. Raises UsageError for
        an unknown recording, TimeError for an instant without a zone.
        """
        filter = self.filter
        if until is not None:
            filter = filter.before(until)
        if wearer is not None:
            filter = filter.of_wearer(wearer)
        if recordings is not None:
            filter = filter.of_recordings(recordings)
        if sources is not None or tracks is not None:
            filter = filter.of_tracks(sources, tracks)
        if span is not None:
            filter = filter.within(span)
        if between is not None:
            filter = filter.during(between) if callable(between) else filter.between(*between)
        return type(self)(self.store, filter, self.until if until is None else until)

    def observed(self) -> Self:
        """This view without digests, whose words would count twice; all where tracks are chosen."""
        filter = self.filter.without("digest") if self.filter.tracks is None else self.filter
        return self if filter is self.filter else type(self)(self.store, filter, self.until)

    # --------------------------------------------------------------------------------- recordings

    def recordings(self) -> list[Recording]:
        """Recordings that had begun, in the order of the memory, as they were known by then.

        A recording that is still running at `until` has the duration that has passed, and no facts,
        which were read from the whole file.
        """
        catalog = self.filter.catalog
        cut = dict(zip(catalog.ids, self.filter.cut.tolist(), strict=True))
        recordings = []
        for r in catalog.recordings:
            if cut[r.id] >= r.duration:
                recordings.append(r)
            elif cut[r.id] >= 0:
                recordings.append(r.model_copy(update={"duration": cut[r.id], "facts": {}}))
        return recordings

    def left_out(self) -> list[Recording]:
        """Recordings that cannot be placed before `until`, because a clock is unknown."""
        filter = self.filter
        unplaced = dict(
            zip(filter.catalog.ids, np.isnan(filter.cutoffs) & filter.selected, strict=True)
        )
        return [r for r in filter.catalog.recordings if unplaced[r.id]]

    def when(self, o: Observation) -> datetime | None:
        """The wall-clock time at the start of an observation; None where the clock is unknown.

        A digest's time is in the zone of the wearer's latest recording that had begun by then, or
        UTC.
        """
        if o.recording is not None:
            r = self.filter.catalog.by_id.get(o.recording)
            return r.instant(o.span.start) if r else None
        instant = rows.instant_of(o.span.start)
        starts = [r.clock.start for r in self.recordings() if r.clock and r.wearer == o.wearer]
        earlier_starts = [start for start in starts if start.timestamp() <= o.span.start]
        latest = max(earlier_starts, key=datetime.timestamp, default=None)
        return instant.astimezone(latest.tzinfo) if latest else instant

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
        matches = view._rows() if ids is None else view._rows_by_id(set(ids))
        matches.sort(key=view._order)
        return [rows.read_observation(row) for row in matches]

    def stretches(self, spans: Iterable[tuple[str, Span]]) -> list[Observation]:
        """Observations that overlap any of some spans (recording, seconds of it), in time order.

        The same as those of a narrower view for each span, but cheaper.
        """
        by_id: dict[str, tuple[Any, ...]] = {}
        for recording, span in spans:
            where, values = self.filter.stretch(recording, span)
            by_id |= {row[0]: row for row in self._where(where, values)}
        return [rows.read_observation(row) for row in sorted(by_id.values(), key=self._order)]

    def _order(self, row: tuple[Any, ...]) -> tuple[float, str, float, float, str]:
        """Sort key: by instant where it is known, then by recording; never by when it was added."""
        id, recording, _, start, end = row[:5]
        zero = self.filter.catalog.start_by_number[row[11]]
        return _time_key(zero, recording, start, end, id)

    def _rows(self) -> list[tuple[Any, ...]]:
        """Rows of everything in the view."""
        matches: list[tuple[Any, ...]] = []
        for where, values in self.filter.conditions():
            matches += self._where(where, values)
        return matches

    def _where(self, where: str, values: list[object]) -> list[tuple[Any, ...]]:
        sql = f"SELECT {rows.OBSERVATION_COLUMNS} FROM {rows.OBSERVATION_TABLES} WHERE {where}"
        return self.store.connection.select(sql, values)

    def _rows_by_id(self, ids: set[str]) -> list[tuple[Any, ...]]:
        """Rows of those of `ids` that are in the view."""
        sought = id_keys(id for id in ids if re.fullmatch("[0-9a-f]{16,}", id))
        numbers: list[int] = []
        for part in self._parts:
            at = part.segment.find(sought)
            if part.positions is not None:
                at = at[np.isin(at, part.positions, assume_unique=True)]
            numbers += part.segment.rowid[at].tolist()
        matches = self.store.rows_by_rowid(
            rows.OBSERVATION_COLUMNS, rows.OBSERVATION_TABLES, numbers
        )
        return [row for row in matches if row[0] in ids]

    # ---------------------------------------------------------------------------------- statistics

    @cached_property
    def _counts(self) -> tuple[int, int]:
        """The number of observations, and of tokens in them."""
        if "_parts" in self.__dict__ and all(part.small for part in self._parts):
            # A search has just listed the few that are seen.
            lengths = [part.length.sum(dtype=np.float64) for part in self._parts]
            return sum(len(part.rowid) for part in self._parts), int(sum(lengths))
        count, length = self.filter.counted
        for where, values in self.filter.conditions(counted=False):
            sql = f"SELECT count(*), coalesce(sum(o.length), 0) FROM observation o WHERE {where}"
            row_count, token_count = self.store.connection.select(sql, values)[0]
            count += row_count
            length += token_count
        return count, length

    def count(self) -> int:
        """How many observations the view holds."""
        return self._counts[0]

    def mean_length(self) -> float:
        """Tokens per observation; 0 where there is none."""
        count, length = self._counts
        return length / count if count else 0.0

    def document_frequency(self, terms: Iterable[str]) -> dict[str, int]:
        """Term (as `egomem.text.terms` gives it) -> the number of the view's observations that have
        it.
        """
        terms = list(dict.fromkeys(terms))
        return document_frequencies([QueryPostings(part, terms) for part in self._parts], terms)

    @cached_property
    def columns(self) -> ViewColumns:
        """Where and when everything in the view was observed."""
        return ViewColumns.of(self._parts, self.filter.catalog)

    def holding(self, groups: Iterable[Iterable[str]]) -> npt.NDArray[np.bool_]:
        """Whether each observation of `columns` holds a term of each group: (groups, columns)."""
        return holding(self._parts, [tuple(group) for group in groups])

    def read(self, numbers: Iterable[int]) -> list[Observation]:
        """The observations of some rows of `columns`, in time order."""
        matches = self.store.rows_by_rowid(
            rows.OBSERVATION_COLUMNS, rows.OBSERVATION_TABLES, list(numbers)
        )
        return [rows.read_observation(row) for row in sorted(matches, key=self._order)]

    def in_time_order(self, observations: Iterable[Observation]) -> list[Observation]:
        """Observations of the view in the order of `observations()`, each once."""
        catalog = self.filter.catalog
        starts = dict(zip(catalog.ids, catalog.starts.tolist(), strict=True))

        def order(o: Observation) -> tuple[float, str, float, float, str]:
            return _time_key(starts[o.recording], o.recording, o.span.start, o.span.end, o.id)

        return sorted({o.id: o for o in observations}.values(), key=order)

    def speaker_fields(self) -> set[tuple[str | None, str | None]]:
        """Of speech: the different pairs of `data["speaker"]` and of what stands before a first
        colon, None where there is none."""
        speech = self.narrow(sources=["speech"])
        numbers = [n for part in speech._parts for n in part.column("n").tolist()]
        return {
            (who, before)
            for who, before in self.store.rows_by_rowid(_SPEAKER, "observation o", numbers)
        }

    @cached_property
    def _parts(self) -> list[VisibleSegment]:
        parts = []
        for segment in self.store.segments(self.filter.catalog.horizon):
            places = self.filter.positions(segment)
            if places is None or len(places):
                parts.append(VisibleSegment(segment, places))
        return parts

    # -------------------------------------------------------------------------------------- search

    def search(self, query: str, k: int = 100) -> list[ScoredObservation]:
        """The `k` best observations by BM25 over the view's own statistics, best first.

        Equal scores are ordered by time. Any text is a query; one without words finds nothing.
        """
        query_terms = list(dict.fromkeys(terms(query)[0]))[:MAX_QUERY_TERMS]
        if not query_terms or k < 1:
            return []
        postings = [QueryPostings(part, query_terms) for part in self._parts]
        count, length = self._counts
        if not count:
            return []
        mean = max(length / count, 1e-9)
        df = document_frequencies(postings, query_terms)
        idfs = {term: bm25.idf(count, df[term]) for term in query_terms}
        numbers = top_rows(postings, idfs, mean, k).tolist()
        return self._ranked(
            self.store.rows_by_rowid(_SCORED, rows.OBSERVATION_TABLES, numbers), idfs, mean, k
        )

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

    # ------------------------------------------------------------------------------------- vectors

    def nearest(
        self, embedder: str, vector: npt.ArrayLike, k: int = 100
    ) -> list[ScoredObservation]:
        """The `k` observations with the largest cosine to `vector`, best first.

        An exact scan of what the view sees. Observations without a vector are not found; equal
        scores are ordered by time. Raises UsageError where the dimension does not fit.
        """
        files = self._vector_files(embedder)
        query = normalise_rows(vector)
        if files and query.shape != (files[0].matrix.shape[1],):
            raise UsageError(
                f"{embedder} has vectors of {files[0].matrix.shape[1]} numbers, not {query.shape}"
            )
        nearest = nearest_rows(files, self.filter, query, k) if k > 0 else []
        by_rowid = {
            row[10]: row
            for row in self.store.rows_by_rowid(
                rows.OBSERVATION_COLUMNS, rows.OBSERVATION_TABLES, [n for n, _ in nearest]
            )
        }
        return self._first(
            [(s, {"cosine": s}, by_rowid[n]) for n, s in nearest if n in by_rowid], k
        )

    def vectors(self, embedder: str, ids: Iterable[str] | None = None) -> tuple[list[str], Matrix]:
        """Ids of the observations (of `ids` where given) that have a vector, and the matrix (ids,
        dimension).
        """
        numbers, matrices, all_ids = [], [], ids is None
        if ids is None:
            files = self._vector_files(embedder)
            id_of = {}
        else:
            matches = self._rows_by_id(set(ids))
            id_of = {row[10]: row[0] for row in matches}
            files = self.store.vector_files(embedder, {row[11] for row in matches})
        rowids = np.array(list(id_of), dtype=np.int64)
        for file in files:
            at = visible_rows(file, self.filter) if all_ids else np.isin(file.rowid, rowids)
            numbers += file.rowid[at].tolist()
            matrices.append(file.matrix[at])
        if ids is None:
            id_of = dict(self.store.rows_by_rowid("o.n, o.id", "observation o", numbers))
        matrix = np.concatenate(matrices) if matrices else np.zeros((0, 0), dtype=np.float32)
        return [id_of[n] for n in numbers], matrix

    def vector_rows(self, embedder: str) -> npt.NDArray[np.int64]:
        """The rows (see `columns`) of the observations that have a vector."""
        pieces = [
            file.rowid[visible_rows(file, self.filter)] for file in self._vector_files(embedder)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *pieces])

    def mean_vector(self, embedder: str) -> Matrix | None:
        """The mean of all vectors that the view has; None where it has none."""
        return mean_row(self._vector_files(embedder), self.filter)

    def _vector_files(self, embedder: str) -> list[VectorFile]:
        return self.store.vector_files(embedder, self.filter.timelines)


def view_of(store: MemoryReader, until: Moment | None = None) -> View:
    """The view of a whole memory, as it was at `until`; see `Store.view`."""
    return View(store, ViewFilter.of(store.catalog(), until), until)


_SPEAKER = (
    "DISTINCT json_extract(o.data, '$.speaker'), "
    "CASE WHEN instr(o.text, ': ') > 1 THEN substr(o.text, 1, instr(o.text, ': ') - 1) END"
)
_SCORED = f"{rows.OBSERVATION_COLUMNS}, o.terms, o.length"


def _time_key(
    zero: float, recording: str | None, start: float, end: float, id: str
) -> tuple[float, str, float, float, str]:
    """Sort key of a span on a timeline that begins at `zero` (POSIX seconds; NaN: unknown)."""
    return math.inf if math.isnan(zero) else zero + start, recording or "", start, end, id
