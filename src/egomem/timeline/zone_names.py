"""Zones by the names that people write: Europe/Berlin, New York, CET, UTC+2, +01:00."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from types import MappingProxyType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from egomem.errors import TimeError

_ABBREVIATIONS = MappingProxyType({
    "gmt": "UTC", "bst": "Europe/London", "cet": "Europe/Berlin", "cest": "Europe/Berlin",
    "eet": "Europe/Athens", "eest": "Europe/Athens", "msk": "Europe/Moscow",
    "est": "America/New_York", "edt": "America/New_York", "cst": "America/Chicago",
    "cdt": "America/Chicago", "mst": "America/Denver", "mdt": "America/Denver",
    "pst": "America/Los_Angeles", "pdt": "America/Los_Angeles", "hst": "Pacific/Honolulu",
    "akst": "America/Anchorage", "akdt": "America/Anchorage", "ist": "Asia/Kolkata",
    "jst": "Asia/Tokyo", "kst": "Asia/Seoul", "hkt": "Asia/Hong_Kong", "sgt": "Asia/Singapore",
    "aest": "Australia/Sydney", "aedt": "Australia/Sydney", "acst": "Australia/Adelaide",
    "awst": "Australia/Perth", "nzst": "Pacific/Auckland", "nzdt": "Pacific/Auckland",
})  # fmt: skip
"""Abbreviation -> the zone whose wall clock is meant; of several that share one, the most spoken
of (CST and IST are those of Chicago and India). Our reconstruction."""

_REGIONS = MappingProxyType({
    "eastern": "America/New_York", "central": "America/Chicago", "mountain": "America/Denver",
    "pacific": "America/Los_Angeles", "central european": "Europe/Berlin",
    "eastern european": "Europe/Athens", "western european": "Europe/Lisbon",
    "indian": "Asia/Kolkata", "japan": "Asia/Tokyo", "china": "Asia/Shanghai",
    "beijing": "Asia/Shanghai", "moscow": "Europe/Moscow", "uk": "Europe/London",
    "greenwich mean": "UTC", "san francisco": "America/Los_Angeles", "boston": "America/New_York",
    "washington": "America/New_York", "munich": "Europe/Berlin", "hamburg": "Europe/Berlin",
    "milan": "Europe/Rome", "barcelona": "Europe/Madrid", "delhi": "Asia/Kolkata",
    "mumbai": "Asia/Kolkata", "seattle": "America/Los_Angeles", "miami": "America/New_York",
    "rio": "America/Sao_Paulo", "geneva": "Europe/Zurich",
})  # fmt: skip
"""Names before "time" that are no city of the zone database."""

_OFFSET = re.compile(r"(?:utc|gmt)?\s?([+-])(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)


def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name such as Europe/Berlin, of UTC or Z, of an offset, or of a name as
    people write it. Raises TimeError.
    """
    if name.upper() in ("Z", "UTC"):
        return UTC
    if match := _OFFSET.fullmatch(name.strip()):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        if offset <= timedelta(hours=14):
            return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    if (named := _named(name)) is not None:
        return named
    raise TimeError(
        f"{name!r} is not a time zone", "use an IANA name such as Europe/Berlin, or an offset"
    )


def _named(name: str) -> tzinfo | None:
    plain = " ".join(name.casefold().replace("_", " ").split())
    key = _ABBREVIATIONS.get(plain) or _REGIONS.get(plain) or _cities().get(plain)
    if key is None:
        return None
    return UTC if key == "UTC" else ZoneInfo(key)


@lru_cache(maxsize=1)
def _cities() -> dict[str, str]:
    """City -> its zone. Read only where somebody names one: it lists a folder of 600 files."""
    names = (
        name for name in available_timezones() if "/" in name and name[:3] not in ("Etc", "Sys")
    )
    return {name.rpartition("/")[2].replace("_", " ").casefold(): name for name in sorted(names)}


def zone_in(words: Sequence[str]) -> tuple[tzinfo, int] | None:
    """The zone that words begin with, and how many they are: `new york time`, `cet`, `utc + 2`.

    The words are casefolded. A city or a region counts only before "time".
    """
    if not words:
        return None
    for count in (3, 2, 1):
        if list(words[count : count + 1]) == ["time"]:
            name = " ".join(words[:count]).removeprefix("in ")
            if (zone := _named(name)) is not None:
                return zone, count + 1
    start = int(words[0] == "(")
    closes = start and words[-1:] != [] and ")" in words[start : start + 5]
    rest = words[start:]
    prefix = int(rest[0] in ("utc", "gmt")) if rest else 0
    sign = rest[prefix] if len(rest) > prefix + 1 else ""
    if sign in ("+", "-") and (prefix or closes):
        written = f"{sign}{rest[prefix + 1]}"
        if _OFFSET.fullmatch(written):
            return zone_of(written), start + prefix + 2 + int(bool(closes))
    if rest and (rest[0] in _ABBREVIATIONS or rest[0] == "utc"):
        return zone_of(rest[0]), start + 1 + int(bool(closes))
    return None
