"""The ledger of what was spent, in `spending.db` in the folder of a memory or a run.

It lies apart from the cached replies: without those a budget is still kept to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from egomem.memory.reply_file import ReplyFile
from egomem.models import LedgerEntry, Role
from egomem.records import Usage

NAME = "spending.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS spent (
    at TEXT NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL, recording TEXT, question TEXT,
    status TEXT NOT NULL, cached INTEGER NOT NULL, requests INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    frames INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL, unpriced INTEGER NOT NULL,
    estimate REAL
);
"""
_USAGE = tuple(Usage.model_fields)
# Ledgers of before lie in `replies.db`, an entry for each reply: they have no sums.
_EARLIER_USAGE = tuple(name for name in _USAGE if name != "unpriced")


class SpendingLedger:
    """The ledger of one folder; the file is made by the first entry. `close` it."""

    def __init__(self, folder: Path, wait: float = 10.0) -> None:
        self._file = ReplyFile(Path(folder) / NAME, _SCHEMA, wait)

    def record(self, entry: LedgerEntry) -> None:
        usage = entry.usage
        values = (
            datetime.now(UTC).isoformat(timespec="milliseconds"),
            entry.role.value,
            entry.model,
            entry.recording,
            entry.question,
            entry.status.value,
            int(entry.cached),
            *(getattr(usage, name) for name in _USAGE),
            entry.estimate,
        )
        columns = "at, role, model, recording, question, status, cached"
        marks = ", ".join("?" * len(values))
        self._file.write(
            f"INSERT INTO spent({columns}, {', '.join(_USAGE)}, estimate) VALUES ({marks})", *values
        )

    def entries(self) -> list[LedgerEntry]:
        """All entries, oldest first."""
        rows = self._file.read(
            f"SELECT role, model, recording, question, status, cached, estimate, "
            f"{', '.join(_USAGE)} FROM spent ORDER BY rowid"
        )
        return [_entry(row[:6], dict(zip(_USAGE, row[7:], strict=True)), row[6]) for row in rows]

    def forget(self, recordings: Iterable[str]) -> None:
        """Delete the entries of recordings: they name what is to be forgotten."""
        with self._file.transaction() as db:
            if db is not None:
                rows = [(recording,) for recording in recordings]
                db.executemany("DELETE FROM spent WHERE recording = ?", rows)
        self._file.scrub()

    def close(self) -> None:
        self._file.close()


def earlier_entries(replies: ReplyFile) -> list[LedgerEntry]:
    """The entries that a release before this one wrote into the file of replies."""
    if not replies.read("SELECT 1 FROM sqlite_master WHERE name = 'spent'"):
        return []
    rows = replies.read(
        f"SELECT role, model, recording, question, status, cached, {', '.join(_EARLIER_USAGE)}"
        " FROM spent ORDER BY rowid"
    )
    return [_entry(row[:6], dict(zip(_EARLIER_USAGE, row[6:], strict=True)), None) for row in rows]


def forget_earlier(db: sqlite3.Connection, recordings: Iterable[str]) -> None:
    """Delete the entries of recordings from the file of replies."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'spent'").fetchone():
        rows = [(recording,) for recording in recordings]
        db.executemany("DELETE FROM spent WHERE recording = ?", rows)


def _entry(row: tuple[str, ...], usage: dict[str, float], estimate: float | None) -> LedgerEntry:
    role, model, recording, question, status, cached = row
    return LedgerEntry.model_validate(
        {
            "role": Role(role),
            "model": model,
            "recording": recording,
            "question": question,
            "status": status,
            "cached": bool(cached),
            "usage": Usage.model_validate(usage),
            "estimate": estimate,
        }
    )
