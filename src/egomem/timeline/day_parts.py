"""Parts of a day: the words for them ("evening", "lunchtime") and the hours that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

HOURS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "morning": (5, 12),
        "afternoon": (12, 18),
        "evening": (18, 22),
        "night": (22, 29),
        "breakfast": (7, 9),
        "lunch": (12, 13.5),
        "dinner": (18, 20),
    }
)
"""Hours of the local day `[from, to)`; past 24 lies in the next day. Our reconstruction."""

PARTS = {
    "morning": "morning", "mornings": "morning", "afternoon": "afternoon", "evening": "evening",
    "night": "night", "breakfast": "breakfast", "lunch": "lunch", "lunchtime": "lunch",
    "dinner": "dinner", "supper": "dinner", "dinnertime": "dinner",
}  # fmt: skip
"""Word -> the part of a day that it names."""
