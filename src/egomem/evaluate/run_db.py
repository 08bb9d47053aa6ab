"""`run.db` in a run's folder: the record of a run, durable answer by answer.

The caller holds the run's lock while a `RunDatabase` is open; `read_run` disturbs no writer.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from egomem.errors import DamagedError, FullError, LockedError, StoreError, reason
from egomem.evaluate import run_tables as tables
from egomem.evaluate.legacy_run import ANSWERS, CAPTION_USAGE, USAGE, read_legacy
from egomem.evaluate.stored_run import (
    Finished,
    StoredRun,
    TrialKey,
    earlier_measures,
    place,
)
from egomem.evaluate.versions import version
from egomem.records import Usage
from egomem.sqlite_errors import sqlite_fault
from egomem.text import plural

NAME = "run.db"
UNREADABLE = "answers.unreadable"
"""Where lines of an earlier version's `answers.jsonl` go that are no answer."""


class RunDatabase:
    """A run's record, open for writing. `stored` is what it holds, kept in step with it.

    Whoever opens it closes it, or uses it as a context manager.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self._path = folder / NAME
        self._db = db
        self.stored = tables.read(db)
        self._next = tables.next_position(db)

    @classmethod
    def open(cls, folder: Path, on_note: Callable[[str], None] = lambda line: None) -> RunDatabase:
        """Open a folder's record; make it where there is none, and import that of an earlier
        version, which `on_note` is told.

        Raises FullError, DamagedError, and StoreError where a newer egomem wrote it.
        """
        path = folder / NAME
        with _faults(path):
            db = sqlite3.connect(path, isolation_level=None)
            try:
                db.execute("PRAGMA journal_mode = WAL")
                # A commit waits for the disk, so that an answer once acknowledged survives a power
                # cut. NORMAL would save one fsync an answer and could lose the last ones, whose
                # replies in replies.db may be lost with them: they would be paid for twice.
                db.execute("PRAGMA synchronous = FULL")
                if _version(path, db) == 0:
                    _begin(folder, db, on_note)
                return cls(folder, db)
            except BaseException:
                db.close()
                raise

    @classmethod
    def create(cls, folder: Path) -> RunDatabase:
        """An empty record, in the place of whatever a merge that was killed has left."""
        for name in (NAME, f"{NAME}-wal", f"{NAME}-shm", ANSWERS, USAGE, CAPTION_USAGE):
            with _faults(folder / name):
                (folder / name).unlink(missing_ok=True)
        return cls.open(folder)

    def add(self, cell: Finished) -> None:
        """Store an answer; it is on the disk when this returns. Raises FullError."""
        cell = cell.model_copy(
            update={
                "at": cell.at or datetime.now(UTC).isoformat(timespec="milliseconds"),
                "version": cell.version or version(),
            }
        )
        cells, earlier = self.stored.cells, self.stored.earlier
        before = cells.get(cell.key)
        replaced = before if before and before.parts != cell.parts else None
        with self._transaction():
            if replaced:
                tables.keep_measures(self._db, replaced.key)
            tables.put(self._db, cell, self._next)
        self._next += before is None
        cells[cell.key] = cell
        earlier.pop(place(cell.key, cell.parts), None)
        if replaced:
            row = earlier_measures(replaced)
            earlier[place(row.key, row.parts)] = row

    def add_run(self, other: StoredRun) -> None:
        """Store all that another run has stored, in its order; all or nothing. Raises FullError."""
        with self._transaction():
            tables.put_run(self._db, other, self._next)
        self.stored = tables.read(self._db)
        self._next = tables.next_position(self._db)

    def add_caption_usage(self, by_request: Mapping[str, Usage]) -> None:
        """Store what captions took, by the keys of their requests. Raises FullError."""
        with self._transaction():
            tables.put_caption_usage(self._db, by_request)
        self.stored.caption_usage.update(by_request)

    def put_in_order(self, order: Iterable[TrialKey]) -> None:
        """Put the answers of `order` first; the others follow as they are. Raises FullError."""
        cells = self.stored.cells
        keys = list(dict.fromkeys([*(key for key in order if key in cells), *cells]))
        if keys == list(cells) and not self.stored.earlier:
            return
        with self._transaction():
            tables.put_in_order(self._db, keys)
            self.stored.earlier = tables.read_earlier(self._db)
        self.stored.cells = {key: cells[key] for key in keys}
        self._next = tables.next_position(self._db)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _faults(self._path), _transaction(self._db, "IMMEDIATE"):
            yield


def read_run(folder: Path) -> StoredRun:
    """What a run's folder has stored, in `run.db` or in the files of an earlier version. Nothing is
    changed, and a run that goes on meanwhile is not disturbed."""
    path = folder / NAME
    if path.is_file():
        # One transaction, so that all that is read is of one moment.
        with _faults(path), closing(_connect_to_read(path)) as db, _transaction(db, "DEFERRED"):
            if _version(path, db):
                return tables.read(db)
    return read_legacy(folder)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that changes no table. In a folder that can be written to it may make the files
    of the write-ahead log, without which what a run is writing cannot be read."""
    uri = path.resolve().as_uri()
    if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        mode = "mode=rw"
    else:
        mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    db = sqlite3.connect(f"{uri}?{mode}", uri=True, isolation_level=None)
    try:
        db.execute("PRAGMA query_only = ON")
    except BaseException:
        db.close()
        raise
    return db


def _begin(folder: Path, db: sqlite3.Connection, on_note: Callable[[str], None]) -> None:
    """Make the tables and import the files of an earlier version, all or nothing."""
    old = read_legacy(folder)
    if old.unreadable_lines:  # nothing is thrown away when answers.jsonl is written anew
        _put_aside(folder / UNREADABLE, old.unreadable_lines)
    with _transaction(db, "IMMEDIATE"):
        for statement in tables.SCHEMA:
            db.execute(statement)
        tables.put_run(db, old, 0)
        db.execute(f"PRAGMA user_version = {tables.VERSION}")
    if old.cells or old.caption_usage:
        note = f"{folder}: imported {plural(len(old.cells), 'answer')} of an earlier version"
        if old.unreadable:
            lines = plural(len(old.unreadable), "line")
            note += f"; {lines} of {ANSWERS} could not be read, and went to {UNREADABLE}"
        on_note(note)


def _put_aside(path: Path, lines: Iterable[bytes]) -> None:
    torn = b"".join(line + b"\n" for line in lines)
    before = path.read_bytes() if path.exists() else b""
    if not before.endswith(torn):  # an import that was killed is begun again
        path.write_bytes(before + torn)


def _version(path: Path, db: sqlite3.Connection) -> int:
    (number,) = db.execute("PRAGMA user_version").fetchone()
    if number > tables.VERSION:
        raise StoreError(
            f"{path} was written by a newer egomem (form {number}, known: {tables.VERSION})",
            "run: pip install --upgrade egomem",
        )
    return int(number)


@contextmanager
def _transaction(db: sqlite3.Connection, kind: str) -> Iterator[None]:
    db.execute(f"BEGIN {kind}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite itself undoes one that a full disk ended
            db.execute("ROLLBACK")
        raise


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    """Turns faults of SQLite and the disk into one line with a remedy."""
    try:
        yield
    except OSError as fault:
        raise _full(path, reason(fault)) from fault
    except sqlite3.DatabaseError as fault:
        kind = sqlite_fault(fault)
        if kind in ("full", "unwritable"):
            raise _full(path, str(fault)) from fault
        if kind == "busy":
            raise LockedError(f"{path} is in use by another program", "try again") from fault
        if kind == "damaged":
            raise DamagedError(
                f"{path} is damaged ({fault})",
                "restore it from a backup, or remove it: answers.jsonl and usage.jsonl beside it "
                "are read instead, and the same command answers what they lack",
            ) from fault
        raise StoreError(f"{path}: {fault}", "run the same command again") from fault


def _full(path: Path, why: str) -> FullError:
    return FullError(
        f"cannot write to {path}: {why}",
        "nothing that was finished is lost; make room and run the same command again",
    )
