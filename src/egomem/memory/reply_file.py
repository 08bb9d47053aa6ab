"""A SQLite file beside a memory's record: written late where another program holds it.

What is written there was paid for, so a lock never loses it: it is kept in memory, tried again at
the next write and at the end, and then left in a file that the next opening takes in.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from egomem.errors import LockedError, StoreError, UsageError
from egomem.memory.checksums import row_checksum
from egomem.memory.permissions import open_private

LATE_SUFFIX = ".late.jsonl"
"""Ends the name of a file with rows that could not be written before their program ended."""

KEEP = (
    "what it holds was paid for: restore it from a copy, or move it elsewhere to go on without it"
)
_BUSY = "close the program that uses it, and run the same command again"
_WRITE_WAIT_S = 2.0


class ReplyFile:
    """One file; made on the first write. Threads may share it.

    In a read-only folder it reads and writes nothing. `wait` is how many seconds it waits for
    another program; a single row waits 2 s at most, as it can be written later.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        wait: float,
        *,
        prepare: Callable[[sqlite3.Connection], None] = lambda db: None,
    ) -> None:
        self.path = path
        self._schema = schema
        self._wait = wait
        self._prepare = prepare
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._closed = False
        self._late: list[tuple[str, tuple[Any, ...]]] = []

    @property
    def writable(self) -> bool:
        # Asked each time: a memory's folder is made by the first ingest.
        return os.access(self.path.parent, os.W_OK)

    def read(self, sql: str, *values: Any) -> list[Any]:
        with self._lock, self._faults():
            db = self._connection(create=False)
            return db.execute(sql, values).fetchall() if db else []

    def write(self, sql: str, *values: Any) -> bool:
        """Run a statement; False where another program holds the file, so that it comes later."""
        with self._lock, self._faults():
            if self._closed:
                raise UsageError(f"the replies at {self.path} have been closed", "open them again")
            if not self.writable:
                return True
            rows = [*self._late, (sql, values)]
            # Only the first write waits long: a batch is not to stop at each of its replies.
            written = self._write(rows, 0.0 if self._late else min(self._wait, _WRITE_WAIT_S))
            self._late = [] if written else rows
            return written

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection | None]:
        """A transaction that is committed at the end; None where there is nothing to change."""
        with self._lock, self._faults():
            if self._late and not self._write(self._late, self._wait):
                raise sqlite3.OperationalError("database is locked")
            self._late = []
            db = self._connection(create=False) if self.writable else None
            if db is None:
                yield None
                return
            with db:
                db.execute("BEGIN IMMEDIATE")
                yield db

    def scrub(self) -> None:
        """Leave no deleted bytes behind: not in free pages, not in the write-ahead log."""
        with self._lock, self._faults():
            db = self._connection(create=False)
            if db is not None:
                db.execute("VACUUM")
                busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if busy:
                    raise LockedError(
                        f"{self.path} still holds deleted bytes: another program is reading it",
                        "close that program and run it again",
                    )

    def close(self) -> None:
        with self._lock:
            if self._late and not self._write(self._late, self._wait):
                self._leave_rows()
            self._late = []
            self._closed = True
            if self._db is not None:
                self._db.close()
                self._db = None

    def _write(self, rows: list[tuple[str, tuple[Any, ...]]], wait: float) -> bool:
        try:
            db = self._connection(create=True)
            if db is None:
                return True
            db.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
            try:
                if len(rows) == 1:
                    db.execute(*rows[0])
                    return True
                with db:
                    db.execute("BEGIN IMMEDIATE")
                    for row in rows:
                        db.execute(*row)
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(self._wait * 1000)}")
        except sqlite3.OperationalError as error:
            if _is_locked(error):
                return False
            raise
        return True

    def _leave_rows(self) -> None:
        path = self.path.with_name(f"{self.path.name}.{os.getpid()}{LATE_SUFFIX}")
        with os.fdopen(open_private(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY), "w") as file:
            for row in self._late:
                file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _take_in(self, db: sqlite3.Connection) -> None:
        """Write the rows that earlier programs left; a file goes once its rows are in."""
        for path in sorted(self.path.parent.glob(f"{self.path.name}.*{LATE_SUFFIX}")):
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
            with suppress(sqlite3.OperationalError):
                with db:
                    db.execute("BEGIN IMMEDIATE")
                    for sql, values in rows:
                        db.execute(sql, values)
                path.unlink()

    def _connection(self, create: bool) -> sqlite3.Connection | None:
        if self._closed:
            raise UsageError(f"the replies at {self.path} have been closed", "open them again")
        if self._db is None:
            left = any(self.path.parent.glob(f"{self.path.name}.*{LATE_SUFFIX}"))
            if not self.path.exists() and not ((create or left) and self.writable):
                return None
            self._db = self._connect()
        return self._db if self.writable or not create else None

    def _connect(self) -> sqlite3.Connection:
        mode = "rwc" if self.writable else "ro&immutable=1"
        if self.writable and not self.path.exists():
            os.close(open_private(self.path, os.O_CREAT | os.O_RDWR))
        db = sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode={mode}",
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            db.create_function("row_checksum", -1, row_checksum, deterministic=True)
            if self.writable:
                # NORMAL: a power cut may lose the last rows, a killed program none.
                for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                    db.execute(f"PRAGMA {pragma}")
                db.executescript(self._schema)
                self._prepare(db)
                self._take_in(db)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if _is_locked(error):
                raise LockedError(f"{self.path} is in use by another program", _BUSY) from None
            raise StoreError(f"{self.path}: {error}", KEEP) from None
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}", KEEP) from None


def _is_locked(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
