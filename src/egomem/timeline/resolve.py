"""From pieces to times: placing what was read on a recording or on the wall clock."""

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


def resolve(piece: TimeExpression, context: Context) -> ResolvedTime:
    """One expression. Raises UnresolvedError for what is missing, TimeError for the impossible."""
    if recording := _recording(piece, context):
        return ResolvedTime(Span(*recording), note=_bare_note(piece, context))
    start, end = _wall(piece, context)
    return ResolvedTime(instants=Instants(start, end), note=_wall_note(piece, start))


def resolve_range(
    left: TimeExpression, right: TimeExpression, between: bool, context: Context
) -> ResolvedTime:
    """From one expression to another. What one side leaves out, the other gives."""
    if right.unit and left.bare and left.dial:
        left = TimeExpression(elapsed=(left.dial.hour * right.unit,) * 2)
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
    start = start_ends if between and left.part and not left.dial else starts
    here = start.astimezone(left.zone or context.zone or start.tzinfo).date()
    if right.days is None and not right.absolute:
        right = replace(right, days=(here, here + _ONE_DAY))
    right = _after(right, start, context)
    stops, ends = _wall(right, context, last=True)
    end = stops if right.dial or (between and right.part) else ends
    if end.timestamp() < start.timestamp() and not right_day and right.days:
        right = replace(right, days=(right.days[0] + _ONE_DAY, right.days[1] + _ONE_DAY))
        stops, ends = _wall(right, context, last=True)
        end = stops if right.dial or (between and right.part) else ends
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
    """Around an instant: the habit's width on either side of it. A stretch stays as it is."""
    half = context.habits.around
    if placed.instants is None or placed.instants.seconds:
        return placed
    start, end = placed.instants.start, placed.instants.end
    return replace(placed, instants=Instants(_add(start, -half), _add(end, half)))


def _recording(piece: TimeExpression, context: Context) -> tuple[float, float] | None:
    """The seconds of an expression that is a time of the recording."""
    if piece.elapsed:
        return piece.elapsed
    if not piece.colon or piece.marked:
        return None
    if context.habits.bare == "wall" and _could_be_clock(piece):
        return None
    seconds = 0.0
    for part in piece.colon:
        seconds = seconds * 60 + part
    seconds = round(seconds, 6)  # 1:11.433 is 71.433, not 71.43299999999999
    return seconds, seconds


def _could_be_clock(piece: TimeExpression) -> bool:
    return piece.colon[0] < 25 and piece.colon[1] < 60 and piece.colon[1] == int(piece.colon[1])


def _bare_note(piece: TimeExpression, context: Context) -> str:
    if len(piece.colon) == 2 and context.habits.bare == "recording" and _could_be_clock(piece):
        return "read as minutes and seconds of the recording; for a time of day add am or pm"
    return ""


def _wall_note(piece: TimeExpression, start: datetime) -> str:
    if piece.dial and not piece.dial.half and not piece.dial.exact and piece.part is None:
        return f"read as {start:%H:%M}"
    if piece.dial and start.tzinfo and not piece.absolute and occurs_twice(start):
        return f"{start:%H:%M} occurs twice that day; read as the first"
    return ""


def _shared(left: TimeExpression, right: TimeExpression) -> tuple[TimeExpression, TimeExpression]:
    """Gives each side the day and zone of the other, and the left one the right one's am or pm."""
    if not left.absolute and not right.absolute:
        left = replace(left, days=left.days or right.days, zone=left.zone or right.zone)
        right = replace(right, days=right.days or (left.days if right.dial or right.part else None))
        right = replace(right, zone=right.zone or left.zone)
    one, other = left.dial, right.dial
    if one and other and not one.half and not one.exact and other.half and 1 <= one.hour <= 12:
        same = one.hour % 12 * 60 + one.minute <= other.hour % 12 * 60 + other.minute
        half = other.half if same else ("am" if other.half == "pm" else "pm")
        left = replace(left, dial=replace(one, half=half))
    return left, right


def _after(right: TimeExpression, start: datetime, context: Context) -> TimeExpression:
    """Reads an hour without am or pm as the first one after a range's start."""
    dial = right.dial
    if not dial or dial.half or dial.exact or right.part or not 1 <= dial.hour <= 12:
        return right
    for half in ("am", "pm"):
        option = replace(right, dial=replace(dial, half=half))
        if _posix(_wall(option, context)[0]) > _posix(start):
            return option
    return replace(right, dial=replace(dial, half="am"))


def _wall(
    piece: TimeExpression, context: Context, *, last: bool = False
) -> tuple[datetime, datetime]:
    """The instants of an expression; both are one for a clock time."""
    if piece.problem:
        raise UnresolvedError(piece.problem)
    if piece.absolute:
        start, end = piece.absolute
        if piece.zone is None:
            return start, end
        there = start.astimezone(piece.zone)
        if there.utcoffset() != start.utcoffset():
            raise TimeError(f"the offset of {start.isoformat()} is not that of {piece.zone} then")
        return there, end.astimezone(piece.zone)
    zone = piece.zone or context.zone
    if zone is None:
        raise UnresolvedError("it is a wall-clock time, and the recording's zone is not known")
    if piece.days is None:
        return _latest(lambda day: _of_day(replace(piece, days=day), zone, context, last), context)
    return _of_day(piece, zone, context, last)


def _latest(
    of_day: Callable[[tuple[date, date]], tuple[datetime, datetime]], context: Context
) -> tuple[datetime, datetime]:
    """A time without a day is the latest one that has begun: today's, else yesterday's."""
    now = context.need_now()
    found = None
    for back in (0, 1):
        day = now.date() - back * _ONE_DAY
        found = of_day((day, day + _ONE_DAY))
        if _posix(found[0]) <= _posix(now):
            break
    assert found is not None
    return found


def _of_day(
    piece: TimeExpression, zone: tzinfo, context: Context, last: bool
) -> tuple[datetime, datetime]:
    assert piece.days is not None
    first, after = piece.days
    if not piece.dial and not piece.part:
        return day_hour_instant(first, 0, zone), day_hour_instant(after, 0, zone)
    if after - first != _ONE_DAY:
        raise TimeError("a clock time or a part of a day needs one day, not a longer time")
    low, high = (0.0, 24.0)
    if piece.part:
        low, high = _PARTS.get(piece.part) or context.habits.parts[piece.part]
    if not piece.dial:
        width = high - low
        low, high = low + piece.portion[0] * width, low + piece.portion[1] * width
        return day_hour_instant(first, low, zone), day_hour_instant(first, high, zone, last=True)
    hour = _hour(piece.dial, low, high, bool(piece.part), context)
    if hour > 24 and not piece.part:
        raise TimeError(f"there is no hour {hour}")
    day = first + hour // 24 * _ONE_DAY
    second, micro = divmod(round(piece.dial.second * 1e6), 1_000_000)
    clock = time(hour % 24, piece.dial.minute)
    there = local_instant(day, clock, zone)
    if last and occurs_twice(there):
        there = there.replace(fold=1)
    there = _add(there, timedelta(seconds=second, microseconds=micro))
    return there, there


def _hour(dial: ClockTime, low: float, high: float, parted: bool, context: Context) -> int:
    """The hour of the day that a clock shows; 24 and above is the next day."""
    if dial.half:
        hour = dial.hour % 12 + (12 if dial.half == "pm" else 0)
    elif dial.exact:
        hour = dial.hour
    elif parted:
        hour = dial.hour % 12 + (12 if high > 12 and (high <= 24 or dial.hour % 12 >= 6) else 0)
    else:
        hour = dial.hour % 12
        return hour if hour >= context.habits.waking else hour + 12
    return hour + 24 if high > 24 and hour < high - 24 else hour


def _add(there: datetime, delta: timedelta) -> datetime:
    return (there.astimezone(UTC) + delta).astimezone(there.tzinfo)


def _posix(moment: datetime) -> float:
    return moment.timestamp()
