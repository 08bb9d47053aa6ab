"""Times in file names: what phones, dashcams, body cameras and messengers write there.

A name's time is local unless the name says otherwise. Sources: manuals and files of the makers;
what a maker does not document is marked as far as we know.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time in a name: local where `start` is naive, else an instant.

    `zoned`: the name states its offset from UTC, which makes it a clock. `doubt` is why it is no
    clock even in a known zone; `note` is for the user.
    """

    start: datetime
    doubt: str = ""
    note: str = ""
    zoned: bool = False


WHATSAPP = "WhatsApp names a file by when it was sent; if it was filmed earlier, give --start"
DAY_ONLY = "only the day"
_NOT_SECONDS = "the name tells a date, and four digits that may be a time"
_TWO_READINGS = "day and month can be read either way"

_DATE = r"(?P<year>(?:19|20)\d\d)(?P<d>[-._ ]?)(?P<month>\d\d)(?P=d)(?P<day>\d\d)"
_CJK_DATE = r"(?P<year>20\d\d)年(?P<month>\d\d?)月(?P<day>\d\d?)日"
# Viofo, Rove and Yi write 2026_0302_081000.
_VIOFO_DATE = r"(?P<year>20\d\d)_(?P<month>\d\d)(?P<day>\d\d)"
_SHORT_DATE = r"(?P<short>\d\d)(?P<month>\d\d)(?P<day>\d\d)"
_DAY_FIRST = r"(?P<one>\d\d)(?P<d>[-._])(?P<two>\d\d)(?P=d)(?P<year>20\d\d)"
# Between date and time: nothing, a sign, or a word of the phone's language ("at", "a las").
_GAP = r"(?:[-_T ]{0,3}|[\s,]+(?:[^\W\d_]{1,4}\s){0,2}[\s.]*)"
_TIME = (
    r"(?P<hour>\d\d?)(?P<t>[-._:h ]?|時|点)(?P<minute>\d\d)(?:(?P=t)|[m分])"
    r"(?P<second>\d\d)(?:s|秒)?"
)
_HALF = r"(?:[\s._-]*(?P<half>[ap])\.?\s?m\b\.?)?"
_END = r"(?!\d{5})"
_START = r"(?<!\d)"

_FULL = [
    re.compile(_START + date + _GAP + _TIME + r"(?:[.,]\d{1,6})?" + _END + _HALF, re.IGNORECASE)
    for date in (_DATE, _VIOFO_DATE, _CJK_DATE)
]
_ZONED = re.compile(r"[\s._]?(Z|UTC|GMT|[+-]\d\d[-.:]?\d\d)(?![A-Za-z\d])", re.IGNORECASE)
_TO_THE_MINUTE = re.compile(
    _START + _DATE + r"(?:[-_T ]+|\s+\w{2,4}\s+)(?P<hour>\d\d)[.:h-](?P<minute>\d\d)(?!\d|[-._:]\d)"
    + _HALF, re.IGNORECASE,
)  # fmt: skip
_HOUR_AND_MINUTE = re.compile(
    _START + _DATE + r"[-_T](?P<hour>\d\d)(?P<minute>\d\d)(?!\d)", re.IGNORECASE
)
_SHORT = re.compile(
    r"^(?:[A-Za-z]{1,8}[-_]?)?"
    + _SHORT_DATE
    + r"[-_](?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)"
    r"(?!\d)"
)
_REVERSED = re.compile(_START + _DAY_FIRST + _GAP + _TIME + _END + _HALF, re.IGNORECASE)
_DAY = [re.compile(_START + date + r"(?!\d)") for date in (_DATE, _CJK_DATE)]
_EPOCH = re.compile(r"^(?P<prefix>[^\W\d]*[-_ ]?|.*[-_ ])(?P<count>\d{10}|\d{13})(?:[-_ (].*)?$")
_EPOCHS = (datetime(2001, 9, 10, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
_RANDOM_IDS = re.compile(r"snapchat|received|fb_|^inshot", re.IGNORECASE)
"""Their numbers of ten digits and more are no times."""


def named_time(stem: str) -> NamedTime | None:
    """The time in a file's name without its suffix, None where there is none."""
    plain = stem.replace("\u202f", " ").replace("\u00a0", " ").replace("\u200e", "")
    for read in _READERS:
        if (named := read(plain)) is not None:
            return named
    return None


def _full(stem: str) -> NamedTime | None:
    for form in _FULL:
        for match in form.finditer(stem):
            if (start := _start(match)) is not None:
                return _placed(stem, start, match[0], stem[match.end() :])
    return None


def _placed(stem: str, start: datetime, written: str, rest: str) -> NamedTime:
    if stem.lower().startswith("whatsapp"):
        return NamedTime(start, note=WHATSAPP)
    # Pixel phones write UTC into the name, as far as we know.
    if stem.upper().startswith("PXL_"):
        return NamedTime(start.replace(tzinfo=UTC))
    zone = _ZONED.match(rest)
    if zone is None:
        return NamedTime(start)
    if zone[1].upper() in ("Z", "UTC", "GMT"):
        return NamedTime(start.replace(tzinfo=UTC))
    digits = re.sub(r"\D", "", zone[1])
    hours, minutes = int(digits[:2]), int(digits[2:])
    # "-0012" and "_081000-0500" end in a camera's number; ISO 8601 has a T.
    is_number = zone[1][0] == "-" and zone[1][1:].isdigit() and "T" not in written.upper()
    if is_number or hours > 14 or minutes % 15:
        return NamedTime(start)
    offset = timedelta(hours=hours, minutes=minutes) * (-1 if zone[1][0] == "-" else 1)
    return NamedTime(start.replace(tzinfo=timezone(offset)), zoned=True)


def _short(stem: str) -> NamedTime | None:
    """`260302_081000_001_FH` (Nextbase), `FILE260302-081000F` (Mio)."""
    match = _SHORT.match(stem)
    start = _start(match) if match else None
    return NamedTime(start) if start and 2010 <= start.year < 2050 else None


def _reversed(stem: str) -> NamedTime | None:
    match = _REVERSED.search(stem)
    if match is None:
        return None
    one, two = int(match["one"]), int(match["two"])
    day_first, month_first = _start(match, two, one), _start(match, one, two)
    # Where dots part it, the day comes first; else either may.
    if day_first and (match["d"] == "." or not month_first or one == two):
        return NamedTime(day_first)
    if month_first and not day_first:
        return NamedTime(month_first)
    return NamedTime(day_first, _TWO_READINGS) if day_first else None


def _minutes(stem: str) -> NamedTime | None:
    if (match := _TO_THE_MINUTE.search(stem)) and (start := _start(match)):
        return NamedTime(start)
    if (match := _HOUR_AND_MINUTE.search(stem)) and (start := _start(match)):
        return NamedTime(start, _NOT_SECONDS)
    return None


def _epoch(stem: str) -> NamedTime | None:
    """`1772435400`, `mmexport1772435400000`: seconds or milliseconds since 1970."""
    match = _EPOCH.match(stem)
    if match is None or _RANDOM_IDS.search(stem):
        return None
    count = int(match["count"])
    start = datetime.fromtimestamp(count / (1000 if count >= 10**12 else 1), UTC)
    return NamedTime(start) if _EPOCHS[0] <= start < _EPOCHS[1] else None


def _day(stem: str) -> NamedTime | None:
    for form in _DAY:
        for match in form.finditer(stem):
            if (start := _start(match)) is not None:
                return NamedTime(start, DAY_ONLY)
    return None


_READERS: tuple[Callable[[str], NamedTime | None], ...] = (
    _full, _reversed, _short, _minutes, _epoch, _day,
)  # fmt: skip


def _start(
    match: re.Match[str], month: int | None = None, day: int | None = None
) -> datetime | None:
    """The time of a match; None where no calendar or clock has it."""
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else 2000 + int(parts["short"])
    hour, half = int(parts.get("hour") or 0), (parts.get("half") or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    # An hour of one digit stands in names with separators only: 8.10.00, but not 81000.
    if parts.get("hour") and len(parts["hour"]) == 1 and not parts.get("t"):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return datetime(
            year,
            month or int(parts["month"]),
            day or int(parts["day"]),
            hour,
            int(parts.get("minute") or 0),
            int(parts.get("second") or 0),
        )
    except ValueError:
        return None
