"""What a request to forget selects, read from the record alone.

Index, tally, vectors and SQL indexes are derived and may be damaged, or somebody else's: none of
them decides what is forgotten. Every row of the table is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, TypedDict

import numpy as np

from egomem.errors import TimeError, UsageError
from egomem.memory import rows
from egomem.memory.filter import overlap_flags
from egomem.memory.reader import MemoryReader
from egomem.memory.thumbnails import thumbnail_files, thumbnail_folder
from egomem.memory.view import view_of
from egomem.records import Observation, Recording
from egomem.text import normalise_phrase
from egomem.timeline import Span

Rows = dict[int, Observation]
"""Observations by their row in memory.db."""


class Conditions(TypedDict, total=False):
    """The conditions of a `ForgetRequest`, as arguments."""

    recording: str | None
    span: Span | None
    between: tuple[datetime, datetime] | None
    wearer: str | None
    match: str | None


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to forget: observations that meet all conditions given.

    `span` is in seconds of the recording, `between` two aware instants, `match` a text that occurs
    in the observation's text, data or note, whatever its case, width and spaces.
    """

    recording: str | None = None
    span: Span | None = None
    between: tuple[datetime, datetime] | None = None
    wearer: str | None = None
    match: str | None = None

    @property
    def kind(self) -> str:
        names = ("recording", "span", "between", "wearer", "match")
        return "+".join(name for name in names if getattr(self, name) is not None)

    def checked(self, store: MemoryReader) -> ForgetRequest:
        """The request itself. Raises UsageError where it means nothing, TimeError for its times."""
        if not self.kind:
            raise UsageError("nothing was named to forget", "give a recording, a time or a text")
        if self.match is not None and not normalise_phrase(self.match):
            raise UsageError("an empty text matches everything", "give a word, or a recording")
        if self.recording is not None and store.recording(self.recording) is None:
            raise UsageError(f"there is no recording {self.recording!r} in this memory")
        if self.between is not None:
            start, end = self.between
            for instant in self.between:
                if instant.utcoffset() is None:
                    raise TimeError(f"{instant.isoformat()} has no zone", "write it with an offset")
            if end.timestamp() < start.timestamp():
                raise TimeError(f"{end.isoformat()} is before {start.isoformat()}")
        return self

    def concerns(self, recording: Recording) -> bool:
        """Whether recording and wearer are those that the request names."""
        return self.recording in (None, recording.id) and self.wearer in (None, recording.wearer)

    def span_within(self, recording: Recording) -> Span | None:
        """The part of a recording (s) that the request's times select; None where they do not."""
        span = self.span
        if self.between is not None:
            if recording.clock is None:
                return None
            low, high = (recording.clock.seconds(instant) for instant in self.between)
            between = Span(low, high)
            span = between if span is None else span.clip(between)
        return span


def matching(store: MemoryReader, request: ForgetRequest, whole: Sequence[Recording]) -> Rows:
    """Observations that meet the request, and all of the recordings that go as a whole."""
    table = np.array(
        store.connection.select("SELECT n, recording, start, end FROM observation NOT INDEXED"),
        dtype=np.float64,
    ).reshape(-1, 4)
    numbers, timelines = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    catalog = store.catalog()
    whole_ids = {r.id for r in whole}
    selected = np.zeros(len(table), dtype=bool)
    for number, zero, wearer, id in zip(
        catalog.numbers.tolist(), catalog.starts.tolist(), catalog.wearers, catalog.ids, strict=True
    ):
        if request.recording not in (None, id) or request.wearer not in (None, wearer):
            continue
        flags = timelines == number
        if id not in whole_ids or id is None:
            if request.span is not None:
                # Digests lie on no recording, and have none of its seconds.
                low, high = (request.span.start, request.span.end) if id else (np.nan, np.nan)
                flags &= _overlap(table, low, high)
            if request.between is not None:
                low, high = (round(t.timestamp() - zero, 6) for t in request.between)
                flags &= _overlap(table, low, high)
        selected |= flags
    matches = rows_of(store, numbers[selected].tolist())
    if request.match is None:
        return matches
    match = normalise_phrase(request.match)
    return {n: o for n, o in matches.items() if mentions(o, match)}


def _overlap(table: Any, low: float, high: float) -> Any:
    bounds = np.array([low, high], dtype=np.float64)[:, None]
    return overlap_flags(table[:, 2], table[:, 3], bounds[0], bounds[1])


def rows_of(store: MemoryReader, numbers: Sequence[int]) -> Rows:
    """The observations of some rows."""
    matches = store.rows_by_rowid(rows.OBSERVATION_COLUMNS, rows.OBSERVATION_TABLES, numbers)
    return {row[10]: rows.read_observation(row) for row in matches}


def mentions(o: Observation, phrase: str) -> bool:
    """Whether an observation's text, data or note holds a normalised phrase."""
    return any(_holds(value, phrase) for value in (o.text, o.data, o.provenance.note))


def _holds(value: object, phrase: str) -> bool:
    if isinstance(value, dict):
        return any(_holds(v, phrase) for v in (*value.keys(), *value.values()))
    if isinstance(value, list):
        return any(_holds(v, phrase) for v in value)
    return value is not None and phrase in normalise_phrase(str(value))


def dependents(store: MemoryReader, matches: Rows) -> Rows:
    """Observations that rest on the matches, directly or not, and digests that do not say what they
    rest on.
    """
    dependents_of: dict[str, set[int]] = {}
    ids: dict[int, str] = {}
    for n, id, basis in _bases(store):
        dependents_of.setdefault(basis, set()).add(n)
        ids[n] = id
    new_ids: Iterable[str] = {o.id for o in matches.values()}
    numbers: set[int] = set()
    while new_ids:
        new = {n for basis in new_ids for n in dependents_of.get(basis, ())} - numbers
        new -= matches.keys()
        numbers |= new
        new_ids = {ids[n] for n in new}
    numbers |= _unfounded_digests(store, matches) - matches.keys()
    return rows_of(store, sorted(numbers))


def _bases(store: MemoryReader) -> Iterable[tuple[int, str, str]]:
    """(row, id, id of what it rests on), as the observations themselves say and as the table does.

    What either of them says counts: to forget too much is the lesser fault.
    """
    yield from store.connection.select(
        "SELECT o.n, o.id, r.basis FROM rests_on r JOIN observation o USING (n)"
    )
    for n, id, provenance in store.connection.select(
        "SELECT n, id, provenance FROM observation NOT INDEXED WHERE provenance LIKE '%rests_on%'"
    ):
        try:
            bases = json.loads(provenance)["rests_on"]
        except (ValueError, KeyError, TypeError):
            continue
        yield from ((n, id, str(basis)) for basis in bases)


def _unfounded_digests(store: MemoryReader, matches: Rows) -> set[int]:
    """Digests over the time of a match that do not say what they rest on: they may rest on it."""
    recordings = {r.id: r for r in store.recordings()}
    spans: dict[str, list[Span]] = {}
    for o in matches.values():
        r = recordings.get(o.recording or "")
        if r and r.clock:
            spans.setdefault(r.wearer, []).append(o.span.shift(r.clock.start.timestamp()))
    if not spans:
        return set()
    digests = store.connection.select(
        f"SELECT {rows.OBSERVATION_COLUMNS} FROM observation o NOT INDEXED "
        "JOIN recording r ON r.number = o.recording JOIN track t ON t.number = o.track "
        "WHERE r.id IS NULL AND t.source = 'digest'"
    )
    numbers = set()
    for row in digests:
        digest = rows.read_observation(row)
        nearby = spans.get(digest.wearer, ())
        if not digest.provenance.rests_on and any(digest.span.overlaps(s) for s in nearby):
            numbers.add(row[10])
    return numbers


def whole_recordings(store: MemoryReader, request: ForgetRequest) -> list[Recording]:
    """Recordings that are named, or lie entirely within the time: nothing of them stays."""
    if request.match is not None or request.span is not None:
        return []
    recordings = []
    for r in store.recordings():
        if not request.concerns(r):
            continue
        if request.between is not None:
            start, end = (instant.timestamp() for instant in request.between)
            if not r.clock:
                continue
            zero = r.clock.start.timestamp()
            if not (start <= zero and zero + r.duration <= end):
                continue
        recordings.append(r)
    return recordings


def pictures(
    store: MemoryReader,
    request: ForgetRequest,
    deleted: Iterable[Observation],
    whole: Collection[str],
) -> list[tuple[str, float]]:
    """Thumbnails, as (recording, start), of windows that overlap what is deleted.

    A window ends where the next one starts.
    """
    spans: dict[str, list[Span]] = {}
    for o in deleted:
        if o.recording:
            spans.setdefault(o.recording, []).append(o.span)
    listed: dict[str, set[float]] = {}
    for id, start in store.connection.select(
        "SELECT r.id, p.start FROM picture p JOIN recording r ON r.number = p.recording"
    ):
        listed.setdefault(id, set()).add(start)
    selected = []
    for r in store.recordings():
        spans_here = spans.get(r.id, [])
        span = request.span_within(r) if request.match is None and request.concerns(r) else None
        # A time after the recording's end has no part in its last window.
        if span and (span.start < r.duration or not r.duration):
            spans_here.append(span)
        if not spans_here and r.id not in whole:
            continue
        starts = _starts(store, r.id, listed)
        for start, end in pairwise([*starts, 1e300]):
            window = Span(start, end)
            if r.id in whole or any(window.overlaps(span) for span in spans_here):
                selected.append((r.id, start))
    return selected


def _starts(store: MemoryReader, id: str, listed: Mapping[str, set[float]]) -> list[float]:
    """Where the windows of a recording with a picture start: those listed, and those that lie
    there.
    """
    on_disk = {start for start, _ in thumbnail_files(thumbnail_folder(store.folder, id))}
    return sorted(on_disk | listed.get(id, set()))


def in_time_order(store: MemoryReader, observations: Rows) -> tuple[Observation, ...]:
    """The observations, earliest first."""
    return tuple(view_of(store).in_time_order(observations.values()))
