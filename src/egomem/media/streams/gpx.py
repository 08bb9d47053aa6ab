"""GPS tracks in GPX (topografix.com/GPX/1/1), read as they come: any length in flat memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from egomem.errors import MediaError, reason
from egomem.media.streams.csv_table import open_text
from egomem.media.streams.gps import without_impossible
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import Samples
from egomem.media.streams.stream import Stream
from egomem.media.streams.time_text import names_zone, posix_seconds

STRETCH_POINTS = 20_000
"""Points that are yielded at once."""

MAX_TEXT = 10_000
"""Characters of an element that are kept: the value of a point is shorter."""

_BLOCK = 1 << 16
_VALUES = {"ele": "altitude", "speed": "speed"}
_COLUMNS = ("latitude", "longitude", "altitude", "speed")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpxStream(Stream):
    """The track points of a GPX file; routes and waypoints are places and no track."""

    def rows(self, problems: ProblemLog) -> Iterator[Samples]:
        reader = _GpxReader(problems)
        for _ in _fed(self.path, reader, problems):
            if len(reader.points) >= STRETCH_POINTS:
                yield _samples(reader.points)
                reader.points.clear()
        if reader.points:
            yield _samples(reader.points)


def _samples(points: list[tuple[float, ...]]) -> Samples:
    times, *columns = np.array(points, dtype=np.float64).T
    return Samples(times, without_impossible(dict(zip(_COLUMNS, columns, strict=True))))


@dataclass(slots=True)
class _GpxReader:
    """Collects the track points that an expat parser meets: time and `_COLUMNS` each."""

    problems: ProblemLog
    points: list[tuple[float, ...]] = field(default_factory=list)
    root: str = ""
    zoneless: bool = False
    _point: dict[str, float] | None = None
    _line: int = 0
    _text: list[str] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = _local(name)
        self.root = self.root or tag
        self._text.clear()
        if tag == "trkpt":
            self._point = {
                "latitude": _number(attributes.get("lat")),
                "longitude": _number(attributes.get("lon")),
            }

    def data(self, text: str) -> None:
        if self._point is not None and sum(map(len, self._text)) < MAX_TEXT:
            self._text.append(text)

    def end(self, name: str) -> None:
        point = self._point
        if point is None:
            return
        tag, text = _local(name), "".join(self._text).strip()
        if tag == "time":
            seconds = posix_seconds(text)
            point["time"] = math.nan if seconds is None else seconds
            self.zoneless = self.zoneless or (seconds is not None and not names_zone(text))
        elif tag in _VALUES:
            point[_VALUES[tag]] = _number(text)
        elif tag == "trkpt":
            row = (point.get("time", math.nan), *(point.get(n, math.nan) for n in _COLUMNS))
            self.points.append(row)
            self._point = None
        self._text.clear()


def _local(name: str) -> str:
    return name.rpartition(":")[2].casefold()


def _number(text: str | None) -> float:
    try:
        return float(text or "")
    except ValueError:
        return math.nan


class _EntityDeclared(Exception):
    """The file declares an entity: a way to make a small file expand without end, or to read
    others. No GPX needs one."""


def _refuse(*_: object) -> NoReturn:
    raise _EntityDeclared


def _fed(path: Path, reader: _GpxReader, problems: ProblemLog) -> Iterator[None]:
    """Feed a file to a reader block by block; damage ends it, and what came before counts."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.EntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    try:
        with open_text(path) as file:
            while block := file.read(_BLOCK):
                parser.Parse(block, False)
                yield
            parser.Parse(b"", True)
            yield
    except expat.ExpatError as error:
        problems.add(
            f"no XML from here on ({expat.errors.messages[error.code]})", line=error.lineno
        )
    except (OSError, EOFError) as error:
        problems.add(f"the file ends in damage ({reason(error)})")
    except _EntityDeclared:
        raise MediaError(
            f"{path.name} declares XML entities, which no GPX needs", "export it again"
        ) from None


def open_gpx(path: Path) -> GpxStream:
    """Open a GPX file. Raises MediaError where it is none, or has no track point."""
    problems = ProblemLog()
    reader = _GpxReader(problems)
    for _ in _fed(path, reader, problems):
        if reader.points:
            break
    if reader.root and reader.root != "gpx":
        raise MediaError(f"{path.name} is no GPX file but {reader.root}", "export it as GPX")
    if not reader.points:
        damage = f" ({problems.problems[0]})" if problems.problems else ""
        raise MediaError(f"{path.name} has no track point{damage}", "export it again")
    return GpxStream(
        kind="gps",
        path=path,
        format="GPX",
        clock="local" if reader.zoneless else "wall",
        columns=_COLUMNS,
    )
