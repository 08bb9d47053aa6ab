from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from egomem.memory import Store, index
from egomem.memory.check import check
from egomem.memory.checksums import OBSERVATION_CHECKED
from egomem.memory.thumbnails import keep_thumbnail

from .conftest import caption, recording


@pytest.fixture
def filled(store: Store) -> Store:
    store.put_recording(recording("a"))
    captions = [caption("a", i, i + 1, f"red mug number {i}") for i in range(12)]
    with mock.patch.multiple(index, FLUSH_ROWS=4, MAX_SEGMENT_ROWS=6):
        for at in range(0, 12, 4):
            store.add(captions[at : at + 4])
    store.add_vectors("e", "a", [o.id for o in captions], np.eye(12))
    store.add([], thumbnails=[keep_thumbnail(store.folder, "a", 0, b"jpeg")])
    return store


def test_a_sound_memory(filled: Store) -> None:
    report = check(filled)
    assert report.findings == ()
    assert report.ok
    assert report.figures == {
        "recordings": 1,
        "observations": 12,
        "segments": 3,
        "vector_files": 1,
    }


def segments(folder: Path) -> list[Path]:
    return sorted((folder / "index").glob("*.seg"))


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(bytes(content))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def vector_file(folder: Path, suffix: str = ".f32") -> Path:
    return next((folder / "vectors").rglob(f"*{suffix}"))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a segment is gone": (lambda f: segments(f)[1].unlink(), "is missing"),
    "a bit of a segment": (lambda f: flip(segments(f)[0], -70), "is not what was written"),
    "half a segment": (lambda f: cut(segments(f)[2]), "is not what was written"),
    "a left-over segment": (
        lambda f: (f / "index" / "000099.seg").write_bytes(b"x"),
        "belongs to nothing",
    ),
    "a vector is cut": (lambda f: cut(vector_file(f)), "fewer than its 12 rows"),
    "a vector's row is cut": (lambda f: cut(vector_file(f, ".row")), "fewer than its 12 rows"),
    "a picture of nothing": (
        lambda f: keep_thumbnail(f, "unknown", 0, b"jpeg"),
        "belongs to no recording",
    ),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_damage_to_what_is_derived_is_found_and_mended(
    filled: Store, damage: Callable[[Path], object], message: str
) -> None:
    expected = [(h.observation.id, h.score) for h in filled.view().search("mug number 7")]
    filled.close()
    damage(filled.folder)
    with Store.open(filled.folder) as store:
        report = check(store)
        assert not report.ok
        assert any(message in finding.what and finding.repairable for finding in report.findings)
        assert not any(finding.repaired for finding in report.findings)
        assert check(store, repair=True).ok
        assert check(store).findings == ()
    with Store.open(filled.folder) as store:
        assert [
            (h.observation.id, h.score) for h in store.view().search("mug number 7")
        ] == expected
        ids, matrix = store.view().vectors("e")
        assert len(ids) == len(matrix) >= 11


def test_a_search_without_its_index_misses_nothing(filled: Store) -> None:
    expected = [h.observation.id for h in filled.view().search("mug number 7")]
    filled.close()
    segments(filled.folder)[1].unlink()
    with Store.open(filled.folder) as store:
        assert [h.observation.id for h in store.view().search("mug number 7")] == expected


def test_an_index_or_tally_that_differs_from_the_record(filled: Store) -> None:
    with filled.connection.transaction() as db:
        db.execute("UPDATE observation SET terms = 'blue', length = 1 WHERE n = 3")
        db.execute(
            f"UPDATE observation SET checksum = row_checksum({OBSERVATION_CHECKED}) WHERE n = 3"
        )
    parts = [finding.part for finding in check(filled).findings]
    assert parts == ["tally", "index"]
    assert check(filled, repair=True).ok
    assert check(filled).findings == ()
    assert filled.view().mean_length() == (11 * 4 + 1) / 12


def test_a_row_that_is_gone(filled: Store) -> None:
    with filled.connection.transaction() as db:
        db.execute("DELETE FROM observation WHERE n = 12")
    problems = check(filled, repair=True)
    assert [f.part for f in problems.findings] == ["tally", "index", "vectors"]
    assert problems.ok
    assert filled.view().count() == len(filled.view().vectors("e")[0]) == 11


def test_a_damaged_record_is_told_and_left_alone(filled: Store) -> None:
    filled.connection.db.execute("PRAGMA foreign_keys = OFF")
    filled.connection.db.execute("UPDATE observation SET track = 77 WHERE n = 3")
    report = check(filled, repair=True)
    assert ("record", False) in [(f.part, f.repairable) for f in report.findings]
    assert not report.ok
