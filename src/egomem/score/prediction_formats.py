"""Files of predictions in the forms that people have them -> rows.

Read are JSON Lines of rows, a JSON list of them, and a map of id to answer. What only one benchmark
hands in, its plug-in reads: see `submissions`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from egomem.errors import UsageError

SubmissionReader = Callable[[Any], list[dict[str, Any]] | None]
"""Rows of predictions in one entry of a benchmark's own form, or None where it is of another."""


def prediction_rows(
    text: str, submissions: Sequence[SubmissionReader] = ()
) -> Iterator[tuple[int, Any]]:
    """Each row with its number (its line in JSON Lines); a line that is not JSON is its ValueError.

    Raises UsageError where a key stands twice in a JSON document: which one counts is not ours to
    choose.
    """
    document = _whole_document(text)
    if isinstance(document, list):
        for number, entry in enumerate(document, 1):
            yield from ((number, row) for row in _rows_of_entry(entry, submissions))
    elif isinstance(document, dict):
        yield from enumerate((_row_of_map(id, value) for id, value in document.items()), 1)
    else:
        # By newline alone: other characters that str.splitlines() cuts at may stand inside JSON.
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, _parse_line(line)


def _whole_document(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or map that the text is; None where it is lines of JSON, or a single row."""
    try:
        # Python's parser keeps the last of two equal keys silently: a submission would lose an
        # answer.
        document = json.loads(text, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, list | dict):
        return None
    # A file with one line of JSON Lines is also a JSON object.
    is_row = isinstance(document, dict) and (
        not document or not document.keys().isdisjoint(("id", "prediction"))
    )
    return None if is_row else document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise UsageError(f"{key} stands twice in the predictions", "keep one of them")
        fields[key] = value
    return fields


def _parse_line(line: str) -> Any:
    try:
        return json.loads(line)
    # Deeply nested brackets end Python's parser with RecursionError; one odd line must not end the
    # file.
    except (ValueError, RecursionError) as error:
        return ValueError(str(error))


def _rows_of_entry(entry: Any, submissions: Sequence[SubmissionReader]) -> list[Any]:
    """The entry's rows in the first benchmark's form that it has, else the entry as a row."""
    for read_entry in submissions:
        rows = read_entry(entry)
        if rows is not None:
            return list(rows)
    return [entry]


def _row_of_map(id: str, value: Any) -> dict[str, Any]:
    """A number is an option's index, from 0, as in EgoSchema's submissions."""
    if isinstance(value, Mapping):
        return {**value, "id": id}
    return {"id": id, "index" if str(value).isdecimal() else "choice": value}
