"""Thumbnails of windows: `thumbnails/<folder of the recording>/<start in seconds>.jpg`.

The table `picture` of memory.db lists them with their checksums.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import NamedTuple

from egomem.memory.database_errors import translated_errors
from egomem.memory.permissions import make_private_folder, write_private
from egomem.paths import files_named, folder_name, inside

FOLDER = "thumbnails"
_PICTURE = re.compile(r"\d+\.\d{3}\.jpg")
_DRAFT = re.compile(r"\d+\.\d{3}\.part")


class Thumbnail(NamedTuple):
    """A picture that was written; `checksum` is the CRC-32 of its bytes."""

    recording: str
    start: float
    checksum: int


def thumbnail_folder(memory: Path, recording: str) -> Path:
    """The folder of a recording's thumbnails."""
    return memory / FOLDER / folder_name(recording)


def thumbnail_file(memory: Path, recording: str, start: float) -> Path:
    """The path of the thumbnail of the window that starts at second `start`."""
    return thumbnail_folder(memory, recording) / f"{start:.3f}.jpg"


def keep_thumbnail(memory: Path, recording: str, start: float, jpeg: bytes) -> Thumbnail:
    """Write a window's thumbnail atomically; `Store.add` lists it. Raises FullError, StoreError."""
    file = thumbnail_file(memory, recording, start)
    part = file.with_suffix(".part")
    with translated_errors(memory):
        make_private_folder(file.parent.parent)
        make_private_folder(inside(memory, file.parent))
        try:
            write_private(part, jpeg)
            part.replace(file)
        except OSError:
            part.unlink(missing_ok=True)  # a full disk has better uses for it
            raise
    return Thumbnail(recording, thumbnail_start(file), zlib.crc32(jpeg))


def thumbnail_start(file: Path) -> float:
    """The second at which the window of a thumbnail starts."""
    return float(file.stem)


def thumbnail_files(folder: Path) -> list[tuple[float, Path]]:
    """The thumbnails in a folder as (start, file), in order; what others put there is left out."""
    return sorted((thumbnail_start(file), file) for file in files_named(folder, _PICTURE))


def unfinished_thumbnails(folder: Path) -> list[Path]:
    """What a kill left of thumbnails that were being written."""
    return files_named(folder, _DRAFT)
