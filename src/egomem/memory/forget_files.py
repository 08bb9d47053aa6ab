"""What forgetting removes outside of memory.db: pictures and cached replies.

The table `pending` says what has still to go, as (kind, value): `picture` [recording, start],
`folder` and `recording` an id, `text` what replies must not repeat.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from egomem.errors import StoreError
from egomem.memory import index, vectors
from egomem.memory.reader import MemoryReader
from egomem.memory.thumbnails import (
    FOLDER,
    thumbnail_file,
    thumbnail_files,
    thumbnail_folder,
    unfinished_thumbnails,
)
from egomem.paths import entries

# What file managers put beside pictures: notes on one of them (macOS), and small copies of all
# (Windows), which would outlive the pictures.
_COMPANION = "._"
_COPIES = ("Thumbs.db", "ehthumbs.db")
_LITTER = (*_COPIES, ".DS_Store", "desktop.ini", ".directory")


def links_in_the_way(store: MemoryReader, ids: Sequence[str], *, dry_run: bool) -> tuple[str, ...]:
    """Lines on links that are not followed.

    Raises StoreError where one stands for a folder in which something has to be rewritten.
    """
    folder = store.folder
    db = store.connection.db
    folders = {folder / "index", folder / "vectors"}
    files = {index.path_of(folder, entry.number) for entry in index.segment_entries(db)}
    for table in vectors.vector_file_entries(db).values():
        for entry in table:
            folders.add(entry.path(folder).parent)
            files |= {entry.path(folder), entry.path(folder).with_suffix(".row")}
    for path in sorted(folders):
        if path.is_symlink() and not dry_run:
            raise StoreError(
                f"{path} is a link, and forgetting neither reads nor deletes behind links",
                "put the folder itself there and run it again; nothing was forgotten",
            )
    suspects = sorted({folder / FOLDER, *(thumbnail_folder(folder, id) for id in ids), *files})
    return tuple(
        f"{path} is a link: what lies behind it is left alone"
        for path in suspects
        if path.is_symlink()
    )


def replies_to_forget(folder: Path, pending: Iterable[tuple[str, str]]) -> int:
    """How many cached replies go with what is pending. Raises StoreError for a damaged file."""
    from egomem.memory import replies  # which knows of models: not for every opening

    recordings, texts = _of_replies(pending)
    return replies.forget(folder, recordings=recordings, texts=texts, dry_run=True)


def remove_pending(db: sqlite3.Connection, folder: Path) -> None:
    """Remove what is pending, and then the table's rows; repeatable after a kill."""
    pending = db.execute("SELECT kind, value FROM pending").fetchall()
    for kind, value in pending:
        if kind == "picture":
            recording, start = json.loads(value)
            _remove_picture(thumbnail_file(folder, recording, start))
            db.execute(
                "DELETE FROM picture WHERE start = ? "
                "AND recording = (SELECT number FROM recording WHERE id = ?)",
                (start, recording),
            )
        elif kind == "folder":
            _remove_folder(thumbnail_folder(folder, value))
    recordings, texts = _of_replies(pending)
    if recordings or texts:
        from egomem.memory import replies

        replies.forget(folder, recordings=recordings, texts=texts)
    db.execute("DELETE FROM pending")


def _of_replies(pending: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    pending = list(pending)
    return [v for kind, v in pending if kind == "recording"], [
        v for kind, v in pending if kind == "text"
    ]


def _remove_picture(file: Path) -> None:
    """Remove a picture, with what file managers keep of it; nothing behind a link."""
    if file.parent.is_symlink() or file.parent.parent.is_symlink():
        return
    for name in (file.name, _COMPANION + file.name, *_COPIES):
        _remove_file(file.with_name(name))


def _remove_file(path: Path) -> None:
    with suppress(FileNotFoundError, IsADirectoryError, PermissionError, NotADirectoryError):
        path.unlink()


def _remove_folder(folder: Path) -> None:
    """Remove the pictures of a recording, and their folder where nobody else put anything there."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return
    for _, file in thumbnail_files(folder):
        _remove_picture(file)
    for part in unfinished_thumbnails(folder):
        _remove_file(part)
    remaining = [Path(entry.path) for entry in entries(folder)]
    if all(path.name in _LITTER or path.name.startswith(_COMPANION) for path in remaining):
        for path in remaining:
            _remove_file(path)
        with suppress(OSError):
            folder.rmdir()
