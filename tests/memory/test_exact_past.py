"""The view of the full memory at t reads the same as a memory that was cut at t."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.memory import Store, View, index, top_k
from egomem.records import Observation, Recording
from egomem.text import terms
from egomem.timeline import Moment, RecordingTime, Span

from .conftest import SPEECH, START, caption, recording

WORDS = ["red", "mug", "B-17", "table", "10:30", "the", "walks", "walking", "茶碗", "Küche"]
QUERIES = ["red mug", "the walking", "B-17 at 10:30", "茶", "where is the mug"]

texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=7).map(" ".join)
clocks = st.sampled_from([0.0, 50.0, 100.5, 400.0, None])
pieces = st.lists(
    st.tuples(
        st.integers(0, 3),  # which recording; 3: a digest
        st.integers(0, 20),  # starts, in steps of 10 s
        st.integers(0, 4),  # length, in steps of 10 s
        texts,
        st.booleans(),  # speech or caption
    ),
    max_size=25,
)
moments = st.one_of(
    st.tuples(st.integers(0, 2), st.sampled_from([0.0, 10.0, 35.0, 100.0, 300.0])).map(
        lambda pair: RecordingTime(f"r{pair[0]}", pair[1])
    ),
    st.sampled_from([0, 30, 60, 110, 500]).map(
        lambda s: datetime.fromtimestamp(START.timestamp() + s, UTC)
    ),
)


def world(starts: list[float | None], rows: list) -> tuple[list[Recording], list[Observation]]:
    recordings = [recording(f"r{i}", at=at, duration=250) for i, at in enumerate(starts)]
    observations = []
    for where, start, length, text, spoken in rows:
        zero = START.timestamp() if where == 3 else 0.0
        fields = {"source": "speech", "track": SPEECH.id} if spoken else {}
        observations.append(
            caption(
                None if where == 3 else f"r{where}",
                zero + 10 * start,
                zero + 10 * (start + length),
                text,
                **fields,
            )
        )
    return recordings, list({o.id: o for o in observations}.values())


def cut(recordings: list[Recording], observations: list[Observation], until: Moment):
    """By the words of the contract, without any of the store's code."""
    by_id = {r.id: r for r in recordings}
    if isinstance(until, RecordingTime):
        recording = by_id[until.recording]
        instant = recording.clock.start.timestamp() + until.seconds if recording.clock else None
    else:
        recording, instant = None, until.timestamp()

    def limit(id: str | None) -> float:
        if recording is not None and id == recording.id:
            return until.seconds
        if id is None:
            return math.inf if instant is None else instant
        clock = by_id[id].clock
        if instant is None or clock is None:
            return -math.inf
        return instant - clock.start.timestamp()

    def is_seen(o: Observation) -> bool:
        return (o.recording is not None or instant is not None) and o.span.end <= limit(o.recording)

    kept = [
        r
        if limit(r.id) >= r.duration
        else r.model_copy(update={"duration": limit(r.id), "facts": {}})
        for r in recordings
        if limit(r.id) >= 0
    ]
    return kept, [o for o in observations if is_seen(o)]


def remember(folder: Path, recordings, *batches) -> Store:
    store = Store.open(folder, create=True)
    for r in recordings:
        store.put_recording(r)
    for batch in batches:
        store.add(batch)
    return store


def reads(view: View, observations: list[Observation]) -> dict:
    """Everything that a question could read of a view, of observations that may be in it."""
    ids = [o.id for o in observations[::2]]
    readings = {
        "by id": [o.id for o in view.observations(ids=[*ids, "0" * 20, "no id"])],
        "spoken, by id": [o.id for o in view.observations(ids=ids, sources=["speech"])],
        "recordings": [(r.id, r.duration, r.facts) for r in view.recordings()],
        "observations": [(o.id, view.when(o)) for o in view.observations()],
        "speech": [o.id for o in view.observations(sources=["speech"])],
        "span": [o.id for o in view.observations(span=Span(20, 60))],
        "count": view.count(),
        "length": view.mean_length(),
        "df": view.document_frequency(sorted({t for word in WORDS for t in terms(word)[0]})),
    }
    for query in QUERIES:
        for k in (1, 3, 100):
            readings[f"{query} {k}"] = [
                (hit.observation.id, hit.score, hit.parts) for hit in view.search(query, k)
            ]
        near = view.narrow(span=Span(20, 60))
        readings[f"{query} near"] = [(hit.observation.id, hit.score) for hit in near.search(query)]
    return readings


@contextmanager
def small_index(rows: int, few: int) -> Iterator[None]:
    """An index of many small segments, some rows past its watermark, and small parts or none."""
    with (
        mock.patch.multiple(index, FLUSH_ROWS=rows, MAX_SEGMENT_ROWS=3 * rows),
        mock.patch.object(top_k, "_SPARSE", few),
    ):
        yield


@settings(max_examples=20)
@given(
    starts=st.lists(clocks, min_size=3, max_size=3),
    rows=pieces,
    later=pieces,
    until=moments,
    few=st.sampled_from([1, 10**6]),
)
def test_a_view_reads_like_a_memory_that_was_cut(starts, rows, later, until, few) -> None:
    recordings, observations = world(starts, rows + later)
    kept, view = cut(recordings, observations, until)
    with tempfile.TemporaryDirectory() as folder, small_index(4, few):
        first, second = (
            observations[: len(observations) // 2],
            observations[len(observations) // 2 :],
        )
        with (
            remember(Path(folder, "full"), recordings, first, second) as full,
            remember(Path(folder, "cut"), kept, view) as small,
        ):
            assert reads(full.view(until), observations) == reads(small.view(), observations)


@settings(max_examples=20)
@given(
    starts=st.lists(clocks, min_size=3, max_size=3),
    rows=pieces,
    until=st.none() | moments,
    source=st.sampled_from([None, "speech", "caption"]),
    ids=st.sampled_from([None, ["r0"], ["r0", "r2"]]),
    span=st.sampled_from([None, Span(20, 60), Span(30, 30), Span(0, 10)]),
    query=st.sampled_from(QUERIES),
    k=st.integers(1, 6),
)
def test_search_is_bm25_over_what_is_seen(starts, rows, until, source, ids, span, query, k) -> None:
    recordings, observations = world(starts, rows)
    visible = cut(recordings, observations, until)[1] if until else observations
    if source:
        visible = [o for o in visible if o.source == source]
    if ids:
        visible = [o for o in visible if o.recording in ids]
    if span:
        visible = [o for o in visible if o.recording and o.span.overlaps(span)]
    expected = naive(visible, query)
    # From segments on disk, and from rows that none holds yet.
    for size, few in ((3, 1), (3, 10**6), (1000, 1)):
        with (
            tempfile.TemporaryDirectory() as folder,
            small_index(size, few),
            remember(Path(folder), recordings, observations[:7], observations[7:]) as store,
        ):
            past = store.view(until, recordings=ids, sources=source and [source]).narrow(span=span)
            hits = past.search(query, k)
            assert past.count() == len(visible)
            assert sorted(o.id for o in past.observations()) == sorted(o.id for o in visible)
            named = past.observations(ids=[o.id for o in observations])
            assert named == past.observations()
            near = [("r0", Span(20, 60)), ("r1", Span(30, 30)), ("r0", Span(0, 30))]
            assert past.stretches(near) == [
                o for o in named if any(o.recording == r and o.span.overlaps(s) for r, s in near)
            ]
        scores = sorted(expected.values(), reverse=True)[:k]
        assert [hit.score for hit in hits] == scores
        assert all(expected[hit.observation.id] == hit.score for hit in hits)


def test_stretches_are_what_narrower_views_of_them_hold(store: Store) -> None:
    """By track, by the past, and by a span of the view, each of which leaves something out."""
    rows = [(0, 0, 3, "red mug", False), (0, 2, 1, "the table", True), (0, 4, 1, "walks", False)]
    recordings, observations = world([0.0, 50.0, None], [*rows, (1, 0, 2, "B-17", False)])
    for r in recordings:
        store.put_recording(r)
    store.add(observations)
    wide = [("r0", Span(0, 100)), ("r1", Span(0, 100))]
    for view, narrower in (
        (store.view(), {0, 1, 2, 3}),
        (store.view(sources=["caption"]), {0, 2, 3}),
        (store.view(sources=["speech"]), {1}),
        (store.view(recordings=["r1"]), {3}),
        (store.view(RecordingTime("r0", 30)), {0, 1}),
        (store.view().narrow(span=Span(25, 45)), {0, 1, 2}),
    ):
        ids = {observations[i].id for i in narrower}
        assert {o.id for o in view.stretches(wide)} == ids
        assert {o.id for o in view.observations()} >= ids
    assert [o.id for o in store.view().stretches([("r0", Span(30, 40))])] == []
    assert [o.id for o in store.view().stretches([("r0", Span(45, 46))])] == [observations[2].id]


def naive(observations: list[Observation], query: str) -> dict[str, float]:
    query_terms = list(dict.fromkeys(terms(query)[0]))
    documents = {o.id: terms(o.text) for o in observations}
    count = len(documents)
    mean = sum(length for _, length in documents.values()) / count if count else 0
    df = Counter(term for counts, _ in documents.values() for term in set(counts))
    scores = {}
    for id, (counts, length) in documents.items():
        gains = [
            math.log(1 + (count - df[term] + 0.5) / (df[term] + 0.5))
            * (counts.count(term) / (counts.count(term) + 0.9 * (1 - 0.4 + 0.4 * length / mean)))
            for term in query_terms
            if term in counts
        ]
        if gains:
            scores[id] = sum(gains)
    return scores
