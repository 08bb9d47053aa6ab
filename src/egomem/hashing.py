"""The one way to hash content, requests and settings: SHA-256 in hex, of bytes or of sorted JSON.

Ids, cache keys and fingerprints on disk follow from these functions. A change here makes every
stored answer and reply look changed, so the tests pin literal values.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

RECORDING_ID_LENGTH = 16
"""Hex digits. A recording's id is the beginning of its file's hash."""
OBSERVATION_ID_LENGTH = 20
FINGERPRINT_LENGTH = 16
"""Hex digits of settings, runs and cells."""
TRACK_LENGTH = 6
"""Hex digits of settings within a readable track id."""
SHORT_LENGTH = 8
"""Hex digits that keep things of one readable name apart: cache folders, models."""
ROW_ID_LENGTH = 12
"""Hex digits that name a benchmark's row without an id."""


def hash_bytes(*pieces: bytes) -> str:
    """SHA-256 of the pieces, one behind the other: 64 hex digits."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def hash_text(text: str) -> str:
    """SHA-256 of a text in UTF-8. Text that a model cut within a surrogate pair is hashed, too."""
    return hash_bytes(text.encode("utf-8", "surrogatepass"))


def hash_json(value: Any, *, ascii: bool = False, spaced: bool = False) -> str:
    """SHA-256 of a JSON value with sorted keys, so that the order of fields makes no difference.

    `ascii` escapes other characters (cells of a run), `spaced` puts spaces behind separators (a
    run's configuration): two older forms in which values on disk were hashed.
    """
    separators = None if spaced else (",", ":")
    return hash_text(json.dumps(value, sort_keys=True, ensure_ascii=ascii, separators=separators))


def hash_file(path: str | Path) -> str:
    """SHA-256 of a file's bytes. Raises OSError where it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recording_id(sha256: str) -> str:
    """The id of the recording whose file has this hash: the same file is the same recording."""
    return sha256[:RECORDING_ID_LENGTH]
