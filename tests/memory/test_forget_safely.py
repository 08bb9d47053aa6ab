"""Forgetting that is cut short, ids that look like paths, links, and what others put there."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import egomem
from egomem.errors import StoreError
from egomem.memory import Store, forget, forget_files, index, vectors
from egomem.memory.check import check
from egomem.memory.replies import ReplyCache
from egomem.memory.thumbnails import keep_thumbnail, thumbnail_folder
from egomem.models import Reply, RequestTags
from egomem.observe import TemplateCaptioner
from egomem.records import Observation, Provenance, Recording, Status, Track
from egomem.timeline import Clock, Span

from .conftest import caption, recording

SEEN = Track(source="object", observer="detector")
READ = Track(source="screen_text", observer="reader")
COMPOSED = TemplateCaptioner(30, [SEEN, READ])
SECRET = "PASSPORT QX-5582"


@pytest.fixture
def composed(tmp_path: Path) -> Path:
    """A closed memory: a composed caption on two parts, a picture, a vector, a cached reply."""
    folder = tmp_path / "m"
    parts = [
        Observation(recording="r", span=Span(0, 9), text=text, source=t.source, track=t.id)
        for t, text in ((SEEN, "2 dogs"), (READ, SECRET))
    ]
    whole = caption(
        "r",
        0,
        30,
        f"In view: 2 dogs. Text: {SECRET}.",
        track=COMPOSED.track.id,
        provenance=Provenance(rests_on=tuple(o.id for o in parts)),
    )
    with Store.open(folder, create=True) as store:
        store.put_recording(recording("r"))
        store.add([*parts, whole], thumbnails=[keep_thumbnail(folder, "r", 0, b"JPEG-OF-IT")])
        store.add_vectors("e", "r", [whole.id], np.ones((1, 4)))
    cache = ReplyCache(folder)
    reply = Reply(status=Status.PARSED, key="k", text=SECRET, raw=SECRET)
    cache.put(reply, {}, RequestTags(recording="r"))
    cache.close()
    return folder


STEPS = [
    (forget_files, "_remove_picture"),
    (forget, "remove_pending"),
    (index, "scrub"),
    (index, "sweep"),
    (vectors, "rewrite"),
    (vectors, "drop"),
    (vectors, "sweep"),
    (forget, "insert"),
    (forget, "finish_forgetting"),
    (forget, "_delete"),
]


@pytest.mark.parametrize(("module", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_forgetting_cut_short_is_all_or_is_finished(
    composed: Path, monkeypatch: pytest.MonkeyPatch, module: object, step: str
) -> None:
    def kill(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        memory = egomem.open(composed)
        patch.setattr(module, step, kill)
        with pytest.raises(KeyboardInterrupt):
            memory.forget(match="qx-5582")
        memory.store.connection.db.close()
    with egomem.open(composed) as memory:
        texts = {o.source: o.text for o in memory.until().observations()}
        if step in ("insert", "_delete"):
            assert set(texts) == {"caption", "object", "screen_text"}
            assert (thumbnail_folder(composed, "r") / "0.000.jpg").is_file()
            memory.forget(match="qx-5582")
            texts = {o.source: o.text for o in memory.until().observations()}
        assert texts == {"object": "2 dogs", "caption": "In view: 2 dogs."}
        assert memory.check().findings == ()
    assert not any(b"5582" in f.read_bytes() for f in composed.rglob("*") if f.is_file())
    assert not any(b"JPEG-OF-IT" in f.read_bytes() for f in composed.rglob("*") if f.is_file())


def test_check_tells_of_a_forgetting_under_way(
    composed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(composed)
    monkeypatch.setattr(forget, "finish_forgetting", lambda connection: None)
    store.forget(match="qx-5582")
    assert [f.part for f in check(store).findings if f.part == "forgetting"] == ["forgetting"]
    monkeypatch.undo()
    assert check(store, repair=True).ok
    assert check(store).findings == ()
    store.close()


@pytest.mark.parametrize("id", ["..", "../../out", "a/b", "ABSOLUTE", ".", "nul", "A"])
def test_an_id_is_a_name_and_never_a_path(tmp_path: Path, id: str) -> None:
    outside = tmp_path / "out"
    outside.mkdir()
    (outside / "photo.jpg").write_bytes(b"mine")
    (outside / "0.000.jpg").write_bytes(b"mine too")
    id = str(outside) if id == "ABSOLUTE" else id
    with Store.open(tmp_path / "deep" / "memory", create=True) as store:
        for name in (id, "a"):
            store.put_recording(recording(name))
            picture = keep_thumbnail(store.folder, name, 0, name.encode())
            store.add([caption(name, 0, 3, f"hello {name}")], thumbnails=[picture])
        assert check(store).findings == ()
        receipt = store.forget(recording=id)
        assert receipt.thumbnails == 1
        assert [r.id for r in store.recordings()] == ["a"]
        assert check(store).findings == ()
        assert (thumbnail_folder(store.folder, "a") / "0.000.jpg").read_bytes() == b"a"
        assert check(store, repair=True).ok
    assert sorted(f.name for f in outside.iterdir()) == ["0.000.jpg", "photo.jpg"]
    assert (tmp_path / "deep" / "memory" / "memory.db").is_file()


def test_what_rests_on_it_goes_also_with_the_index_of_another_memory(
    composed: Path, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "other", create=True) as other:
        other.put_recording(recording("z"))
        other.add([caption("z", i, i + 1, f"bicycle {i}") for i in range(3)])
    shutil.copy(tmp_path / "other/index/000001.seg", composed / "index/000001.seg")
    with Store.open(composed) as store:
        sign = store.view().observations(sources=["screen_text"], recording="r")
        rests = Provenance(rests_on=tuple(o.id for o in sign))
        store.add([caption("r", 40, 50, "somebody travels abroad", provenance=rests)])
        with store.connection.transaction() as db:
            db.execute("DELETE FROM tally")
            db.execute("DELETE FROM rests_on")
        receipt = store.forget(match="qx-5582", dry_run=True)
        assert {o.source for o in receipt.observations} == {"caption", "screen_text"}
        assert [o.text for o in receipt.dependents] == ["somebody travels abroad"]
        receipt = store.forget(recording="r", span=Span(0, 1))
        assert len(receipt.observations) == 3
        assert len(receipt.dependents) == 1
        assert store.view().observations() == []


def test_the_other_hour_of_a_clock_change_stays(store: Store) -> None:
    """The hour from 1:00 to 2:00 in New York comes twice on 1 November 2026."""
    zone = ZoneInfo("America/New_York")
    for id, fold, minute in (("first", 0, 20), ("second", 1, 22)):
        start = datetime(2026, 11, 1, 1, minute, fold=fold, tzinfo=zone)
        store.put_recording(Recording(id=id, name=id, duration=300, clock=Clock(start)))
        store.add([caption(id, 0, 10, f"coffee in {id}")])
    times = [datetime(2026, 11, 1, 1, m, fold=1, tzinfo=zone) for m in (10, 40)]
    for between in (times, [t.astimezone(UTC) for t in times]):
        receipt = store.forget(between=(between[0], between[1]), dry_run=True)
        assert [r.id for r in receipt.recordings] == ["second"]
        assert [o.recording for o in receipt.observations] == ["second"]
    for start, end in (
        (times[0].replace(fold=0), times[0]),
        (times[0].replace(fold=0), times[0].replace(minute=5)),  # later, though it reads earlier
    ):
        view = store.view().narrow(between=(start, end))
        assert [o.recording for o in view.observations()] == ["first"]
        receipt = store.forget(between=(start, end), dry_run=True)
        assert [r.id for r in receipt.recordings] == ["first"]


def test_clocks_of_the_two_hours_differ() -> None:
    zone = ZoneInfo("America/New_York")
    first, second = (Clock(datetime(2026, 11, 1, 1, 30, fold=fold, tzinfo=zone)) for fold in (0, 1))
    assert first != second
    assert first.seconds(second.start) == 3600
    assert first == Clock(first.start.astimezone(UTC))
    assert len({first, second, Clock(second.start + timedelta(0))}) == 2


LITTER = {
    "thumbnails/._0.000.jpg": True,
    "thumbnails/.DS_Store": True,
    "thumbnails/r/._0.000.jpg": False,
    "thumbnails/r/.DS_Store": False,
    "thumbnails/r/notes.txt": True,
    "thumbnails/r/album/x.jpg": True,
    "thumbnails/album/0.000.jpg.txt": True,
    "thumbnails/r/Thumbs.db": False,
    "index/._000001.seg": True,
    "index/old/000001.seg": True,
    "vectors/.DS_Store": True,
    "vectors/1/._1-1.f32": True,
    "vectors/1/backup/1-1.f32": True,
}


def test_files_of_others_break_nothing_and_stay(composed: Path) -> None:
    for name in LITTER:
        path = composed / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"foreign")
    with Store.open(composed) as store:
        report = check(store)
        assert report.ok
        assert not report.findings
        for folder in ("index", "vectors", "vectors/1", "thumbnails", "thumbnails/r"):
            assert any(note.startswith(f"{folder} holds what is not") for note in report.notes)
        assert check(store, repair=True).ok
        assert all((composed / name).is_file() for name in LITTER)
        store.forget(match="qx-5582")
        store.forget(recording="r")
        assert check(store).ok
    remaining = {name: (composed / name).is_file() for name in LITTER}
    # Copies that file managers keep of a picture go with it; notes.txt keeps its folder.
    assert remaining == LITTER | {"thumbnails/r/.DS_Store": True}


def test_nothing_is_deleted_behind_a_link(composed: Path, tmp_path: Path) -> None:
    outside = tmp_path / "photos"
    (outside / "sub").mkdir(parents=True)
    for name in ("0.000.jpg", "1.000.part", "sub/2.000.jpg", "000007.seg"):
        (outside / name).write_bytes(b"mine")
    (composed / "thumbnails" / "holiday").symlink_to(outside)
    (composed / "index" / "000007.seg").symlink_to(outside / "000007.seg")
    (composed / "vectors" / "9").symlink_to(outside)
    with Store.open(composed) as store:
        assert check(store, repair=True).ok
        store.forget(recording="r")
    assert all(f.read_bytes() == b"mine" for f in outside.rglob("*") if f.is_file())
    assert len([f for f in outside.rglob("*") if f.is_file()]) == 4


def test_a_link_for_pictures_is_named_and_not_followed(composed: Path, tmp_path: Path) -> None:
    (composed / "thumbnails" / "r").rename(tmp_path / "elsewhere")
    (composed / "thumbnails" / "r").symlink_to(tmp_path / "elsewhere")
    with Store.open(composed) as store:
        assert any(f.part == "links" and "is a link" in f.what for f in check(store).findings)
        receipt = store.forget(recording="r")
        assert any("left alone" in note for note in receipt.notes)
        with pytest.raises(StoreError, match="leads out"):
            keep_thumbnail(composed, "r", 1, b"new")
    assert (tmp_path / "elsewhere" / "0.000.jpg").is_file()


def test_forgetting_refuses_an_index_behind_a_link(composed: Path, tmp_path: Path) -> None:
    (composed / "index").rename(tmp_path / "elsewhere")
    (composed / "index").symlink_to(tmp_path / "elsewhere")
    with Store.open(composed) as store:
        with pytest.raises(StoreError, match="is a link"):
            store.forget(match="qx-5582")
        assert store.view().count() == 3


def test_damaged_files_do_not_keep_anything_from_being_forgotten(composed: Path) -> None:
    (composed / "index" / "000001.seg").write_bytes(b"")
    next((composed / "vectors").rglob("*.f32")).write_bytes(b"short")
    with Store.open(composed) as store:
        store.forget(match="qx-5582")
        assert check(store).findings == ()
        assert [o.text for o in store.view().observations()] == ["2 dogs"]
