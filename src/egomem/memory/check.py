"""Verify a memory and rebuild its derived data.

`memory.db` is the record: damage there can only be reported. The tally, the index, the vector files
and the thumbnails follow from it and are checked against it. Repair recounts the tally, rebuilds
the index, cuts vector files down to their complete rows and deletes files that nothing refers to.
It never changes the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from egomem.errors import DamagedError
from egomem.memory import index, vectors
from egomem.memory.forget import finish_forgetting, recount_tally
from egomem.memory.reader import MemoryReader
from egomem.memory.segment import ROW_COLUMNS, Segment, checksum
from egomem.memory.thumbnails import FOLDER as THUMBNAILS


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One fault: the part it is in, what is wrong, and whether it was repaired."""

    part: str
    what: str
    repairable: bool
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Result of a check: `figures` count what was examined; a sound memory has no `findings`."""

    figures: dict[str, int]
    findings: tuple[CheckFinding, ...]

    @property
    def ok(self) -> bool:
        return all(finding.repaired for finding in self.findings)


def check(store: MemoryReader, *, repair: bool = False) -> CheckReport:
    """Check every part of a memory; with `repair`, mend what can be mended.

    Takes the writers' lock. Reading a million observations takes about 15 s.
    """
    if store.read_only:
        return _check(store, repair=False)
    with store.connection.writing():
        return _check(store, repair=repair)


def _check(store: MemoryReader, *, repair: bool) -> CheckReport:
    findings: list[CheckFinding] = []
    with store.connection.exclusive() as db:
        for part, look, mend in _PARTS:
            findings_of_part = list(look(store))
            if findings_of_part and repair and mend is not None:
                mend(store)
                remaining = set(look(store))
                findings += [
                    CheckFinding(part, what, True, what not in remaining)
                    for what in findings_of_part
                ]
            else:
                findings += [
                    CheckFinding(part, what, mend is not None) for what in findings_of_part
                ]
        count = "SELECT (SELECT count(*) FROM recording WHERE id IS NOT NULL), count(*)"
        recordings, observations = db.execute(f"{count} FROM observation").fetchone()
        segments = len(index.segment_entries(db))
        files = sum(map(len, vectors.vector_file_entries(db).values()))
    figures = {
        "recordings": recordings,
        "observations": observations,
        "segments": segments,
        "vector_files": files,
    }
    return CheckReport(figures, tuple(findings))


# --------------------------------------------------------------------------------- the record


def _record(store: MemoryReader) -> Iterator[str]:
    for (line,) in store.connection.db.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"memory.db: {line}"
    for table, _, parent, _ in store.connection.db.execute("PRAGMA foreign_key_check").fetchmany(
        20
    ):
        yield f"memory.db: a row of {table} refers to a {parent} that is not there"


def _forgetting(store: MemoryReader) -> Iterator[str]:
    (mark,) = store.connection.db.execute(
        "SELECT value FROM state WHERE name = 'forgetting'"
    ).fetchone()
    if mark:
        yield "something was being forgotten when the program stopped; traces of it are left"


def _repair_forgetting(store: MemoryReader) -> None:
    finish_forgetting(store.connection)


_TALLY = (
    "SELECT recording, track, count(*), sum(length), min(start), max(end) "
    "FROM observation GROUP BY recording, track"
)


def _tally(store: MemoryReader) -> Iterator[str]:
    (wrong,) = store.connection.db.execute(
        f"SELECT (SELECT count(*) FROM (SELECT * FROM tally EXCEPT {_TALLY})) "
        f"+ (SELECT count(*) FROM ({_TALLY} EXCEPT SELECT * FROM tally))"
    ).fetchone()
    if wrong:
        yield f"the tally differs from the observations in {wrong} lines"


def _repair_tally(store: MemoryReader) -> None:
    with store.connection.transaction() as db:
        lines = db.execute(
            "SELECT recording FROM tally UNION SELECT DISTINCT recording FROM observation"
        ).fetchall()
        for (line,) in lines:
            recount_tally(db, line)
        db.execute("UPDATE state SET value = value + 1 WHERE name = 'recordings'")


# ----------------------------------------------------------------------------------- the index


def _index(store: MemoryReader) -> Iterator[str]:
    db, folder = store.connection.db, store.folder
    entries = index.segment_entries(db)
    expected = 1
    for entry in entries:
        path = index.path_of(folder, entry.number)
        if entry.first != expected:
            yield f"the index has no segment for the rows from {expected} to {entry.first - 1}"
        expected = entry.last + 1
        if not path.is_file():
            yield f"{_name(store, path)} is missing"
        elif checksum(path) != entry.checksum:
            yield f"{_name(store, path)} is not what was written"
        elif not _agrees(store, entry):
            yield f"{_name(store, path)} differs from the observations"
    if expected - 1 > index.last_row(db):
        yield "the index reaches further than the record"
    listed_paths = {index.path_of(folder, entry.number) for entry in entries}
    for path in sorted((folder / "index").glob("*")):
        if path not in listed_paths:
            yield f"{_name(store, path)} belongs to nothing"


def _agrees(store: MemoryReader, entry: index.SegmentEntry) -> bool:
    """Whether a segment equals one built anew from its rows, a batch at a time."""
    try:
        segment = Segment.read(index.path_of(store.folder, entry.number))
    except DamagedError:
        return False
    # Postings in order of observation, as they are made anew.
    terms = np.repeat(segment.terms, np.diff(segment.offsets))
    order = np.argsort(segment.docs, kind="stable")
    at = 0
    bounds = np.searchsorted(segment.docs[order], np.arange(len(segment) + 1))
    rows = store.connection.db.execute(
        f"SELECT {ROW_COLUMNS} FROM observation o WHERE o.n BETWEEN ? AND ? ORDER BY o.n",
        (entry.first, entry.last),
    )
    while batch := rows.fetchmany(1 << 14):
        rebuilt = Segment.build(batch)
        batch_postings = order[
            bounds[min(at, len(segment))] : bounds[min(at + len(batch), len(segment))]
        ]
        postings = np.argsort(rebuilt.docs, kind="stable")
        columns = slice(at, at + len(batch))
        same = (
            np.array_equal(segment.rowid[columns], rebuilt.rowid)
            and np.array_equal(segment.timeline[columns], rebuilt.timeline)
            and np.array_equal(segment.track[columns], rebuilt.track)
            and np.array_equal(segment.start[columns], rebuilt.start)
            and np.array_equal(segment.end[columns], rebuilt.end)
            and np.array_equal(segment.length[columns], rebuilt.length)
            and np.array_equal(segment.key[columns], rebuilt.key)
            and np.array_equal(segment.docs[batch_postings] - at, rebuilt.docs[postings])
            and np.array_equal(segment.tf[batch_postings], rebuilt.tf[postings])
            and np.array_equal(
                terms[batch_postings], np.repeat(rebuilt.terms, np.diff(rebuilt.offsets))[postings]
            )
        )
        if not same:
            return False
        at += len(batch)
    return at == len(segment)


def _repair_index(store: MemoryReader) -> None:
    index.rebuild(store.connection.db, store.folder)


# ------------------------------------------------------------------------------------- vectors


def _vectors(store: MemoryReader) -> Iterator[str]:
    for entries in vectors.vector_file_entries(store.connection.db).values():
        for entry in entries:
            name = _name(store, entry.path(store.folder))
            try:
                file = entry.read(store.folder)
            except DamagedError:
                yield f"{name} has fewer than its {entry.rows} rows"
                continue
            rowids = _rows_of(store, entry.recording)
            orphans = int((~np.isin(file.rowid, rowids)).sum())
            if orphans:
                yield f"{name} has {orphans} vectors of no observation"
            if not np.isfinite(file.matrix).all():
                yield f"{name} has vectors that are not numbers"
    listed_paths = {
        e.path(store.folder)
        for table in vectors.vector_file_entries(store.connection.db).values()
        for e in table
    }
    listed_paths |= {path.with_suffix(".row") for path in listed_paths}
    for path in sorted((store.folder / "vectors").glob("*/*")):
        if path not in listed_paths:
            yield f"{_name(store, path)} belongs to nothing"


def _rows_of(store: MemoryReader, recording: int) -> np.ndarray:
    cursor = store.connection.db.execute(
        "SELECT n FROM observation WHERE recording = ?", (recording,)
    )
    return np.array([n for (n,) in cursor], dtype=np.int64)


def _repair_vectors(store: MemoryReader) -> None:
    with store.connection.transaction() as db:
        for entries in vectors.vector_file_entries(db).values():
            for entry in entries:
                whole = vectors.cut_to_whole(db, store.folder, entry)
                if whole is None:
                    continue
                file = whole.read(store.folder)
                keep = np.isin(file.rowid, _rows_of(store, entry.recording))
                keep &= np.isfinite(file.matrix).all(axis=1)
                if not keep.all():
                    vectors.rewrite(db, store.folder, whole, keep)
    vectors.sweep(store.connection.db, store.folder)


# ---------------------------------------------------------------------------------- thumbnails


def _thumbnails(store: MemoryReader) -> Iterator[str]:
    recording_ids = {r.id for r in store.recordings()}
    for path in sorted((store.folder / THUMBNAILS).glob("*")):
        if path.name not in recording_ids:
            yield f"{_name(store, path)} belongs to no recording"
    for path in sorted((store.folder / THUMBNAILS).glob("*/*.part")):
        yield f"{_name(store, path)} was never finished"


def _repair_thumbnails(store: MemoryReader) -> None:
    recording_ids = {r.id for r in store.recordings()}
    for folder in (store.folder / THUMBNAILS).glob("*"):
        for path in folder.glob("*"):
            if folder.name not in recording_ids or path.suffix == ".part":
                path.unlink(missing_ok=True)
        if folder.name not in recording_ids:
            folder.rmdir()


def _name(store: MemoryReader, path: Path) -> str:
    return path.relative_to(store.folder).as_posix()


_PARTS: tuple[
    tuple[str, Callable[[MemoryReader], Iterator[str]], Callable[[MemoryReader], None] | None], ...
] = (
    ("record", _record, None),
    ("forgetting", _forgetting, _repair_forgetting),
    ("tally", _tally, _repair_tally),
    ("index", _index, _repair_index),
    ("vectors", _vectors, _repair_vectors),
    ("thumbnails", _thumbnails, _repair_thumbnails),
)
