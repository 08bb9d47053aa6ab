"""Choices in JSON, boxes (`\\boxed{B}`) and answer tags (`<answer>B</answer>`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from egomem.answer.choice.scored_rows import ScoredRows, parse_score, table_of_rows

_OPENER = re.compile(r"[{\[]")
MAX_FAILED_OPENERS = 200
"""Braces and brackets that open no JSON, after which the search ends: each costs a parse."""

_TAGGED = re.compile(
    r"<(answer|final|final[_-]answer|choice|option)>(.*?)</\1>", re.IGNORECASE | re.DOTALL
)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")

_ANSWER = re.compile(
    r"(?:(?:final|correct|best|predicted|mcq|selected|chosen|model|my|your)[ _-]?)*"
    r"(?:best|pick|guess|decision|answer|ans|choice|option|prediction|pred|response|selection|selected|letter|label|verdict|"
    r"result|output|final)(?:[ _-]?(?:letter|label|choice|option|index|id|key|text|value))?",
    re.IGNORECASE,
)
_TEXT_OF = re.compile(r"text|value|content|option_text", re.IGNORECASE)
_SCORES = re.compile(
    r"(?:option[ _-]?)?(?:scores?|probabilit(?:y|ies)|probs?|confidences?|ratings?|"
    r"likelihoods?|distribution)",
    re.IGNORECASE,
)
_RANKING = re.compile(r"rank(?:ing|ed|s)?|order", re.IGNORECASE)


class StructuredParts(NamedTuple):
    """The structured parts of a reply, and the text without them.

    `answers` are the values of fields that hold an answer, of boxes and of tags. `score_tables` map
    names to numbers or truth values. `rankings` are lists of options. `rest` has a space for each
    part that was taken out. `has_json`: at least one part was JSON.
    """

    answers: list[Any]
    score_tables: list[Mapping[str, Any]]
    rankings: list[list[Any]]
    rest: str
    has_json: bool


def extract_structured(text: str) -> StructuredParts:
    """The structured parts of a reply, taken out of its text."""
    answers: list[Any] = []
    score_tables: list[Mapping[str, Any]] = []
    rankings: list[list[Any]] = []
    rest = text
    for start, end, value in _json_values(text):
        # Blanks of the same length keep the positions of what follows.
        rest = rest[:start] + " " * (end - start) + rest[end:]
        if isinstance(value, dict):
            _read_object(value, answers, score_tables, rankings)
        elif len(value) == 1:  # ["B"]
            answers.extend(value)
        elif value and all(isinstance(v, dict) for v in value):
            table = table_of_rows(value)
            if table is not None:
                _read_table(table, score_tables, rankings)
                continue
            for item in value:
                _read_object(item, answers, score_tables, rankings)
        elif value and (table := table_of_rows(value)) is not None:
            _read_table(table, score_tables, rankings)
        elif value:
            answers.append(value)
    has_json = rest != text
    rest, tags = _take_tags(rest)
    rest, boxes = _take_boxes(rest)
    return StructuredParts([*answers, *tags, *boxes], score_tables, rankings, rest, has_json)


def _read_object(
    value: dict[str, Any],
    answers: list[Any],
    score_tables: list[Mapping[str, Any]],
    rankings: list[list[Any]],
) -> None:
    """Sort the fields of a JSON object into the three lists, by their names."""
    for name, inner in value.items():
        if isinstance(inner, (list, dict)) and (table := table_of_rows(inner)) is not None:
            _read_table(table, score_tables, rankings)
        elif _RANKING.fullmatch(name) and isinstance(inner, list):
            rankings.append(inner)
        elif _SCORES.fullmatch(name) and isinstance(inner, dict):
            score_tables.append(inner)
        elif _ANSWER.fullmatch(name):
            if isinstance(inner, dict):
                nested = [
                    v for k, v in inner.items() if _ANSWER.fullmatch(k) or _TEXT_OF.fullmatch(k)
                ]
                if nested:
                    answers.extend(nested)
                else:
                    score_tables.append(inner)
            else:
                answers.append(inner)
    # An object such as {"A": 0.1, "B": 0.9} is itself a table of scores.
    score_tables.append(
        {k: v for k, v in value.items() if parse_score(v) is not None and not _ANSWER.fullmatch(k)}
    )


def _read_table(
    table: ScoredRows, score_tables: list[Mapping[str, Any]], rankings: list[list[Any]]
) -> None:
    if table.scores:
        score_tables.append(table.scores)
    else:
        rankings.append(table.order)


def _json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """The outermost JSON objects and lists: start, end, value."""
    decoder = json.JSONDecoder()
    position = failures = 0
    while failures < MAX_FAILED_OPENERS and (opener := _OPENER.search(text, position)):
        try:
            value, end = decoder.raw_decode(text, opener.start())
        except (ValueError, RecursionError):
            position = opener.start() + 1
            failures += 1
            continue
        yield opener.start(), end, value
        position = end


def _take_tags(text: str) -> tuple[str, list[str]]:
    """The text without answer tags, and their contents; of a tag around boxes, the boxes'."""
    contents = [match[2] for match in _TAGGED.finditer(text)]
    answers = [answer for content in contents for answer in _take_boxes(content)[1] or [content]]
    return _TAGGED.sub(" ", text), answers


def _take_boxes(text: str) -> tuple[str, list[str]]:
    """The text without `\\boxed{...}`, and the contents of the boxes; an unclosed box stays.

    Braces within a box may nest, so a regular expression cannot find its end.
    """
    contents: list[str] = []
    position = 0
    while opened := _BOXED.search(text, position):
        depth, end = 1, opened.end()
        while end < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if depth:
            break
        contents.append(text[opened.end() : end - 1])
        text = text[: opened.start()] + " " + text[end:]
        position = opened.start()
    return text, contents
