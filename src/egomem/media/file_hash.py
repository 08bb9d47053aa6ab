"""The identity of a media file: the hash of its content."""

from __future__ import annotations

from pathlib import Path

from egomem.errors import MediaError
from egomem.hashing import hash_file


def content_hash(path: str | Path) -> str:
    """The SHA-256 of a file in hex. All its bytes count, so a changed file is another file.

    Raises MediaError where it cannot be read.
    """
    try:
        return hash_file(path)
    except OSError as error:
        raise MediaError(f"{path} cannot be read ({error.strerror})", "check the path") from error
