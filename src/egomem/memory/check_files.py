"""Whether vectors, pictures and cached replies are what was written; and what is not egomem's."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from egomem.errors import DamagedError, StoreError
from egomem.memory import index, vectors
from egomem.memory.checksums import SEAL
from egomem.memory.database_errors import DATABASE_NAME
from egomem.memory.lock import NAME as LOCK
from egomem.memory.reader import MemoryReader, relative_name
from egomem.memory.thumbnails import FOLDER as THUMBNAILS
from egomem.memory.thumbnails import (
    thumbnail_file,
    thumbnail_files,
    thumbnail_folder,
    unfinished_thumbnails,
)
from egomem.paths import entries, folder_name

_MAX_NAMES = 3
"""How many foreign names of a folder are listed."""


# ------------------------------------------------------------------------------------- vectors


def damaged_vectors(store: MemoryReader) -> Iterator[str]:
    """What is wrong with the vector files."""
    db, folder = store.connection.db, store.folder
    for table in vectors.vector_file_entries(db).values():
        for entry in table:
            name = relative_name(store, entry.path(folder))
            sizes = _sizes(folder, entry)
            if None in sizes:
                yield f"{name} is missing, or its .row: vectors have to be computed again"
                continue
            if min(size or 0 for size in sizes) < entry.rows:
                yield f"{name} has fewer than its {entry.rows} rows"
                continue
            try:
                file = entry.read(folder)
            except DamagedError:
                yield f"{name} is not what was written: vectors have to be computed again"
                continue
            orphans = int((~np.isin(file.rowid, _rows_of(store, entry.recording))).sum())
            if orphans:
                yield f"{name} has {orphans} vectors of no observation"
            if not np.isfinite(file.matrix).all():
                yield f"{name} has vectors that are not numbers"
    for path in vectors.stray_files(db, folder):
        yield f"{relative_name(store, path)} belongs to nothing"


def _sizes(folder: Path, entry: vectors.VectorFileEntry) -> tuple[int | None, int | None]:
    """How many rows the two files hold; None for one that is gone."""
    path = entry.path(folder)
    widths = ((path, 4 * entry.dimension), (path.with_suffix(".row"), vectors.ROW_DTYPE.itemsize))
    of_vectors, of_rows = (p.stat().st_size // w if p.is_file() else None for p, w in widths)
    return of_vectors, of_rows


def _rows_of(store: MemoryReader, recording: int) -> np.ndarray:
    cursor = store.connection.db.execute(
        "SELECT n FROM observation WHERE recording = ?", (recording,)
    )
    return np.array([n for (n,) in cursor], dtype=np.int64)


def repair_vectors(store: MemoryReader) -> None:
    """Keep the vectors that are sound, and drop the others, which can be computed again."""
    folder = store.folder
    with store.connection.transaction() as db:
        for table in vectors.vector_file_entries(db).values():
            for entry in table:
                whole = vectors.cut_to_whole(db, folder, entry)
                if whole is None:
                    continue
                try:
                    file = whole.read(folder)
                except DamagedError:
                    vectors.drop(db, whole)
                    continue
                keep = np.isin(file.rowid, _rows_of(store, entry.recording))
                keep &= np.isfinite(file.matrix).all(axis=1)
                if not keep.all():
                    vectors.rewrite(db, folder, whole, keep)
    vectors.sweep(store.connection.db, folder)


# ---------------------------------------------------------------------------------- thumbnails


def damaged_pictures(store: MemoryReader) -> Iterator[str]:
    """What is wrong with the thumbnails."""
    folder = store.folder
    listed_paths = set()
    for _, id, start, checksum in _listed(store):
        path = thumbnail_file(folder, id, start)
        listed_paths.add(path)
        name = relative_name(store, path)
        if not path.is_file():
            yield f"{name} is missing: its window has no picture any more"
        elif zlib.crc32(path.read_bytes()) != checksum:
            yield f"{name} is not what was written"
    names = {folder_name(r.id) for r in store.recordings()}
    for entry in entries(folder / THUMBNAILS):
        child = Path(entry.path)
        ours = [file for _, file in thumbnail_files(child)]
        for path in unfinished_thumbnails(child):
            yield f"{relative_name(store, path)} was never finished"
        if entry.name not in names and (ours or (not any(entries(child)) and _is_folder(child))):
            yield f"{relative_name(store, child)} belongs to no recording"
        elif entry.name in names:
            for path in sorted(set(ours) - listed_paths):
                yield f"{relative_name(store, path)} belongs to nothing"


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _listed(store: MemoryReader) -> list[tuple[int, str, float, int]]:
    return store.connection.select(
        "SELECT p.recording, r.id, p.start, p.checksum FROM picture p "
        "JOIN recording r ON r.number = p.recording ORDER BY r.id, p.start"
    )


def repair_pictures(store: MemoryReader) -> None:
    """Delete pictures that are damaged or belong to nothing, and list those no more that are gone.

    Files of others stay, and with them their folder.
    """
    folder = store.folder
    listed_paths = set()
    with store.connection.transaction() as db:
        for number, id, start, checksum in _listed(store):
            path = thumbnail_file(folder, id, start)
            listed_paths.add(path)
            if path.is_file() and zlib.crc32(path.read_bytes()) == checksum:
                continue
            if path.is_file() and not path.parent.is_symlink():
                path.unlink()
            db.execute("DELETE FROM picture WHERE recording = ? AND start = ?", (number, start))
    names = {folder_name(r.id) for r in store.recordings()}
    for entry in entries(folder / THUMBNAILS):
        child = Path(entry.path)
        for path in [*(file for _, file in thumbnail_files(child)), *unfinished_thumbnails(child)]:
            if path not in listed_paths:
                path.unlink(missing_ok=True)
        if entry.name not in names and _is_folder(child) and not any(entries(child)):
            child.rmdir()


# ------------------------------------------------------------------------------------- replies


def damaged_replies(store: MemoryReader) -> Iterator[str]:
    """What is wrong with the cached replies."""
    from egomem.memory import replies

    file = store.folder / replies.NAME
    if not file.exists():
        return
    if not file.stat().st_size:
        yield f"{replies.NAME} is empty; its replies can be asked again"
        return
    try:
        damaged = replies.damaged(store.folder)
    except StoreError as error:
        yield f"{replies.NAME} cannot be read ({error.message}); {error.remedy}"
        return
    if damaged:
        yield f"{replies.NAME}: {damaged} replies are not what was written, and are asked again"


def repair_replies(store: MemoryReader) -> None:
    """Delete cached replies that are not what was written; all where the file cannot be read."""
    from egomem.memory import replies

    try:
        if not (store.folder / replies.NAME).stat().st_size:
            raise StoreError("nothing is in it")
        replies.damaged(store.folder, delete=True)
    except StoreError:
        for name in (replies.NAME, f"{replies.NAME}-wal", f"{replies.NAME}-shm"):
            (store.folder / name).unlink(missing_ok=True)


# ---------------------------------------------------------------------------- links and strangers


def links(store: MemoryReader) -> Iterator[str]:
    """Links where files and folders of egomem should be: forgetting cannot reach behind them."""
    folder, db = store.folder, store.connection.db
    paths = {folder / name for name in ("index", "vectors", THUMBNAILS)}
    paths |= {index.path_of(folder, entry.number) for entry in index.segment_entries(db)}
    for table in vectors.vector_file_entries(db).values():
        for entry in table:
            path = entry.path(folder)
            paths |= {path, path.with_suffix(".row"), path.parent}
    for _, id, start, _ in _listed(store):
        paths |= {thumbnail_file(folder, id, start), thumbnail_folder(folder, id)}
    for path in sorted(paths):
        if path.is_symlink():
            yield (
                f"{relative_name(store, path)} is a link: forgetting cannot reach behind it; "
                "put the file or folder itself there"
            )


def foreign_entries(store: MemoryReader) -> Iterator[str]:
    """A line for each of our folders that holds what is not egomem's; it is left alone."""
    folder = store.folder
    databases = (DATABASE_NAME, "replies.db", "spending.db")
    ours = {*databases, LOCK, SEAL, "index", "vectors", THUMBNAILS}
    ours |= {f"{name}{end}" for name in databases for end in ("-wal", "-shm")}
    late = tuple(f"{name}." for name in databases[1:])
    yield from _strangers(
        folder,
        folder,
        lambda name: name in ours or (name.startswith(late) and name.endswith(".late.jsonl")),
    )

    def is_segment(name: str) -> bool:
        return index.FILE_NAME.fullmatch(name) is not None

    def is_vector_file(name: str) -> bool:
        return vectors.FILE_NAME.fullmatch(name) is not None

    yield from _strangers(folder, folder / "index", is_segment)
    yield from _strangers(folder, folder / "vectors", str.isdecimal)
    for entry in entries(folder / "vectors"):
        if entry.name.isdecimal():
            yield from _strangers(folder, Path(entry.path), is_vector_file)
    names = {folder_name(r.id) for r in store.recordings()}
    yield from _strangers(folder, folder / THUMBNAILS, lambda name: name in names)
    for entry in entries(folder / THUMBNAILS):
        child = Path(entry.path)
        own_names = {file.name for _, file in thumbnail_files(child)}
        own_names |= {file.name for file in unfinished_thumbnails(child)}
        yield from _strangers(folder, child, own_names.__contains__)


def _strangers(memory: Path, folder: Path, is_ours: Callable[[str], bool]) -> Iterator[str]:
    names = [entry.name for entry in entries(folder) if not is_ours(entry.name)]
    if names:
        listed = ", ".join(names[:_MAX_NAMES])
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        where = folder.relative_to(memory).as_posix() if folder != memory else "the folder"
        yield f"{where} holds what is not egomem's, and is left alone: {listed}{more}"
