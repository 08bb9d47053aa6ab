from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from egomem.errors import (
    DamagedError,
    FullError,
    LockedError,
    NoMemoryError,
    StoreError,
    TimeError,
    UsageError,
)
from egomem.memory import Completed, Store, index, lock, vectors
from egomem.memory.check import check
from egomem.memory.checksums import SEAL
from egomem.memory.schema import LATEST, MIGRATIONS
from egomem.memory.thumbnails import keep_thumbnail
from egomem.records import Provenance, Recording, Track
from egomem.text import terms
from egomem.timeline import Clock, RecordingTime, Span

from .conftest import CAPTION, START, caption, recording


def test_what_is_put_comes_back(store: Store) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    recordings = [
        Recording(
            id="a",
            wearer="me",
            name="a.mp4",
            path="/videos/a.mp4",
            sha256="0" * 64,
            duration=12.5,
            clock=Clock(datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=ZoneInfo("Europe/Berlin"))),
            facts={"fps": 29.97, "faults": ["one"], "video": {"width": None}},
        ),
        Recording(id="b", name="b", duration=0, clock=Clock(datetime(2026, 1, 1, tzinfo=zone))),
        Recording(id="c", name="Ü", duration=3),
    ]
    track = Track(
        source="caption", observer="o", model="m", prompt="p1", window=30, sampling="1fps"
    )
    o = caption(
        "a",
        0.1,
        1 / 3,
        "two\nlines, Ünïcode 茶 \0 and \u2028",
        data={"boxes": [[0, 1.5]], "who": None, "é": True},
        provenance=Provenance(frames=(0.1, 0.2), request="k", rests_on=("x",), note="n"),
    )
    for r in recordings:
        store.put_recording(r)
    store.put_track(track)
    assert store.add([o], completed=[Completed("a", track.id, "w 0")]) == 1
    store.close()
    with Store.open(store.folder) as again:
        assert again.recordings() == recordings
        assert again.recording("a") == recordings[0]
        assert again.recording("x") is None
        assert again.tracks() == [track]
        assert again.completed("a") == {Completed("a", track.id, "w 0")}
        assert again.completed("b") == set()
        (observation,) = again.view().observations()
        assert (observation, observation.id) == (o, o.id)


def test_a_clock_keeps_its_zone_over_the_change_of_summer_time(store: Store) -> None:
    start = datetime(2026, 3, 29, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    store.put_recording(Recording(id="a", name="a", duration=7200, clock=Clock(start)))
    o = caption("a", 3600, 3601, "an hour later it is half past three")
    store.add([o])
    assert (moment := store.view().when(o))
    assert moment.isoformat() == "2026-03-29T03:30:00+02:00"


def test_the_same_observation_is_kept_once(store: Store) -> None:
    store.put_recording(recording("a"))
    o = caption("a", 0, 1, "once")
    assert store.add([o, o]) == 1
    assert store.add([o, caption("a", 1, 2, "twice")]) == 1
    assert store.view().count() == 2


def test_an_update_of_a_recording_moves_what_is_seen(store: Store) -> None:
    store.put_recording(recording("a", at=None))
    store.add([caption("a", 0, 10, "mug")])
    moment = datetime.fromtimestamp(START.timestamp() + 20, UTC)
    assert store.view(moment).count() == 0
    assert [r.id for r in store.view(moment).left_out()] == ["a"]
    store.put_recording(recording("a", at=0))
    assert [h.observation.text for h in store.view(moment).search("mug")] == ["mug"]
    assert store.view(moment).left_out() == []
    store.put_recording(recording("a", at=15))
    assert store.view(moment).count() == 0


def test_one_recording_of_unknown_clock_is_all_that_its_second_sees(store: Store) -> None:
    for id, at in (("a", None), ("b", 0.0)):
        store.put_recording(recording(id, at=at))
    store.add([caption("a", 0, 10, "early"), caption("a", 5, 15, "late"), caption("b", 0, 1, "b")])
    past = store.view(RecordingTime("a", 12))
    assert [o.text for o in past.observations()] == ["early"]
    assert [(r.id, r.duration) for r in past.recordings()] == [("a", 12)]


def test_a_view_does_not_see_what_is_added_after_it(store: Store) -> None:
    store.put_recording(recording("a"))
    store.add([caption("a", 0, 1, "first mug")])
    before = store.view()
    store.add([caption("a", 1, 2, "second mug")])
    assert [h.observation.text for h in before.search("mug")] == ["first mug"]
    assert before.count() == len(before.observations()) == 1
    assert store.view().count() == 2


def test_an_observation_of_an_unknown_recording_is_refused_with_its_batch(store: Store) -> None:
    store.put_recording(recording("a"))
    with pytest.raises(StoreError, match="'b' is not in this memory"):
        store.add([caption("a", 0, 1, "x"), caption("b", 0, 1, "y")])
    assert store.view().count() == 0
    assert store.add([caption("a", 0, 1, "x")]) == 1


def test_what_cannot_be_asked(store: Store) -> None:
    with pytest.raises(UsageError, match="no recording 'x'"):
        store.view(recordings=["x"])
    with pytest.raises(UsageError, match="no recording 'x'"):
        store.view(RecordingTime("x", 1))
    with pytest.raises(TimeError, match="has no zone"):
        store.view(datetime(2026, 1, 1))
    with pytest.raises(TimeError, match="is before"):
        store.view().narrow(between=(START, START - timedelta(seconds=1)))


def test_there_is_no_memory(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryError, match="egomem ingest"):
        Store.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_memory_of_a_newer_form_is_left_alone(store: Store) -> None:
    store.close()
    with closing(sqlite3.connect(store.folder / "memory.db")) as db, db:
        db.execute(f"PRAGMA user_version = {LATEST + 1}")
    with pytest.raises(DamagedError, match="not what was written"):
        Store.open(store.folder)
    (store.folder / SEAL).unlink()  # as a newer egomem does before it writes
    with pytest.raises(StoreError, match="newer egomem"):
        Store.open(store.folder)


def test_an_index_that_a_crash_left_behind_heals_at_the_next_opening(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "FLUSH_ROWS", 3)
    store.put_recording(recording("a"))
    with monkeypatch.context() as crash:
        crash.setattr(Store, "flush", lambda self: None)
        store.add(caption("a", at, at + 1, "a red mug") for at in range(3))
        store.connection.db.close()
        store._index_is_behind = False
    with Store.open(store.folder) as again:
        assert index.rows_behind(again.connection.db) == 0
        assert len(again.view().search("mug")) == 3


def test_a_memory_of_an_older_form_is_brought_up_to_date(folder: Path) -> None:
    folder.mkdir()
    db = sqlite3.connect(folder / "memory.db")
    db.executescript(MIGRATIONS[0])
    db.execute("PRAGMA user_version = 1")
    db.execute("INSERT INTO recording(id, wearer, name, duration) VALUES ('a', 'me', 'a', 600)")
    db.execute("INSERT INTO track(id, source) VALUES (?, 'caption')", (CAPTION.id,))
    captions = [caption("a", 0, 30, "a red mug"), caption("a", 30, 60, "a blue mug")]
    for n, o in zip((3, 7), captions, strict=True):
        db.execute(
            "INSERT INTO observation VALUES (?, ?, 1, 'me', 1, ?, ?, ?, '{}', '{}', ?, 3)",
            (n, o.id, o.span.start, o.span.end, o.text, " ".join(terms(o.text)[0])),
        )
    db.execute("INSERT INTO rests_on VALUES (?, 7)", (captions[0].id,))
    db.execute("INSERT INTO tally VALUES (1, 1, 2, 6, 0, 60)")
    db.execute("INSERT INTO segment VALUES (1, 1, 7, 2, 0)")  # of a form that is no more
    db.execute("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'observation'")  # two forgotten
    db.commit()
    db.close()
    with Store.open(folder) as store:
        assert store.view().observations() == captions
        assert [hit.observation.text for hit in store.view().search("red")] == ["a red mug"]
        more = caption("a", 60, 90, "a green mug")
        assert store.add([*captions, more]) == 1
        numbers = [n for (n,) in store.connection.select("SELECT n FROM observation ORDER BY n")]
        assert numbers[:2] == [3, 7]
        assert numbers[2] > 9  # a number is never given again
        receipt = store.forget(match="red")
        assert receipt.dependents == (captions[1],)
        assert check(store).ok
        assert store.view().observations() == [more]


def test_a_damaged_file_is_said_to_be(store: Store) -> None:
    store.close()
    path = store.folder / "memory.db"
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(DamagedError, match="backup"):
        Store.open(store.folder)


HOLD = """
import sys
from egomem.memory import Store
with Store.open(sys.argv[1]) as store, store.writing():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_waits_and_is_told_who_writes(store: Store) -> None:
    store.put_recording(recording("a"))
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with Store.open(store.folder, wait=0.05) as second:
            assert second.view().count() == 0  # readers work meanwhile
            with pytest.raises(LockedError, match=f"process {other.pid} on "):
                second.add([caption("a", 0, 1, "x")])
        other.kill()
    # A killed holder holds nothing.
    with Store.open(store.folder, wait=5) as second:
        assert second.add([caption("a", 0, 1, "x")]) == 1


def test_readers_follow_a_writer(store: Store) -> None:
    store.put_recording(recording("a"))
    with Store.open(store.folder) as reader:
        for i in range(30):
            store.add([caption("a", i, i + 1, f"mug {i}")])
            if i % 10 == 9:
                store.flush()  # merges segments that the reader has open
            assert [h.observation.text for h in reader.view().search(f"{i}")] == [f"mug {i}"]
            assert reader.view().count() == i + 1


def test_a_read_only_folder_can_be_read_and_loses_nothing(store: Store, monkeypatch) -> None:
    store.put_recording(recording("a"))
    store.add([caption("a", 0, 1, "mug")])
    store.close()

    def contents() -> dict[Path, bytes]:
        """All but the line that says who wrote last, and since when."""
        files = (p for p in store.folder.rglob("*") if p.is_file() and p.name != lock.NAME)
        return {p: p.read_bytes() for p in files}

    before = contents()
    # As os.access says on a read-only disk; a superuser could write in spite of file modes.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with Store.open(store.folder) as again:
        assert [h.observation.text for h in again.view().search("mug")] == ["mug"]
        for write in (
            lambda: again.add([caption("a", 1, 2, "x")]),
            lambda: again.put_recording(recording("b")),
            lambda: again.forget(match="mug"),
        ):
            with pytest.raises(FullError, match="nothing was lost"):
                write()
    assert contents() == before


def test_a_full_disk_is_one_line_and_loses_nothing(store: Store) -> None:
    store.put_recording(recording("a"))
    (pages,) = store.connection.db.execute("PRAGMA page_count").fetchone()
    store.connection.db.execute(f"PRAGMA max_page_count = {pages + 8}")
    kept, message = 0, ""
    while not message and kept < 1000:
        try:
            kept += store.add([caption("a", kept, kept + 1, f"mug {kept} " * 100)])
        except FullError as fault:
            message = str(fault)
    assert "is full; nothing that was remembered is lost" in message
    assert 0 < kept < 1000
    assert store.view().count() == kept
    store.connection.db.execute("PRAGMA max_page_count = 1000000")
    assert store.add([caption("a", kept, kept + 1, f"mug {kept} " * 100)]) == 1
    store.close()
    with Store.open(store.folder) as again:
        assert again.view().count() == kept + 1


def test_a_disk_too_full_for_vectors_and_pictures_is_one_line(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_recording(recording("a"))
    observation = caption("a", 0, 1, "a mug")
    store.add([observation])

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(vectors, "_write_at", full)
    with pytest.raises(FullError, match="is full"):
        store.add_vectors("e", "a", [observation.id], [[1.0, 2.0]])
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FullError, match="is full"):
        keep_thumbnail(store.folder, "a", 0, b"jpeg")
    assert not list((store.folder / "thumbnails" / "a").iterdir())
    assert store.view().observations() == [observation]
    assert store.view().vectors("e")[0] == []


def test_a_disk_too_full_for_the_index_slows_a_search_and_no_more(
    store: Store, monkeypatch
) -> None:
    store.put_recording(recording("a"))
    monkeypatch.setattr(index, "FLUSH_ROWS", 4)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(index.Segment, "write", full)
        assert store.add([caption("a", i, i + 1, f"mug {i}") for i in range(8)]) == 8
    assert [h.observation.text for h in store.view().search("5")] == ["mug 5"]
    store.add([caption("a", 9, 10, "mug 9")])
    assert [entry.rows for entry in index.segment_entries(store.connection.db)] == [9]


def test_the_lock_is_one_for_threads_and_nests(store: Store) -> None:
    with store.writing(), store.writing():
        store.put_recording(recording("a"))
        assert store.add([caption("a", 0, 1, "x")]) == 1
    assert store.view().observations(span=Span(0, 1))[0].track == CAPTION.id


def test_a_closed_memory_says_so(folder: Path) -> None:
    store = Store.open(folder, create=True)
    view = store.view()
    store.close()
    for use in (store.recordings, store.view, lambda: view.search("mug"), lambda: store.add([])):
        with pytest.raises(UsageError, match="has been closed; open it again"):
            use()
