"""Positions on the globe (WGS 84) in CSV."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.media.streams.csv_stream import Columns, CsvForm
from egomem.media.streams.header import LENGTH, SPEED, Field

_DEGREES = {"deg": 1.0, "degrees": 1.0, "°": 1.0}
_GPS = "(?:gps_|gnss_|location_)?"

FIELDS: Sequence[Field] = (
    Field("latitude", f"{_GPS}lat(?:itude)?", _DEGREES),
    Field("longitude", f"{_GPS}(?:lon|lng|long|longitude)", _DEGREES),
    Field("altitude", f"{_GPS}(?:alt|altitude|ele|elevation)", {**LENGTH, "ft": 0.3048}),
    Field("speed", f"{_GPS}(?:speed|speed_2d|velocity)", SPEED),
    Field("accuracy", f"{_GPS}(?:accuracy|horizontal_accuracy|h_?acc|hacc)", LENGTH),
)


def without_impossible(columns: Columns) -> Columns:
    """The columns with NaN where there is no fix: impossible degrees, or zeros for both."""
    latitude, longitude = columns["latitude"], columns["longitude"]
    # Receivers without a fix write zeros.
    is_place = (np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)
    is_place &= (latitude != 0) | (longitude != 0)
    for name in ("latitude", "longitude"):
        columns[name] = np.where(is_place, columns[name], np.nan)
    return columns


GPS = CsvForm(
    kind="gps",
    fields=FIELDS,
    is_complete=lambda names: {"latitude", "longitude"} <= names,
    needs="a position on the globe (latitude, longitude)",
    derive=without_impossible,
    format=lambda names: "GPS CSV",
)
