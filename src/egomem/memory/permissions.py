"""What a memory writes is for its owner alone: folders 0700, files 0600."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_private_folder(folder: Path) -> None:
    """Make a folder and its parents; the folder itself is its owner's alone."""
    folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)


def open_private(path: Path, flags: int) -> int:
    """A file descriptor, as of `os.open`; a file that this makes is its owner's alone."""
    return os.open(path, flags | getattr(os, "O_BINARY", 0), FILE_MODE)


def write_private(path: Path, content: bytes) -> None:
    """Write a file anew, as its owner's alone."""
    with open(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(content)


def close_to_others(path: Path) -> None:
    """Take the permissions of others from a file that somebody else's code made, such as SQLite's.

    Where they cannot be changed (another owner, a file system without them) they stay.
    """
    with contextlib.suppress(OSError):
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            path.chmod(mode & 0o700)
