"""Whether the index is what was written, and what the observations make of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from egomem.errors import DamagedError
from egomem.memory import index
from egomem.memory.checksums import file_checksum
from egomem.memory.reader import MemoryReader, relative_name
from egomem.memory.segment import ROW_COLUMNS, Segment


def damaged_segments(store: MemoryReader) -> Iterator[str]:
    db, folder = store.connection.db, store.folder
    entries = index.segment_entries(db)
    expected = 1
    for entry in entries:
        path = index.path_of(folder, entry.number)
        if entry.first != expected:
            yield f"the index has no segment for the rows from {expected} to {entry.first - 1}"
        expected = entry.last + 1
        name = relative_name(store, path)
        if not path.is_file():
            yield f"{name} is missing"
        elif file_checksum(path) != entry.checksum:
            yield f"{name} is not what was written"
        elif not _agrees(store, entry):
            yield f"{name} differs from the observations"
    if expected - 1 > index.last_row(db):
        yield "the index reaches further than the record"
    for path in index.stray_files(db, folder):
        yield f"{relative_name(store, path)} belongs to nothing"


def _agrees(store: MemoryReader, entry: index.SegmentEntry) -> bool:
    """Whether a segment equals one built anew from its rows, a batch at a time."""
    try:
        segment = index.read_segment(store.folder, entry)
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


def repair_index(store: MemoryReader) -> None:
    index.rebuild(store.connection.db, store.folder)
