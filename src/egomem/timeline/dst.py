"""Local times of a zone, also on days of 23 and 25 hours."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from egomem.errors import TimeError

_SECOND = timedelta(seconds=1)


def local_instant(day: date, clock: time, zone: tzinfo) -> datetime:
    """The instant of a local time; of a time that occurs twice, the first.

    Raises TimeError for a time that the zone's clocks skip.
    """
    # `fold` tells the two occurrences apart on the day when clocks go back (PEP 495).
    local = datetime.combine(day, clock, zone).replace(fold=0)
    if _exists(local):
        return local
    after = _jump(local)
    raise TimeError(
        f"{clock:%H:%M} on {day.isoformat()} does not exist in {zone}: "
        f"the clocks jump to {after:%H:%M}",
        "give a time before or after the jump",
    )


def day_hour_instant(day: date, hours: float, zone: tzinfo, *, last: bool = False) -> datetime:
    """The instant of an hour of a local day, for the bounds of a day or a part of it.

    `hours` may exceed 24. An hour that the clocks skip is the instant of the jump. Of an hour that
    occurs twice it is the first, or with `last` the second, so that a stretch holds both.
    """
    naive = datetime.combine(day, time()) + timedelta(hours=hours)
    local = naive.replace(tzinfo=zone, fold=int(last))
    return local if _exists(local) else _jump(local)


def in_named_zone(start: datetime, zone: tzinfo | None) -> datetime:
    """An instant in `zone`, where it has a mere offset: that of another day may be another.

    A start in a named zone stays in it.
    """
    if zone is None or getattr(start.tzinfo, "key", None) is not None:
        return start
    return start.astimezone(zone)


def occurs_twice(local: datetime) -> bool:
    """True where this local time occurs twice, because the clocks go back."""
    return _exists(local) and (
        local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    )


def _exists(local: datetime) -> bool:
    # Python builds times that no clock ever showed; only the way to UTC and back tells.
    back = local.astimezone(UTC).astimezone(local.tzinfo)
    return back.replace(tzinfo=None) == local.replace(tzinfo=None, fold=back.fold)


def _jump(local: datetime) -> datetime:
    """The first instant after the jump of the clocks that a local time falls into."""
    before = local.replace(fold=1).astimezone(UTC)
    after = local.replace(fold=0).astimezone(UTC)
    old = before.astimezone(local.tzinfo).utcoffset()
    # By halving, as `zoneinfo` does not tell when its jumps are.
    while after - before > _SECOND:
        middle = before + (after - before) / 2
        if middle.astimezone(local.tzinfo).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0).astimezone(local.tzinfo)
