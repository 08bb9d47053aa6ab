"""Numbers in sentences."""

from __future__ import annotations


def plural(n: int, one: str, more: str = "") -> str:
    """A number with its noun: `1 window has`, `2,000 windows have`; `more` defaults to an s."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"
