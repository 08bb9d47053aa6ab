"""The record of a memory: one folder, whose `memory.db` holds everything that was remembered."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from egomem.errors import FullError, LockedError, NoMemoryError, StoreError, UsageError
from egomem.memory import index, rows, vectors
from egomem.memory.catalog import Catalog
from egomem.memory.connection import (
    DATABASE_NAME,
    cannot_write,
    connect,
    translated_errors,
    writable,
)
from egomem.memory.filter import ViewFilter
from egomem.memory.lock import WriterLock
from egomem.memory.schema import LATEST, migrate
from egomem.memory.segment import Segment
from egomem.memory.view import View
from egomem.records import Observation, Recording, Source, Track
from egomem.text import terms
from egomem.timeline import Moment, Span

if TYPE_CHECKING:
    from egomem.memory.forget import ForgetReceipt


class Completed(NamedTuple):
    """A finished piece of work on a recording, such as window 12 of a track."""

    recording: str
    track: str
    unit: str


class Store:
    """A memory's folder. Use as a context manager, or `close` it.

    Reading needs no lock. Writing takes the writers' lock (`writing`) for each call; hold it around
    a longer piece of work to keep other writers out. One Store may be used from several threads.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection, *, wait: float, read_only: bool):
        self.folder = folder
        self.read_only = read_only
        self._db = db
        self._lock = WriterLock(folder, wait)
        self._threads = threading.RLock()
        self._shape: Catalog | None = None
        self._tracks: dict[tuple[str, str], int] = {}
        self._reader = index.SegmentCache(folder)
        self._vectors = vectors.VectorFileCache(folder)
        self._wrote = False

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False, wait: float = 10.0) -> Self:
        """Open the memory in a folder; a read-only folder can be read.

        `wait` is how long (s) a writer waits for another one. Raises NoMemoryError where there is
        none (and `create` is off), FullError where it cannot be made, DamagedError, StoreError.
        """
        folder = Path(folder)
        if not (folder / DATABASE_NAME).is_file():
            if not create:
                raise NoMemoryError(
                    f"there is no memory at {folder}",
                    "make one with: egomem ingest VIDEO, or name another with --memory",
                )
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as fault:
                raise FullError(f"cannot make the folder {folder}: {fault.strerror}") from fault
        read_only = not writable(folder)
        with translated_errors(folder):
            db = connect(folder, wait=wait, read_only=read_only)
        store = cls(folder, db, wait=wait, read_only=read_only)
        try:
            store._prepare()
        except BaseException:
            db.close()
            raise
        return store

    def _prepare(self) -> None:
        with translated_errors(self.folder):
            if self.read_only:
                migrate(self._db, may_write=False)
                return
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version != LATEST:
                with self._lock.held():
                    migrate(self._db)
        (forgetting,) = self._all("SELECT value FROM state WHERE name = 'forgetting'")[0]
        behind = index.rows_behind(self._db) >= index.FLUSH_ROWS
        if not forgetting and not behind:
            return
        # A crash, or an older form. Unless somebody is at it, or reads so that it must wait.
        self._lock.wait, wait = 0.0, self._lock.wait
        try:
            with suppress(LockedError):
                if forgetting:
                    from egomem.memory.forget import finish_forgetting

                    finish_forgetting(self)
                if behind:
                    self.flush()
        finally:
            self._lock.wait = wait

    def close(self) -> None:
        """Bring the index up to date and let go of the files."""
        if self._wrote:
            self.flush()
        with self._threads:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------ writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out. Raises LockedError naming the holder, after waiting."""
        with self._lock.held():
            yield

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and on the disk when it ends."""
        if self.read_only:
            raise cannot_write(self.folder)
        with self._lock.held(), self._threads, translated_errors(self.folder):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                self._tracks.clear()
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def put_recording(self, r: Recording) -> None:
        """Insert a recording, or update the one with its id."""
        with self._transaction() as db:
            columns = rows.RECORDING_COLUMNS.split(", ")
            update = ", ".join(f"{c} = excluded.{c}" for c in columns[1:])
            db.execute(
                f"INSERT INTO recording({rows.RECORDING_COLUMNS}) "
                f"VALUES ({', '.join('?' * len(columns))}) "
                f"ON CONFLICT(id) DO UPDATE SET {update}",
                rows.recording_row(r),
            )
            db.execute("UPDATE state SET value = value + 1 WHERE name = 'recordings'")

    def put_track(self, t: Track) -> None:
        """Insert a track, or update what is known of the one with its id."""
        with self._transaction() as db:
            columns = rows.TRACK_COLUMNS.split(", ")
            update = ", ".join(f"{c} = excluded.{c}" for c in columns[2:])
            db.execute(
                f"INSERT INTO track({rows.TRACK_COLUMNS}) VALUES ({', '.join('?' * len(columns))}) "
                f"ON CONFLICT(id, source) DO UPDATE SET {update}",
                rows.track_row(t),
            )

    def add(self, observations: Iterable[Observation], *, done: Iterable[Completed] = ()) -> int:
        """Remember observations, durably, in one transaction; returns how many were new.

        One that is already there (by id) is passed over. Raises StoreError where a recording is
        not known: `put_recording` first.
        """
        with self._transaction() as db:
            new = _insert(db, observations, self._tracks)
            db.executemany("INSERT OR IGNORE INTO done VALUES (?, ?, ?)", done)
        self._wrote |= new > 0
        if index.rows_behind(self._db) >= index.FLUSH_ROWS:
            self.flush()
        return new

    def add_vectors(
        self, embedder: str, recording: str | None, ids: Sequence[str], matrix: npt.ArrayLike
    ) -> int:
        """Keep the vectors of a recording's observations (None: of digests); returns how many new.

        `matrix` is (len(ids), dimension); rows are scaled to unit length and kept as float32. An
        observation that has a vector of this embedder keeps it. Raises UsageError where shapes or
        ids do not fit.
        """
        rows = vectors.normalise_rows(matrix)
        if rows.ndim != 2 or len(rows) != len(ids) or not np.isfinite(rows).all():
            raise UsageError(f"{len(ids)} observations need as many finite vectors, in rows")
        with self._transaction() as db:
            found = []
            for id in ids:
                row = db.execute(
                    "SELECT o.n, o.recording, o.track, o.start, o.end FROM observation o "
                    "JOIN recording r ON r.number = o.recording WHERE o.id = ? AND r.id IS ?",
                    (id, recording),
                ).fetchone()
                if row is None:
                    raise UsageError(f"there is no observation {id!r} of {recording!r}")
                found.append(row)
            return vectors.append(db, self.folder, embedder, found, rows) if found else 0

    def forget(
        self,
        *,
        recording: str | None = None,
        span: Span | None = None,
        between: tuple[datetime, datetime] | None = None,
        wearer: str | None = None,
        match: str | None = None,
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Remove every trace of what meets all that is given; see `egomem.memory.forget`.

        Raises UsageError where nothing is given, or a recording is not there.
        """
        from egomem.memory.forget import ForgetRequest, forget

        what = ForgetRequest(recording, span, between, wearer, match)
        return forget(self, what, dry_run=dry_run)

    def flush(self) -> None:
        """Bring the index up to the record. `add` and `close` do it by themselves.

        Where the disk is full the index stays behind, which `check` reports: a search reads the
        rows past it directly, and what was added is safe.
        """
        if self.read_only:
            return
        with self._lock.held(), self._threads, suppress(OSError, sqlite3.OperationalError):
            index.flush(self._db, self.folder)
            self._wrote = False

    # ------------------------------------------------------------------------------------ reading

    def _all(self, sql: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        with self._threads, translated_errors(self.folder):
            return self._db.execute(sql, tuple(values)).fetchall()

    def recordings(self) -> list[Recording]:
        """All recordings, in the order in which they were first put."""
        return list(self.shape().recordings)

    def recording(self, id: str) -> Recording | None:
        found = self._all(f"SELECT {rows.RECORDING_COLUMNS} FROM recording WHERE id = ?", (id,))
        return rows.read_recording(found[0]) if found else None

    def tracks(self) -> list[Track]:
        """All tracks that were put."""
        found = self._all(
            f"SELECT {rows.TRACK_COLUMNS} FROM track WHERE observer IS NOT NULL ORDER BY number"
        )
        return [rows.read_track(row) for row in found]

    def done(self, recording: str) -> set[Completed]:
        """What is finished of a recording."""
        found = self._all(
            "SELECT recording, track, unit FROM done WHERE recording = ?", (recording,)
        )
        return {Completed(*row) for row in found}

    def shape(self) -> Catalog:
        """What the memory holds, in figures; read anew only when it has changed."""
        with self._threads, translated_errors(self.folder):
            self._shape = Catalog.read(self._db, self._shape)
            return self._shape

    def segments(self, horizon: int) -> list[Segment]:
        """The index, in pieces that together hold every row up to `horizon`."""
        with self._threads, translated_errors(self.folder):
            return self._reader.segments(self._db, horizon)

    def vector_files(self, embedder: str, lines: set[int]) -> list[vectors.VectorFile]:
        """The vectors of an embedder on some lines (numbers of recordings)."""
        with self._threads, translated_errors(self.folder):
            return self._vectors.files(self._db, embedder, lines)

    def view(
        self,
        until: Moment | None = None,
        *,
        wearer: str | None = None,
        recordings: Iterable[str] | None = None,
        sources: Iterable[Source] | None = None,
        tracks: Iterable[str] | None = None,
    ) -> View:
        """What could be known at `until`, and nothing later; without it, everything.

        An aware datetime sees all recordings with a known clock; a RecordingTime sees its own
        recording, and the others as of that instant where its clock is known. A naive datetime
        raises TimeError, an unknown recording UsageError.
        """
        view = View(self, ViewFilter.of(self.shape(), until), until)
        return view.narrow(wearer=wearer, recordings=recordings, sources=sources, tracks=tracks)


def _insert(
    db: sqlite3.Connection, observations: Iterable[Observation], tracks: dict[tuple[str, str], int]
) -> int:
    recordings: dict[tuple[str | None, str], int] = {}
    tally: dict[tuple[int, int], list[float]] = {}
    new = 0
    for o in observations:
        number = recordings.get((o.recording, o.wearer))
        if number is None:
            number = recordings[o.recording, o.wearer] = _recording_number(db, o)
        track = tracks.get((o.track, o.source))
        if track is None:
            track = tracks[o.track, o.source] = _track_number(db, o)
        found, length = terms(o.text)
        p = o.provenance
        cursor = db.execute(
            "INSERT INTO observation(id, recording, wearer, track, start, end, text, data, "
            "provenance, terms, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT(recording, id) DO NOTHING",
            (
                o.id,
                number,
                o.wearer,
                track,
                o.span.start,
                o.span.end,
                o.text,
                rows.to_json(o.data) if o.data else "{}",
                rows.provenance_json(p),
                " ".join(found),
                length,
            ),
        )
        if not cursor.rowcount:
            continue
        new += 1
        n = cursor.lastrowid or 0
        if p.rests_on:
            db.executemany(
                "INSERT OR IGNORE INTO rests_on VALUES (?, ?)", [(n, basis) for basis in p.rests_on]
            )
        _count(tally, (number, track), length, o.span.start, o.span.end)
    db.executemany(
        "INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "count = count + excluded.count, length = length + excluded.length, "
        "start = min(start, excluded.start), end = max(end, excluded.end)",
        [(*key, *values) for key, values in tally.items()],
    )
    return new


def _count(
    tally: dict[tuple[int, int], list[float]],
    key: tuple[int, int],
    length: int,
    start: float,
    end: float,
) -> None:
    held = tally.get(key)
    if held is None:
        tally[key] = [1, length, start, end]
    else:
        held[0] += 1
        held[1] += length
        held[2] = min(held[2], start)
        held[3] = max(held[3], end)


def _recording_number(db: sqlite3.Connection, o: Observation) -> int:
    if o.recording is not None:
        found = db.execute("SELECT number FROM recording WHERE id = ?", (o.recording,)).fetchone()
        if found is None:
            raise StoreError(f"recording {o.recording!r} is not in this memory", "put it first")
        return int(found[0])
    where = "id IS NULL AND wearer = ?"
    found = db.execute(f"SELECT number FROM recording WHERE {where}", (o.wearer,)).fetchone()
    if found is None:
        db.execute(
            "INSERT INTO recording(id, wearer, name, duration) VALUES (NULL, ?, '', 0)", (o.wearer,)
        )
        db.execute("UPDATE state SET value = value + 1 WHERE name = 'recordings'")
        return _recording_number(db, o)
    return int(found[0])


def _track_number(db: sqlite3.Connection, o: Observation) -> int:
    db.execute("INSERT OR IGNORE INTO track(id, source) VALUES (?, ?)", (o.track, o.source))
    found = db.execute(
        "SELECT number FROM track WHERE id = ? AND source = ?", (o.track, o.source)
    ).fetchone()
    return int(found[0])
