"""Recordings that a camera split: which files are its chapters, and in which order.

Chapters carry GoPro's numbers (GX010123, GX020123; GOPR0123, GP010123), or the same creation time
and names that differ only in their last number. All chapters of a camera may carry one creation
time, so a chapter begins where those before it end.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Generic, TypeVar

from egomem.timeline.file_names import named_time

_GOPRO = re.compile(r"(G[HXLS])(\d\d)(\d{4})", re.IGNORECASE)
_GOPRO_OLD = re.compile(r"GOPR(\d{4})|GP(\d\d)(\d{4})", re.IGNORECASE)
_EGOLIFE = re.compile(r"DAY\d+_.*?_?\d{8}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChapterName:
    """What a file's name tells: the recording that it is of, its number, that of the first one.

    `numbered`: the camera numbers chapters so. Else files of one creation time are taken for
    chapters, which is a guess.
    """

    series: tuple[str, ...]
    number: int
    first: int
    numbered: bool


@dataclass(frozen=True, slots=True)
class ChapterFile:
    """A file that may be a chapter: its path, its length in seconds, its creation time."""

    path: PurePath
    duration: float
    created: str | None = None


Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Chapter(Generic[Id]):
    """A chapter, `offset` seconds after the first; None where one before it is missing."""

    id: Id
    file: ChapterFile
    number: int
    offset: float | None
    missing: tuple[int, ...] = ()
    """The numbers that are missing just before it."""


def chapter_name(file: ChapterFile) -> ChapterName | None:
    """The chapter that a file's name says it is; None where it says nothing of the kind."""
    path = file.path
    folder, suffix, stem = str(path.parent), path.suffix.lower(), path.stem
    if match := _GOPRO.fullmatch(stem):
        series = (folder, suffix, match[1].upper(), match[3])
        return ChapterName(series, int(match[2]), 1, numbered=True)
    if match := _GOPRO_OLD.fullmatch(stem):
        series = (folder, suffix, "GOPR", match[1] or match[3])
        return ChapterName(series, int(match[2] or 0), 0, numbered=True)
    match = re.fullmatch(r"(.*?)(\d+)", stem)
    if match is None or not file.created or _is_of_a_time(stem, match[1]):
        return None
    series = (folder, suffix, match[1], file.created)
    return ChapterName(series, int(match[2]), int(match[2]), numbered=False)


def _is_of_a_time(stem: str, before: str) -> bool:
    """Whether the last number belongs to a time in the name."""
    if _EGOLIFE.fullmatch(stem):
        return True
    return named_time(stem) != named_time(before)


def chapters_of(files: Mapping[Id, ChapterFile]) -> list[tuple[Chapter[Id], ...]]:
    """Group files into recordings, each in the order in which it was filmed."""
    named: dict[tuple[object, ...], list[tuple[int, Id, ChapterName | None]]] = {}
    for id, file in files.items():
        name = chapter_name(file)
        key: tuple[object, ...] = name.series if name else ("", id)
        named.setdefault(key, []).append((name.number if name else 0, id, name))
    return [
        tuple(_in_order(sorted(members, key=lambda m: (m[0], str(files[m[1]].path))), files))
        for members in named.values()
    ]


def _in_order(
    members: list[tuple[int, Id, ChapterName | None]], files: Mapping[Id, ChapterFile]
) -> Iterable[Chapter[Id]]:
    offset: float | None = 0.0
    expected = members[0][2].first if members[0][2] else 0
    for place, (number, id, _) in enumerate(members):
        missing = tuple(range(expected, number))
        # A recording may be known from its second chapter on; only a gap inside it has no length.
        if missing and place:
            offset = None
        yield Chapter(id, files[id], number, offset, missing)
        if offset is not None:
            offset += files[id].duration
        expected = number + 1
