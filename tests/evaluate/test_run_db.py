"""run.db: every acknowledged answer is in it once, whatever ends the process or the disk."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from egomem.errors import DamagedError, FullError, StoreError
from egomem.evaluate import Arm
from egomem.evaluate.run_db import NAME, RunDatabase, read_run
from egomem.evaluate.stored_run import Finished, StoredRun
from egomem.records import Usage

CLEAN, VIDEO = (Arm(setting=s, reader="ollama:x") for s in ("clean", "video"))
Make = Callable[..., Finished]
ORDER = [(id, arm) for id in ("q1", "q2") for arm in (CLEAN, VIDEO)]


def test_what_was_stored_is_read_back(tmp_path: Path, finished: Make) -> None:
    with RunDatabase.open(tmp_path) as record:
        for n, (id, arm) in enumerate(reversed(ORDER)):
            base = finished("", CLEAN, seconds=9.5).answer if n else None
            record.add(finished(id, arm, seconds=n + 0.25).model_copy(update={"base": base}))
        record.add_caption_usage({"request 1": Usage(requests=1, tokens_in=3)})
        while_open = read_run(tmp_path)
        stored = record.stored
    assert while_open == read_run(tmp_path) == stored
    assert list(stored.cells) == ORDER[::-1]
    assert all(cell.at and cell.version for cell in stored.cells.values())
    assert stored.cells[ORDER[0]].usage.seconds == 3.25
    base = stored.cells[ORDER[0]].base
    assert base is not None
    assert base.usage.seconds == 9.5
    assert stored.caption_usage == {"request 1": Usage(requests=1, tokens_in=3)}
    with RunDatabase.open(tmp_path) as record:
        assert record.stored == stored
    assert {path.name for path in tmp_path.iterdir()} == {NAME}


def test_the_order_of_the_questions_comes_first_and_other_settings_behind(
    tmp_path: Path, finished: Make
) -> None:
    other = Arm(setting="caption@30", reader="ollama:x")
    with RunDatabase.open(tmp_path) as record:
        for arm in (other, VIDEO, CLEAN):
            record.add(finished("q1", arm))
        record.put_in_order([("q0", CLEAN), ("q1", CLEAN), ("q1", VIDEO)])
        assert [arm for _, arm in record.stored.cells] == [CLEAN, VIDEO, other]
        record.add(finished("q0", CLEAN))
    assert list(read_run(tmp_path).cells) == [
        ("q1", CLEAN), ("q1", VIDEO), ("q1", other), ("q0", CLEAN)
    ]  # fmt: skip


def test_an_answer_that_is_replaced_leaves_its_keys_behind(tmp_path: Path, finished: Make) -> None:
    """Two are replaced twice; what was measured last comes first, in the order of the answers."""
    keys = [("q1", CLEAN), ("q2", CLEAN)]
    for n, part in enumerate(("first", "second", "third")):
        with RunDatabase.open(tmp_path) as record:
            for id, arm in keys[:: -1 if n % 2 else 1]:
                record.add(finished(id, arm, part=part, seconds=n))
            record.put_in_order(keys)
    stored = read_run(tmp_path)
    assert [(row.key[0], row.parts["question"]) for row in stored.earlier.values()] == [
        ("q1", "second"), ("q2", "second"), ("q1", "first"), ("q2", "first")
    ]  # fmt: skip
    keys_found = [
        stored.reply_keys(keys[0], {"question": part}) for part in ("first", "third", "never")
    ]
    assert keys_found == [["key-first"], ["key-third"], []]
    with RunDatabase.open(tmp_path) as record:
        record.add(finished("q1", CLEAN, part="first"))
    assert {row.parts["question"] for row in read_run(tmp_path).earlier.values()} == {
        "first", "second", "third"
    }  # fmt: skip
    assert len(read_run(tmp_path).earlier) == 4


def test_a_full_disk_loses_nothing(tmp_path: Path, finished: Make) -> None:
    with RunDatabase.open(tmp_path) as record:
        record.add(finished("q1", CLEAN))
        (pages,) = record._db.execute("PRAGMA page_count").fetchone()
        record._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        acknowledged = ["q1"]

        def fill() -> None:
            for n in range(2, 1000):
                record.add(finished(f"q{n}", CLEAN))
                acknowledged.append(f"q{n}")

        with pytest.raises(FullError, match="nothing that was finished is lost") as full:
            fill()
        assert len(acknowledged) < 100
        assert str(tmp_path / NAME) in str(full.value)
        assert [id for id, _ in record.stored.cells] == acknowledged
        record._db.execute("PRAGMA max_page_count = 100000")  # room was made
        record.add(finished("last", CLEAN))
    assert [id for id, _ in read_run(tmp_path).cells] == [*acknowledged, "last"]


KILLED = """
import json, os, pathlib, random, signal, sys, time
from egomem.evaluate.run_db import RunDatabase
from egomem.evaluate.stored_run import Finished

folder, finished = pathlib.Path(sys.argv[1]), Finished.model_validate_json(sys.argv[2])
draw, acknowledged = random.Random(3), []
for round in range(25):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with RunDatabase.open(folder) as record:
            for n in range(100_000):
                id = f"{round}-{n}"
                record.add(finished.model_copy(update={"question": id}))
                os.write(writer, f"{id}\\n".encode())
    os.close(writer)
    first = os.read(reader, 1)  # it writes; it is killed at some moment of the next answers
    time.sleep(draw.uniform(0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reader) as lines:
        acknowledged += (first.decode() + lines.read()).split()
print(json.dumps(acknowledged))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_run_killed_again_and_again_while_it_writes_has_every_acknowledged_answer_once(
    tmp_path: Path,
    finished: Make,
) -> None:
    cell = finished("", CLEAN).model_dump_json()
    command = [sys.executable, "-c", KILLED, str(tmp_path), cell]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    acknowledged = json.loads(done.stdout)
    assert len({id.partition("-")[0] for id in acknowledged}) == 25
    with closing(sqlite3.connect(tmp_path / NAME)) as db:
        ids = [id for (id,) in db.execute("SELECT question FROM answer ORDER BY position")]
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(ids) == len(set(ids))
    assert [id for id in ids if id in set(acknowledged)] == acknowledged
    # One that was stored and not yet acknowledged may be there as well, one a round.
    assert len(set(ids) - set(acknowledged)) <= 25
    assert len(read_run(tmp_path).cells) == len(ids)


def test_a_merge_begun_again_starts_with_nothing(tmp_path: Path, finished: Make) -> None:
    with RunDatabase.open(tmp_path) as record:
        record.add(finished("q1", CLEAN))
    (tmp_path / "answers.jsonl").write_text("{}\n")
    with RunDatabase.create(tmp_path) as record:
        assert record.stored == StoredRun()
    assert {path.name for path in tmp_path.iterdir()} == {NAME}


def test_a_record_of_a_newer_egomem_is_refused(tmp_path: Path) -> None:
    RunDatabase.open(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / NAME)) as db:
        db.execute("PRAGMA user_version = 99")
    for read in (read_run, RunDatabase.open):
        with pytest.raises(StoreError, match=r"written by a newer egomem \(form 99, known: 1\)"):
            read(tmp_path)


def test_a_damaged_record_is_told_with_what_helps(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no database" * 1000)
    for read in (read_run, RunDatabase.open):
        with pytest.raises(
            DamagedError, match=r"answers\.jsonl and usage.jsonl beside it are read"
        ):
            read(tmp_path)


def test_a_folder_that_cannot_be_written_to_is_read(tmp_path: Path, finished: Make) -> None:
    with RunDatabase.open(tmp_path) as record:
        record.add(finished("q1", CLEAN))
    tmp_path.chmod(0o500)
    (tmp_path / NAME).chmod(0o400)
    try:
        assert list(read_run(tmp_path).cells) == [("q1", CLEAN)]
    finally:
        tmp_path.chmod(0o700)
