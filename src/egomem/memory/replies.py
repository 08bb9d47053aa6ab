"""Cached model replies, in `replies.db` in the folder of a memory or a run.

A derived file: deleting it costs the money of asking again, nothing else. It holds replies, hashes
of requests (no text, no image) and the ledger of what was spent. A reply may repeat what a caption
says, so forgetting covers it, too: see `forget`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import JsonValue, ValidationError

from egomem.errors import LockedError, StoreError, UsageError
from egomem.memory.checksums import row_checksum
from egomem.memory.permissions import open_private
from egomem.models import LedgerEntry, LedgerTotal, Reply, RequestTags, Role, sum_entries
from egomem.records import Usage
from egomem.text import normalise_phrase

NAME = "replies.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, made TEXT NOT NULL, recording TEXT, question TEXT,
    request TEXT NOT NULL, reply TEXT NOT NULL, checksum INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
    at TEXT NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL, recording TEXT, question TEXT,
    status TEXT NOT NULL, cached INTEGER NOT NULL, requests INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    frames INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL
);
"""


_DELETE = "delete the file; its replies can be asked again"
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
    """Size of the cache: `bytes` on disk; `spent` is the ledger by role since the last `clear`."""

    replies: int
    bytes: int
    spent: dict[Role, LedgerTotal]


class ReplyCache:
    """The replies of one folder; the file is created on the first write. Threads may share it.

    Use it as a context manager, or `close` it. In a read-only folder it reads and adds nothing.
    `wait` is how many seconds it waits for another program's write.
    """

    def __init__(self, folder: Path, wait: float = 10.0) -> None:
        self.path = Path(folder) / NAME
        self._wait = wait
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._closed = False

    @property
    def _writable(self) -> bool:
        # Asked each time: a memory's folder is made by the first ingest.
        return os.access(self.path.parent, os.W_OK)

    @property
    def _log(self) -> int:
        """Bytes of the write-ahead log."""
        log = self.path.with_name(f"{NAME}-wal")
        return log.stat().st_size if log.exists() else 0

    def get(self, key: str) -> Reply | None:
        """The reply of a key; None where there is none, or where it is not what was written."""
        rows = self._read(f"SELECT reply, {_IS_SOUND} FROM replies WHERE key = ?", key)
        try:
            return Reply.model_validate_json(rows[0][0]) if rows and rows[0][1] else None
        except ValidationError:  # written by a release whose replies had other fields
            return None

    def put(self, reply: Reply, key_fields: Mapping[str, JsonValue], tags: RequestTags) -> None:
        self._write(
            f"INSERT OR REPLACE INTO replies({_COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(
                row := (
                    reply.key,
                    _now(),
                    tags.recording,
                    tags.question,
                    json.dumps(key_fields, ensure_ascii=False),
                    reply.model_dump_json(),
                )
            ),
            row_checksum(*row),
        )

    def record(self, entry: LedgerEntry) -> None:
        usage = entry.usage
        self._write(
            "INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _now(),
            entry.role.value,
            entry.model,
            entry.recording,
            entry.question,
            entry.status.value,
            entry.cached,
            usage.requests,
            usage.tokens_in,
            usage.tokens_cached,
            usage.tokens_out,
            usage.frames,
            usage.seconds,
            usage.cost,
        )

    def entries(self) -> list[LedgerEntry]:
        """The ledger, oldest first."""
        return [
            LedgerEntry(
                role=Role(role),
                model=model,
                recording=recording,
                question=question,
                status=status,
                cached=bool(cached),
                usage=Usage(**dict(zip(_USAGE, usage, strict=True))),
            )
            for role, model, recording, question, status, cached, *usage in self._read(
                f"SELECT role, model, recording, question, status, cached, {', '.join(_USAGE)}"
                " FROM spent ORDER BY rowid"
            )
        ]

    def stats(self) -> ReplyCacheStats:
        entries = self.entries()
        count = self._read("SELECT count(*) FROM replies")
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
        """Delete all replies and the ledger; returns the number of replies."""
        with self._transaction() as db:
            if db is None:
                return 0
            count = db.execute("DELETE FROM replies").rowcount
            db.execute("DELETE FROM spent")
        self._scrub()
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
        with self._transaction() as db:
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
            db.executemany("DELETE FROM spent WHERE recording = ?", [(i,) for i in ids])
        self._scrub()
        return len(forgotten)

    def damaged(self, *, delete: bool = False) -> int:
        """How many replies are not what was written; with `delete`, they are deleted.

        Raises StoreError where the file cannot be read.
        """
        lines = self._read("PRAGMA integrity_check(1)")
        pages, page_size = (self._read(f"PRAGMA {name}") for name in ("page_count", "page_size"))
        # SQLite takes what a file lacks at its end for zeros.
        if pages and self.path.stat().st_size < pages[0][0] * page_size[0][0] and not self._log:
            raise StoreError(f"{self.path} is cut short", _DELETE)
        if lines and lines[0][0] != "ok":
            raise StoreError(f"{self.path}: {lines[0][0]}", _DELETE)
        count = self._read(f"SELECT count(*) FROM replies WHERE NOT {_IS_SOUND}")
        if delete:
            self._write(f"DELETE FROM replies WHERE NOT {_IS_SOUND}")
        return int(count[0][0]) if count else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._db is not None:
                self._db.close()
                self._db = None

    def _kept(self, tail: str, *values: Any) -> list[CachedReply]:
        rows = self._read(f"SELECT key, made, request, reply FROM replies {tail}", *values)
        return [
            CachedReply(key, created, json.loads(request), Reply.model_validate_json(reply))
            for key, created, request, reply in rows
        ]

    def _read(self, sql: str, *values: Any) -> list[Any]:
        with self._lock, self._faults():
            db = self._connection(create=False)
            return db.execute(sql, values).fetchall() if db else []

    def _write(self, sql: str, *values: Any) -> None:
        with self._lock, self._faults():
            db = self._connection(create=True)
            if db is not None:
                db.execute(sql, values)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection | None]:
        with self._lock, self._faults():
            db = self._connection(create=False) if self._writable else None
            if db is None:
                yield None
                return
            with db:
                db.execute("BEGIN IMMEDIATE")
                yield db

    def _scrub(self) -> None:
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

    def _connection(self, create: bool) -> sqlite3.Connection | None:
        if self._closed:
            raise UsageError(f"the replies at {self.path} have been closed", "open them again")
        if self._db is None:
            if not self.path.exists() and not (create and self._writable):
                return None
            self._db = self._connect()
        return self._db if self._writable or not create else None

    def _connect(self) -> sqlite3.Connection:
        mode = "rwc" if self._writable else "ro&immutable=1"
        if self._writable and not self.path.exists():
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
            if self._writable:
                # NORMAL: a power cut may lose the last replies, which can be asked again.
                for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                    db.execute(f"PRAGMA {pragma}")
                db.executescript(_SCHEMA)
                columns = [row[1] for row in db.execute("PRAGMA table_info(replies)")]
                if "checksum" not in columns:
                    db.execute("ALTER TABLE replies ADD COLUMN checksum INTEGER")
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}", _DELETE) from None


# Of one request: its price is known or not, and there is nothing that a sum could leave out.
_USAGE = tuple(name for name in Usage.model_fields if name != "unpriced")


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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
