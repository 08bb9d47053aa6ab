"""The files to ingest, from paths as people give them."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from egomem.errors import UsageError

MEDIA_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("3gp", "aac", "avi", "flac", "flv", "insv", "lrv", "m2ts", "m4a", "m4v", "mkv", "mov"),
        *("mp3", "mp4", "mpeg", "mpg", "mts", "oga", "ogg", "ogv", "opus", "ts", "wav", "webm"),
        *("wma", "wmv"),
    )
)
"""What is taken from a folder. A file that is named itself is tried whatever its name."""


def media_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files that a file, a folder (searched recursively) or a glob stands for, each once.

    A folder's hidden files and files without a media suffix are skipped. Raises UsageError where a
    path does not exist, a pattern matches nothing, or a folder holds no media.
    """
    files_by_path: dict[Path, Path] = {}
    for name in paths:
        if not str(name).strip():  # a shell variable that is not set; as a path it is this folder
            raise UsageError("a path is empty", "name a file, a folder or a glob")
        path = Path(name).expanduser()
        if path.is_dir():
            files = [p for p in sorted(path.rglob("*")) if _is_media(p, path)]
            if not files:
                raise UsageError(f"no video or audio files in the folder {path}")
        elif path.exists():
            files = [path]
        else:
            files = [Path(p) for p in sorted(glob.glob(str(path), recursive=True))]
            files = [p for p in files if p.is_file()]
            if not files:
                raise UsageError(f"no such file or folder: {name}", "check the path")
        for file in files:
            files_by_path.setdefault(file.resolve(), file)
    return list(files_by_path.values())


def _is_media(path: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not hidden and path.is_file() and path.suffix.lower() in MEDIA_SUFFIXES
