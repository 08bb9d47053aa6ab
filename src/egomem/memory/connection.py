"""The connection to `memory.db`: one writer at a time, all or nothing, shared by threads."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from egomem.errors import EgomemError
from egomem.memory.checksums import break_seal, row_checksum, seal
from egomem.memory.database_errors import DATABASE_NAME, cannot_write, translated_errors
from egomem.memory.lock import WriterLock
from egomem.memory.permissions import open_private


class Connection:
    """`memory.db` of a folder. Reading needs no lock; `writing` and `transaction` take it.

    `wait` is how long (s) a writer waits for another one. A folder that cannot be written to is
    opened to be read (`read_only`).
    """

    def __init__(self, folder: Path, *, wait: float) -> None:
        self.folder = folder
        self.read_only = not _writable(folder)
        self.changed = False
        self.lock = WriterLock(folder, wait)
        self._threads = threading.RLock()
        with translated_errors(folder):
            self.db = _connect(folder, wait=wait, read_only=self.read_only)

    def close(self) -> None:
        with self._threads:
            self.db.close()

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """The connection for this thread alone; errors say what to do."""
        with self._threads, translated_errors(self.folder):
            yield self.db

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out. Raises LockedError naming the holder, after waiting."""
        with self.lock.held():
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and on the disk when it ends. Raises FullError in a read-only folder."""
        # Before taking the lock, which would fail with a less helpful message.
        if self.read_only:
            raise cannot_write(self.folder)
        with self.lock.held(), self.exclusive() as db:
            break_seal(self.folder)
            self.changed = True
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """As `writing`, for what begins and ends its transactions by itself."""
        with self.lock.held(), self.exclusive() as db:
            break_seal(self.folder)
            self.changed = True
            yield db

    def seal(self) -> None:
        """Note the checksum of memory.db where this connection wrote to it.

        Another program that writes or reads at this moment keeps it from being noted.
        """
        if not self.changed:
            return
        lock = self.lock
        # Closing must not wait for others: whoever writes last seals.
        lock.wait, wait = 0.0, lock.wait
        try:
            with suppress(EgomemError, OSError), lock.held(), self.exclusive() as db:
                # With pages left in the log, the checksum of the file would be that of an older
                # state.
                (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not busy:
                    seal(self.folder)
                    self.changed = False
        finally:
            lock.wait = wait

    def select(self, sql: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.exclusive() as db:
            return db.execute(sql, tuple(values)).fetchall()


def _connect(folder: Path, *, wait: float, read_only: bool) -> sqlite3.Connection:
    """A connection in autocommit mode, so that each transaction is begun and ended explicitly."""
    path = (folder / DATABASE_NAME).resolve()
    uri = path.as_uri()
    if read_only:
        # Without its WAL files a database in a folder that cannot change will not change either.
        uri += "?mode=ro" if Path(f"{path}-wal").exists() else "?immutable=1"
    if not read_only and not path.exists():
        # SQLite would make it for all to read; its log gets the permissions of the database.
        os.close(open_private(path, os.O_CREAT | os.O_RDWR))
    db = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        _configure(db, read_only=read_only)
    except BaseException:
        db.close()
        raise
    return db


def _configure(db: sqlite3.Connection, *, read_only: bool) -> None:
    # SQLite leaves it off unless each connection asks.
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA cache_size = -16384")
    db.create_function("row_checksum", -1, row_checksum, deterministic=True)
    if not read_only:
        # Write-ahead logging lets readers work while one writes; FULL makes a commit wait for the
        # disk; secure_delete overwrites what is forgotten.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")


def _writable(folder: Path) -> bool:
    database = folder / DATABASE_NAME
    return os.access(folder, os.W_OK) and (not database.exists() or os.access(database, os.W_OK))
