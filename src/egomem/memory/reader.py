"""Reading a memory: its record, index and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from egomem.memory import rows
from egomem.memory.catalog import Catalog
from egomem.memory.connection import Connection
from egomem.memory.index import SegmentCache
from egomem.memory.segment import Segment
from egomem.memory.vectors import VectorFile, VectorFileCache
from egomem.records import Recording, Track


class Completed(NamedTuple):
    """A finished piece of work on a recording, such as window 12 of a track."""

    recording: str
    track: str
    unit: str


class MemoryReader:
    """Reads a memory's folder, as it is at each call. Several threads may share it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._catalog: Catalog | None = None
        self._segments = SegmentCache(connection.folder)
        self._vectors = VectorFileCache(connection.folder)

    @property
    def folder(self) -> Path:
        return self.connection.folder

    @property
    def read_only(self) -> bool:
        return self.connection.read_only

    def recordings(self) -> list[Recording]:
        """All recordings, in the order in which they were first put."""
        return list(self.catalog().recordings)

    def recording(self, id: str) -> Recording | None:
        sql = f"SELECT {rows.RECORDING_COLUMNS} FROM recording WHERE id = ?"
        matches = self.connection.select(sql, (id,))
        return rows.read_recording(matches[0]) if matches else None

    def tracks(self) -> list[Track]:
        """All tracks that were put."""
        sql = f"SELECT {rows.TRACK_COLUMNS} FROM track WHERE observer IS NOT NULL ORDER BY number"
        return [rows.read_track(row) for row in self.connection.select(sql)]

    def unfounded_digest_tracks(self) -> set[str]:
        """Ids of the tracks that hold a digest which does not say what it rests on."""
        sql = (
            "SELECT DISTINCT t.id FROM track t JOIN observation o ON o.track = t.number "
            "WHERE t.source = 'digest' AND NOT EXISTS (SELECT 1 FROM rests_on b WHERE b.n = o.n)"
        )
        return {id for (id,) in self.connection.select(sql)}

    def completed(self, recording: str) -> set[Completed]:
        """The finished work on a recording."""
        sql = "SELECT recording, track, unit FROM done WHERE recording = ?"
        return {Completed(*row) for row in self.connection.select(sql, (recording,))}

    def catalog(self) -> Catalog:
        """The memory's catalog; read again only when something has changed."""
        with self.connection.exclusive() as db:
            # Another process may have written since.
            self._catalog = Catalog.read(db, self._catalog)
            return self._catalog

    def segments(self, horizon: int) -> list[Segment]:
        """Segments of the index that together hold every row up to `horizon`."""
        with self.connection.exclusive() as db:
            return self._segments.segments(db, horizon)

    def vector_files(self, embedder: str, timelines: set[int]) -> list[VectorFile]:
        """The vectors of an embedder on some timelines (numbers of recordings)."""
        with self.connection.exclusive() as db:
            return self._vectors.files(db, embedder, timelines)

    def rows_by_rowid(
        self, columns: str, table: str, rowids: Sequence[int]
    ) -> list[tuple[Any, ...]]:
        """Columns of the observations (`o`) with some row ids, in no particular order."""
        matches: list[tuple[Any, ...]] = []
        # In batches, because SQLite limits the parameters of a statement.
        for at in range(0, len(rowids), 500):
            batch = rowids[at : at + 500]
            sql = f"SELECT {columns} FROM {table} WHERE o.n IN ({', '.join('?' * len(batch))})"
            matches += self.connection.select(sql, batch)
        return matches


def relative_name(store: MemoryReader, path: Path) -> str:
    """A path in a memory's folder as messages name it: from the folder on."""
    return path.relative_to(store.folder).as_posix()
