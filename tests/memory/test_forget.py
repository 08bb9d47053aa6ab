from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from egomem.errors import UsageError
from egomem.memory import Completed, Store, forget, lock
from egomem.memory.forget import receipts
from egomem.memory.replies import ReplyCache
from egomem.memory.thumbnails import keep_thumbnail
from egomem.models import Reply, RequestTags
from egomem.records import Provenance, Status
from egomem.text import terms
from egomem.timeline import Span

from .conftest import CAPTION, START, caption, recording

SECRET = "Zanzibar-4711 confidential whisperings"
JPEG = bytes(range(256)) * 8


def instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(START.timestamp() + seconds, UTC)


@pytest.fixture
def filled(store: Store) -> Store:
    """Two recordings; the secret is in the second window of the first, and in a digest on it."""
    for id, at in (("a", 0.0), ("b", 1000.0)):
        store.put_recording(recording(id, at=at, duration=120))
    kept = [caption("a", 0, 30, "a red mug"), caption("a", 60, 90, "a blue mug")]
    secret = caption("a", 30, 60, SECRET, data={"lines": [SECRET]})
    other = caption("b", 0, 30, "bicycles in the street")
    hour = (START.timestamp(), START.timestamp() + 90)
    on = Provenance(rests_on=(kept[0].id, secret.id))
    fields = {"source": "digest", "track": "digest/hour"}
    digest = caption(None, *hour, f"the morning: {SECRET}", provenance=on, **fields)
    on = Provenance(rests_on=(digest.id,))
    day = caption(None, *hour, f"day of {SECRET}", provenance=on, **fields)
    observations = [*kept, secret, other, digest, day]
    store.add(observations, completed=[Completed("a", CAPTION.id, "window 0")])
    for id in ("a", "b"):
        ids = [o.id for o in observations if o.recording == id]
        store.add_vectors("e", id, ids, np.eye(3, 5)[: len(ids)] + 0.123)
        for start in (0, 30, 60, 90):
            picture = f"{id} {start} ".encode() + JPEG
            store.add([], thumbnails=[keep_thumbnail(store.folder, id, start, picture)])
    store.flush()
    return store


def everything(folder: Path) -> bytes:
    # Who holds the lock, and since which second, is written anew by every writer.
    return b"\n".join(
        str(path.relative_to(folder)).encode() + b"\n" + path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != lock.NAME
    )


def traces(folder: Path) -> list[str]:
    content = everything(folder).lower()
    words = {*SECRET.lower().split(), *terms(SECRET)[0]} - {"b", "4711"}
    return sorted(word for word in words if word.encode() in content)


def test_the_search_for_traces_finds_them_before(filled: Store) -> None:
    assert len(traces(filled.folder)) > 3
    assert b"a 30 " + JPEG in everything(filled.folder)


@pytest.mark.parametrize(
    "criteria",
    [
        {"match": "ZANZIBAR-4711"},
        {"recording": "a", "span": Span(40, 50)},
        {"between": (instant(40), instant(50))},
        {"recording": "a"},
        {"wearer": "me"},
    ],
    ids=lambda criteria: "+".join(criteria),
)
def test_no_byte_of_what_is_forgotten_stays(filled: Store, criteria: dict) -> None:
    receipt = filled.forget(**criteria)
    assert SECRET in [o.text for o in receipt.observations]
    assert {o.source for o in receipt.dependents} <= {"digest"}
    assert traces(filled.folder) == []
    assert b"a 30 " + JPEG not in everything(filled.folder)
    filled.close()
    assert traces(filled.folder) == []
    with Store.open(filled.folder) as again:
        assert again.view().search("zanzibar whispering") == []
        assert receipts(again) == [(receipt.at, receipt.kind, receipt.counts)]


def test_the_rest_stays_as_if_the_forgotten_had_never_been(filled: Store, tmp_path: Path) -> None:
    receipt = filled.forget(match="zanzibar")
    assert receipt.counts == {
        "observations": 3,
        "resting": 0,
        "recordings": 0,
        "thumbnails": 1,
        "vectors": 1,
        "replies": 0,
    }
    with Store.open(tmp_path / "other", create=True) as other:
        for r in filled.recordings():
            other.put_recording(r)
        other.add(filled.view().observations())
        for query in ("red mug", "the street"):
            expected = [(h.observation.id, h.score) for h in other.view().search(query)]
            assert [(h.observation.id, h.score) for h in filled.view().search(query)] == expected
        assert filled.view().count() == other.view().count() == 3
    ids, matrix = filled.view().vectors("e")
    assert len(ids) == len(matrix) == 3
    assert filled.completed("a") == {
        Completed("a", CAPTION.id, "window 0")
    }  # or it would be seen again


@pytest.mark.parametrize(
    "match",
    [
        "zanzibar-4711 CONFIDENTIAL",
        "ｚａｎｚｉｂａｒ－４７１１　confidential",
        "4711\n  confidential",
    ],
)
def test_a_text_is_matched_in_any_case_width_and_spacing(filled: Store, match: str) -> None:
    filled.forget(match=match)
    assert traces(filled.folder) == []


def test_numbers_and_notes_are_matched_too(store: Store) -> None:
    store.put_recording(recording("a"))
    observations = [
        caption("a", 0, 1, "one", data={"codes": [{"door": 90210}]}),
        caption("a", 1, 2, "two", provenance=Provenance(note="the door opens with 90210")),
        caption("a", 2, 3, "three"),
    ]
    store.add(observations)
    store.forget(match="90210")
    assert store.view().observations() == observations[2:]


def test_replies_that_repeat_a_text_go_though_no_observation_holds_it(filled: Store) -> None:
    cache = ReplyCache(filled.folder)
    for key, text in (("1", "The OPEN  Sesame"), ("2", "a tree")):
        reply = Reply(status=Status.PARSED, key=key, text=text, raw=text)
        cache.put(reply, {}, RequestTags(recording="b"))
    cache.close()
    assert filled.forget(match="open sesame", dry_run=True).replies == 1
    assert b"Sesame" in everything(filled.folder)
    receipt = filled.forget(match="open sesame")
    assert (receipt.replies, receipt.observations) == (1, ())
    assert b"sesame" not in everything(filled.folder).lower()
    assert b"a tree" in everything(filled.folder)


def test_what_rests_on_it_goes_too(filled: Store) -> None:
    receipt = filled.forget(recording="a", span=Span(0, 10))
    assert [o.text for o in receipt.observations] == ["a red mug"]
    assert len(receipt.dependents) == 2  # the hour, and the day that rests on the hour
    assert [o.source for o in filled.view().observations()] == ["caption"] * 3


def test_a_digest_that_does_not_say_what_it_rests_on_goes_with_its_time(store: Store) -> None:
    store.put_recording(recording("a"))
    zero = START.timestamp()
    digests = [
        caption(None, zero + at, zero + at + 50, text, source="digest", track="d")
        for at, text in ((0, "early"), (100, "late"))
    ]
    store.add([caption("a", 10, 20, "gone"), *digests])
    store.forget(match="gone")
    assert [o.text for o in store.view().observations()] == ["late"]


def test_a_recording_goes_with_its_name(filled: Store) -> None:
    filled.put_recording(recording("b", at=1000, duration=120).model_copy(update={"name": "Xy-Q"}))
    receipt = filled.forget(between=(instant(900), instant(2000)))
    assert [r.id for r in receipt.recordings] == ["b"]
    assert [r.id for r in filled.recordings()] == ["a"]
    assert not (filled.folder / "thumbnails" / "b").exists()
    assert b"Xy-Q" not in everything(filled.folder)


def test_a_dry_run_tells_and_changes_nothing(filled: Store) -> None:
    before = everything(filled.folder)
    receipt = filled.forget(match="zanzibar", dry_run=True)
    assert receipt.dry_run
    assert receipt.counts["observations"] == 3
    assert receipt.counts["thumbnails"] == 1
    assert filled.view().count() == 6
    assert everything(filled.folder) == before
    assert receipts(filled) == []


def test_a_crash_in_the_middle_is_finished_by_the_next_opening(filled: Store, monkeypatch) -> None:
    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(forget.index, "scrub", crash)
    with pytest.raises(KeyboardInterrupt):
        filled.forget(match="zanzibar")
    monkeypatch.undo()
    filled.connection.db.close()
    with Store.open(filled.folder) as again:
        assert again.view().count() == 3
        assert [h.observation.text for h in again.view().search("mug")] == [
            "a red mug",
            "a blue mug",
        ]
    assert traces(filled.folder) == []


@pytest.mark.parametrize("criteria", [{}, {"match": "  "}, {"recording": "nothing"}])
def test_a_request_without_meaning_is_refused(filled: Store, criteria: dict) -> None:
    with pytest.raises(UsageError):
        filled.forget(**criteria)
    assert filled.view().count() == 6


def test_a_time_after_the_end_of_all_recordings_takes_no_picture(filled: Store) -> None:
    later = datetime(2099, 1, 1, tzinfo=UTC)
    receipt = filled.forget(between=(later, later + timedelta(days=1)), dry_run=True)
    assert receipt.counts["thumbnails"] == 0
