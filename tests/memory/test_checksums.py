"""Every byte that counts: `check` notices a change, and a search does not go by it."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from egomem.errors import DamagedError, NoMemoryError
from egomem.memory import Completed, Store
from egomem.memory.check import CheckReport, check
from egomem.memory.checksums import OBSERVATION_CHECKED, SEAL
from egomem.memory.replies import ReplyCache
from egomem.memory.schema import MIGRATIONS
from egomem.memory.thumbnails import keep_thumbnail
from egomem.models import Reply, RequestTags
from egomem.records import Provenance, Status

from .conftest import caption, recording


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed memory of two recordings with vectors, pictures and a reply."""
    folder = tmp_path_factory.mktemp("sound") / "memory"
    with Store.open(folder, create=True) as store:
        for id in ("a", "b"):
            store.put_recording(recording(id))
            texts = [caption(id, k, k + 1, f"green kettle {k} of {id}") for k in range(40)]
            rests = Provenance(rests_on=(texts[0].id,))
            texts.append(caption(id, 50, 51, f"summary of {id}", provenance=rests))
            store.add(
                texts,
                completed=[Completed(id, "caption/test", "0-30")],
                thumbnails=[keep_thumbnail(folder, id, k, f"{id}{k}".encode() * 9) for k in (0, 1)],
            )
            vectors = np.random.default_rng(len(id)).normal(size=(len(texts), 8))
            store.add_vectors("e", id, [o.id for o in texts], vectors)
    with ReplyCache(folder) as cache:
        reply = Reply(status=Status.PARSED, key="k", text="a green kettle", raw="a green kettle")
        cache.put(reply, {"prompt": "what?"}, RequestTags(recording="a"))
    return folder


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "memory"))


def look(folder: Path, *, repair: bool = False) -> CheckReport:
    with Store.open(folder) as store:
        return check(store, repair=repair)


def flip(path: Path, at: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def test_a_sound_memory_is_sound_and_stays_so(copy: Path) -> None:
    assert look(copy).findings == ()
    assert look(copy, repair=True).findings == ()
    assert look(copy).notes == ()
    assert (copy / SEAL).is_file()


@pytest.mark.parametrize(
    "pattern", ["memory.db", "index/*.seg", "vectors/1/*.f32", "vectors/1/*.row", "thumbnails/a/*"]
)
def test_a_flipped_bit_is_noticed(sound: Path, tmp_path: Path, pattern: str) -> None:
    places = random.Random(7)
    for trial in range(12):
        folder = Path(shutil.copytree(sound, tmp_path / str(trial)))
        path = sorted(folder.glob(pattern))[0]
        flip(path, places.randrange(path.stat().st_size), places.randrange(8))
        words = noticed(folder)
        assert any(path.stem.split(".")[0] in word for word in words), (trial, words)


def noticed(folder: Path) -> list[str]:
    """What `check` says is damaged, or why the memory cannot be opened."""
    try:
        return [f.what for f in look(folder).findings]
    except DamagedError as error:
        return [str(error)]


def test_a_changed_row_is_noticed_when_memory_db_went_on_since(copy: Path) -> None:
    changes = {
        "observation": "UPDATE observation SET text = replace(text, 'green', 'grey') WHERE n = 3",
        "time": "UPDATE observation SET start = start + 1, end = end + 1 WHERE n = 4",
        "recording": "UPDATE recording SET clock = replace(clock, '08:', '09:')",
        "track": "UPDATE track SET id = id || 'x'",
        "provenance": "UPDATE observation SET provenance = '{}' WHERE provenance <> '{}'",
        "terms": "UPDATE observation SET terms = 'blue', length = 1 WHERE n = 6",
        "rests_on": "DELETE FROM rests_on WHERE n = 41",
    }
    before = (copy / "memory.db").read_bytes()
    for what, sql in changes.items():
        (copy / SEAL).unlink(missing_ok=True)
        db = sqlite3.connect(copy / "memory.db")
        db.execute(sql)
        db.commit()
        db.close()
        report = look(copy, repair=True)
        assert not report.ok, what
        assert any(f.part == "record" and "memory.db" in f.what for f in report.findings), what
        (copy / "memory.db").write_bytes(before)


def test_a_damaged_record_is_not_built_on(copy: Path) -> None:
    (copy / SEAL).unlink()
    segment = next((copy / "index").glob("*.seg"))
    flip(segment, 900)
    damaged = segment.read_bytes()
    db = sqlite3.connect(copy / "memory.db")
    db.execute("UPDATE observation SET id = 'zz' || id WHERE n = 5")
    db.commit()
    db.close()
    report = look(copy, repair=True)
    assert {"record", "index"} <= {f.part for f in report.findings}
    assert not any(f.repaired or f.repairable for f in report.findings)
    assert segment.read_bytes() == damaged
    with Store.open(copy) as store, pytest.raises(DamagedError, match="restore it from a backup"):
        store.view().search("kettle")


def test_an_id_that_is_not_of_its_content_is_noticed(copy: Path) -> None:
    with Store.open(copy) as store, store.connection.transaction() as db:
        db.execute("UPDATE observation SET text = 'a forged caption' WHERE n = 2")
        db.execute(
            f"UPDATE observation SET checksum = row_checksum({OBSERVATION_CHECKED}) WHERE n = 2"
        )
    assert "memory.db: 1 ids that are not of the content of their observation" in noticed(copy)


def test_a_search_goes_on_from_the_record_where_the_index_is_damaged(
    copy: Path, caplog: pytest.LogCaptureFixture
) -> None:
    segment = next((copy / "index").glob("*.seg"))
    with Store.open(copy) as store:
        expected = [(h.observation.id, h.score) for h in store.view().search("kettle 7")]
    original = segment.read_bytes()
    damages: list[Callable[[], object]] = [
        lambda: flip(segment, -9, 6),
        lambda: segment.write_bytes(original[:-100]),
        lambda: segment.write_bytes(b""),
        lambda: segment.write_bytes(os.urandom(len(original))),
        segment.unlink,
    ]
    for damage in damages:
        segment.write_bytes(original)
        damage()
        with Store.open(copy) as store:
            assert [
                (h.observation.id, h.score) for h in store.view().search("kettle 7")
            ] == expected
            assert "run: egomem check --repair" in caplog.text
        caplog.clear()


def test_damaged_vectors_are_an_error_with_a_remedy_and_can_be_dropped(copy: Path) -> None:
    flip(sorted((copy / "vectors").rglob("*.f32"))[0], 5)
    with Store.open(copy) as store, pytest.raises(DamagedError, match="egomem check --repair"):
        store.view().nearest("e", np.ones(8))
    report = look(copy, repair=True)
    assert report.ok
    assert "computed again" in report.findings[0].what
    with Store.open(copy) as store:
        assert len(store.view().nearest("e", np.ones(8))) == 41


def test_swapped_files_are_noticed_and_only_what_is_derived_is_lost(copy: Path) -> None:
    for one, other in (("thumbnails/a/0.000.jpg", "thumbnails/b/0.000.jpg"),):
        content = (copy / one).read_bytes()
        (copy / one).write_bytes((copy / other).read_bytes())
        (copy / other).write_bytes(content)
    (copy / "thumbnails/a/1.000.jpg").unlink()
    words = [f.what for f in look(copy).findings]
    assert sum("is not what was written" in word for word in words) == 2
    assert any("thumbnails/a/1.000.jpg is missing" in word for word in words)
    assert look(copy, repair=True).ok
    assert look(copy).findings == ()
    assert [p.name for p in (copy / "thumbnails").rglob("*.jpg")] == ["1.000.jpg"]


def test_a_damaged_reply_is_asked_again(copy: Path) -> None:
    with ReplyCache(copy) as cache:
        assert cache.get("k") is not None
    db = sqlite3.connect(copy / "replies.db")
    db.execute("UPDATE replies SET reply = replace(reply, 'green', 'grey')")
    db.commit()
    db.close()
    with ReplyCache(copy) as cache:
        assert cache.get("k") is None
    assert any("replies" in f.what for f in look(copy).findings)
    assert look(copy, repair=True).ok
    assert look(copy).findings == ()


@pytest.mark.parametrize("beside", ["index", "vectors", "thumbnails", SEAL])
def test_an_empty_record_beside_the_rest_is_damage(copy: Path, beside: str) -> None:
    keep = {"memory.db", beside}
    (copy / "memory.db").write_bytes(b"")
    for path in copy.iterdir():
        if path.name not in keep:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for create in (False, True):
        with pytest.raises(DamagedError, match="is empty"):
            Store.open(copy, create=create)
    (copy / "memory.db").unlink()
    with pytest.raises(DamagedError, match="is missing"):
        Store.open(copy, create=True)


def test_a_folder_with_things_of_others_can_become_a_memory(tmp_path: Path) -> None:
    for name in ("index/page.html", "vectors/logo.svg", "thumbnails/cat.jpg"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"x")
    tmp_path.chmod(0o755)
    with Store.open(tmp_path, create=True) as store:
        store.put_recording(recording("a"))
        store.add([caption("a", 0, 1, "x")])
        assert check(store, repair=True).findings == ()
    assert (tmp_path / "thumbnails" / "cat.jpg").is_file()
    assert tmp_path.stat().st_mode & 0o777 == 0o755  # it was not made for the memory


def test_reading_makes_no_memory(tmp_path: Path) -> None:
    import egomem

    with egomem.open(tmp_path / "none") as memory:
        for read in (memory.until, memory.summary, memory.check, memory.names):
            with pytest.raises(NoMemoryError):
                read()
        assert not (tmp_path / "none").exists()
        memory.store.put_recording(recording("a"))
    assert (tmp_path / "none" / "memory.db").is_file()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_memory_is_for_its_owner_alone(sound: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "m", create=True) as store:
        store.put_recording(recording("a"))
        store.add([caption("a", 0, 1, "x")])
        for path in [tmp_path / "m", *(tmp_path / "m").rglob("*"), sound, *sound.rglob("*")]:
            assert path.stat().st_mode & 0o077 == 0, path


def test_a_memory_of_before_gets_its_checksums(copy: Path) -> None:
    db = sqlite3.connect(copy / "memory.db")
    db.executescript(
        "DROP TABLE picture; DROP TABLE pending; DELETE FROM state WHERE name = 'unlisted';"
        + "".join(f"ALTER TABLE {t} DROP COLUMN checksum;" for t in ("observation", "recording"))
        + "ALTER TABLE track DROP COLUMN checksum; ALTER TABLE vectors DROP COLUMN checksum;"
        "ALTER TABLE vectors DROP COLUMN row_checksum;"
        f"PRAGMA user_version = {len(MIGRATIONS) - 1};"
    )
    db.close()
    (copy / SEAL).unlink()
    for path in copy.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert look(copy).findings == ()
    assert all(path.stat().st_mode & 0o077 == 0 for path in copy.rglob("*"))
    flip(sorted((copy / "vectors").rglob("*.row"))[0], 2)
    flip(copy / "thumbnails" / "a" / "0.000.jpg", 2)
    assert [f.part for f in look(copy).findings] == ["vectors", "thumbnails"]
