"""Checksums (CRC-32): of rows of the record, of files, and of memory.db as a whole.

SQLite has none of its own, so that a changed bit in a text or a time would pass for what was
remembered.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

from egomem.memory.database_errors import DATABASE_NAME
from egomem.memory.permissions import write_private
from egomem.memory.segment import sync_folder

SEAL = "memory.seal"
"""CRC-32 and size of memory.db, as the last writer left it. A writer removes it before it changes
anything, so that it never describes another state."""

OBSERVATION_CHECKED = (
    "id, recording, wearer, track, start, end, text, data, provenance, terms, length"
)
RECORDING_CHECKED = (
    "number, id, wearer, name, path, sha256, duration, clock, zone, clock_source, facts"
)
TRACK_CHECKED = "number, id, source, observer, model, prompt, window, sampling"


def row_checksum(*values: object) -> int:
    """The checksum of a row's values, as SQLite returns them; also a function within SQL."""
    texts = ("\0" if value is None else str(value) for value in values)
    return zlib.crc32("\x1f".join(texts).encode("utf-8", "surrogatepass"))


def file_checksum(path: Path, size: int | None = None) -> int:
    """The CRC-32 of a file, or of its first `size` bytes."""
    crc, rest = 0, size
    with open(path, "rb") as file:
        while piece := file.read(1 << 20 if rest is None else min(rest, 1 << 20)):
            crc = zlib.crc32(piece, crc)
            if rest is not None:
                rest -= len(piece)
    return crc


def seal(folder: Path) -> None:
    """Note the checksum of memory.db, to which nothing is about to be written."""
    database = folder / DATABASE_NAME
    note = {"crc32": file_checksum(database), "bytes": database.stat().st_size}
    draft = folder / f"{SEAL}.part"
    write_private(draft, json.dumps(note).encode())
    os.replace(draft, folder / SEAL)


def break_seal(folder: Path) -> None:
    """Remove the seal, because memory.db is about to be changed."""
    try:
        (folder / SEAL).unlink()
    except FileNotFoundError:
        return
    # After a power cut the seal must not be back beside a database that went on.
    sync_folder(folder)


def seal_holds(folder: Path) -> bool | None:
    """Whether memory.db is what the last writer left; None where nothing says so."""
    database = folder / DATABASE_NAME
    log = Path(f"{database}-wal")
    try:
        note = json.loads((folder / SEAL).read_bytes())
        if log.exists() and log.stat().st_size:
            return None
        return bool(
            note["bytes"] == database.stat().st_size and note["crc32"] == file_checksum(database)
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return False
