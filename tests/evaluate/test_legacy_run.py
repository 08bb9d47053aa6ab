"""Folders of earlier versions: read as they are, and imported once when a run goes on in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.evaluate import Arm
from egomem.evaluate.export import write_answers
from egomem.evaluate.legacy_run import ANSWERS, CAPTION_USAGE, USAGE, read_legacy
from egomem.evaluate.measures import ascii_json
from egomem.evaluate.run_db import NAME, UNREADABLE, RunDatabase, read_run
from egomem.evaluate.stored_run import Finished, StoredRun
from egomem.records import Usage

CLEAN, VIDEO = (Arm(setting=s, reader="ollama:x") for s in ("clean", "video"))
Make = Callable[..., Finished]
ORDER = [(id, arm) for id in ("q1", "q2") for arm in (CLEAN, VIDEO)]


@pytest.fixture
def old(tmp_path: Path, finished: Make) -> StoredRun:
    """What a finished run of an earlier version has left in `tmp_path`, with a replaced answer."""
    folder = tmp_path / "new"
    folder.mkdir()
    with RunDatabase.open(folder) as record:
        record.add(finished("q1", CLEAN, part="before"))
        for n, (id, arm) in enumerate(ORDER):
            record.add(finished(id, arm, seconds=n + 0.5))
        record.add_caption_usage({"request": Usage(requests=2)})
        stored = record.stored
    write_answers(tmp_path, stored, ORDER)
    row = {"request": "request", "usage": Usage(requests=2).model_dump(mode="json")}
    (tmp_path / CAPTION_USAGE).write_text(ascii_json(row) + "\n")
    return stored


def test_text_files_hold_all_of_a_run(tmp_path: Path, old: StoredRun) -> None:
    assert read_legacy(tmp_path) == read_run(tmp_path) == old
    assert not (tmp_path / NAME).exists()


def test_a_folder_is_imported_once_and_says_so(tmp_path: Path, old: StoredRun) -> None:
    texts = {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    notes: list[str] = []
    with RunDatabase.open(tmp_path, notes.append) as record:
        assert record.stored == old
        write_answers(tmp_path, record.stored, ORDER)
    assert notes == [f"{tmp_path}: imported 4 answers of an earlier version"]
    assert texts == {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    (tmp_path / ANSWERS).unlink()
    with RunDatabase.open(tmp_path, notes.append) as record:
        assert record.stored == old
    assert len(notes) == 1
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    RunDatabase.open(fresh, notes.append).close()
    assert len(notes) == 1


def test_a_run_of_an_earlier_version_that_was_killed(tmp_path: Path, finished: Make) -> None:
    """Its lines hold all of a trial; the last is torn, and one is of an answer replaced since."""
    cells = [finished(id, arm, part="a").model_copy(update={"at": "t"}) for id, arm in ORDER]
    first = finished("q1", CLEAN, part="before").model_copy(update={"at": "s"})
    lines = [ascii_json(cell.model_dump(mode="json")).encode() for cell in (first, *cells)]
    torn = lines.pop()[:-20]
    (tmp_path / ANSWERS).write_bytes(b"\n".join([*lines, b"\x00\x00", torn]))
    stored = read_run(tmp_path)
    assert list(stored.cells) == ORDER[:-1]
    assert stored.cells[ORDER[1]] == cells[1]
    assert stored.unreadable == (5, 6)
    assert [row.parts for row in stored.earlier.values()] == [{"question": "before"}]
    notes: list[str] = []
    RunDatabase.open(tmp_path, notes.append).close()
    assert notes[0].endswith(
        "; 2 lines of answers.jsonl could not be read, and went to " + UNREADABLE
    )
    assert (tmp_path / UNREADABLE).read_bytes() == b"\x00\x00\n" + torn + b"\n"
    for path in tmp_path.glob("run.db*"):  # killed before it was committed
        path.unlink()
    RunDatabase.open(tmp_path).close()
    assert (tmp_path / UNREADABLE).read_bytes() == b"\x00\x00\n" + torn + b"\n"


@pytest.mark.parametrize("damage", ["gone", "torn", "other"])
def test_a_lost_measure_is_counted_and_the_answer_stays(
    tmp_path: Path, old: StoredRun, damage: str
) -> None:
    file = tmp_path / USAGE
    if damage == "gone":
        file.unlink()
    else:
        rows = file.read_bytes().split(b"\n")
        rows[1] = rows[1][:40] if damage == "torn" else b'{"question": 3, "column": []}'
        file.write_bytes(b"\n".join(rows))
    with RunDatabase.open(tmp_path):
        pass
    stored = read_run(tmp_path)
    assert stored.unmeasured == (4 if damage == "gone" else 1)
    assert {cell.answer.choice for cell in stored.cells.values()} == {"B"}
    assert stored.cells[ORDER[1]].usage == Usage()
