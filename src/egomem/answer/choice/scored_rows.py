"""Options as rows of JSON, each with its score: `[{"option": "A", "score": 0.1}, ...]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_LABEL = re.compile(
    r"(?:option|answer|choice)?[ _-]?(?:label|letter|id|key|option|choice|answer|name)", re.I
)
_SCORE = re.compile(
    r"(?:\w+[ _-])?(?:scores?|prob(?:ability)?|p|confidence|likelihood|rating|weight"
    r"|percent(?:age)?|verdict|judge?ment|assessment|supported|correct|match(?:es)?|selected|chosen|plausibility)",
    re.I,
)
_PLACE = re.compile(r"rank(?:ing)?|place|position", re.I)
_TRUTHS = {
    **dict.fromkeys(("yes", "true", "correct", "supported", "selected", "chosen", "right"), 1.0),
    **dict.fromkeys(
        ("no", "false", "incorrect", "unsupported", "rejected", "wrong", "eliminated"), 0.0
    ),
    **dict.fromkeys(("not supported", "contradicted", "ruled out", "not selected"), 0.0),
    **dict.fromkeys("✓✔✅☑", 1.0),
    **dict.fromkeys("✗✘❌✖", 0.0),
}


class ScoredRows(NamedTuple):
    """`scores` by the name of the option, none where rows have places. `order`: best first."""

    scores: dict[str, Any]
    order: list[Any]


def table_of_rows(value: list[Any] | Mapping[str, Any]) -> ScoredRows | None:
    """Scores or places of rows that name an option each; None for anything else.

    Rows are objects with a field for the option and one for its score, pairs of the two, or an
    object of objects by option. All rows have the same field.
    """
    rows: list[tuple[str, Mapping[str, Any]]] = []
    for item in value.items() if isinstance(value, Mapping) else value:
        if isinstance(item, Mapping):
            names = [k for k, v in item.items() if _LABEL.fullmatch(k) and isinstance(v, str)]
            if not names:
                return None
            rows.append((item[names[0]], item))
        elif isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], str):
            rows.append((item[0], item[1] if isinstance(item[1], Mapping) else {"p": item[1]}))
        else:
            return None
    labels = [label for label, _ in rows]
    if len(rows) < 2 or len(set(labels)) < len(labels):
        return None
    if isinstance(value, Mapping) and not all(isinstance(v, Mapping) for v in value.values()):
        return None  # an object of plain numbers is read by its name
    for field in rows[0][1]:
        values = [row.get(field) for _, row in rows]
        if any(parse_score(v) is None for v in values):
            continue
        if _PLACE.fullmatch(field):
            places = [parse_score(v) or 0.0 for v in values]
            if len(set(places)) < len(places):
                return None
            return ScoredRows({}, [labels[places.index(place)] for place in sorted(places)])
        if _SCORE.fullmatch(field):
            return ScoredRows(dict(zip(labels, values, strict=True)), [])
    return None


def parse_score(value: Any) -> float | None:
    """The score that a value states: a number, a truth value, or a text such as `0.7` or `70 %`."""
    if isinstance(value, (bool, int, float)):
        return _finite(value)
    if not isinstance(value, str):
        return None
    if value.strip().lower() in _TRUTHS:
        return _TRUTHS[value.strip().lower()]
    match = re.fullmatch(r"\s*(-?\d{1,30}(?:[.,]\d{1,30})?)\s*(%?)\s*", value)
    if not match:
        return None
    return float(match[1].replace(",", ".")) / (100 if match[2] else 1)


def _finite(value: float) -> float | None:
    """The number; None for an integer that no float holds."""
    try:
        return float(value)
    except OverflowError:
        return None
