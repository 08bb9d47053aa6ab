"""A file's identity."""

from __future__ import annotations

import hashlib
from pathlib import Path

from egomem.errors import MediaError


def content_hash(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hex: the whole of it, so a changed file is another file.

    Raises MediaError where it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise MediaError(f"{path} cannot be read ({error.strerror})", "check the path") from error
