"""Telemetry in subtitles: position and settings that drones and dashcams write as cues.

DJI, Autel, Parrot, Fimi and many dashcams write a cue a second, or one a frame, beside the video.
Nobody says it. It is told from speech by its form: fields with figures, and hardly a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from egomem.media.cue import Cue
from egomem.timeline import Span

MOVE_DEGREES = 1e-4
"""A move below this (11 m to the north) within `HOLD_S` is no new position (our choice)."""

MAX_CHARACTERS = 1000
"""A cue of telemetry is shorter: the longest known has some 400 characters."""

HOLD_S = 10.0
"""The most seconds that one position stands for."""

_NUMBER = r"[-+]?\d+(?:[.,]\d+)?"
_KEYS = (
    "abs_alt|aperture|ae_meter_md|altitude|alt|baro(?:meter)?|battery|bearing|color_md|course|ct|"
    "delta|diff_?time|dist(?:ance)?|dzoom_ratio|dzoom|ev|exposure|f-?num(?:ber)?|f\\.?pry|"
    "focal_len(?:gth)?|fps|frame_?cnt|gain|gb_(?:yaw|pitch|roll)|g\\.?pry|gps|g-?sensor|hdop|"
    "heading|height|home|hs|h\\.s|iso|lat(?:itude)?|lens|lng|lon(?:g(?:itude|titude)?)?|pitch|"
    "pp_(?:yaw|pitch|roll)|rel_alt|roll|sats?|satellites|shutter|speed|spd|srt_?cnt|ss|temp|"
    "v\\.s|vs|wb|white_?balance|yaw|[dhfgxyz]"
)
_VALUE = r"(?:\([^()\n]{1,60}\)|1/\d+(?:\.\d+)?|[a-z]?/?[-+]?\d[\w./,°%-]*|auto|default|none|n/a)"
_DATE = r"(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4})"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,:]\d+){0,2}(?:\s?[AP]M)?"
_DATED = re.compile(rf"({_DATE})[T ,_-]{{0,3}}({_CLOCK})", re.IGNORECASE)
_NMEA = re.compile(r"\$G[A-Z]{4},\S+")
_DEGREES = r"\d{1,3}\.\d{3,}°?|\d{1,3}°\s?[\d.]+['′]?\s?(?:[\d.]+[\"″])?"
_HEMISPHERES = re.compile(
    rf"\b(?P<a>[NSEW])\s?[: ]?\s?(?P<x>{_DEGREES})|(?P<y>{_DEGREES})\s?(?P<b>[NSEW])\b"
)
_PAIR = re.compile(r"(?<![\d.])([-+]?\d{1,2}\.\d{4,})\s*[,; ]\s*([-+]?\d{1,3}\.\d{4,})(?![\d.])")
_BRACKETED = re.compile(r"\[\s*[\w .-]{1,20}\s*:\s*[^\[\]\n]{1,80}\]")
_FIELD = re.compile(rf"(?<![\w.])(?:{_KEYS})\s*[:=]?\s*{_VALUE}", re.IGNORECASE)
_UNITS = re.compile(
    rf"(?<![\d.,]){_NUMBER}\s*(?:km/?h|mph|kn|kts?|knots|m/s|ft|mm|°c?|deg|%|fps|mah|ms|hz|[mvgk])(?![\w])",
    re.IGNORECASE,
)
_FORMS = (_NMEA, _DATED, _HEMISPHERES, _PAIR, _BRACKETED, _FIELD, _UNITS)
_WORDS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where a camera was, in degrees (WGS 84) and metres, and how it was set.

    `clock` is the local time that the cue states, without a zone.
    """

    span: Span
    line: int
    latitude: float | None = None
    longitude: float | None = None
    altitude: float | None = None
    height: float | None = None
    settings: dict[str, str] = field(default_factory=dict)
    clock: datetime | None = None

    @property
    def is_placed(self) -> bool:
        return self.latitude is not None and self.longitude is not None


def is_telemetry(text: str) -> bool:
    """Whether a cue's text is telemetry: at least two fields (or a position, or a full time stamp)
    and hardly a word beside them.
    """
    if len(text) > MAX_CHARACTERS:
        return False
    fields, rest = 0, text
    for form in _FORMS:
        rest, count = form.subn(" ; ", rest)
        fields += count
    words = len(_WORDS.findall(rest))
    if fields < 2:
        return words == 0 and any(form.search(text) for form in (_NMEA, _DATED, _PAIR))
    # A dashcam writes its name beside the time.
    return words <= fields // 3 + bool(_DATED.search(text))


def split_telemetry(cues: Sequence[Cue]) -> tuple[list[Cue], list[Telemetry]]:
    """The cues that are speech, and what the others tell."""
    flags = [is_telemetry(cue.text) for cue in cues]
    speech = [cue for cue, flag in zip(cues, flags, strict=True) if not flag]
    return speech, [read_telemetry(cue) for cue, flag in zip(cues, flags, strict=True) if flag]


def positions(readings: Iterable[Telemetry]) -> Iterator[Telemetry]:
    """Readings with a position, those of one place and setting joined."""
    current: Telemetry | None = None
    for reading in readings:
        if not reading.is_placed:
            continue
        if current is not None and _is_same(current, reading):
            current = _lengthened(current, reading.span.end)
            continue
        if current is not None:
            yield current
        current = reading
    if current is not None:
        yield current


def _is_same(one: Telemetry, other: Telemetry) -> bool:
    if other.span.start - one.span.end > 2.0 or other.span.start - one.span.start >= HOLD_S:
        return False
    # Thirty readings a second of a drone that flies are thirty places of a metre each.
    within_a_second = other.span.start - one.span.start < 1.0
    moved = math.dist(_place(one), _place(other))
    return within_a_second or (moved < MOVE_DEGREES and one.settings == other.settings)


def _place(reading: Telemetry) -> tuple[float, float]:
    return reading.latitude or 0.0, reading.longitude or 0.0


def _lengthened(reading: Telemetry, end: float) -> Telemetry:
    return replace(reading, span=Span(reading.span.start, max(reading.span.end, end)))


# -- one cue ---------------------------------------------------------------------------------------

_SETTINGS = {
    "iso": r"iso", "shutter": r"shutter|ss", "aperture": r"f-?num(?:ber)?|aperture", "ev": r"ev",
    "colour temperature": r"ct", "focal length": r"focal_len(?:gth)?",
}  # fmt: skip


def read_telemetry(cue: Cue) -> Telemetry:
    """What a cue of telemetry tells; what it does not tell, or tells impossibly, is None."""
    text = cue.text
    latitude, longitude = _position(text)
    settings = {
        name: value.group(1)
        for name, keys in _SETTINGS.items()
        if (value := re.search(rf"(?<![\w.])(?:{keys})\s*[:=]?\s*(1/[\d.]+|{_NUMBER})", text, re.I))
    }
    if "aperture" not in settings and (match := re.search(r"\bF/(\d+\.?\d*)", text)):
        settings["aperture"] = match[1]
    return Telemetry(
        span=cue.span,
        line=cue.line,
        latitude=latitude,
        longitude=longitude,
        altitude=_figure(text, r"abs_alt|altitude|alt"),
        height=_figure(text, r"rel_alt|height|h"),
        settings=settings,
        clock=_clock(text),
    )


def _figure(text: str, keys: str) -> float | None:
    match = re.search(rf"(?<![\w.])(?:{keys})\s*[:=]?\s*({_NUMBER})", text, re.IGNORECASE)
    return float(match[1].replace(",", ".")) if match else None


def _position(text: str) -> tuple[float | None, float | None]:
    latitude = _figure(text, r"lat(?:itude)?")
    longitude = _figure(text, r"lng|lon(?:g(?:itude|titude)?)?")
    # The place of take-off is not where the camera is.
    here = re.sub(r"\bHOME\s*\([^()]*\)", " ", text, flags=re.IGNORECASE)
    if latitude is None or longitude is None:
        latitude, longitude = _by_hemispheres(here)
    if latitude is None or longitude is None:
        latitude, longitude = _by_order(here)
    if latitude is None or longitude is None or abs(latitude) > 90 or abs(longitude) > 180:
        return None, None
    # Receivers without a fix write zeros.
    return (None, None) if latitude == longitude == 0 else (latitude, longitude)


def _by_hemispheres(text: str) -> tuple[float | None, float | None]:
    degrees: dict[str, float] = {}
    if match := re.search(r"\$G.RMC,[^,]*,A,(\d+\.\d+),([NS]),(\d+\.\d+),([EW])", text):
        for value, mark in ((match[1], match[2]), (match[3], match[4])):
            whole, minutes = divmod(float(value), 100)
            degrees[mark] = whole + minutes / 60
    for match in re.finditer(r"\b([NSEW])\s?[:=]\s?(-?\d{1,3}\.\d+)", text):
        degrees[match[1]] = float(match[2])
    for match in _HEMISPHERES.finditer(text):
        parts = [float(p) for p in re.findall(r"\d+\.?\d*", match["x"] or match["y"])]
        degrees.setdefault(
            match["a"] or match["b"], sum(part / 60**k for k, part in enumerate(parts))
        )
    latitude = degrees.get("N", -degrees["S"] if "S" in degrees else None)
    longitude = degrees.get("E", -degrees["W"] if "W" in degrees else None)
    return latitude, longitude


def _by_order(text: str) -> tuple[float | None, float | None]:
    # DJI writes GPS(longitude, latitude, ...).
    gps = rf"\bGPS\s*[:(]\s*\(?({_NUMBER.replace(',', '')})\s*,\s*({_NUMBER.replace(',', '')})"
    if match := re.search(gps, text, re.IGNORECASE):
        return float(match[2]), float(match[1])
    if match := _PAIR.search(text):
        return float(match[1]), float(match[2])
    return None, None


def _clock(text: str) -> datetime | None:
    match = _DATED.search(text)
    if match is None:
        return None
    day = [int(part) for part in re.split(r"[-./]", match[1])]
    if day[0] < 1000:  # 02.03.2026; with two readings of the day, none is taken
        if day[0] <= 12 and day[1] <= 12 and day[0] != day[1]:
            return None
        day = [day[2], *((day[1], day[0]) if day[0] > 12 or day[0] == day[1] else day[:2])]
    hour, minute, second = (int(part) for part in re.findall(r"\d+", match[2])[:3])
    half = match[2][-2:].upper()
    if half in ("AM", "PM"):
        hour = hour % 12 + (12 if half == "PM" else 0)
    fraction = re.search(r":\d\d[.,](\d{1,6})", match[2])
    micro = int(fraction[1].ljust(6, "0")) if fraction else 0
    try:
        return datetime(day[0], day[1], day[2], hour, minute, second, micro)
    except ValueError:
        return None
