"""The store: a memory's folder, which is read, written and forgotten from."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from egomem.errors import FullError, LockedError, NoMemoryError, UsageError, missing_folder
from egomem.memory import index, rows, vectors
from egomem.memory.connection import Connection
from egomem.memory.database_errors import DATABASE_NAME
from egomem.memory.forget import ForgetReceipt, ForgetRequest, finish_forgetting, forget
from egomem.memory.insert import insert
from egomem.memory.reader import Completed, MemoryReader
from egomem.memory.schema import LATEST, migrate
from egomem.memory.view import View, view_of
from egomem.records import Observation, Recording, Source, Track
from egomem.timeline import Moment, Span


class Store(MemoryReader):
    """A memory's folder. Use as a context manager, or `close` it.

    Reading needs no lock. Writing takes the writers' lock (`writing`) for each call; hold it around
    a longer piece of work to keep other writers out. One Store may be used from several threads.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._track_numbers: dict[tuple[str, str], int] = {}
        self._index_is_behind = False

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
                    f"there is no memory at {folder}{missing_folder(folder)}",
                    "make one with: egomem ingest VIDEO, or name another with --memory",
                )
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FullError(f"cannot make the folder {folder}: {error.strerror}") from error
        store = cls(Connection(folder, wait=wait))
        try:
            store._migrate()
            store._recover()
        except BaseException:
            store.connection.close()
            raise
        return store

    def _migrate(self) -> None:
        with self.connection.exclusive() as db:
            if self.read_only:
                migrate(db, may_write=False)
                return
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version != LATEST:
                with self.writing():
                    migrate(db)

    def _recover(self) -> None:
        """Finish what a crash, or an older form, left unfinished: forgetting, and the index.

        Another writer is not waited for: it does the same when it opens the memory.
        """
        if self.read_only:
            return
        (mark,) = self.connection.select("SELECT value FROM state WHERE name = 'forgetting'")[0]
        behind = index.rows_behind(self.connection.db) >= index.FLUSH_ROWS
        if not mark and not behind:
            return
        lock = self.connection.lock
        lock.wait, wait = 0.0, lock.wait
        try:
            with suppress(LockedError):
                # Forgetting first: what was forgotten must not enter a new segment.
                if mark:
                    finish_forgetting(self.connection)
                if behind:
                    self.flush()
        finally:
            lock.wait = wait

    def close(self) -> None:
        """Bring the index up to date and close the files."""
        try:
            if self._index_is_behind:
                self.flush()
        finally:
            self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------ writing

    def writing(self) -> AbstractContextManager[None]:
        """Keep other writers out. Raises LockedError naming the holder, after waiting."""
        return self.connection.writing()

    def put_recording(self, r: Recording) -> None:
        """Insert a recording, or update the one with its id."""
        with self.connection.transaction() as db:
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
        """Insert a track, or update the one with its id."""
        with self.connection.transaction() as db:
            columns = rows.TRACK_COLUMNS.split(", ")
            update = ", ".join(f"{c} = excluded.{c}" for c in columns[2:])
            db.execute(
                f"INSERT INTO track({rows.TRACK_COLUMNS}) VALUES ({', '.join('?' * len(columns))}) "
                f"ON CONFLICT(id, source) DO UPDATE SET {update}",
                rows.track_row(t),
            )

    def add(
        self, observations: Iterable[Observation], *, completed: Iterable[Completed] = ()
    ) -> int:
        """Store observations durably, in one transaction; returns how many were new.

        An observation that is already there (by id) is skipped; `completed` is marked as finished
        in the same transaction. Raises StoreError for an unknown recording: call `put_recording`
        first.
        """
        try:
            with self.connection.transaction() as db:
                new = insert(db, observations, self._track_numbers)
                db.executemany("INSERT OR IGNORE INTO done VALUES (?, ?, ?)", completed)
        except BaseException:
            self._track_numbers.clear()  # the numbers that the undone transaction gave
            raise
        self._index_is_behind |= new > 0
        if index.rows_behind(self.connection.db) >= index.FLUSH_ROWS:
            self.flush()
        return new

    def add_vectors(
        self, embedder: str, recording: str | None, ids: Sequence[str], matrix: npt.ArrayLike
    ) -> int:
        """Store vectors of a recording's observations (None: of digests); returns how many were
        new.

        `matrix` is (len(ids), dimension); rows are scaled to unit length and stored as float32. An
        observation that already has a vector of this embedder keeps it. Raises UsageError where
        shapes or ids do not fit.
        """
        unit = vectors.normalise_rows(matrix)
        if unit.ndim != 2 or len(unit) != len(ids) or not np.isfinite(unit).all():
            raise UsageError(f"{len(ids)} observations need as many finite vectors, in rows")
        with self.connection.transaction() as db:
            observations = []
            for id in ids:
                row = db.execute(
                    "SELECT o.n, o.recording, o.track, o.start, o.end FROM observation o "
                    "JOIN recording r ON r.number = o.recording WHERE o.id = ? AND r.id IS ?",
                    (id, recording),
                ).fetchone()
                if row is None:
                    raise UsageError(f"there is no observation {id!r} of {recording!r}")
                observations.append(row)
            if not observations:
                return 0
            return vectors.append(db, self.folder, embedder, observations, unit)

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
        """Delete every trace of what meets all conditions given; see `egomem.memory.forget`.

        Raises UsageError where no condition is given, or the recording is unknown.
        """
        request = ForgetRequest(recording, span, between, wearer, match)
        return forget(self, request, dry_run=dry_run)

    def flush(self) -> None:
        """Bring the index up to date with the record. `add` and `close` call it.

        On a full disk the index stays behind, which `check` reports: a search reads the rows past
        it directly, and what was added is safe.
        """
        if self.read_only:
            return
        out_of_space = OSError, sqlite3.OperationalError
        with self.writing(), self.connection.exclusive() as db, suppress(*out_of_space):
            index.flush(db, self.folder)
            self._index_is_behind = False

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
        return view_of(self, until).narrow(
            wearer=wearer, recordings=recordings, sources=sources, tracks=tracks
        )
