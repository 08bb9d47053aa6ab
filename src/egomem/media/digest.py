"""A file's identity."""

from __future__ import annotations

from pathlib import Path

from egomem.errors import MediaError
from egomem.hashing import hash_file


def content_hash(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hex: the whole of it, so a changed file is another file.

    Raises MediaError where it cannot be read.
    """
    try:
        return hash_file(path)
    except OSError as error:
        raise MediaError(f"{path} cannot be read ({error.strerror})", "check the path") from error
