"""What errors of SQLite and of the disk mean to a user: one line with a remedy."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from egomem.errors import DamagedError, FullError, LockedError, StoreError, UsageError
from egomem.sqlite_errors import is_out_of_space, sqlite_fault

DATABASE_NAME = "memory.db"


@contextmanager
def translated_errors(folder: Path) -> Iterator[None]:
    """Raise errors of SQLite and the disk as a StoreError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(folder) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise cannot_write(folder) from error
        raise
    except sqlite3.ProgrammingError as error:
        if "closed database" not in str(error):
            raise
        raise UsageError(f"the memory at {folder} has been closed", "open it again") from error
    except sqlite3.DatabaseError as error:
        fault = sqlite_fault(error)
        if fault == "full" and (is_out_of_space(error) or _disk_is_full(folder)):
            raise _full(folder) from error
        if fault == "unwritable":
            raise cannot_write(folder) from error
        if fault == "busy":
            raise LockedError(f"{folder} is in use by another program", "try again") from error
        if fault == "damaged":
            raise DamagedError(
                f"{folder / DATABASE_NAME} is damaged ({error})",
                "restore it from a backup; run: egomem check",
            ) from error
        raise StoreError(f"{folder / DATABASE_NAME}: {error}", "run: egomem check") from error


def _full(folder: Path) -> FullError:
    return FullError(
        f"the disk that holds {folder} is full",
        "nothing that was remembered is lost; free some space and run it again",
    )


def not_as_written(folder: Path) -> DamagedError:
    return DamagedError(
        f"{folder / DATABASE_NAME} is not what was written",
        "restore it from a backup; run: egomem check",
    )


def cannot_write(folder: Path) -> FullError:
    return FullError(
        f"cannot write to {folder}",
        "nothing was lost; make the folder writable, or use another with --memory",
    )


def _disk_is_full(folder: Path) -> bool:
    """A write past a quota or a file-size limit reads as an input/output error."""
    try:
        probe = folder / ".space"
        probe.write_bytes(b"\0" * 65536)
    except OSError:
        return True
    probe.unlink()
    return False
