"""Local times of a zone, on days of 23 and 25 hours too."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from egomem.errors import TimeError

_SECOND = timedelta(seconds=1)


def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name such as Europe/Berlin, or of UTC and Z. Raises TimeError."""
    if name.upper() in ("Z", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise TimeError(
            f"{name!r} is not a time zone", "use an IANA name such as Europe/Berlin, or an offset"
        ) from None


def local_instant(day: date, clock: time, zone: tzinfo) -> datetime:
    """The instant of a local time. Of a time that occurs twice it is the first.

    Raises TimeError for a time that the zone's clocks jump over.
    """
    there = datetime.combine(day, clock, zone).replace(fold=0)
    if _exists(there):
        return there
    after = _jump(there)
    raise TimeError(
        f"{clock:%H:%M} on {day.isoformat()} does not exist in {zone}: "
        f"the clocks jump to {after:%H:%M}",
        "give a time before or after the jump",
    )


def day_hour_instant(day: date, hours: float, zone: tzinfo, *, last: bool = False) -> datetime:
    """The instant of an hour of a local day, for the bounds of a day or a part of it.

    `hours` may be above 24. An hour that the clocks jump over is the instant of the jump; of an
    hour that occurs twice it is the first, or with `last` the second, so that a stretch holds both.
    """
    naive = datetime.combine(day, time()) + timedelta(hours=hours)
    there = naive.replace(tzinfo=zone, fold=int(last))
    return there if _exists(there) else _jump(there)


def occurs_twice(there: datetime) -> bool:
    """True where this local time occurs twice, because the clocks go back."""
    return _exists(there) and (
        there.replace(fold=0).utcoffset() != there.replace(fold=1).utcoffset()
    )


def _exists(there: datetime) -> bool:
    back = there.astimezone(UTC).astimezone(there.tzinfo)
    return back.replace(tzinfo=None) == there.replace(tzinfo=None, fold=back.fold)


def _jump(there: datetime) -> datetime:
    """The first instant after the jump that a local time lies in."""
    before = there.replace(fold=1).astimezone(UTC)
    after = there.replace(fold=0).astimezone(UTC)
    old = before.astimezone(there.tzinfo).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) / 2
        if middle.astimezone(there.tzinfo).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0).astimezone(there.tzinfo)
