"""From time expressions to times: placing them on a recording or on the wall clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from egomem.errors import TimeError
from egomem.timeline.dst import day_hour_instant, local_instant, occurs_twice
from egomem.timeline.expressions import ClockTime, Context, TimeExpression, UnresolvedError
from egomem.timeline.mentions import Instants
from egomem.timeline.span import Span

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Where "before Tuesday" begins."""

_ONE_DAY = timedelta(days=1)
_PARTS = {"tonight": (18.0, 29.0)}
"""Tonight and last night are evening and night together."""


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    span: Span | None = None
    instants: Instants | None = None
    note: str = ""


def resolve(expression: TimeExpression, context: Context) -> ResolvedTime:
    """Place one expression. Raises UnresolvedError for what is missing, TimeError for the
    impossible.
    """
    if recording := _recording(expression, context):
        return ResolvedTime(Span(*recording), note=_bare_note(expression, context))
    start, end = _wall(expression, context)
    return ResolvedTime(instants=Instants(start, end), note=_wall_note(expression, start))


def resolve_range(
    left: TimeExpression, right: TimeExpression, between: bool, context: Context
) -> ResolvedTime:
    """Place a range; each side gets from the other what it leaves out."""
    # "5 to 10 minutes": the left number was read as an hour before its unit was seen.
    if right.unit and left.bare and left.clock:
        left = TimeExpression(elapsed=(left.clock.hour * right.unit,) * 2)
    one, other = _recording(left, context), _recording(right, context)
    if one and other:
        if other[1] < one[0]:
            raise TimeError(f"the time ends ({other[1]:g} s) before it starts ({one[0]:g} s)")
        return ResolvedTime(Span(one[0], other[1]), note=_bare_note(left, context))
    if left.elapsed or right.elapsed:
        raise TimeError("one side is a time of the recording, the other of the clock")
    right_day = right.days is not None
    left, right = _shared(left, right)
    starts, start_ends = _wall(left, context)
    # "between lunch and four" begins when lunch ends; "from lunch to four" when it begins.
    start = start_ends if between and left.part and not left.clock else starts
    start_day = start.astimezone(left.zone or context.zone or start.tzinfo).date()
    if right.days is None and not right.absolute:
        right = replace(right, days=(start_day, start_day + _ONE_DAY))
    right = _after(right, start, context)
    stops, ends = _wall(right, context, last=True)
    end = stops if right.clock or (between and right.part) else ends
    # "from 10 pm to 2 am" ends on the next day, unless a day was named for the end.
    if end.timestamp() < start.timestamp() and not right_day and right.days:
        right = replace(right, days=(right.days[0] + _ONE_DAY, right.days[1] + _ONE_DAY))
        stops, ends = _wall(right, context, last=True)
        end = stops if right.clock or (between and right.part) else ends
    return ResolvedTime(instants=Instants(start, end), note=_wall_note(left, start))


def relate(
    placed: ResolvedTime, relation: Literal["before", "after", "since"], context: Context
) -> ResolvedTime:
    """What lies before or after a time: of its day for a clock time or a part of a day."""
    if placed.span is not None:
        at = placed.span.start if relation == "before" else placed.span.end
        return replace(placed, span=Span(0.0, at) if relation == "before" else Span(at, at))
    assert placed.instants is not None
    start, end = placed.instants.start, placed.instants.end
    zone = context.zone or start.tzinfo or UTC
    # A day of 23 hours is a whole day; no part of a day is as long as 20.
    whole_days = placed.instants.seconds >= 20 * 3600
    if relation == "before":
        first = (
            EPOCH.astimezone(zone)
            if whole_days
            else day_hour_instant(start.astimezone(zone).date(), 0, zone)
        )
        return replace(placed, instants=Instants(first, start))
    if relation == "since":
        now = context.need_now()
        return replace(placed, instants=Instants(start, max(now, start, key=_posix)))
    last = start.astimezone(zone) if placed.instants.seconds == 0 else end.astimezone(zone)
    close = context.now if whole_days else day_hour_instant(last.date(), 24, zone)
    if close is None:
        context.need_now()
    stops = [moment for moment in (close, context.now) if moment and _posix(moment) > _posix(end)]
    return replace(placed, instants=Instants(end, min(stops, key=_posix, default=end)))


def widen(placed: ResolvedTime, context: Context) -> ResolvedTime:
    """Widen an instant by the convention's width on either side. A stretch stays as it is."""
    half = context.conventions.around
    if placed.instants is None or placed.instants.seconds:
        return placed
    start, end = placed.instants.start, placed.instants.end
    return replace(placed, instants=Instants(_add(start, -half), _add(end, half)))


def _recording(expression: TimeExpression, context: Context) -> tuple[float, float] | None:
    """The seconds of an expression that is a time of the recording."""
    if expression.elapsed:
        return expression.elapsed
    if not expression.colon or expression.marked:
        return None
    if context.conventions.bare == "wall" and _could_be_clock(expression):
        return None
    seconds = 0.0
    for part in expression.colon:
        seconds = seconds * 60 + part
    # Minutes and seconds, or hours, minutes and seconds: each number counts sixty of the next.
    seconds = round(seconds, 6)  # 1:11.433 is 71.433, not 71.43299999999999
    return seconds, seconds


def _could_be_clock(expression: TimeExpression) -> bool:
    return (
        expression.colon[0] < 25
        and expression.colon[1] < 60
        and expression.colon[1] == int(expression.colon[1])
    )


def _bare_note(expression: TimeExpression, context: Context) -> str:
    if (
        len(expression.colon) == 2
        and context.conventions.bare == "recording"
        and _could_be_clock(expression)
    ):
        return "read as minutes and seconds of the recording; for a time of day add am or pm"
    return ""


def _wall_note(expression: TimeExpression, start: datetime) -> str:
    if (
        expression.clock
        and not expression.clock.half
        and not expression.clock.exact
        and expression.part is None
    ):
        return f"read as {start:%H:%M}"
    if expression.clock and start.tzinfo and not expression.absolute and occurs_twice(start):
        return f"{start:%H:%M} occurs twice that day; read as the first"
    return ""


def _shared(left: TimeExpression, right: TimeExpression) -> tuple[TimeExpression, TimeExpression]:
    """Give each side the day and zone of the other, and the left one the right one's am or pm."""
    if not left.absolute and not right.absolute:
        left = replace(left, days=left.days or right.days, zone=left.zone or right.zone)
        right = replace(
            right, days=right.days or (left.days if right.clock or right.part else None)
        )
        right = replace(right, zone=right.zone or left.zone)
    one, other = left.clock, right.clock
    if one and other and not one.half and not one.exact and other.half and 1 <= one.hour <= 12:
        # "10 to 11 am" is all in the morning; "11 to 1 pm" crosses noon, so its 11 is am.
        same = one.hour % 12 * 60 + one.minute <= other.hour % 12 * 60 + other.minute
        half = other.half if same else ("am" if other.half == "pm" else "pm")
        left = replace(left, clock=replace(one, half=half))
    return left, right


def _after(right: TimeExpression, start: datetime, context: Context) -> TimeExpression:
    """Read an hour without am or pm as the first such hour after a range's start."""
    clock = right.clock
    if not clock or clock.half or clock.exact or right.part or not 1 <= clock.hour <= 12:
        return right
    for half in ("am", "pm"):
        option = replace(right, clock=replace(clock, half=half))
        if _posix(_wall(option, context)[0]) > _posix(start):
            return option
    return replace(right, clock=replace(clock, half="am"))


def _wall(
    expression: TimeExpression, context: Context, *, last: bool = False
) -> tuple[datetime, datetime]:
    """The instants of an expression; both are one for a clock time."""
    if expression.problem:
        raise UnresolvedError(expression.problem)
    if expression.absolute:
        start, end = expression.absolute
        if expression.zone is None:
            return start, end
        local = start.astimezone(expression.zone)
        # "…+01:00[Europe/Berlin]" in summer contradicts itself; guessing which half is right would
        # shift the answer by an hour.
        if local.utcoffset() != start.utcoffset():
            raise TimeError(
                f"the offset of {start.isoformat()} is not that of {expression.zone} then"
            )
        return local, end.astimezone(expression.zone)
    zone = expression.zone or context.zone
    if zone is None:
        raise UnresolvedError("it is a wall-clock time, and the recording's zone is not known")
    if expression.days is None:
        return _latest(
            lambda day: _of_day(replace(expression, days=day), zone, context, last), context
        )
    return _of_day(expression, zone, context, last)


def _latest(
    of_day: Callable[[tuple[date, date]], tuple[datetime, datetime]], context: Context
) -> tuple[datetime, datetime]:
    """A time without a day: the latest one that has begun, today's or else yesterday's."""
    now = context.need_now()
    latest = None
    # A memory holds the past: "at ten", asked at nine, is yesterday's ten o'clock.
    for back in (0, 1):
        day = now.date() - back * _ONE_DAY
        latest = of_day((day, day + _ONE_DAY))
        if _posix(latest[0]) <= _posix(now):
            break
    assert latest is not None
    return latest


def _of_day(
    expression: TimeExpression, zone: tzinfo, context: Context, last: bool
) -> tuple[datetime, datetime]:
    assert expression.days is not None
    first, after = expression.days
    if not expression.clock and not expression.part:
        return day_hour_instant(first, 0, zone), day_hour_instant(after, 0, zone)
    # "Last week at ten" is seven times.
    if after - first != _ONE_DAY:
        raise TimeError("a clock time or a part of a day needs one day, not a longer time")
    low, high = (0.0, 24.0)
    if expression.part:
        low, high = _PARTS.get(expression.part) or context.conventions.parts[expression.part]
    if not expression.clock:
        width = high - low
        low, high = low + expression.portion[0] * width, low + expression.portion[1] * width
        return day_hour_instant(first, low, zone), day_hour_instant(first, high, zone, last=True)
    hour = _hour(expression.clock, low, high, bool(expression.part), context)
    # 24:00 is the end of a day (ISO 8601); 25:00 is a slip.
    if hour > 24 and not expression.part:
        raise TimeError(f"there is no hour {hour}")
    day = first + hour // 24 * _ONE_DAY
    second, micro = divmod(round(expression.clock.second * 1e6), 1_000_000)
    clock = time(hour % 24, expression.clock.minute)
    local = local_instant(day, clock, zone)
    # The end of a stretch is the second occurrence, so that the hour that repeats lies in it.
    if last and occurs_twice(local):
        local = local.replace(fold=1)
    local = _add(local, timedelta(seconds=second, microseconds=micro))
    return local, local


def _hour(clock: ClockTime, low: float, high: float, parted: bool, context: Context) -> int:
    """The hour of the day of a clock time; 24 and above is the next day."""
    if clock.half:
        hour = clock.hour % 12 + (12 if clock.half == "pm" else 0)
    elif clock.exact:
        hour = clock.hour
    elif parted:
        hour = clock.hour % 12 + (12 if high > 12 and (high <= 24 or clock.hour % 12 >= 6) else 0)
    else:
        hour = clock.hour % 12
        return hour if hour >= context.conventions.waking else hour + 12
    return hour + 24 if high > 24 and hour < high - 24 else hour


def _add(local: datetime, delta: timedelta) -> datetime:
    # In UTC: Python adds to what the clock on the wall says, which skips or repeats an hour.
    return (local.astimezone(UTC) + delta).astimezone(local.tzinfo)


def _posix(moment: datetime) -> float:
    return moment.timestamp()
