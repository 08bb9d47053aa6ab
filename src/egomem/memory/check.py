"""Is a memory what it should be? And making anew what follows from the record.

`memory.db` is the record: what is wrong there can only be told. The tally, the index, the vector
files and the thumbnails are checked against it. Repair counts and indexes anew, cuts vector files
down to their whole rows, and deletes files that nothing refers to; it never touches the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from egomem.errors import DamagedError
from egomem.memory import index, vectors
from egomem.memory.connection import translated_errors
from egomem.memory.forget import finish_forgetting, recount_tally
from egomem.memory.segment import ROW_COLUMNS, Segment, checksum
from egomem.memory.thumbnails import FOLDER as THUMBNAILS

if TYPE_CHECKING:
    from egomem.memory.store import Store


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One thing that is wrong: in which part, what, and whether it was mended."""

    part: str
    what: str
    repairable: bool
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class CheckReport:
    """`figures` count what was looked at; `findings` is empty for a sound memory."""

    figures: dict[str, int]
    findings: tuple[CheckFinding, ...]

    @property
    def ok(self) -> bool:
        return all(finding.repaired for finding in self.findings)


def check(store: Store, *, repair: bool = False) -> CheckReport:
    """Look at everything; with `repair`, mend what can be mended. It takes the writers' lock.

    Reading all of a memory takes about 15 s for a million observations.
    """
    if store.read_only:
        return _check(store, repair=False)
    with store.writing():
        return _check(store, repair=repair)


def _check(store: Store, *, repair: bool) -> CheckReport:
    findings: list[CheckFinding] = []
    with store._threads, translated_errors(store.folder):
        for part, look, mend in _PARTS:
            found = list(look(store))
            if found and repair and mend is not None:
                mend(store)
                left = set(look(store))
                findings += [CheckFinding(part, what, True, what not in left) for what in found]
            else:
                findings += [CheckFinding(part, what, mend is not None) for what in found]
        count = "SELECT (SELECT count(*) FROM recording WHERE id IS NOT NULL), count(*)"
        recordings, observations = store._db.execute(f"{count} FROM observation").fetchone()
        segments = len(index.segment_entries(store._db))
        files = sum(map(len, vectors.vector_file_entries(store._db).values()))
    figures = {
        "recordings": recordings,
        "observations": observations,
        "segments": segments,
        "vector_files": files,
    }
    return CheckReport(figures, tuple(findings))


# --------------------------------------------------------------------------------- the record


def _record(store: Store) -> Iterator[str]:
    for (line,) in store._db.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"memory.db: {line}"
    for table, _, parent, _ in store._db.execute("PRAGMA foreign_key_check").fetchmany(20):
        yield f"memory.db: a row of {table} refers to a {parent} that is not there"


def _forgetting(store: Store) -> Iterator[str]:
    (mark,) = store._db.execute("SELECT value FROM state WHERE name = 'forgetting'").fetchone()
    if mark:
        yield "something was being forgotten when the program stopped; traces of it are left"


_TALLY = (
    "SELECT recording, track, count(*), sum(length), min(start), max(end) "
    "FROM observation GROUP BY recording, track"
)


def _tally(store: Store) -> Iterator[str]:
    (wrong,) = store._db.execute(
        f"SELECT (SELECT count(*) FROM (SELECT * FROM tally EXCEPT {_TALLY})) "
        f"+ (SELECT count(*) FROM ({_TALLY} EXCEPT SELECT * FROM tally))"
    ).fetchone()
    if wrong:
        yield f"the tally differs from the observations in {wrong} lines"


def _mend_tally(store: Store) -> None:
    with store._transaction() as db:
        lines = db.execute(
            "SELECT recording FROM tally UNION SELECT DISTINCT recording FROM observation"
        ).fetchall()
        for (line,) in lines:
            recount_tally(db, line)
        db.execute("UPDATE state SET value = value + 1 WHERE name = 'recordings'")


# ----------------------------------------------------------------------------------- the index


def _index(store: Store) -> Iterator[str]:
    db, folder = store._db, store.folder
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
    known = {index.path_of(folder, entry.number) for entry in entries}
    for path in sorted((folder / "index").glob("*")):
        if path not in known:
            yield f"{_name(store, path)} belongs to nothing"


def _agrees(store: Store, entry: index.SegmentEntry) -> bool:
    """Compares the segment with one made anew, a stretch of rows at a time."""
    try:
        segment = Segment.read(index.path_of(store.folder, entry.number))
    except DamagedError:
        return False
    # Postings in order of observation, as they are made anew.
    terms = np.repeat(segment.terms, np.diff(segment.offsets))
    order = np.argsort(segment.docs, kind="stable")
    at = 0
    bounds = np.searchsorted(segment.docs[order], np.arange(len(segment) + 1))
    rows = store._db.execute(
        f"SELECT {ROW_COLUMNS} FROM observation o WHERE o.n BETWEEN ? AND ? ORDER BY o.n",
        (entry.first, entry.last),
    )
    while some := rows.fetchmany(1 << 14):
        anew = Segment.build(some)
        here = order[bounds[min(at, len(segment))] : bounds[min(at + len(some), len(segment))]]
        postings = np.argsort(anew.docs, kind="stable")
        columns = slice(at, at + len(some))
        same = (
            np.array_equal(segment.n[columns], anew.n)
            and np.array_equal(segment.line[columns], anew.line)
            and np.array_equal(segment.track[columns], anew.track)
            and np.array_equal(segment.start[columns], anew.start)
            and np.array_equal(segment.end[columns], anew.end)
            and np.array_equal(segment.length[columns], anew.length)
            and np.array_equal(segment.key[columns], anew.key)
            and np.array_equal(segment.docs[here] - at, anew.docs[postings])
            and np.array_equal(segment.tf[here], anew.tf[postings])
            and np.array_equal(terms[here], np.repeat(anew.terms, np.diff(anew.offsets))[postings])
        )
        if not same:
            return False
        at += len(some)
    return at == len(segment)


def _mend_index(store: Store) -> None:
    index.rebuild(store._db, store.folder)


# ------------------------------------------------------------------------------------- vectors


def _vectors(store: Store) -> Iterator[str]:
    for entries in vectors.vector_file_entries(store._db).values():
        for entry in entries:
            name = _name(store, entry.path(store.folder))
            try:
                file = entry.read(store.folder)
            except DamagedError:
                yield f"{name} has fewer than its {entry.rows} rows"
                continue
            held = _rows_of(store, entry.recording)
            lost = int((~np.isin(file.n, held)).sum())
            if lost:
                yield f"{name} has {lost} vectors of no observation"
            if not np.isfinite(file.matrix).all():
                yield f"{name} has vectors that are not numbers"
    known = {
        e.path(store.folder)
        for table in vectors.vector_file_entries(store._db).values()
        for e in table
    }
    known |= {path.with_suffix(".row") for path in known}
    for path in sorted((store.folder / "vectors").glob("*/*")):
        if path not in known:
            yield f"{_name(store, path)} belongs to nothing"


def _rows_of(store: Store, recording: int) -> np.ndarray:
    found = store._db.execute("SELECT n FROM observation WHERE recording = ?", (recording,))
    return np.array([n for (n,) in found], dtype=np.int64)


def _mend_vectors(store: Store) -> None:
    with store._transaction() as db:
        for entries in vectors.vector_file_entries(db).values():
            for entry in entries:
                whole = vectors.cut_to_whole(db, store.folder, entry)
                if whole is None:
                    continue
                file = whole.read(store.folder)
                keep = np.isin(file.n, _rows_of(store, entry.recording))
                keep &= np.isfinite(file.matrix).all(axis=1)
                if not keep.all():
                    vectors.rewrite(db, store.folder, whole, keep)
    vectors.sweep(store._db, store.folder)


# ---------------------------------------------------------------------------------- thumbnails


def _thumbnails(store: Store) -> Iterator[str]:
    known = {r.id for r in store.recordings()}
    for path in sorted((store.folder / THUMBNAILS).glob("*")):
        if path.name not in known:
            yield f"{_name(store, path)} belongs to no recording"
    for path in sorted((store.folder / THUMBNAILS).glob("*/*.part")):
        yield f"{_name(store, path)} was never finished"


def _mend_thumbnails(store: Store) -> None:
    known = {r.id for r in store.recordings()}
    for folder in (store.folder / THUMBNAILS).glob("*"):
        for path in folder.glob("*"):
            if folder.name not in known or path.suffix == ".part":
                path.unlink(missing_ok=True)
        if folder.name not in known:
            folder.rmdir()


def _name(store: Store, path: Path) -> str:
    return path.relative_to(store.folder).as_posix()


_PARTS: tuple[tuple[str, Callable[[Store], Iterator[str]], Callable[[Store], None] | None], ...] = (
    ("record", _record, None),
    ("forgetting", _forgetting, finish_forgetting),
    ("tally", _tally, _mend_tally),
    ("index", _index, _mend_index),
    ("vectors", _vectors, _mend_vectors),
    ("thumbnails", _thumbnails, _mend_thumbnails),
)
