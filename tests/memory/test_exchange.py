from pathlib import Path

import pytest
from tests.memory.conftest import caption, recording

from egomem.memory import Store, exchange
from egomem.memory.check import check
from egomem.memory.exchange import ObservationKey, observation_keys
from egomem.records import Observation, Provenance


def digest(text: str, rests_on: tuple[str, ...] = ()) -> Observation:
    return caption(
        None, 0.0, 9.0, text, source="digest", track="digest/x",
        provenance=Provenance(rests_on=rests_on),
    )  # fmt: skip


def keys_by_text(store: Store) -> dict[str, ObservationKey]:
    by_id = {o.id: o.text for o in store.view().observations()}
    return {by_id[key.id]: key for key in observation_keys(store)}


def fill(store: Store, count: int = 3) -> None:
    store.put_recording(recording("r"))
    store.add([caption("r", 10.0 * k, 10.0 * k + 5, f"pebble {k}") for k in range(count)])


def test_keys_tell_where_everything_lies(store: Store) -> None:
    fill(store)
    store.add([digest("a summary")])
    keys = keys_by_text(store)
    assert keys["pebble 2"][2:] == ("r", "me", "caption", "caption/test", 20.0, 25.0)
    assert keys["a summary"].recording is None


def test_new_ones_take_the_place_of_old_ones(store: Store) -> None:
    fill(store)
    store.add([digest("old lantern")])
    store.flush()
    old = keys_by_text(store)["old lantern"]
    assert store.exchange([(old.n, old.id)], [digest("new lantern")]) == 1
    assert [s.observation.text for s in store.view().search("lantern")] == ["new lantern"]
    assert store.view().count() == 4
    assert check(store).ok


def test_what_is_no_longer_there_is_passed_over(store: Store) -> None:
    fill(store)
    (key, *_) = observation_keys(store)
    assert store.exchange([(key.n, "another id"), (999, key.id)], []) == 0
    assert store.view().count() == 3


def test_one_of_the_same_content_comes_back(store: Store) -> None:
    fill(store)
    below, above = digest("hour"), digest("day")
    above = above.model_copy(update={"provenance": Provenance(rests_on=(below.id,))})
    store.add([below, above])
    old = keys_by_text(store)["hour"]
    store.exchange([(old.n, old.id)], [below])
    assert keys_by_text(store)["hour"].n != old.n
    assert check(store).ok
    # What rests on it is still forgotten with it.
    assert len(store.forget(match="hour").dependents) == 1


def test_a_kill_after_the_transaction_is_mended_by_the_next_opening(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with Store.open(folder, create=True) as store:
        fill(store)
        store.add([digest("old lantern")])
        store.flush()
        old = keys_by_text(store)["old lantern"]
        monkeypatch.setattr(exchange, "scrub_derived", killed)
        with pytest.raises(KeyboardInterrupt):
            store.exchange([(old.n, old.id)], [digest("new lantern")])
        monkeypatch.undo()
    with Store.open(folder) as store:
        assert [s.observation.text for s in store.view().search("lantern")] == ["new lantern"]
        assert check(store).ok


def test_tracks_are_dropped_where_nothing_is_left_of_them(store: Store) -> None:
    fill(store)
    store.add([digest("a summary")])
    key = keys_by_text(store)["a summary"]
    store.exchange([(key.n, key.id)], [], drop_tracks=["digest/x", "caption/test"])
    tracks = {id for id, _ in store.catalog().tracks.values()}
    assert tracks == {"caption/test"}


def test_digests_do_not_change_what_is_observed(store: Store) -> None:
    fill(store)
    before = [(s.observation, s.score) for s in store.view().search("pebble")]
    assert store.view().observed() is not None
    store.add([digest("pebble pebble 1 pebble 2")])
    view = store.view()
    assert [(s.observation, s.score) for s in view.observed().search("pebble")] == before
    assert view.observed().count() == 3
    # Whoever chose tracks gets what was chosen.
    chosen = view.narrow(sources=["digest", "caption"])
    assert chosen.observed() is chosen
