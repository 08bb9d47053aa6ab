"""Levels of digests, and the windows of a wearer's timeline that they cover.

Ten minutes, hours and days are those of the clock on the wearer's wall, also where the zone changes
in flight: an hour is that of one zone, and a day holds all that began on its date wherever the
wearer was. A recording without a clock is cut from its own second 0, and its day is itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from egomem.errors import UsageError
from egomem.memory.exchange import ObservationKey
from egomem.records import Recording
from egomem.timeline import Clock


class Level(NamedTuple):
    """A length of digests: its name, and the seconds of a window."""

    name: str
    seconds: float


LEVELS = (Level("10min", 600.0), Level("hour", 3600.0), Level("day", 86400.0))
"""All levels, the shortest first. EgoButler has these three (ten minutes, an hour, a day)."""
DEFAULT_LEVELS = ("hour", "day")
RECORDING = "recording"
"""The name of the day of a recording without a clock."""


def read_levels(names: Iterable[str]) -> tuple[Level, ...]:
    """Levels by name, the shortest first. Raises UsageError for an unknown one, or none."""
    chosen = set(names)
    by_name = {level.name: level for level in LEVELS}
    if not chosen or (unknown := sorted(chosen - by_name.keys())):
        problem = f"there is no level of digests {unknown[0]!r}" if chosen else "no level is named"
        raise UsageError(problem, f"use some of {', '.join(by_name)}")
    return tuple(level for level in LEVELS if level.name in chosen)


class WindowKey(NamedTuple):
    """Which stretch of which timeline a digest covers.

    `recording` is None on the wearer's timeline. `day` is the date there, "" without a clock.
    `name` tells it from others of its level: a date, an hour of a zone, seconds of a recording.
    """

    wearer: str
    recording: str | None
    level: str
    day: str
    name: str


def window_of(key: ObservationKey, recording: Recording, level: Level) -> WindowKey:
    """The window of a level in which an observation began."""
    if recording.clock is None:
        if level.name == "day":
            return WindowKey(key.wearer, recording.id, RECORDING, "", RECORDING)
        number = int(max(key.start, 0.0) // level.seconds)
        return WindowKey(key.wearer, recording.id, level.name, "", f"{number * level.seconds:g}s")
    return WindowKey(key.wearer, None, level.name, *_local(recording.clock, key.start, level))


def _local(clock: Clock, seconds: float, level: Level) -> tuple[str, str]:
    local = clock.at(seconds)
    day = local.date().isoformat()
    if level.name == "day":
        return day, day
    # With the offset: where the clocks go back, an hour comes twice.
    minute = 0 if level.name == "hour" else local.minute // 10 * 10
    start = local.replace(minute=minute, second=0, microsecond=0)
    return day, start.isoformat(timespec="minutes")


def within(key: WindowKey, level: str) -> str:
    """The level of a window's own kind above it: a recording's where it has no clock."""
    return RECORDING if level == "day" and key.recording is not None else level
