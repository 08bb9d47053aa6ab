"""Opening `memory.db`, and what its faults mean to a user."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from egomem.errors import DamagedError, FullError, LockedError, StoreError, UsageError

DATABASE_NAME = "memory.db"


def connect(folder: Path, *, wait: float, read_only: bool) -> sqlite3.Connection:
    """A connection in autocommit mode, shared by threads under the caller's lock.

    Write-ahead logging lets readers work while one writes; FULL makes a commit wait for the disk.
    """
    path = (folder / DATABASE_NAME).resolve()
    uri = path.as_uri()
    if read_only:
        # Without its WAL files a database in a folder that cannot change will not change either.
        uri += "?mode=ro" if Path(f"{path}-wal").exists() else "?immutable=1"
    db = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
    with translated_errors(folder):
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA cache_size = -16384")
        if not read_only:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
    return db


def writable(folder: Path) -> bool:
    database = folder / DATABASE_NAME
    return os.access(folder, os.W_OK) and (not database.exists() or os.access(database, os.W_OK))


@contextmanager
def translated_errors(folder: Path) -> Iterator[None]:
    """Turns faults of SQLite and the disk into one line with a remedy; transactions are undone."""
    try:
        yield
    except OSError as fault:
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(folder) from fault
        if fault.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise cannot_write(folder) from fault
        raise
    except sqlite3.ProgrammingError as fault:
        if "closed database" not in str(fault):
            raise
        raise UsageError(f"the memory at {folder} has been closed", "open it again") from fault
    except sqlite3.DatabaseError as fault:
        code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(folder)):
            raise _full(folder) from fault
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            raise cannot_write(folder) from fault
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise LockedError(f"{folder} is in use by another program", "try again") from fault
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DamagedError(
                f"{folder / DATABASE_NAME} is damaged ({fault})",
                "restore it from a backup; run: egomem check",
            ) from fault
        raise StoreError(f"{folder / DATABASE_NAME}: {fault}", "run: egomem check") from fault


def _full(folder: Path) -> FullError:
    return FullError(
        f"the disk that holds {folder} is full",
        "nothing that was remembered is lost; free some space and run it again",
    )


def cannot_write(folder: Path) -> FullError:
    return FullError(
        f"cannot write to {folder}",
        "nothing was lost; make the folder writable, or use another with --memory",
    )


def _is_full(folder: Path) -> bool:
    """A write past a quota or a file-size limit reads as an input/output error."""
    try:
        probe = folder / ".space"
        probe.write_bytes(b"\0" * 65536)
    except OSError:
        return True
    probe.unlink()
    return False
