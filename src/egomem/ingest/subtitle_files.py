"""Subtitles that lie beside recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from egomem.text import plural

SUFFIXES = (".srt", ".vtt")


def subtitles_beside(paths: Iterable[Path]) -> list[Path]:
    """The subtitles named like a recording: of walk.mp4, walk.srt and walk.en.vtt."""
    beside = [
        file
        for path in paths
        for file in sorted(path.parent.iterdir())
        if file.suffix.lower() in SUFFIXES
        and file.name.startswith(f"{path.stem}.")
        and file.is_file()
    ]
    return list(dict.fromkeys(beside))


def subtitles_note(files: Sequence[Path]) -> str:
    """A line on subtitles that were not taken."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return (
        f"{plural(len(files), 'subtitle file lies', 'subtitle files lie')} beside the recordings: "
        f"{files[0]}{more}; take them with --subtitles, or later with egomem import"
    )
