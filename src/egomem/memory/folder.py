"""A memory's folder: what has to be there before it is opened, and what an older form lacks."""

from __future__ import annotations

from pathlib import Path

from egomem.errors import DamagedError, FullError, NoMemoryError, missing_folder, reason
from egomem.memory import index, vectors
from egomem.memory.checksums import SEAL, file_checksum
from egomem.memory.connection import Connection
from egomem.memory.database_errors import DATABASE_NAME
from egomem.memory.permissions import close_to_others, make_private_folder
from egomem.memory.thumbnails import FOLDER as THUMBNAILS
from egomem.memory.thumbnails import thumbnail_files, thumbnail_folder
from egomem.paths import entries, files_named


def prepare_folder(folder: Path, *, create: bool) -> None:
    """Make the folder of a new memory, its owner's alone, with `create`.

    Raises NoMemoryError where there is no memory (and `create` is off), DamagedError where its
    record is gone or empty and the rest is there, FullError where the folder cannot be made.
    """
    database = folder / DATABASE_NAME
    if database.is_file() and database.stat().st_size:
        return
    remains = _remains(folder)
    log = folder / f"{DATABASE_NAME}-wal"
    if log.exists() and log.stat().st_size:
        if database.exists():
            return  # SQLite reads the record from its log
        remains.append(log.name)
    if remains or (database.exists() and not create):
        what = "is empty" if database.exists() else "is missing"
        beside = f", but {', '.join(remains)} is there" if remains else ""
        raise DamagedError(
            f"{database} {what}{beside}: the record is lost",
            "restore it from a backup, or delete the folder to begin anew",
        )
    if not create:
        raise NoMemoryError(
            f"there is no memory at {folder}{missing_folder(folder)}",
            "make one with: egomem ingest VIDEO, or name another with --memory",
        )
    try:
        if not folder.exists() or not any(folder.iterdir()):
            make_private_folder(folder)
            close_to_others(folder)
    except OSError as error:
        raise FullError(f"cannot make the folder {folder}: {reason(error)}") from error


def _remains(folder: Path) -> list[str]:
    """What of a memory lies beside its record; folders of such names may be anybody's."""
    pictures = (thumbnail_files(Path(entry.path)) for entry in entries(folder / THUMBNAILS))
    files = (
        files_named(Path(entry.path), vectors.FILE_NAME) for entry in entries(folder / "vectors")
    )
    remains = {
        SEAL: (folder / SEAL).exists(),
        "index": bool(files_named(folder / "index", index.FILE_NAME)),
        "vectors": any(files),
        THUMBNAILS: any(pictures),
    }
    return [name for name, there in remains.items() if there]


def list_derived_files(connection: Connection) -> None:
    """Note the checksums of vectors and pictures that an older form wrote without, and close the
    folder to others.
    """
    folder = connection.folder
    with connection.transaction() as db:
        for table in vectors.vector_file_entries(db).values():
            for entry in table:
                whole = vectors.cut_to_whole(db, folder, entry)
                if whole is not None:
                    vectors.note_checksums(db, folder, whole)
        for number, id in db.execute(
            "SELECT number, id FROM recording WHERE id IS NOT NULL"
        ).fetchall():
            _rename_folder(folder, id)
            for start, file in thumbnail_files(thumbnail_folder(folder, id)):
                db.execute(
                    "INSERT OR REPLACE INTO picture VALUES (?, ?, ?)",
                    (number, start, file_checksum(file)),
                )
        db.execute("UPDATE state SET value = 0 WHERE name = 'unlisted'")
    _close_to_others(folder, connection)


def _rename_folder(folder: Path, id: str) -> None:
    """Folders of before bore the id itself, where that could be a name."""
    before, now = folder / THUMBNAILS / id, thumbnail_folder(folder, id)
    is_name = id not in ("", ".", "..") and "/" not in id and "\\" not in id
    if is_name and before != now and before.is_dir() and not now.exists():
        before.rename(now)


def _close_to_others(folder: Path, connection: Connection) -> None:
    ours = [
        folder / DATABASE_NAME,
        folder / f"{DATABASE_NAME}-wal",
        folder / f"{DATABASE_NAME}-shm",
    ]
    ours += [connection.lock.path, folder / "replies.db"]
    for name in ("index", "vectors", THUMBNAILS):
        for entry in entries(folder / name):
            if not entry.is_symlink():
                ours.append(Path(entry.path))
                if entry.is_dir():
                    ours += [Path(e.path) for e in entries(Path(entry.path)) if not e.is_symlink()]
        ours.append(folder / name)
    db = connection.db
    ours += [index.path_of(folder, entry.number) for entry in index.segment_entries(db)]
    # A folder that also holds other things was opened to others for their sake.
    names = {path.name for path in ours} | {f"replies.db{end}" for end in ("-wal", "-shm")}
    if all(entry.name in names for entry in entries(folder)):
        ours.append(folder)
    for path in ours:
        if not path.is_symlink():
            close_to_others(path)
