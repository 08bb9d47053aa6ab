"""The small pictures kept of windows: `thumbnails/<recording>/<start in seconds>.jpg`."""

from __future__ import annotations

from pathlib import Path

FOLDER = "thumbnails"


def thumbnail_file(memory: Path, recording: str, start: float) -> Path:
    """Where the picture of the window that starts at second `start` lies in a memory's folder."""
    return memory / FOLDER / recording / f"{start:.3f}.jpg"


def keep_thumbnail(memory: Path, recording: str, start: float, jpeg: bytes) -> None:
    """Write a window's picture; a reader sees all of it or nothing."""
    file = thumbnail_file(memory, recording, start)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_bytes(jpeg)
    part.replace(file)


def start_of(file: Path) -> float:
    """The second at which the window of a thumbnail's file starts."""
    return float(file.stem)
