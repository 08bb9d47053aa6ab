"""The store: a memory's folder, which is read, written and forgotten from."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Self, Unpack

import numpy as np
import numpy.typing as npt

from egomem.errors import LockedError, StoreError, UsageError
from egomem.memory import index, rows, vectors
from egomem.memory.checksums import seal_holds
from egomem.memory.connection import Connection
from egomem.memory.database_errors import not_as_written
from egomem.memory.exchange import exchange
from egomem.memory.folder import list_derived_files, prepare_folder
from egomem.memory.forget import ForgetReceipt, Recompose, finish_forgetting, forget
from egomem.memory.forget_selection import Conditions, ForgetRequest
from egomem.memory.insert import (
    insert,
    recording_number,
    renew_recording_checksum,
    renew_track_checksum,
)
from egomem.memory.reader import Completed, MemoryReader
from egomem.memory.schema import LATEST, migrate
from egomem.memory.thumbnails import Thumbnail
from egomem.memory.view import View, view_of
from egomem.records import Observation, Recording, Source, Track
from egomem.timeline import Moment

log = logging.getLogger(__name__)


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
        prepare_folder(folder, create=create)
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
                if seal_holds(self.folder) is False:
                    raise not_as_written(self.folder)
                with self.connection.changing():
                    migrate(db)

    def _recover(self) -> None:
        """Finish what a crash, or an older form, left unfinished: forgetting, and the index.

        Another writer is not waited for: it does the same when it opens the memory.
        """
        if self.read_only:
            return
        states: dict[str, int] = dict(self.connection.select("SELECT name, value FROM state"))
        behind = index.rows_behind(self.connection.db) >= index.FLUSH_ROWS
        if not (states["forgetting"] or states["unlisted"] or behind):
            return
        if seal_holds(self.folder) is False:
            log.warning("%s", not_as_written(self.folder))
            return  # writing would cover the damage up, which `check` reports
        lock = self.connection.lock
        lock.wait, wait = 0.0, lock.wait
        try:
            with suppress(LockedError):
                if states["unlisted"]:
                    list_derived_files(self.connection)
                # Forgetting first: what was forgotten must not enter a new segment.
                if states["forgetting"]:
                    self._finish_forgetting()
                if behind:
                    self.flush()
        finally:
            lock.wait = wait

    def _finish_forgetting(self) -> None:
        try:
            finish_forgetting(self.connection)
        except LockedError:
            raise
        except StoreError as error:
            # What is remembered can be read all the same; the mark stays, and `check` reports it.
            log.warning("forgetting could not be finished yet: %s", error)

    def close(self) -> None:
        """Bring the index up to date and close the files."""
        try:
            if self._index_is_behind:
                self.flush()
            self.connection.seal()
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
            renew_recording_checksum(db, r.id, r.wearer)
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
            renew_track_checksum(db, t.id, t.source)

    def add(
        self,
        observations: Iterable[Observation],
        *,
        completed: Iterable[Completed] = (),
        thumbnails: Iterable[Thumbnail] = (),
    ) -> int:
        """Store observations durably, in one transaction; returns how many were new.

        An observation that is already there (by id) is skipped; `completed` is marked as finished
        and `thumbnails` are listed in the same transaction. Raises ForgottenError for an unknown
        recording: call `put_recording` first.
        """
        completed, thumbnails = list(completed), list(thumbnails)
        try:
            with self.connection.transaction() as db:
                new = insert(db, observations, self._track_numbers)
                # A recording may have been forgotten since: no mark of it must come back.
                numbers = {
                    id: recording_number(db, id)
                    for id in {c.recording for c in completed} | {t.recording for t in thumbnails}
                }
                db.executemany("INSERT OR IGNORE INTO done VALUES (?, ?, ?)", completed)
                db.executemany(
                    "INSERT OR REPLACE INTO picture VALUES (?, ?, ?)",
                    [(numbers[t.recording], t.start, t.checksum) for t in thumbnails],
                )
        except BaseException:
            self._track_numbers.clear()  # the numbers that the undone transaction gave
            raise
        self._index_is_behind |= new > 0
        if index.rows_behind(self.connection.db) >= index.FLUSH_ROWS:
            self.flush()
        return new

    def exchange(
        self,
        old: Iterable[tuple[int, str]],
        new: Iterable[Observation],
        *,
        drop_tracks: Iterable[str] = (),
    ) -> int:
        """Put observations in the place of others (row and id) in one transaction.

        Returns how many of the old ones were there. `drop_tracks` lose their entries, as far as
        nothing is left of them. See `egomem.memory.exchange`.
        """
        new = list(new)
        try:
            deleted = exchange(
                self.connection, old, new, self._track_numbers, drop_tracks=drop_tracks
            )
        finally:
            self._track_numbers.clear()
        self._index_is_behind |= bool(new)
        return deleted

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
        dry_run: bool = False,
        recompose: Recompose = lambda caption, parts: None,
        **conditions: Unpack[Conditions],
    ) -> ForgetReceipt:
        """Delete every trace of what meets all conditions given; see `ForgetRequest` for them.

        `recompose` gives a caption that rested on it anew, from the parts that remain. Raises
        UsageError where no condition is given, or the recording is unknown.
        """
        receipt = forget(self, ForgetRequest(**conditions), dry_run=dry_run, recompose=recompose)
        self._index_is_behind |= not dry_run
        return receipt

    def flush(self) -> None:
        """Bring the index up to date with the record. `add` and `close` call it.

        On a full disk the index stays behind, which `check` reports: a search reads the rows past
        it directly, and what was added is safe.
        """
        if self.read_only:
            return
        out_of_space = OSError, sqlite3.OperationalError
        with self.connection.changing() as db, suppress(*out_of_space):
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
