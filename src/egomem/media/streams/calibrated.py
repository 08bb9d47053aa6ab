"""Gaze in angles with a calibration: the same stream with points of the picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from egomem.media.streams.calibration import Calibration
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import UNITS, Samples
from egomem.media.streams.stream import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedGaze(Stream):
    """Gaze whose points of the picture follow from its angles."""

    angles: Stream
    calibration: Calibration

    def rows(self, problems: ProblemLog) -> Iterator[Samples]:
        for samples in self.angles.rows(problems):
            columns = dict(samples.columns)
            depth = columns.get("depth", np.full(len(samples), np.nan))
            x, y = self.calibration.points(columns["yaw"], columns["pitch"], depth)
            yield Samples(samples.times, {**columns, "x": x, "y": y})


def in_picture(stream: Stream, calibration: Calibration) -> Stream:
    """The stream with points of the picture where it is gaze that has angles alone; else itself."""
    if stream.kind != "gaze" or "x" in stream.columns or "yaw" not in stream.columns:
        return stream
    names = {*stream.columns, "x", "y"}
    return CalibratedGaze(
        kind="gaze",
        path=stream.path,
        format=f"{stream.format}, with a calibration",
        clock=stream.clock,
        columns=tuple(name for name in UNITS["gaze"] if name in names),
        stated_rate=stream.stated_rate,
        notes=stream.notes,
        angles=stream,
        calibration=calibration,
    )
