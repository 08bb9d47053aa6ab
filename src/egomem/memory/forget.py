"""Forgetting: remove every trace of something from every file of a memory's folder.

A kill at any moment is harmless: either everything is still there, or the next opening finishes the
work. One transaction deletes the rows, stores what is composed again from the rest, and notes as
`pending` what lies outside of memory.db, under a mark. Then pictures and cached replies are
deleted, index and vector files are rewritten, free pages and the write-ahead log are emptied, and
the mark is cleared. A receipt without content stays.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from egomem.errors import DamagedError, LockedError
from egomem.memory import index, rows, vectors
from egomem.memory.connection import Connection
from egomem.memory.forget_files import links_in_the_way, remove_pending, replies_to_forget
from egomem.memory.forget_selection import (
    ForgetRequest,
    Rows,
    dependents,
    in_time_order,
    matching,
    mentions,
    pictures,
    whole_recordings,
)
from egomem.memory.insert import insert
from egomem.memory.reader import MemoryReader
from egomem.memory.thumbnails import thumbnail_file
from egomem.records import Observation, Recording
from egomem.text import normalise_phrase

Recompose = Callable[[Observation, Sequence[Observation]], Observation | None]
"""(a forgotten caption, the parts of it that remain) -> the caption of those, or None."""


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """What was deleted, or would be. The memory keeps only `at`, `kind` and the counts.

    `observations` met the request. `dependents` rest on them, or may, and are deleted too; digests
    among them can be composed again from what remains. `recordings` are deleted as a whole.
    `notes` name links that are not followed: what lies behind them is not removed.
    """

    at: datetime
    kind: str
    dry_run: bool
    observations: tuple[Observation, ...]
    dependents: tuple[Observation, ...]
    recordings: tuple[Recording, ...]
    thumbnails: int
    vectors: int
    replies: int
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return {
            "observations": len(self.observations),
            "resting": len(self.dependents),
            "recordings": len(self.recordings),
            "thumbnails": self.thumbnails,
            "vectors": self.vectors,
            "replies": self.replies,
        }


def forget(
    store: MemoryReader,
    request: ForgetRequest,
    *,
    dry_run: bool,
    recompose: Recompose = lambda caption, parts: None,
) -> ForgetReceipt:
    """Delete what a request selects, with everything that rests on it; see `Store.forget`."""
    request = request.checked(store)
    with store.connection.writing():
        # Everything is worked out before anything is deleted: the receipt and a dry run need it.
        whole = whole_recordings(store, request)
        matches = matching(store, request, whole)
        resting = dependents(store, matches)
        deleted = matches | resting
        ids = [r.id for r in whole]
        thumbnails = pictures(store, request, deleted.values(), ids)
        notes = links_in_the_way(store, ids, dry_run=dry_run)
        texts = {o.text for o in deleted.values() if o.text}
        texts |= {request.match} if request.match else set()
        recording_ids = sorted({o.recording for o in deleted.values() if o.recording} | set(ids))
        pending = [
            *(("picture", rows.to_json(picture)) for picture in thumbnails),
            *(("folder", id) for id in ids),
            *(("recording", id) for id in recording_ids),
            *(("text", text) for text in sorted(texts)),
        ]
        receipt = ForgetReceipt(
            datetime.now(UTC),
            request.kind,
            dry_run,
            in_time_order(store, matches),
            in_time_order(store, resting),
            tuple(whole),
            sum(thumbnail_file(store.folder, *picture).is_file() for picture in thumbnails),
            _vector_count(store, list(deleted)),
            # Also a file of replies that cannot be read is noticed before anything is deleted.
            replies_to_forget(store.folder, pending),
            notes,
        )
        if not dry_run:
            composed = _composed_again(store, request, deleted, recompose)
            with store.connection.transaction() as db:
                _delete(db, deleted, receipt)
                insert(db, composed, {})
                db.executemany("INSERT INTO pending VALUES (?, ?)", pending)
            finish_forgetting(store.connection)
    return receipt


def receipts(store: MemoryReader) -> list[tuple[datetime, str, dict[str, int]]]:
    """What was forgotten: (at, kind, counts), oldest first."""
    receipt_rows = store.connection.select("SELECT at, kind, counts FROM receipt ORDER BY number")
    return [
        (datetime.fromisoformat(at), kind, json.loads(counts)) for at, kind, counts in receipt_rows
    ]


def finish_forgetting(connection: Connection) -> None:
    """Remove what deleted rows left in other files and in free pages; repeatable after a kill.

    Raises LockedError where another program keeps reading: the mark stays, and the next opening
    finishes.
    """
    folder = connection.folder
    with connection.changing() as db:
        scrub_derived(db, folder)
        # Its rows repeat what is forgotten, so that they go before free pages are emptied.
        remove_pending(db, folder)
        db.execute("VACUUM")
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise LockedError(
                f"other programs are reading {folder}: traces are left in memory.db-wal",
                "close them and open the memory once more, which finishes forgetting",
            )
        db.execute("UPDATE state SET value = 0 WHERE name = 'forgetting'")


def scrub_derived(db: sqlite3.Connection, folder: Path) -> None:
    """Take rows that the record no longer has out of the index and the vectors; repeatable."""
    index.scrub(db, folder)
    index.sweep(db, folder)
    _scrub_vectors(db, folder)
    vectors.sweep(db, folder)


def _composed_again(
    store: MemoryReader, request: ForgetRequest, deleted: Rows, recompose: Recompose
) -> list[Observation]:
    """What can be composed again of the deleted, from parts that remain."""
    gone = {r.id for r in whole_recordings(store, request)}
    deleted_ids = {(o.recording, o.id) for o in deleted.values()}
    composed = []
    for caption in deleted.values():
        if caption.recording is None or caption.recording in gone:
            continue
        parts = [o for o in _parts(store, caption) if (o.recording, o.id) not in deleted_ids]
        again = recompose(caption, parts)
        # Parts side by side may make up the very text that is to be forgotten.
        if again and not (request.match and mentions(again, normalise_phrase(request.match))):
            composed.append(again)
    return composed


def _parts(store: MemoryReader, caption: Observation) -> list[Observation]:
    """What a caption rests on, from the record."""
    matches: list[Observation] = []
    for basis in caption.provenance.rests_on:
        sql = (
            f"SELECT {rows.OBSERVATION_COLUMNS} FROM {rows.OBSERVATION_TABLES} "
            "WHERE r.id = ? AND o.id = ?"
        )
        stored = store.connection.select(sql, (caption.recording, basis))
        matches += [rows.read_observation(row) for row in stored]
    return matches


def _vector_count(store: MemoryReader, numbers: Sequence[int]) -> int:
    gone = np.array(numbers, dtype=np.int64)
    count = 0
    for entries in vectors.vector_file_entries(store.connection.db).values():
        for entry in entries:
            with suppress(DamagedError):  # which goes as a whole
                count += int(np.isin(entry.read(store.folder).rowid, gone).sum())
    return count


# ------------------------------------------------------------------------------------- removing


def _delete(db: sqlite3.Connection, deleted: Iterable[int], receipt: ForgetReceipt) -> None:
    numbers = [(n,) for n in deleted]
    timelines = {
        row[0]
        for n in numbers
        for row in db.execute("SELECT recording FROM observation WHERE n = ?", n).fetchall()
    }
    db.executemany("DELETE FROM observation WHERE n = ?", numbers)
    ids = [o.id for o in (*receipt.observations, *receipt.dependents)]
    db.executemany("DELETE FROM rests_on WHERE basis = ?", [(id,) for id in ids])
    for timeline in timelines:
        recount_tally(db, timeline)
    for r in receipt.recordings:
        (number,) = db.execute("SELECT number FROM recording WHERE id = ?", (r.id,)).fetchone()
        db.execute("DELETE FROM done WHERE recording = ?", (r.id,))
        db.execute("DELETE FROM vectors WHERE recording = ?", (number,))
        db.execute("DELETE FROM picture WHERE recording = ?", (number,))
        db.execute("DELETE FROM recording WHERE number = ?", (number,))
    db.execute(
        "DELETE FROM recording WHERE id IS NULL AND number NOT IN (SELECT recording FROM tally)"
    )
    db.execute(
        "INSERT INTO receipt(at, kind, counts) VALUES (?, ?, ?)",
        (receipt.at.isoformat(), receipt.kind, rows.to_json(receipt.counts)),
    )
    db.execute("UPDATE state SET value = value + 1 WHERE name IN ('forgotten', 'recordings')")
    db.execute("UPDATE state SET value = 1 WHERE name = 'forgetting'")


def recount_tally(db: sqlite3.Connection, timeline: int) -> None:
    """Count the observations of a timeline anew."""
    db.execute("DELETE FROM tally WHERE recording = ?", (timeline,))
    db.execute(
        "INSERT INTO tally SELECT recording, track, count(*), sum(length), min(start), max(end) "
        "FROM observation WHERE recording = ? GROUP BY track",
        (timeline,),
    )


def _scrub_vectors(db: sqlite3.Connection, folder: Path) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for entries in vectors.vector_file_entries(db).values():
            for entry in entries:
                rowids = db.execute(
                    "SELECT n FROM observation WHERE recording = ?", (entry.recording,)
                ).fetchall()
                try:
                    file = entry.read(folder)
                except DamagedError:
                    # Nobody can say any more which of them are forgotten.
                    vectors.drop(db, entry)
                    continue
                keep = np.isin(file.rowid, np.array(rowids, dtype=np.int64).ravel())
                if not keep.all():
                    vectors.rewrite(db, folder, entry, keep)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
