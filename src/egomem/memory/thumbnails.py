"""Thumbnails of windows: `thumbnails/<recording>/<start in seconds>.jpg`."""

from __future__ import annotations

from pathlib import Path

from egomem.memory.database_errors import translated_errors

FOLDER = "thumbnails"


def thumbnail_file(memory: Path, recording: str, start: float) -> Path:
    """The path of the thumbnail of the window that starts at second `start`."""
    return memory / FOLDER / recording / f"{start:.3f}.jpg"


def keep_thumbnail(memory: Path, recording: str, start: float, jpeg: bytes) -> None:
    """Write a window's thumbnail atomically. Raises FullError."""
    file = thumbnail_file(memory, recording, start)
    part = file.with_suffix(".part")
    with translated_errors(memory):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(jpeg)
            part.replace(file)
        except OSError:
            part.unlink(missing_ok=True)  # a full disk has better uses for it
            raise


def thumbnail_start(file: Path) -> float:
    """The second at which the window of a thumbnail starts."""
    return float(file.stem)
