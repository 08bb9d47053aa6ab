"""Files -> a benchmark, in whichever registered format they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, tzinfo
from itertools import islice
from pathlib import Path
from typing import Any

from egomem.benchmarks.benchmark import Benchmark, BenchmarkFault
from egomem.benchmarks.collect import collect
from egomem.benchmarks.format import BenchmarkFormat, ReadOptions
from egomem.benchmarks.registry import FORMATS
from egomem.benchmarks.rows import (
    FILE_ENDINGS,
    JSON_LINES_ENDINGS,
    Fields,
    base_name,
    read_rows,
)
from egomem.errors import UsageError, missing_folder, reason
from egomem.records import Video

SAMPLE_ROWS = 20
"""Rows of a file that are looked at to detect its format."""


def load(
    path: Path | str,
    format: str | None = None,
    *,
    media: Path | None = None,
    strict: bool = True,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    frame_base: int | None = None,
) -> Benchmark:
    """Read a benchmark from a folder or a single file.

    `format` names one of `FORMATS`; without it, the first rows are detected. `media` is a folder
    that holds the videos. With `strict=False`, questions that can be read are kept, faulty or not,
    so that n is as published. `zone`, `day_one` and `frame_base` place numbered days and their
    frames, as EgoLife's. A row that cannot be used becomes a fault by id and line, and the rest
    loads. Raises UsageError where there is nothing to read or no format fits.
    """
    path = Path(path)
    files = _files(path)
    samples, unreadable = _sample(path, files)
    # Nothing but content tells: releases share names such as questions.json.
    format_name = _choose_format(path, samples) if format is None else format
    chosen = FORMATS.get(format_name)
    folder = path if path.is_dir() else path.parent
    about = _read_about(folder)
    options = ReadOptions(zone=zone, day_one=day_one, frame_base=frame_base)
    items = chosen.read(_question_files(path, samples, chosen), options)
    questions, videos, faults = collect(items, strict)
    benchmark = Benchmark(
        name=str(about.get("name") or _default_name(path)),
        format=format_name,
        videos=tuple(_with_whole_path(video, folder) for video in videos),
        questions=questions,
        faults=(*unreadable, *faults),
        licence=str(about.get("licence") or chosen.licence),
        provenance=str(about.get("provenance") or ""),
    )
    return benchmark.with_media(media) if media is not None else benchmark


def _with_whole_path(video: Video, folder: Path) -> Video:
    """A path in a file of videos is relative to that file's folder."""
    path = str(folder / video.path) if video.path else None
    return video.model_copy(update={"path": path}) if path else video


def _default_name(path: Path) -> str:
    return base_name(path).rpartition(".")[0] if path.is_file() else path.resolve().name


def _files(path: Path) -> list[Path]:
    """The files to look at: those of a folder, or a file and what lies beside it."""
    if path.is_file():
        neighbours = [p for p in sorted(path.parent.iterdir()) if p != path and p.is_file()]
        companions = [c for format in FORMATS.all().values() for c in format.companions]
        return [path, *(p for p in neighbours if _is_companion(p, companions))]
    if not path.is_dir():
        raise UsageError(
            f"there is no benchmark at {path}{missing_folder(path)}",
            "name a folder or file of questions, or 'demo'",
        )
    # In a fixed order: which of two rows of one id is the duplicate must not depend on the disk.
    files = [
        p for p in sorted(path.rglob("*")) if p.is_file() and base_name(p).endswith(FILE_ENDINGS)
    ]
    # Written by egomem beside the questions.
    return [p for p in files if base_name(p) not in ("benchmark.json", "manifest.json")]


def _is_companion(path: Path, beginnings: Sequence[str]) -> bool:
    name = base_name(path)
    return name.endswith(FILE_ENDINGS) and name.startswith(tuple(beginnings))


Samples = Mapping[Path, Sequence[Fields]]
"""The first rows of each file that can be read."""


def _sample(path: Path, files: Sequence[Path]) -> tuple[Samples, list[BenchmarkFault]]:
    """What files begin with; one of a folder that cannot be read at all is a fault.

    Raises UsageError where a lone file cannot be read, or none of a folder's.
    """
    samples: dict[Path, Sequence[Fields]] = {}
    errors: list[UsageError] = []
    faults: list[BenchmarkFault] = []
    for file in files:
        try:
            # One damaged row does not hide what a file is.
            rows = islice(read_rows(file), SAMPLE_ROWS)
            samples[file] = [row.fields for row in rows if not row.fault]
        except UsageError as error:
            if file == path:
                raise
            errors.append(error)
            faults.append(
                BenchmarkFault(id="", kind="unreadable", message=str(error), dropped=True)
            )
    # A folder with one broken file and good ones is reported and read; with nothing else, the error
    # says more than "no format fits".
    if errors and not any(samples.values()):
        raise errors[0]
    return samples, faults


def detect_format(rows: Sequence[Fields]) -> list[str]:
    """Names of the formats of highest priority that one of these rows is in; [] for none."""
    # One row that fits is enough: the first may be the damaged one.
    matches = {n: f.priority for n, f in FORMATS.all().items() if any(map(f.detect, rows))}
    highest = max(matches.values(), default=0)
    return [name for name, priority in matches.items() if priority == highest]


def _choose_format(path: Path, samples: Samples) -> str:
    """The name of the format that the files are in. Raises UsageError for none or several."""
    first_files: dict[str, Path] = {}
    for file, rows in samples.items():
        for format in detect_format(rows):
            first_files.setdefault(format, file)
        # A file that is named is what is meant, whatever lies beside it.
        if file == path and first_files:
            break
    if len(first_files) > 1:
        places = ", ".join(f"{file.name} is {format}" for format, file in first_files.items())
        raise UsageError(
            f"{path} holds questions in several formats: {places}",
            "name one with --format, or give one file",
        )
    if first_files:
        return next(iter(first_files))
    raise UsageError(
        f"{path} holds no questions in a known format",
        f"name one with --format ({', '.join(FORMATS.names())}) or convert it to the native one",
    )


def _question_files(path: Path, samples: Samples, format: BenchmarkFormat) -> list[Path]:
    """The files to read: what else lies in a folder, such as captions, holds no questions.

    JSON Lines files without a readable row may be question files, so they are read and reported.
    """
    if path.is_file():
        return [f for f in samples if f == path or _is_companion(f, format.companions)]
    chosen = {
        file
        for file, rows in samples.items()
        if any(map(format.detect, rows))
        or (not rows and base_name(file).endswith(JSON_LINES_ENDINGS))
    }
    if not chosen:
        return list(samples)
    return [f for f in samples if f in chosen or _is_companion(f, format.companions)]


def _read_about(folder: Path) -> dict[str, Any]:
    """What `benchmark.json` states of the whole; {} where there is none."""
    file = folder / "benchmark.json"
    if not file.is_file():
        return {}
    try:
        # With the byte-order mark that editors on Windows write.
        document = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {reason(error)}", "check its permissions"
        ) from None
    except ValueError as error:
        raise UsageError(f"{file} is not JSON: {error}", "correct it, or remove it") from None
    return document if isinstance(document, dict) else {}
