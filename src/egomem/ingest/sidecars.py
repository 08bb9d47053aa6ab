"""Files beside a recording that tell when it began.

Ours (`walk.json`), those of Project Aria (`walk.vrs.json`), of Google Takeout
(`walk.mp4.supplemental-metadata.json`) and of Sony and Canon cameras (`C0001M01.XML`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from egomem.errors import TimeError, reason
from egomem.ingest.coverage import TOLERANCE_S
from egomem.media import MediaInfo
from egomem.timeline import read_start, zone_of

_IN_UTC = "local times are shown in UTC"

MAX_BYTES = 16 << 20
"""A sidecar is small; what is larger is data of its own."""


@dataclass(frozen=True, slots=True)
class SidecarTime:
    """A start from a sidecar: naive where it names no zone. `doubt` is why it is no clock."""

    start: datetime
    doubt: str = ""


@dataclass(slots=True)
class Folders:
    """The names of the files in folders, each folder read once."""

    _names: dict[Path, list[str]] = field(default_factory=dict)

    def names(self, folder: Path) -> list[str]:
        if folder not in self._names:
            try:
                self._names[folder] = sorted(os.listdir(folder))
            except OSError:
                self._names[folder] = []
        return self._names[folder]


def sidecar_times(
    path: Path,
    facts: MediaInfo | None,
    zone: tzinfo | None,
    notes: list[str],
    folders: Folders | None = None,
) -> Iterator[SidecarTime]:
    """The times that sidecars of a file state, the most certain kind first; adds to `notes`."""
    for name in _beside(path, (folders or Folders()).names(path.parent)):
        sidecar = path.with_name(name)
        try:
            if sidecar.stat().st_size > MAX_BYTES:
                continue
            text = sidecar.read_text(encoding="utf-8-sig")
            values: object = _xml(text) if name.lower().endswith(".xml") else json.loads(text)
        except (ValueError, OSError, RecursionError) as error:
            notes.append(f"{name} cannot be read: {reason(error)}")
            continue
        if not isinstance(values, dict):
            continue
        try:
            yield from _time(name, values, path, facts, zone, notes)
        except (TimeError, ValueError, OverflowError, OSError) as error:
            notes.append(f"{name}: {error}")


def _beside(path: Path, names: list[str]) -> list[str]:
    """The names of a file's sidecars."""
    exact = [path.stem + ".json", path.name + ".json"]
    present = set(names)
    kinds = (_is_vrs, _is_takeout, _is_xml)
    others = [n for n in names if n not in exact and any(kind(path, n) for kind in kinds)]
    return [name for name in exact if name in present] + others


def _is_vrs(path: Path, name: str) -> bool:
    """`walk_glasses.vrs.json`, but not `cam10.vrs.json` beside `cam1.mp4`."""
    after = name[len(path.stem) : len(path.stem) + 1]
    return name.startswith(path.stem) and name.endswith(".vrs.json") and not after.isalnum()


_TAKEOUT_MAX = 46
"""Takeout cuts the name of a sidecar to this length, without `.json`."""


def _is_takeout(path: Path, name: str) -> bool:
    """`X.mp4.supplemental-metadata.json` and what is left of it where it was cut; the number of a
    copy stands before `.json`, as does that of `X(1).mp4`. A still picture of the same moment
    counts, too: `X.HEIC.json` beside `X.MP4`.
    """
    if not name.endswith(".json"):
        return False
    video, body = path.name, name.removesuffix(".json")
    copy, copy_of_body = re.search(r"\(\d+\)$", path.stem), re.search(r"\(\d+\)$", body)
    if copy and copy_of_body and copy[0] == copy_of_body[0]:
        video, body = video.replace(copy[0], "", 1), body.removesuffix(copy_of_body[0])
    if f"{video}.supplemental-metadata".startswith(body):
        return len(body) >= min(len(video), _TAKEOUT_MAX - 1)
    still = re.escape(Path(video).stem) + r"(\.MP)?\.(heic|heif|jpe?g|dng|png)(\.sup[a-z-]*)?"
    return re.fullmatch(still, body, re.IGNORECASE) is not None


def _is_xml(path: Path, name: str) -> bool:
    return re.fullmatch(re.escape(path.stem) + r"(M\d\d)?\.xml", name, re.IGNORECASE) is not None


def _xml(text: str) -> dict[str, Any]:
    """The creation date of a Sony or Canon sidecar; it has an offset where the camera knows one."""
    match = re.search(r"<CreationDate\s+value=\"([^\"]+)\"|<StartDate>([^<]+)</StartDate>", text)
    return {"start": match[1] or match[2]} if match else {}


def _time(
    name: str,
    values: Mapping[str, Any],
    path: Path,
    facts: MediaInfo | None,
    zone: tzinfo | None,
    notes: list[str],
) -> Iterator[SidecarTime]:
    taken = values.get("photoTakenTime")
    if isinstance(taken, Mapping) and str(taken.get("timestamp", "")).lstrip("-").isdigit():
        # Google knows the instant and not the zone; `creationTime` is that of the upload.
        instant = datetime.fromtimestamp(int(taken["timestamp"]), UTC)
        doubt = "" if zone else _IN_UTC
        yield SidecarTime(instant.astimezone(zone) if zone else instant, doubt)
        return
    value = values.get("start", values.get("start_time"))
    if value is None or not isinstance(value, str | int | float) or isinstance(value, bool):
        return
    named = values.get("zone") or values.get("timezone") or values.get("time_zone")
    its_zone = zone_of(named) if isinstance(named, str) else None
    start, doubt = instant_of(value, zone or its_zone)
    # The user's zone is over the file's; an instant is the same in either.
    if zone and its_zone and str(zone) != str(its_zone) and not _is_instant(value):
        notes.append(f"{name} names the zone {its_zone}; the zone given, {zone}, is used")
    if zone and start.tzinfo is not None:
        start = start.astimezone(zone)
    end = values.get("end_time")
    if facts and isinstance(value, int | float) and isinstance(end, int | float):
        length = instant_of(end, zone or its_zone)[0].timestamp() - start.timestamp()
        if abs(length - facts.duration) > max(TOLERANCE_S, 0.05 * facts.duration):
            notes.append(f"{name} tells of {length:.0f} s, the video has {facts.duration:.0f} s")
    yield SidecarTime(start, doubt)


def _is_instant(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def instant_of(value: object, zone: tzinfo | None) -> tuple[datetime, str]:
    """A sidecar's time: ISO 8601, or a count since 1970 in s, ms, us or ns; and a note on it."""
    if isinstance(value, str):
        try:
            return read_start(value, zone=zone), ""
        except TimeError as error:
            if "has no zone" not in error.message:
                raise
            return datetime.fromisoformat(value), "it has no zone"
    assert isinstance(value, int | float), value
    seconds = float(value)
    while seconds > 1e11:  # the year 5138 in seconds, 1973 in milliseconds
        seconds /= 1000
    local = datetime.fromtimestamp(seconds, UTC)
    return (local.astimezone(zone), "") if zone else (local, _IN_UTC)
