"""Predictions as people have them -> rows of ours.

JSON Lines of rows, a JSON list of them, a map of id to answer (EgoSchema's submission: the option's
number, from 0), and Video-MME's results: its questions, grouped by video or not, with `response`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from egomem.errors import UsageError


def prediction_rows(text: str) -> Iterator[tuple[int, Any]]:
    """Each row with its number (its line in JSON Lines); a line that is not JSON is its ValueError.

    Raises UsageError where a key stands twice in a JSON document: which counts is not ours to say.
    """
    held = _whole_document(text)
    if isinstance(held, list):
        for number, row in enumerate(held, 1):
            yield from ((number, made) for made in _flatten_row(row))
    elif isinstance(held, dict):
        yield from enumerate((_row_of_map(id, value) for id, value in held.items()), 1)
    else:
        # By newline alone: other characters that str.splitlines() cuts at may stand inside JSON.
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, _parse_line(line)


def _whole_document(text: str) -> list[Any] | dict[str, Any] | None:
    try:
        held = json.loads(text, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError):
        return None  # lines of JSON
    row = isinstance(held, dict) and (not held or not held.keys().isdisjoint(("id", "prediction")))
    return held if isinstance(held, list | dict) and not row else None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for key, value in pairs:
        if key in held:
            raise UsageError(f"{key} stands twice in the predictions", "keep one of them")
        held[key] = value
    return held


def _parse_line(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return ValueError(str(error))


def _flatten_row(row: Any) -> Iterator[Any]:
    """A row, or the answered questions of a video."""
    if not isinstance(row, Mapping):
        yield row
    elif isinstance(row.get("questions"), list):
        for asked in row["questions"]:
            yield from _flatten_row(asked)
    elif "response" in row and "question_id" in row:
        yield {"id": row["question_id"], "response": row["response"]}
    else:
        yield row


def _row_of_map(id: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {**value, "id": id}
    return {"id": id, "index" if str(value).isdecimal() else "choice": value}
