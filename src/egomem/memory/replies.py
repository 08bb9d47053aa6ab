"""Cached model replies, in `replies.db` in the folder of a memory or a run.

It holds replies and hashes of requests (no text, no image); what was spent is in `spending.db`
beside it. A reply may repeat what a caption says, so forgetting covers it, too: see `forget`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import JsonValue, ValidationError

from egomem.errors import StoreError, UsageError
from egomem.memory.checksums import row_checksum
from egomem.memory.reply_file import KEEP, ReplyFile
from egomem.memory.spending import SpendingLedger, earlier_entries, forget_earlier
from egomem.models import LedgerEntry, LedgerTotal, Reply, RequestTags, Role, sum_entries
from egomem.text import normalise_phrase

NAME = "replies.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, made TEXT NOT NULL, recording TEXT, question TEXT,
    request TEXT NOT NULL, reply TEXT NOT NULL, checksum INTEGER
) WITHOUT ROWID;
"""


_COLUMNS = "key, made, recording, question, request, reply"
# Replies of before have no checksum.
_IS_SOUND = f"(checksum IS NULL OR checksum = row_checksum({_COLUMNS}))"


class CachedReply(NamedTuple):
    """A cached reply, and the hashed fields of the request that its key was made of."""

    key: str
    made: str
    request: dict[str, JsonValue]
    reply: Reply


class ReplyCacheStats(NamedTuple):
    """Size of the cache: `bytes` on disk; `spent` is the ledger by role."""

    replies: int
    bytes: int
    spent: dict[Role, LedgerTotal]


class ReplyCache:
    """The replies of one folder; the file is created on the first write. Threads may share it.

    Use it as a context manager, or `close` it. In a read-only folder it reads and adds nothing.
    `wait` is how many seconds it waits for another program's write.
    """

    def __init__(self, folder: Path, wait: float = 10.0) -> None:
        self._file = ReplyFile(Path(folder) / NAME, _SCHEMA, wait, prepare=_add_checksums)
        self._ledger = SpendingLedger(folder, wait)
        self._unwritten: dict[str, Reply] = {}

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def _log(self) -> int:
        """Bytes of the write-ahead log."""
        log = self.path.with_name(f"{NAME}-wal")
        return log.stat().st_size if log.exists() else 0

    def get(self, key: str) -> Reply | None:
        """The reply of a key; None where there is none, or where it is not what was written."""
        if (late := self._unwritten.get(key)) is not None:
            return late
        rows = self._file.read(f"SELECT reply, {_IS_SOUND} FROM replies WHERE key = ?", key)
        try:
            return Reply.model_validate_json(rows[0][0]) if rows and rows[0][1] else None
        except ValidationError:  # written by a release whose replies had other fields
            return None

    def put(self, reply: Reply, key_fields: Mapping[str, JsonValue], tags: RequestTags) -> None:
        row = (
            reply.key,
            datetime.now(UTC).isoformat(timespec="milliseconds"),
            tags.recording,
            tags.question,
            json.dumps(key_fields, ensure_ascii=False),
            reply.model_dump_json(),
        )
        written = self._file.write(
            f"INSERT OR REPLACE INTO replies({_COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *row,
            row_checksum(*row),
        )
        if written:
            self._unwritten.clear()  # what came late is written with it
        else:
            self._unwritten[reply.key] = reply

    def record(self, entry: LedgerEntry) -> None:
        self._ledger.record(entry)

    def entries(self) -> list[LedgerEntry]:
        """The ledger, oldest first."""
        return [*earlier_entries(self._file), *self._ledger.entries()]

    def stats(self) -> ReplyCacheStats:
        entries = self.entries()
        count = self._file.read("SELECT count(*) FROM replies")
        size = sum(p.stat().st_size for p in self.path.parent.glob(NAME + "*"))
        roles = sorted({entry.role for entry in entries})
        return ReplyCacheStats(
            count[0][0] if count else 0,
            size,
            {role: sum_entries(e for e in entries if e.role is role) for role in roles},
        )

    def latest(self, count: int = 10) -> list[CachedReply]:
        return self._kept("ORDER BY made DESC, key LIMIT ?", count)

    def find(self, key: str) -> CachedReply:
        """The reply whose key begins with `key`. Raises UsageError for none or several."""
        matches = self._kept("WHERE substr(key, 1, ?) = ? LIMIT 2", len(key), key)
        if len(matches) != 1:
            how = "more than one reply has" if matches else "no reply has"
            raise UsageError(f"{how} a key that begins with {key!r}", "run: egomem cache explain")
        return matches[0]

    def clear(self) -> int:
        """Delete all replies; returns how many. The ledger stays: the money is spent."""
        with self._file.transaction() as db:
            if db is None:
                return 0
            count = db.execute("DELETE FROM replies").rowcount
        self._file.scrub()
        return count

    def forget(
        self, recordings: Iterable[str] = (), texts: Iterable[str] = (), *, dry_run: bool = False
    ) -> int:
        """Delete every trace of recordings, and every reply that repeats one of `texts`.

        Case, width and spaces make no difference. A reply that names no recording may rest on any,
        so it is deleted, too. Returns the number of replies deleted, or with `dry_run` to be
        deleted.
        """
        ids, phrases = (
            set(recordings),
            [normalised for text in texts if (normalised := normalise_phrase(text))],
        )
        if ids and not dry_run:
            self._ledger.forget(ids)
        with self._file.transaction() as db:
            if db is None:
                return 0
            rows = db.execute("SELECT key, recording, question, reply FROM replies").fetchall()
            forgotten = [
                (key,)
                for key, recording, question, reply in rows
                if (ids and (recording is None or recording in ids))
                or _mentions(json.loads(reply), phrases)
                or _mentions(question, phrases)
            ]
            if dry_run:
                return len(forgotten)
            db.executemany("DELETE FROM replies WHERE key = ?", forgotten)
            forget_earlier(db, ids)
        self._file.scrub()
        return len(forgotten)

    def damaged(self, *, delete: bool = False) -> int:
        """How many replies are not what was written; with `delete`, they are deleted.

        Raises StoreError where the file cannot be read.
        """
        lines = self._file.read("PRAGMA integrity_check(1)")
        pages, page_size = (
            self._file.read(f"PRAGMA {name}") for name in ("page_count", "page_size")
        )
        # SQLite takes what a file lacks at its end for zeros.
        if pages and self.path.stat().st_size < pages[0][0] * page_size[0][0] and not self._log:
            raise StoreError(f"{self.path} is cut short", KEEP)
        if lines and lines[0][0] != "ok":
            raise StoreError(f"{self.path}: {lines[0][0]}", KEEP)
        count = self._file.read(f"SELECT count(*) FROM replies WHERE NOT {_IS_SOUND}")
        if delete:
            self._file.write(f"DELETE FROM replies WHERE NOT {_IS_SOUND}")
        return int(count[0][0]) if count else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what could not be written before, and close the files."""
        try:
            self._file.close()
        finally:
            self._ledger.close()

    def _kept(self, tail: str, *values: Any) -> list[CachedReply]:
        rows = self._file.read(f"SELECT key, made, request, reply FROM replies {tail}", *values)
        return [
            CachedReply(key, created, json.loads(request), Reply.model_validate_json(reply))
            for key, created, request, reply in rows
        ]


def _add_checksums(db: sqlite3.Connection) -> None:
    columns = [row[1] for row in db.execute("PRAGMA table_info(replies)")]
    if "checksum" not in columns:
        db.execute("ALTER TABLE replies ADD COLUMN checksum INTEGER")


def forget(
    folder: Path,
    recordings: Iterable[str] = (),
    texts: Iterable[str] = (),
    *,
    dry_run: bool = False,
) -> int:
    """Remove what the folder's replies hold of recordings and texts; see `ReplyCache.forget`."""
    with ReplyCache(folder) as cache:
        return cache.forget(recordings, texts, dry_run=dry_run)


def damaged(folder: Path, *, delete: bool = False) -> int:
    """How many replies of the folder are not what was written; see `ReplyCache.damaged`."""
    with ReplyCache(folder) as cache:
        return cache.damaged(delete=delete)


def differences(a: Mapping[str, JsonValue], b: Mapping[str, JsonValue]) -> list[str]:
    """The names of the fields that make the keys of two requests differ."""
    return [name for name in sorted({*a, *b}) if a.get(name) != b.get(name)]


def _mentions(value: JsonValue, phrases: list[str]) -> bool:
    if isinstance(value, str):
        text = normalise_phrase(value)
        return any(sought in text for sought in phrases)
    if isinstance(value, dict):
        return any(_mentions(v, phrases) for v in value.values())
    return isinstance(value, list) and any(_mentions(v, phrases) for v in value)
