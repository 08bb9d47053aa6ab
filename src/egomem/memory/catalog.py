"""The catalog of a memory: recordings, tracks and counts, from which every view is cut.

Observations lie on *timelines*: one for each recording, and one for each wearer (for digests),
whose second 0 is the POSIX epoch. The tally holds, for each timeline and track, the number of
observations, the length of their texts and the time they span, so that no question needs to count
rows.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Self

import numpy as np
import numpy.typing as npt

from egomem.memory import rows
from egomem.records import Recording
from egomem.timeline.chapters import ChapterFile, chapters_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Positions = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Catalog:
    """One consistent reading of a memory. Rows after `horizon` are in none of its views.

    `numbers`, `starts` (POSIX seconds of a timeline's second 0, NaN where the clock is unknown),
    `wearers` and `ids` (None for a wearer's own timeline) have one entry a timeline, in order of
    `numbers`. The `tally_*` arrays have one entry for each timeline and track.
    """

    horizon: int
    version: tuple[int, ...]
    recordings: tuple[Recording, ...]
    numbers: Integers
    starts: Floats
    wearers: tuple[str, ...]
    ids: tuple[str | None, ...]
    tracks: dict[int, tuple[str, str]]
    tally_timeline: Integers
    tally_track: Integers
    tally_count: Integers
    tally_length: Integers
    tally_start: Floats
    tally_end: Floats

    @classmethod
    def read(cls, db: sqlite3.Connection, previous: Self | None) -> Self:
        """Read the catalog; returns `previous` itself where nothing has changed since."""
        if previous and (*previous.version, previous.horizon) == db.execute(_STATE).fetchone():
            return previous
        # One transaction, so that recordings, tracks and tally are of the same moment.
        begins = not db.in_transaction
        if begins:
            db.execute("BEGIN")
        try:
            *version, horizon = db.execute(_STATE).fetchone()
            return cls._read(db, previous, tuple(version), horizon)
        finally:
            if begins:
                db.execute("COMMIT")

    @classmethod
    def _read(
        cls, db: sqlite3.Connection, previous: Self | None, version: tuple[int, ...], horizon: int
    ) -> Self:
        # Observations are added far more often than recordings: those are parsed only once.
        if previous and previous.version == version:
            recordings, numbers, starts = previous.recordings, previous.numbers, previous.starts
            wearers, ids = previous.wearers, previous.ids
        else:
            cursor = db.execute(
                f"SELECT number, {rows.RECORDING_COLUMNS} FROM recording ORDER BY number"
            )
            table = cursor.fetchall()
            read = [rows.read_recording(row[1:]) if row[1] is not None else None for row in table]
            recordings = tuple(r for r in read if r)
            numbers = np.array([row[0] for row in table], dtype=np.int64)
            starts = np.array([_start(r) for r in read], dtype=np.float64)
            wearers = tuple(row[2] for row in table)
            ids = tuple(row[1] for row in table)
        tracks = {
            number: (id, source)
            for number, id, source in db.execute("SELECT number, id, source FROM track")
        }
        tally = db.execute(
            "SELECT recording, track, count, length, start, end FROM tally ORDER BY recording"
        ).fetchall()
        columns = np.array(tally, dtype=np.float64).reshape(-1, 6).T
        return cls(
            horizon,
            version,
            recordings,
            numbers,
            starts,
            wearers,
            ids,
            tracks,
            np.searchsorted(numbers, columns[0].astype(np.int64)),
            columns[1].astype(np.int64),
            columns[2].astype(np.int64),
            columns[3].astype(np.int64),
            columns[4],
            columns[5],
        )

    @cached_property
    def positions(self) -> dict[str, int]:
        """Recording id -> its position among the timelines."""
        return {id: place for place, id in enumerate(self.ids) if id is not None}

    @cached_property
    def tally_first(self) -> Integers:
        """Where each timeline's entries begin in the tally, which is in order of timelines."""
        return np.flatnonzero(np.diff(self.tally_timeline, prepend=-1))

    @cached_property
    def start_by_number(self) -> dict[int, float]:
        """Number of a timeline -> its entry in `starts`."""
        return dict(zip(self.numbers.tolist(), self.starts.tolist(), strict=True))

    @cached_property
    def of_wearer(self) -> dict[str, Flags]:
        """Wearer -> flags of the timelines that are theirs."""
        wearers = np.array(self.wearers)
        return {w: np.asarray(wearers == w, dtype=bool) for w in set(self.wearers)}

    @cached_property
    def chapter_places(self) -> dict[str, tuple[str, float]]:
        """Recording id -> the id of the first chapter, and the seconds since that one began, of
        recordings without a clock that are chapters: their order is known, though no time of day.
        """
        files = {
            r.id: ChapterFile(PurePath(r.path or r.name), r.duration, _created(r))
            for r in self.recordings
            if r.clock is None
        }
        places: dict[str, tuple[str, float]] = {}
        for group in chapters_of(files) if len(files) > 1 else ():
            seconds = 0.0
            for chapter in group if len(group) > 1 else ():
                places[chapter.id] = group[0].id, seconds
                seconds += chapter.file.duration
        return places

    @cached_property
    def by_id(self) -> dict[str, Recording]:
        return {r.id: r for r in self.recordings}


_STATE = """
    SELECT (SELECT value FROM state WHERE name = 'forgotten'),
           (SELECT value FROM state WHERE name = 'recordings'),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'observation'), 0)
"""


def _created(r: Recording) -> str | None:
    created = r.facts.get("created")
    return created if isinstance(created, str) else None


def _start(r: Recording | None) -> float:
    if r is None:
        return 0.0
    return r.clock.start.timestamp() if r.clock else float("nan")
