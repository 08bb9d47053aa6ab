"""What went wrong in SQLite, in the few kinds that a user can do something about."""

from __future__ import annotations

import sqlite3
from typing import Literal

SqliteFault = Literal["full", "unwritable", "busy", "damaged", "other"]

_FAULTS: dict[int, SqliteFault] = {
    sqlite3.SQLITE_FULL: "full",
    # A write past a quota or a limit of file sizes reads as an input/output error.
    sqlite3.SQLITE_IOERR: "full",
    sqlite3.SQLITE_READONLY: "unwritable",
    sqlite3.SQLITE_CANTOPEN: "unwritable",
    sqlite3.SQLITE_PERM: "unwritable",
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
}


def sqlite_fault(error: sqlite3.Error) -> SqliteFault:
    """The kind of an error. An input/output error counts as "full", and may be a bad disk."""
    # The low byte is the kind; the rest says which system call failed.
    return _FAULTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "other")


def is_out_of_space(error: sqlite3.Error) -> bool:
    """Whether SQLite itself says that the disk is full."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
