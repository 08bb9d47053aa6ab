"""Verify a memory and rebuild its derived data.

`memory.db` is the record: damage there can only be reported. The tally, index, vector files,
thumbnails and the cached replies follow from it, or can be had again, and are checked against
it. Repair recounts the tally, rebuilds the index, drops what can be computed again, and deletes our
own files that nothing refers to. It never changes the record or builds on a damaged one, never
follows a link, and leaves what others put into the folder alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from egomem.errors import EgomemError, reason
from egomem.memory import index, vectors
from egomem.memory.check_files import (
    damaged_pictures,
    damaged_replies,
    damaged_vectors,
    foreign_entries,
    links,
    repair_pictures,
    repair_replies,
    repair_vectors,
)
from egomem.memory.check_index import damaged_segments, repair_index
from egomem.memory.check_record import (
    damaged_record,
    repair_forgetting,
    repair_tally,
    unfinished_forgetting,
    wrong_tally,
)
from egomem.memory.reader import MemoryReader


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One fault: the part it is in, what is wrong, and whether it was repaired."""

    part: str
    what: str
    repairable: bool
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Result of a check: `figures` count what was examined; a sound memory has no `findings`.

    `notes` are of what is not egomem's in the folder; it does no harm, and is left alone.
    """

    figures: dict[str, int]
    findings: tuple[CheckFinding, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return all(finding.repaired for finding in self.findings)


def check(store: MemoryReader, *, repair: bool = False) -> CheckReport:
    """Check every part of a memory; with `repair`, mend what can be mended.

    Takes the writers' lock. Reading a million observations takes about 30 s.
    """
    if store.read_only:
        return _check(store, repair=False)
    with store.connection.writing():
        return _check(store, repair=repair)


def _check(store: MemoryReader, *, repair: bool) -> CheckReport:
    findings: list[CheckFinding] = []
    with store.connection.exclusive() as db:
        for part, look, mend in _PARTS:
            if findings and findings[0].part == "record":
                # What follows from a damaged record must not be built anew from it.
                mend = None
                findings_of_part = _examined(part, look, store)
            else:
                findings_of_part = list(look(store))
            if findings_of_part and repair and mend is not None:
                with store.connection.changing():
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
    return CheckReport(figures, tuple(findings), tuple(foreign_entries(store)))


def _examined(
    part: str, look: Callable[[MemoryReader], Iterator[str]], store: MemoryReader
) -> list[str]:
    """What is wrong with a part; where the damaged record itself stops it, that it could not be
    examined.
    """
    try:
        return list(look(store))
    except (EgomemError, sqlite3.Error, ValueError, TypeError, LookupError) as error:
        return [f"{part}: it cannot be compared with the damaged record ({reason(error)})"]


_PARTS: tuple[
    tuple[str, Callable[[MemoryReader], Iterator[str]], Callable[[MemoryReader], None] | None], ...
] = (
    ("record", damaged_record, None),
    ("links", links, None),
    ("forgetting", unfinished_forgetting, repair_forgetting),
    ("tally", wrong_tally, repair_tally),
    ("index", damaged_segments, repair_index),
    ("vectors", damaged_vectors, repair_vectors),
    ("thumbnails", damaged_pictures, repair_pictures),
    ("replies", damaged_replies, repair_replies),
)
