"""Names of files and folders that are made of ids, names and other text that people wrote.

An id may be anything: an absolute path, `..`, a name that a file system reserves. It is never used
as a path; one of these functions makes a name of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from egomem.errors import StoreError
from egomem.hashing import hash_text

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
# Windows opens the device and not a file of such a name, whatever its ending.
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_MAX_BYTES = 180
"""Of a readable name: file systems allow 255, and an ending and `.part` are added."""
_HASH_LENGTH = 32


def folder_name(id: str) -> str:
    """The name of an id's folder: the id itself where it is plain, else a name made of its hash.

    Two ids never share a folder, also where upper and lower case are one.
    """
    if _PLAIN.fullmatch(id) and not _RESERVED.fullmatch(id):
        return id
    return f"id.{hash_text(id)[:_HASH_LENGTH]}"  # no plain id has a dot


def file_name(text: str, default: str) -> str:
    """A readable file name (without ending) of any text; `default` where nothing is left of it."""
    name = re.sub(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u202a-\u202e\u2066-\u2069]', "_", text)
    name = name.encode("utf-8", "replace")[:_MAX_BYTES].decode("utf-8", "ignore").strip(". ")
    return f"_{name}" if _RESERVED.fullmatch(name) else name or default


def inside(folder: Path, path: Path) -> Path:
    """The path, after a check that it lies in the folder, whatever links are on the way.

    Raises StoreError where it resolves to another place.
    """
    if not path.resolve().is_relative_to(folder.resolve()) or path.resolve() == folder.resolve():
        raise StoreError(
            f"{path} leads out of {folder}", "put the folder itself there in place of the link"
        )
    return path


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """What lies in a folder, by name; nothing where there is no folder, or a link to one."""
    if folder.is_symlink() or not folder.is_dir():
        return
    with os.scandir(folder) as scan:
        yield from sorted(scan, key=lambda entry: entry.name)


def files_named(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """The plain files of a folder whose whole name matches; no links, no folders."""
    return [
        Path(entry.path)
        for entry in entries(folder)
        if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
    ]
