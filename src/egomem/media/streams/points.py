"""Points of the room that SLAM has found; they have no times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from egomem.errors import MediaError
from egomem.media.streams.csv_table import CsvHeader, read_header, value_stretches
from egomem.media.streams.header import LENGTH, Column, Field, match_fields
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import UNITS, Samples
from egomem.media.streams.stream import Stream

FIELDS: Sequence[Field] = (
    *(Field(axis, f"(?:p{axis}_world|p{axis}|{axis})", LENGTH) for axis in "xyz"),
    Field("dist_std", "dist_std"),
    Field("inv_dist_std", "inv_dist_std"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsStream(Stream):
    """A point cloud in CSV; its samples have NaN for times."""

    header: CsvHeader
    values: Mapping[str, Column]

    def rows(self, problems: ProblemLog) -> Iterator[Samples]:
        indexes = [self.values[name].index for name in self.columns]
        for arrays in value_stretches(self.path, self.header, indexes, problems):
            columns = {
                name: values * self.values[name].factor
                for name, values in zip(self.columns, arrays, strict=True)
            }
            yield Samples(np.full(len(arrays[0]), np.nan), columns)


def open_points(path: Path) -> PointsStream:
    """Open a point cloud (`semidense_points.csv.gz`). Raises MediaError where it is none."""
    header = read_header(path)
    columns = match_fields(header.names, FIELDS)
    if not {"x", "y", "z"} <= columns.keys():
        raise MediaError(
            f"{path.name} has the columns {', '.join(header.names[:8])}, and lacks a position "
            "(px_world, py_world, pz_world)",
            "see docs/reference/streams.md",
        )
    return PointsStream(
        kind="points",
        path=path,
        format="point cloud CSV",
        clock=None,
        columns=tuple(name for name in UNITS["points"] if name in columns),
        header=header,
        values=columns,
    )
