"""Numbers in sentences."""

from __future__ import annotations


def plural(n: int, one: str, more: str = "") -> str:
    """`1 window has`, `2,000 windows have`; without `more`, an s is added."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def clusters(count: int, lone: int) -> str:
    """What is drawn, of which so many are questions about no video: `5 videos and 3 lone
    questions`."""
    videos = [plural(count - lone, "video")] if count > lone or not lone else []
    return " and ".join([*videos, *([plural(lone, "lone question")] if lone else [])])
