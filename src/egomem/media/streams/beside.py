"""Streams that lie beside a recording under names that are documented."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from egomem.media.streams.samples import StreamKind

FileKind = StreamKind | Literal["calibration"]
"""What a file beside a recording may be: a stream, or what places its gaze in the picture."""

_JSON = ("json", "jsonl")
_KINDS: Sequence[StreamKind] = ("gaze", "imu", "trajectory", "points", "gps")

_MPS: Sequence[tuple[FileKind, Sequence[str], Sequence[str]]] = (
    (
        "gaze",
        ("eye_gaze",),
        (
            "personalized_eye_gaze.csv",
            "calibrated_eye_gaze.csv",
            "general_eye_gaze.csv",
            "generalized_eye_gaze.csv",
        ),
    ),
    (
        "trajectory",
        ("slam", "trajectory"),
        ("closed_loop_trajectory.csv", "open_loop_trajectory.csv"),
    ),
    ("points", ("slam", "trajectory"), ("semidense_points.csv.gz", "global_points.csv.gz")),
    ("calibration", ("slam", "trajectory"), ("online_calibration.jsonl",)),
)
"""Aria's machine perception services: kind, folders and files, the better one first."""


def streams_beside(path: str | Path, *, alone: bool = True) -> dict[FileKind, Path]:
    """The streams of a recording by kind, by their names alone.

    Of `walk.mp4`: `walk.gaze.csv`, `walk.imu.csv`, `walk.trajectory.csv`, `walk.points.csv`,
    `walk.gps.csv` (also `walk_gaze.csv`, also gzipped), `walk.gpx` and `walk.calibration.json`;
    results of Aria's machine
    perception services in `mps_walk_vrs`, `walk_mps` or `walk`, and, where the recording is `alone`
    in its folder, in `mps` or in the folder itself.
    """
    path = Path(path)
    names = _names(path.parent)
    paths: dict[FileKind, Path] = {}
    for stream_kind in _KINDS:
        pattern = re.compile(rf"{re.escape(path.stem)}[._-]{stream_kind}\.csv(\.gz)?", re.I)
        match = next((name for name in names if pattern.fullmatch(name)), None)
        if match is not None:
            paths[stream_kind] = path.parent / match
    for name in names:
        if name.casefold() == f"{path.stem}.gpx".casefold():
            paths.setdefault("gps", path.parent / name)
        if name.casefold() in (f"{path.stem}.calibration.{end}".casefold() for end in _JSON):
            paths.setdefault("calibration", path.parent / name)
    folders = [f"mps_{path.stem}_vrs", f"{path.stem}_mps", path.stem]
    folders += ["mps", "."] if alone else []
    for folder in folders:
        for kind, file in _mps(path.parent / folder):
            paths.setdefault(kind, file)
    return paths


def _mps(folder: Path) -> Iterator[tuple[FileKind, Path]]:
    for kind, folders, files in _MPS:
        files_there = (folder / inner / file for inner in folders for file in files)
        first = next((path for path in files_there if path.is_file()), None)
        if first is not None:
            yield kind, first


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
