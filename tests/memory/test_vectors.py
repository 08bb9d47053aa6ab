from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.errors import DamagedError, UsageError
from egomem.memory import Store
from egomem.timeline import RecordingTime, Span

from .conftest import caption, recording

DIMENSION = 8


def rows(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, DIMENSION))


def filled(store: Store, count: int = 40) -> tuple[list[str], np.ndarray]:
    """Observations of two recordings in turn, each 10 s long."""
    captions = [caption(f"r{i % 2}", 10 * i, 10 * i + 10, f"text {i}") for i in range(count)]
    for id in ("r0", "r1"):
        store.put_recording(recording(id, duration=10 * count + 10))
    store.add(captions)
    matrix = rows(count)
    for which in (0, 1):
        ids = [o.id for o in captions[which::2]]
        assert store.add_vectors("e", f"r{which}", ids, matrix[which::2]) == len(ids)
    return [o.id for o in captions], matrix


def cosines(matrix: np.ndarray, query: np.ndarray) -> np.ndarray:
    return matrix @ query / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)


@pytest.mark.parametrize("visible", [40, 17, 1])
def test_nearest_is_an_exact_scan_of_the_view(store: Store, visible: int) -> None:
    ids, matrix = filled(store)
    query = rows(1, seed=1)[0]
    hits = store.view(RecordingTime("r0", 10.0 * visible)).nearest("e", query, 5)
    expected = cosines(matrix[:visible], query)
    order = np.argsort(-expected)[:5]
    assert [hit.observation.id for hit in hits] == [ids[i] for i in order]
    assert [hit.score for hit in hits] == pytest.approx(expected[order], abs=1e-6)


def test_a_view_narrows_vectors_as_it_narrows_text(store: Store) -> None:
    ids, matrix = filled(store)
    near = store.view(recordings=["r1"]).narrow(span=Span(100, 200))
    ids_near, matrix_near = near.vectors("e")
    assert ids_near == [
        ids[i] for i in range(40) if i % 2 and Span(10 * i, 10 * i + 10).overlaps(Span(100, 200))
    ]
    order = [ids.index(id) for id in ids_near]
    assert matrix_near == pytest.approx(
        matrix[order] / np.linalg.norm(matrix[order], axis=1, keepdims=True), abs=1e-6
    )
    assert {h.observation.id for h in near.nearest("e", matrix[0])} == set(ids_near)
    # By id: of those that the view sees, whatever else is asked for.
    some, of_some = near.vectors("e", [*ids[:16], "0" * 20])
    assert some == [id for id in ids_near if id in ids[:16]] != []
    assert (of_some == matrix_near[[ids_near.index(id) for id in some]]).all()
    both, of_both = store.view().vectors("e", ids[9:13])
    assert sorted(both) == sorted(ids[9:13])
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    assert of_both == pytest.approx(unit[[ids.index(id) for id in both]], abs=1e-6)
    assert near.vectors("e", [])[0] == near.vectors("another", ids)[0] == []


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), later=st.integers(0, 30), k=st.integers(1, 6))
def test_later_vectors_change_nothing(tmp_path_factory, seed: int, later: int, k: int) -> None:
    """Bit for bit: a product's rounding depends on its size, and scores must not."""
    matrix = rows(13 + later, seed)
    query = rows(1, seed + 1)[0]
    captions = [caption("r", i, i + 1, f"text {i % 3}") for i in range(len(matrix))]
    results = []
    for count in (13, len(captions)):
        with Store.open(tmp_path_factory.mktemp("memory"), create=True) as store:
            store.put_recording(recording("r"))
            store.add(captions[:count])
            store.add_vectors("e", "r", [o.id for o in captions[:count]], matrix[:count])
            hits = store.view(RecordingTime("r", 13.0)).nearest("e", query, k)
            results.append([(hit.observation.id, hit.score) for hit in hits])
    assert results[0] == results[1]


def test_a_torn_tail_heals(store: Store) -> None:
    filled(store)
    before = store.view().vectors("e")
    for path in (store.folder / "vectors").rglob("*.*"):
        with open(path, "ab") as file:
            file.write(b"\x01" * 21)
    with Store.open(store.folder) as again:
        ids, vectors = again.view().vectors("e")
        assert ids == before[0]
        assert np.array_equal(vectors, before[1])
        more = caption("r0", 401, 402, "more")
        again.add([more])
        assert again.add_vectors("e", "r0", [more.id], rows(1, 5)) == 1
        assert again.view().nearest("e", rows(1, 5)[0], 1)[0].observation.id == more.id


def test_a_vector_is_kept_once(store: Store) -> None:
    ids, matrix = filled(store, 4)
    assert store.add_vectors("e", "r0", ids[0::2], matrix[:2]) == 0
    assert len(store.view().vectors("e")[0]) == 4


def test_what_does_not_fit_is_refused(store: Store) -> None:
    ids, matrix = filled(store, 4)
    with pytest.raises(UsageError, match="as many finite vectors"):
        store.add_vectors("e", "r0", ids[:1], matrix[:2])
    with pytest.raises(UsageError, match="no observation 'nothing'"):
        store.add_vectors("e", "r0", ["nothing"], matrix[:1])
    with pytest.raises(UsageError, match="no observation"):
        store.add_vectors("e", "r1", ids[:1], matrix[:1])
    with pytest.raises(UsageError, match="8 numbers, not 3"):
        store.add_vectors("e", "r0", ids[:1], matrix[:1, :3])
    with pytest.raises(UsageError, match="vectors of 8 numbers"):
        store.view().nearest("e", [1.0, 2.0])
    assert store.view().nearest("unknown", [1.0, 2.0]) == []


def test_a_shortened_file_is_said_to_be_damaged(store: Store) -> None:
    filled(store, 4)
    path = next((store.folder / "vectors").rglob("*.f32"))
    path.write_bytes(path.read_bytes()[:-4])
    with Store.open(store.folder) as again, pytest.raises(DamagedError, match="check --repair"):
        again.view().nearest("e", rows(1)[0])
