"""Whether memory.db is what was written: its pages, its rows, the ids of what they hold."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from egomem.memory import rows
from egomem.memory.checksums import (
    OBSERVATION_CHECKED,
    RECORDING_CHECKED,
    TRACK_CHECKED,
    row_checksum,
    seal_holds,
)
from egomem.memory.forget import finish_forgetting, recount_tally
from egomem.memory.reader import MemoryReader
from egomem.records import Observation

MAX_FINDINGS = 20
"""Of a kind; more of them say no more."""
_BATCH = 5000


def damaged_record(store: MemoryReader) -> Iterator[str]:
    """What is wrong with memory.db."""
    if seal_holds(store.folder) is False:
        yield "memory.db is not what was written"
    try:
        yield from _pages(store)
        yield from _rows(store)
        yield from _dependencies(store)
    except sqlite3.DatabaseError as error:
        yield f"memory.db cannot be read: {error}"


def _pages(store: MemoryReader) -> Iterator[str]:
    for (line,) in store.connection.db.execute(f"PRAGMA integrity_check({MAX_FINDINGS})"):
        if line != "ok":
            yield f"memory.db: {line}"
    for table, _, parent, _ in store.connection.db.execute("PRAGMA foreign_key_check").fetchmany(
        MAX_FINDINGS
    ):
        yield f"memory.db: a row of {table} refers to a {parent} that is not there"


def _rows(store: MemoryReader) -> Iterator[str]:
    """Rows that are not what was written, and ids that are not of their observation's content."""
    db = store.connection.db
    for table, columns in (("recording", RECORDING_CHECKED), ("track", TRACK_CHECKED)):
        wrong = 0
        for *values, checksum in db.execute(f"SELECT {columns}, checksum FROM {table}"):
            wrong += row_checksum(*values) != checksum
        if wrong:
            yield f"memory.db: {wrong} of table {table} are not what was written"
    wrong, false_ids = 0, 0
    columns = ", ".join(f"o.{name}" for name in OBSERVATION_CHECKED.split(", "))
    cursor = db.execute(
        f"SELECT {columns}, o.checksum, r.id, t.source, t.id FROM observation o NOT INDEXED "
        "LEFT JOIN recording r ON r.number = o.recording LEFT JOIN track t ON t.number = o.track"
    )
    while batch := cursor.fetchmany(_BATCH):
        for *values, checksum, recording, source, track in batch:
            if row_checksum(*values) != checksum:
                wrong += 1
            elif not _is_of_its_content(values, recording, source, track):
                false_ids += 1
    if wrong:
        yield f"memory.db: {wrong} observations are not what was written"
    if false_ids:
        yield f"memory.db: {false_ids} ids that are not of the content of their observation"


def _is_of_its_content(
    values: list[object], recording: str | None, source: str, track: str
) -> bool:
    id, _, wearer, _, start, end, text, data, *_ = values
    row = (id, recording, wearer, start, end, text, source, track, data, "{}")
    try:
        o: Observation = rows.read_observation(row)
    except (ValueError, TypeError):
        return False
    del o.__dict__["id"]  # it is read along with the row; here it is computed
    return o.id == id


def _dependencies(store: MemoryReader) -> Iterator[str]:
    """Whether the table of what rests on what agrees with the observations."""
    db = store.connection.db
    listed: set[tuple[int, str]] = set(db.execute("SELECT n, basis FROM rests_on"))
    stated: set[tuple[int, str]] = set()
    for n, provenance in db.execute(
        "SELECT n, provenance FROM observation NOT INDEXED WHERE provenance LIKE '%rests_on%'"
    ):
        try:
            stated |= {(n, basis) for basis in json.loads(provenance)["rests_on"]}
        except (ValueError, KeyError, TypeError):
            continue  # its row is not what was written, which is said above
    # A basis that was forgotten is listed no more.
    missing = {
        (n, basis)
        for n, basis in stated - listed
        if db.execute("SELECT 1 FROM observation WHERE id = ? LIMIT 1", (basis,)).fetchone()
    }
    if wrong := len(missing) + len(listed - stated):
        yield f"memory.db: {wrong} lines of table rests_on differ from the observations"


def unfinished_forgetting(store: MemoryReader) -> Iterator[str]:
    (mark,) = store.connection.db.execute(
        "SELECT value FROM state WHERE name = 'forgetting'"
    ).fetchone()
    if mark:
        yield "something was being forgotten when the program stopped; traces of it are left"


def repair_forgetting(store: MemoryReader) -> None:
    finish_forgetting(store.connection)


_TALLY = (
    "SELECT recording, track, count(*), sum(length), min(start), max(end) "
    "FROM observation GROUP BY recording, track"
)


def wrong_tally(store: MemoryReader) -> Iterator[str]:
    (wrong,) = store.connection.db.execute(
        f"SELECT (SELECT count(*) FROM (SELECT * FROM tally EXCEPT {_TALLY})) "
        f"+ (SELECT count(*) FROM ({_TALLY} EXCEPT SELECT * FROM tally))"
    ).fetchone()
    if wrong:
        yield f"the tally differs from the observations in {wrong} lines"


def repair_tally(store: MemoryReader) -> None:
    with store.connection.transaction() as db:
        lines = db.execute(
            "SELECT recording FROM tally UNION SELECT DISTINCT recording FROM observation"
        ).fetchall()
        for (line,) in lines:
            recount_tally(db, line)
        db.execute("UPDATE state SET value = value + 1 WHERE name = 'recordings'")
