"""Forgetting: every trace of something, from every file of the folder.

In this order, so that a crash at any point leaves either everything or something that the next
opening finishes: cached replies and thumbnails go; the rows go, and a mark says that forgetting is
under way; index and vector files are rewritten without them; free pages and the write-ahead log
are emptied; the mark goes, and a receipt without content stays.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np

from egomem.errors import LockedError, UsageError
from egomem.memory import index, rows, vectors
from egomem.memory.connection import translated_errors
from egomem.memory.thumbnails import FOLDER as THUMBNAILS
from egomem.memory.thumbnails import thumbnail_start
from egomem.records import Observation, Recording
from egomem.text import normalise_phrase
from egomem.timeline import Span

if TYPE_CHECKING:
    from egomem.memory.store import Store


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to forget: whatever meets all that is given.

    `span` is in seconds of the recording, `between` two aware instants, `match` a text that the
    observation's own text, data or note holds, whatever its case, width and spaces.
    """

    recording: str | None = None
    span: Span | None = None
    between: tuple[datetime, datetime] | None = None
    wearer: str | None = None
    match: str | None = None

    @property
    def kind(self) -> str:
        given = ("recording", "span", "between", "wearer", "match")
        return "+".join(name for name in given if getattr(self, name) is not None)


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """What went, or would go. Only `at`, `kind` and the counts are kept in the memory.

    `observations` were asked for; `resting` rest on them, or may, and go as well: digests among
    them can be made anew from what is left. `recordings` are those that go altogether.
    """

    at: datetime
    kind: str
    dry_run: bool
    observations: tuple[Observation, ...]
    resting: tuple[Observation, ...]
    recordings: tuple[Recording, ...]
    thumbnails: int
    vectors: int
    replies: int

    @property
    def counts(self) -> dict[str, int]:
        return {
            "observations": len(self.observations),
            "resting": len(self.resting),
            "recordings": len(self.recordings),
            "thumbnails": self.thumbnails,
            "vectors": self.vectors,
            "replies": self.replies,
        }


def forget(store: Store, wanted: ForgetRequest, *, dry_run: bool) -> ForgetReceipt:
    """See `Store.forget`."""
    if not wanted.kind:
        raise UsageError("nothing was named to forget", "give a recording, a time or a text")
    if wanted.match is not None and not normalise_phrase(wanted.match):
        raise UsageError("an empty text matches everything", "give a word, or a recording")
    with store.writing():
        whole = _whole_recordings(store, wanted)
        found = _matching(store, wanted, whole)
        resting = _resting(store, found)
        gone = (*found, *resting)
        ids = [r.id for r in whole]
        pictures = _thumbnails(store, wanted, gone, ids)
        texts = {o.text for o in gone if o.text} | ({wanted.match} if wanted.match else set())
        touched = sorted({o.recording for o in gone if o.recording} | set(ids))
        held = _vectors_of(store, gone)
        from egomem.memory import replies  # which knows of models: not for every opening

        replied = replies.forget(
            store.folder, recordings=touched, texts=sorted(texts), dry_run=dry_run
        )
        if not dry_run:
            for picture in pictures:
                picture.unlink(missing_ok=True)
            for id in ids:
                rmtree(store.folder / THUMBNAILS / id, ignore_errors=True)
        receipt = ForgetReceipt(
            datetime.now(UTC),
            wanted.kind,
            dry_run,
            tuple(found),
            tuple(resting),
            tuple(whole),
            len(pictures),
            held,
            replied,
        )
        if not dry_run:
            with store._transaction() as db:
                _delete(db, receipt)
            finish_forgetting(store)
    return receipt


def receipts(store: Store) -> list[tuple[datetime, str, dict[str, int]]]:
    """What was forgotten when: (at, kind, counts), oldest first."""
    found = store._all("SELECT at, kind, counts FROM receipt ORDER BY number")
    return [(datetime.fromisoformat(at), kind, json.loads(counts)) for at, kind, counts in found]


def finish_forgetting(store: Store) -> None:
    """Clean what the deleted rows left behind; also after a crash in the middle of it.

    Raises LockedError where another program keeps reading: the mark stays, and the next opening
    finishes.
    """
    with store.writing(), store._threads, translated_errors(store.folder):
        db = store._db
        index.scrub(db, store.folder)
        index.sweep(db, store.folder)
        _scrub_vectors(db, store.folder)
        vectors.sweep(db, store.folder)
        db.execute("VACUUM")
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise LockedError(
                f"other programs are reading {store.folder}: traces are left in memory.db-wal",
                "close them and open the memory once more, which finishes forgetting",
            )
        db.execute("UPDATE state SET value = 0 WHERE name = 'forgetting'")


# ------------------------------------------------------------------------------------ what it is


def _matching(store: Store, wanted: ForgetRequest, whole: Sequence[Recording]) -> list[Observation]:
    view = store.view(
        wearer=wanted.wearer,
        recordings=None if wanted.recording is None else [wanted.recording],
    )
    found = view.narrow(span=wanted.span, between=wanted.between).observations()
    if wanted.match is None:
        # A point in time at the very end of a recording overlaps no span, but goes with the rest.
        known = {o.id for o in found}
        rest = view.narrow(recordings=[r.id for r in whole]).observations() if whole else []
        return found + [o for o in rest if o.id not in known]
    match = normalise_phrase(wanted.match)
    return [o for o in found if _holds([o.text, o.data, o.provenance.note], match)]


def _holds(value: object, match: str) -> bool:
    if isinstance(value, dict):
        return any(_holds(v, match) for v in (*value.keys(), *value.values()))
    if isinstance(value, list):
        return any(_holds(v, match) for v in value)
    return value is not None and match in normalise_phrase(str(value))


def _resting(store: Store, found: Sequence[Observation]) -> list[Observation]:
    """What rests on the observations, and on that, and so on; and digests that do not say."""
    known = {o.id for o in found}
    above: dict[str, list[str]] = {}
    for basis, id in store._all(
        "SELECT r.basis, o.id FROM rests_on r JOIN observation o USING (n)"
    ):
        above.setdefault(basis, []).append(id)
    fresh: Iterable[str] = known
    resting: set[str] = set()
    while fresh:
        fresh = {id for basis in fresh for id in above.get(basis, ())} - known - resting
        resting |= fresh
    view = store.view()
    clocks = {r.id: r for r in view.recordings()}
    spans: dict[str, list[Span]] = {}
    for o in found:
        r = clocks.get(o.recording or "")
        if r and r.clock:
            zero = r.clock.start.timestamp()
            spans.setdefault(r.wearer, []).append(o.span.shift(zero))
    if spans:
        for digest in view.observations(sources=["digest"]):
            if digest.recording is None and not digest.provenance.rests_on:
                near = spans.get(digest.wearer, ())
                if digest.id not in known and any(digest.span.overlaps(s) for s in near):
                    resting.add(digest.id)
    return view.observations(ids=sorted(resting)) if resting else []


def _whole_recordings(store: Store, wanted: ForgetRequest) -> list[Recording]:
    """Recordings that are named, or lie wholly within the time: of them nothing stays."""
    if wanted.match is not None or wanted.span is not None:
        return []
    chosen = []
    for r in store.recordings():
        if wanted.recording not in (None, r.id) or wanted.wearer not in (None, r.wearer):
            continue
        if wanted.between is not None:
            start, end = wanted.between
            if not (r.clock and start <= r.clock.start and r.clock.at(r.duration) <= end):
                continue
        chosen.append(r)
    return chosen


def _thumbnails(
    store: Store, wanted: ForgetRequest, gone: Sequence[Observation], whole: Sequence[str]
) -> list[Path]:
    """Pictures of windows that overlap what goes. A window ends where the next picture's starts."""
    spans: dict[str, list[Span]] = {}
    for o in gone:
        if o.recording:
            spans.setdefault(o.recording, []).append(o.span)
    if wanted.match is None:
        for r in store.recordings():
            if wanted.recording in (None, r.id) and wanted.wearer in (None, r.wearer):
                spans.setdefault(r.id, []).extend(_span_within(r, wanted))
    found = []
    for folder in (store.folder / THUMBNAILS).glob("*"):
        here = spans.get(folder.name, [])
        pictures = sorted(folder.glob("*.jpg"), key=thumbnail_start)
        ends = [thumbnail_start(picture) for picture in pictures[1:]] + [float("1e300")]
        for picture, end in zip(pictures, ends, strict=True):
            window = Span(thumbnail_start(picture), end)
            if folder.name in whole or any(window.overlaps(span) for span in here):
                found.append(picture)
    return found


def _span_within(r: Recording, wanted: ForgetRequest) -> list[Span]:
    """The part of a recording that a time names."""
    span = wanted.span
    if wanted.between is not None:
        if r.clock is None:
            return []
        low, high = (r.clock.seconds(instant) for instant in wanted.between)
        between = Span(low, high)
        span = between if span is None else span.clip(between)
    return [span] if span else []


def _numbers(db: sqlite3.Connection, gone: Sequence[Observation]) -> list[int]:
    return [
        row[0]
        for o in gone
        for row in db.execute(
            "SELECT o.n FROM recording r JOIN observation o ON o.recording = r.number "
            "WHERE r.id IS ? AND o.wearer = ? AND o.id = ?",
            (o.recording, o.wearer, o.id),
        ).fetchall()
    ]


def _vectors_of(store: Store, gone: Sequence[Observation]) -> int:
    numbers = np.array(_numbers(store._db, gone), dtype=np.int64)
    count = 0
    for entries in vectors.vector_file_entries(store._db).values():
        count += sum(int(np.isin(e.read(store.folder).n, numbers).sum()) for e in entries)
    return count


# ------------------------------------------------------------------------------------- removing


def _delete(db: sqlite3.Connection, receipt: ForgetReceipt) -> None:
    numbers = _numbers(db, (*receipt.observations, *receipt.resting))
    lines = {
        row[0]
        for n in numbers
        for row in db.execute("SELECT recording FROM observation WHERE n = ?", (n,)).fetchall()
    }
    db.executemany("DELETE FROM observation WHERE n = ?", [(n,) for n in numbers])
    ids = [o.id for o in (*receipt.observations, *receipt.resting)]
    db.executemany("DELETE FROM rests_on WHERE basis = ?", [(id,) for id in ids])
    for line in lines:
        recount_tally(db, line)
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


def recount_tally(db: sqlite3.Connection, line: int) -> None:
    """Count a line anew."""
    db.execute("DELETE FROM tally WHERE recording = ?", (line,))
    db.execute(
        "INSERT INTO tally SELECT recording, track, count(*), sum(length), min(start), max(end) "
        "FROM observation WHERE recording = ? GROUP BY track",
        (line,),
    )


def _scrub_vectors(db: sqlite3.Connection, folder: Path) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for entries in vectors.vector_file_entries(db).values():
            for entry in entries:
                held = db.execute(
                    "SELECT n FROM observation WHERE recording = ?", (entry.recording,)
                ).fetchall()
                keep = np.isin(entry.read(folder).n, np.array(held, dtype=np.int64).ravel())
                if not keep.all():
                    vectors.rewrite(db, folder, entry, keep)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
