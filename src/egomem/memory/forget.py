"""Forgetting: remove every trace of something from every file of a memory's folder.

The order makes a crash harmless: either everything is still there, or the next opening finishes the
work. Cached replies and thumbnails are deleted; the rows are deleted and a mark is set, in one
transaction; index and vector files are rewritten without them; free pages and the write-ahead log
are emptied; the mark is cleared. A receipt without content stays.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree

import numpy as np

from egomem.errors import LockedError, UsageError
from egomem.memory import index, rows, vectors
from egomem.memory.connection import Connection
from egomem.memory.reader import MemoryReader
from egomem.memory.thumbnails import FOLDER as THUMBNAILS
from egomem.memory.thumbnails import thumbnail_start
from egomem.memory.view import view_of
from egomem.records import Observation, Recording
from egomem.text import normalise_phrase
from egomem.timeline import Span


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to forget: observations that meet all conditions given.

    `span` is in seconds of the recording, `between` two aware instants, `match` a text that occurs
    in the observation's text, data or note, whatever its case, width and spaces.
    """

    recording: str | None = None
    span: Span | None = None
    between: tuple[datetime, datetime] | None = None
    wearer: str | None = None
    match: str | None = None

    @property
    def kind(self) -> str:
        names = ("recording", "span", "between", "wearer", "match")
        return "+".join(name for name in names if getattr(self, name) is not None)


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """What was deleted, or would be. The memory keeps only `at`, `kind` and the counts.

    `observations` met the request. `dependents` rest on them, or may, and are deleted too; digests
    among them can be composed again from what remains. `recordings` are deleted as a whole.
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


def forget(store: MemoryReader, request: ForgetRequest, *, dry_run: bool) -> ForgetReceipt:
    """Delete what a request selects, with everything that rests on it; see `Store.forget`."""
    if not request.kind:
        raise UsageError("nothing was named to forget", "give a recording, a time or a text")
    if request.match is not None and not normalise_phrase(request.match):
        raise UsageError("an empty text matches everything", "give a word, or a recording")
    with store.connection.writing():
        # Everything is worked out before anything is deleted: the receipt and a dry run need it.
        whole = _whole_recordings(store, request)
        matches = _matching(store, request, whole)
        resting = _dependents(store, matches)
        deleted = (*matches, *resting)
        ids = [r.id for r in whole]
        pictures = _thumbnails(store, request, deleted, ids)
        texts = {o.text for o in deleted if o.text} | ({request.match} if request.match else set())
        recording_ids = sorted({o.recording for o in deleted if o.recording} | set(ids))
        vector_count = _vectors_of(store, deleted)
        from egomem.memory import replies  # which knows of models: not for every opening

        reply_count = replies.forget(
            store.folder, recordings=recording_ids, texts=sorted(texts), dry_run=dry_run
        )
        if not dry_run:
            for picture in pictures:
                picture.unlink(missing_ok=True)
            for id in ids:
                rmtree(store.folder / THUMBNAILS / id, ignore_errors=True)
        receipt = ForgetReceipt(
            datetime.now(UTC),
            request.kind,
            dry_run,
            tuple(matches),
            tuple(resting),
            tuple(whole),
            len(pictures),
            vector_count,
            reply_count,
        )
        if not dry_run:
            with store.connection.transaction() as db:
                _delete(db, receipt)
            finish_forgetting(store.connection)
    return receipt


def receipts(store: MemoryReader) -> list[tuple[datetime, str, dict[str, int]]]:
    """What was forgotten: (at, kind, counts), oldest first."""
    receipt_rows = store.connection.select("SELECT at, kind, counts FROM receipt ORDER BY number")
    return [
        (datetime.fromisoformat(at), kind, json.loads(counts)) for at, kind, counts in receipt_rows
    ]


def finish_forgetting(connection: Connection) -> None:
    """Remove what deleted rows left in the index, vectors and database files; repeatable after a
    crash.

    Raises LockedError where another program keeps reading: the mark stays, and the next opening
    finishes.
    """
    folder = connection.folder
    with connection.writing(), connection.exclusive() as db:
        index.scrub(db, folder)
        index.sweep(db, folder)
        _scrub_vectors(db, folder)
        vectors.sweep(db, folder)
        db.execute("VACUUM")
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise LockedError(
                f"other programs are reading {folder}: traces are left in memory.db-wal",
                "close them and open the memory once more, which finishes forgetting",
            )
        db.execute("UPDATE state SET value = 0 WHERE name = 'forgetting'")


# ------------------------------------------------------------------------------------ what it is


def _matching(
    store: MemoryReader, request: ForgetRequest, whole: Sequence[Recording]
) -> list[Observation]:
    view = view_of(store).narrow(
        wearer=request.wearer,
        recordings=None if request.recording is None else [request.recording],
    )
    matches = view.narrow(span=request.span, between=request.between).observations()
    if request.match is None:
        # A point in time at the very end of a recording overlaps no span, but goes with the rest.
        match_ids = {o.id for o in matches}
        rest = view.narrow(recordings=[r.id for r in whole]).observations() if whole else []
        return matches + [o for o in rest if o.id not in match_ids]
    match = normalise_phrase(request.match)
    return [o for o in matches if _holds([o.text, o.data, o.provenance.note], match)]


def _holds(value: object, match: str) -> bool:
    if isinstance(value, dict):
        return any(_holds(v, match) for v in (*value.keys(), *value.values()))
    if isinstance(value, list):
        return any(_holds(v, match) for v in value)
    return value is not None and match in normalise_phrase(str(value))


def _dependents(store: MemoryReader, matches: Sequence[Observation]) -> list[Observation]:
    """Observations that rest on the matches, directly or not, and digests that do not say what they
    rest on.
    """
    match_ids = {o.id for o in matches}
    dependents_of: dict[str, list[str]] = {}
    for basis, id in store.connection.select(
        "SELECT r.basis, o.id FROM rests_on r JOIN observation o USING (n)"
    ):
        dependents_of.setdefault(basis, []).append(id)
    new_ids: Iterable[str] = match_ids
    dependent_ids: set[str] = set()
    while new_ids:
        new_ids = (
            {id for basis in new_ids for id in dependents_of.get(basis, ())}
            - match_ids
            - dependent_ids
        )
        dependent_ids |= new_ids
    view = view_of(store)
    clocks = {r.id: r for r in view.recordings()}
    spans: dict[str, list[Span]] = {}
    for o in matches:
        r = clocks.get(o.recording or "")
        if r and r.clock:
            zero = r.clock.start.timestamp()
            spans.setdefault(r.wearer, []).append(o.span.shift(zero))
    if spans:
        for digest in view.observations(sources=["digest"]):
            if digest.recording is None and not digest.provenance.rests_on:
                nearby = spans.get(digest.wearer, ())
                if digest.id not in match_ids and any(digest.span.overlaps(s) for s in nearby):
                    dependent_ids.add(digest.id)
    return view.observations(ids=sorted(dependent_ids)) if dependent_ids else []


def _whole_recordings(store: MemoryReader, request: ForgetRequest) -> list[Recording]:
    """Recordings that are named, or lie entirely within the time: nothing of them stays."""
    if request.match is not None or request.span is not None:
        return []
    recordings = []
    for r in store.recordings():
        if request.recording not in (None, r.id) or request.wearer not in (None, r.wearer):
            continue
        if request.between is not None:
            start, end = request.between
            if not (r.clock and start <= r.clock.start and r.clock.at(r.duration) <= end):
                continue
        recordings.append(r)
    return recordings


def _thumbnails(
    store: MemoryReader,
    request: ForgetRequest,
    deleted: Sequence[Observation],
    whole: Sequence[str],
) -> list[Path]:
    """Thumbnails of windows that overlap what is deleted: a window ends where the next starts."""
    spans: dict[str, list[Span]] = {}
    for o in deleted:
        if o.recording:
            spans.setdefault(o.recording, []).append(o.span)
    if request.match is None:
        for r in store.recordings():
            if request.recording in (None, r.id) and request.wearer in (None, r.wearer):
                spans.setdefault(r.id, []).extend(_span_within(r, request))
    files = []
    for folder in (store.folder / THUMBNAILS).glob("*"):
        spans_here = spans.get(folder.name, [])
        pictures = sorted(folder.glob("*.jpg"), key=thumbnail_start)
        ends = [thumbnail_start(picture) for picture in pictures[1:]] + [float("1e300")]
        for picture, end in zip(pictures, ends, strict=True):
            window = Span(thumbnail_start(picture), end)
            if folder.name in whole or any(window.overlaps(span) for span in spans_here):
                files.append(picture)
    return files


def _span_within(r: Recording, request: ForgetRequest) -> list[Span]:
    """The part of a recording that the request's times select."""
    span = request.span
    if request.between is not None:
        if r.clock is None:
            return []
        low, high = (r.clock.seconds(instant) for instant in request.between)
        between = Span(low, high)
        span = between if span is None else span.clip(between)
    return [span] if span else []


def _numbers(db: sqlite3.Connection, observations: Sequence[Observation]) -> list[int]:
    return [
        row[0]
        for o in observations
        for row in db.execute(
            "SELECT o.n FROM recording r JOIN observation o ON o.recording = r.number "
            "WHERE r.id IS ? AND o.wearer = ? AND o.id = ?",
            (o.recording, o.wearer, o.id),
        ).fetchall()
    ]


def _vectors_of(store: MemoryReader, observations: Sequence[Observation]) -> int:
    numbers = np.array(_numbers(store.connection.db, observations), dtype=np.int64)
    count = 0
    for entries in vectors.vector_file_entries(store.connection.db).values():
        count += sum(int(np.isin(e.read(store.folder).rowid, numbers).sum()) for e in entries)
    return count


# ------------------------------------------------------------------------------------- removing


def _delete(db: sqlite3.Connection, receipt: ForgetReceipt) -> None:
    numbers = _numbers(db, (*receipt.observations, *receipt.dependents))
    timelines = {
        row[0]
        for n in numbers
        for row in db.execute("SELECT recording FROM observation WHERE n = ?", (n,)).fetchall()
    }
    db.executemany("DELETE FROM observation WHERE n = ?", [(n,) for n in numbers])
    ids = [o.id for o in (*receipt.observations, *receipt.dependents)]
    db.executemany("DELETE FROM rests_on WHERE basis = ?", [(id,) for id in ids])
    for timeline in timelines:
        recount_tally(db, timeline)
    for r in receipt.recordings:
        (number,) = db.execute("SELECT number FROM recording WHERE id = ?", (r.id,)).fetchone()
        db.execute("DELETE FROM done WHERE recording = ?", (r.id,))
        db.execute("DELETE FROM vectors WHERE recording = ?", (number,))
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
                keep = np.isin(entry.read(folder).rowid, np.array(rowids, dtype=np.int64).ravel())
                if not keep.all():
                    vectors.rewrite(db, folder, entry, keep)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
