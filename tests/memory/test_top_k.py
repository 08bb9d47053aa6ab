"""The race for the k best, against adding everything up."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.errors import DamagedError
from egomem.memory import bm25
from egomem.memory.segment import Segment, id_keys, merge
from egomem.memory.top_k import QueryPostings, VisibleSegment, document_frequencies, top_rows

TERMS = ["a", "b", "c", "d", "e"]

documents = st.lists(st.lists(st.sampled_from(TERMS), max_size=8), min_size=1, max_size=30)


def id_of(n: int) -> str:
    return sha256(b"%d" % n).hexdigest()[:20]


def segment(documents: list[list[str]], first: int = 1) -> Segment:
    rows = [
        (n, 1, 1, 0.0, 0.0, len(words), id_of(n), " ".join(words))
        for n, words in enumerate(documents, start=first)
    ]
    return Segment.build(rows)


def scores(
    documents: list[list[str]], query: list[str]
) -> tuple[dict[str, float], float, list[float]]:
    df = {term: sum(term in words for words in documents) for term in query}
    idfs = {term: bm25.idf(len(documents), df[term]) for term in query}
    mean = max(sum(map(len, documents)) / len(documents), 1e-9)
    every = [sum(bm25.term_scores(idfs, words, len(words), mean).values()) for words in documents]
    return idfs, mean, every


@settings(max_examples=150)
@given(
    documents=documents,
    query=st.lists(st.sampled_from(TERMS), min_size=1, unique=True),
    k=st.integers(1, 8),
    cut=st.integers(0, 30),
    hidden=st.sets(st.integers(0, 29)),
)
def test_the_best_are_among_those_found(documents, query, k, cut, hidden) -> None:
    pieces = [piece for piece in (documents[:cut], documents[cut:]) if piece]
    parts, first = [], 0
    for piece in pieces:
        places = [i for i in range(len(piece)) if first + i not in hidden]
        chosen = None if len(places) == len(piece) else np.array(places, dtype=np.int32)
        parts.append(VisibleSegment(segment(piece, 1 + first), chosen))
        first += len(piece)
    visible = [i for i in range(len(documents)) if i not in hidden]
    if not visible:
        return
    idfs, mean, every = scores([documents[i] for i in visible], query)
    postings = [
        QueryPostings(part, query)
        for part in parts
        if part.positions is None or len(part.positions)
    ]
    assert document_frequencies(postings, query) == {
        term: sum(term in documents[i] for i in visible) for term in query
    }
    best = top_rows(postings, idfs, mean, k).tolist()
    assert len(best) == len(set(best))
    matching = sorted(
        ((s, i + 1) for s, i in zip(every, visible, strict=True) if s > 0), reverse=True
    )
    least = matching[:k][-1][0] if matching else 0.0
    assert {n for s, n in matching if s >= least} <= set(best)
    assert set(best) <= {n for _, n in matching}


@settings(max_examples=60)
@given(
    documents=documents,
    cuts=st.tuples(st.integers(0, 30), st.integers(0, 30)),
    gone=st.sets(st.integers(1, 30)),
)
def test_merged_segments_are_the_segment_of_all(documents, cuts, gone) -> None:
    low, high = sorted(cuts)
    pieces = [documents[:low], documents[low:high], documents[high:]]
    segments, first = [], 1
    for piece in pieces:
        segments.append(segment(piece, first))
        first += len(piece)
    merged = merge(segments, np.array(sorted(gone), dtype=np.int64))
    rows = [
        (n, 1, 1, 0.0, 0.0, len(words), id_of(n), " ".join(words))
        for n, words in enumerate(documents, start=1)
        if n not in gone
    ]
    whole = Segment.build(rows)
    for name in ("terms", "offsets", "docs", "tf", "by_key", "n", "length", "key"):
        assert np.array_equal(merged.arrays[name], whole.arrays[name]), name
    rows_kept = [1, 2, 30, 31]
    assert merged.rowid[merged.find(id_keys(map(id_of, rows_kept)))].tolist() == [
        n for n in rows_kept if n <= len(documents) and n not in gone
    ]
    assert (merged.peak >= whole.peak).all()


def test_a_segment_comes_back_from_its_file(tmp_path) -> None:
    original = segment([["a"] * 300, [], ["b", "a"]])
    checksum = original.write(tmp_path / "x.seg")
    again = Segment.read(tmp_path / "x.seg", checksum)
    for name, array in original.arrays.items():
        assert np.array_equal(again.arrays[name], array)
    assert again.tf.max() == 300
    with pytest.raises(DamagedError, match="not what was written"):
        Segment.read(tmp_path / "x.seg", checksum ^ 1)


def test_a_view_of_nothing_finds_nothing() -> None:
    assert len(top_rows([], {}, 1.0, 3)) == 0
    assert bm25.idf(0, 0) == pytest.approx(np.log(2))
