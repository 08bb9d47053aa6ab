"""Numbers in sentences."""

from __future__ import annotations


def plural(n: int, one: str, more: str = "") -> str:
    """`1 window has`, `2,000 windows have`; without `more`, an s is added."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"
