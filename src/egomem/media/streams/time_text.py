"""Dates and times written in the rows of a stream."""

from __future__ import annotations

from datetime import UTC, datetime


def posix_seconds(text: str) -> float | None:
    """POSIX seconds of an ISO 8601 date and time, of UTC where it names no zone; else None."""
    instant = _instant(text)
    if instant is None:
        return None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()


def is_instant(text: str) -> bool:
    """Whether a text is a date with a time."""
    return _instant(text) is not None


def names_zone(text: str) -> bool:
    """Whether a text is a date and time with its zone."""
    instant = _instant(text)
    return instant is not None and instant.tzinfo is not None


def _instant(text: str) -> datetime | None:
    text = text.strip()
    if len(text) < 16 or not text[:4].isdigit():  # 20 and 20260302 are numbers
        return None
    # Python reads six digits of a fraction; loggers write nine.
    if "." in text:
        whole, _, rest = text.partition(".")
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        text = f"{whole}.{digits[:6].ljust(6, '0')}{rest[len(digits) :]}" if digits else whole
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
