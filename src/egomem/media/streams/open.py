"""Opening a stream's file: its form follows from its name and its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from egomem.errors import MediaError
from egomem.media.streams.csv_stream import CsvForm, open_csv
from egomem.media.streams.gaze import GAZE
from egomem.media.streams.gpmf_track import open_gpmf
from egomem.media.streams.gps import GPS
from egomem.media.streams.gpx import open_gpx
from egomem.media.streams.imu import IMU
from egomem.media.streams.points import open_points
from egomem.media.streams.samples import StreamKind
from egomem.media.streams.stream import Stream
from egomem.media.streams.trajectory import TRAJECTORY

_FORMS: Mapping[StreamKind, CsvForm] = {
    "gaze": GAZE,
    "imu": IMU,
    "trajectory": TRAJECTORY,
    "gps": GPS,
}
# A position with x and y would pass for gaze, so gaze comes last.
_ANY_FORM = (GPS, IMU, TRAJECTORY, GAZE)

VIDEO_SUFFIXES = (".mp4", ".mov", ".360", ".lrv")
"""Files of action cameras that may hold their own streams."""

_NAMED: Mapping[str, Callable[[Path], Stream]] = {".gpx": open_gpx}


def open_stream(path: str | Path, kind: StreamKind | None = None) -> Stream:
    """Open a stream's file; only its beginning is read.

    `kind` says what it measures; without it that follows from its columns. Raises MediaError where
    the file cannot be read, or holds no stream of that kind.
    """
    path = Path(path)
    if path.is_dir():
        raise MediaError(f"{path} is a folder", "name the stream's file")
    if not path.exists():
        raise MediaError(f"there is no file {path}", "check the path")
    named = _NAMED.get(path.suffix.lower())
    if named is not None:
        stream = named(path)
        if kind is not None and stream.kind != kind:
            raise MediaError(f"{path.name} holds {stream.kind}, not {kind}", "name another file")
        return stream
    if path.suffix.lower() in VIDEO_SUFFIXES:
        return open_gpmf(path, kind)
    stem = path.name.removesuffix(".gz").removesuffix(".csv")
    if kind == "points" or (kind is None and stem in ("semidense_points", "global_points")):
        return open_points(path)
    return open_csv(path, (_FORMS[kind],) if kind is not None else _ANY_FORM)
