"""The files to ingest, from paths as people give them."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from egomem.errors import UsageError
from egomem.text import plural

MEDIA_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("3gp", "aac", "avi", "flac", "flv", "insv", "lrf", "lrv", "m2ts", "m4a", "m4v", "mkv"),
        *("mov", "mp", "mp3", "mp4", "mpeg", "mpg", "mts", "oga", "ogg", "ogv", "opus", "ts"),
        *("wav", "webm", "wma", "wmv"),
    )
)
"""What is taken from a folder. A file that is named itself is tried whatever its name."""

_SYSTEM_FOLDERS = frozenset((
    "@eadir", "#recycle", "#snapshot", "@recycle", "@recently-snapshot", "@tmp", "$recycle.bin",
    "recycler", "system volume information", "lost+found", "__macosx", "found.000", "lost.dir",
))  # fmt: skip
"""Folders of a NAS or an operating system: indexes, what was deleted, what was rescued."""

_PROXY_FOLDERS = frozenset(("proxy", "proxies", "proxyfiles", "sub", "lrv"))
"""Folders in which cameras and cutting programs keep small copies."""


@dataclass(frozen=True, slots=True)
class MediaFiles:
    """The files to ingest, and a line for each kind of what was passed over."""

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def media_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files that a file, a folder or a glob stands for; see `find_media`."""
    return list(find_media(paths).files)


def find_media(paths: Iterable[str | Path]) -> MediaFiles:
    """The files that a file, a folder (searched recursively) or a glob stands for, each once.

    Hidden files and files without a media suffix are skipped. What cameras and storage leave beside
    recordings (low-resolution copies whose original is there, thumbnails, folders of a NAS) is
    passed over with a line; a file that is named by itself is taken. Raises UsageError where a path
    does not exist, a pattern matches nothing, or a folder holds no media.
    """
    files_by_path: dict[Path, Path] = {}
    passed_over: dict[_Kind, list[Path]] = {}
    for name in paths:
        if not str(name).strip():  # a shell variable that is not set; as a path it is this folder
            raise UsageError("a path is empty", "name a file, a folder or a glob")
        path = Path(name).expanduser()
        if path.is_dir():
            entries = sorted(p for p in path.rglob("*") if p.is_file())
            files = list(_worth_reading(entries, path, passed_over))
            if not files:
                raise UsageError(
                    f"no video or audio files in the folder {path}",
                    " ".join(_lines(passed_over)),
                )
        elif path.exists():
            files = [path]
        else:
            entries = [Path(p) for p in sorted(glob.glob(str(path), recursive=True))]
            entries = [p for p in entries if p.is_file()]
            if not entries:
                raise UsageError(f"no such file or folder: {name}", "check the path")
            files = [p for p in entries if not _is_litter(p.parts, p.name)] or entries
        for file in files:
            files_by_path.setdefault(file.resolve(), file)
    chosen = list(files_by_path.values())
    stems = {(file.parent, file.stem.lower()): file for file in chosen}
    proxies = {file for file in chosen if _is_proxy(file, stems)}
    if proxies:
        passed_over[_PROXY] = sorted(proxies)
    originals = tuple(file for file in chosen if file not in proxies)
    return MediaFiles(originals, tuple(_lines(passed_over)))


_PROXY = "low-resolution copy", "low-resolution copies"
_LITTER = "file of a NAS or a system", "files of a NAS or a system"
_THUMBNAIL = "thumbnail of a camera", "thumbnails of a camera"
_PHOTO = "motion photo (name it to ingest its video)", "motion photos (name them to ingest them)"
_MOTION_PHOTO = re.compile(r"(.*\.MP(~\d+)?|MVIMG_.*)\.jpe?g", re.IGNORECASE)
_Kind = tuple[str, str]


def _worth_reading(
    entries: Sequence[Path], root: Path, passed_over: dict[_Kind, list[Path]]
) -> Iterator[Path]:
    """A folder's media; what is litter of other systems is noted."""
    for path in entries:
        parts = path.relative_to(root).parts
        suffix = path.suffix.lower()
        if suffix == ".thm":
            passed_over.setdefault(_THUMBNAIL, []).append(path)
        elif _MOTION_PHOTO.fullmatch(path.name):
            passed_over.setdefault(_PHOTO, []).append(path)
        elif suffix not in MEDIA_SUFFIXES:
            continue
        elif _is_litter(parts, path.name):
            passed_over.setdefault(_LITTER, []).append(path)
        elif not any(part.startswith(".") for part in parts):
            yield path


def _is_litter(parts: Sequence[str], name: str) -> bool:
    # macOS writes "._x.mp4" beside x.mp4 on foreign disks: attributes, and no film.
    return name.startswith("._") or any(part.lower() in _SYSTEM_FOLDERS for part in parts[:-1])


def _lines(passed_over: dict[_Kind, list[Path]]) -> Iterator[str]:
    for kind, paths in passed_over.items():
        names = ", ".join(path.name for path in paths[:3])
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        yield f"passed over: {plural(len(paths), *kind)} ({names}{more})"


# -- low-resolution copies -------------------------------------------------------------------------


def _is_proxy(file: Path, stems: Mapping[tuple[Path, str], Path]) -> bool:
    """Whether a file is a small copy of another one, by the folders and stems of all."""
    originals = (stems.get((folder, stem.lower())) for folder, stem in _originals(file))
    return any(original is not None and original != file for original in originals)


def _originals(file: Path) -> Iterator[tuple[Path, str]]:
    """Folders and stems that the original of a low-resolution copy may have.

    GoPro: GL010041.LRV of GX010041 or GH010041; Insta360: LRV_2026... of VID_2026...; DJI: .LRF
    beside the original; Sony: C0001S03 of C0001, in SUB; cutting programs: `x_Proxy`, `Proxy/x`.
    """
    folder, stem, suffix = file.parent, file.stem, file.suffix.lower()
    parents = [folder]
    if folder.name.lower() in _PROXY_FOLDERS:
        parents += [folder.parent, folder.parent / "CLIP"]
        yield folder.parent, stem
        yield folder.parent / "CLIP", stem
    stems: list[str] = []
    if suffix in (".lrv", ".lrf"):
        stems.append(stem)
        if match := re.fullmatch(r"GL(\d{6})", stem, re.IGNORECASE):
            stems += [f"{letters}{match[1]}" for letters in ("GX", "GH", "GS")]
    if match := re.fullmatch(r"LRV_(.*)", stem, re.IGNORECASE):
        # The lens has another number: LRV_..._01_001 is of VID_..._00_001 and VID_..._10_001.
        stems += [f"VID_{match[1]}", *(f"VID_{_with_lens(match[1], n)}" for n in ("00", "10"))]
    if match := re.fullmatch(r"(.+?)S\d\d", stem):
        stems.append(match[1])
    if match := re.fullmatch(r"(.+?)[-_. ](?:proxy|lowres|low_res|lores)", stem, re.IGNORECASE):
        stems.append(match[1])
    yield from ((parent, name) for parent in parents for name in stems)


def _with_lens(rest: str, lens: str) -> str:
    return re.sub(r"_\d\d_(\d{3})$", rf"_{lens}_\1", rest)
