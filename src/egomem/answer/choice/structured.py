"""Choices in JSON, boxes and answer tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_OPENER = re.compile(r"[{\[]")
MAX_FAILED_OPENERS = 200
"""Braces and brackets that open nothing, after which no JSON is looked for."""

_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.IGNORECASE | re.DOTALL)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")

_ANSWER = re.compile(
    r"(?:(?:final|correct|best|predicted|mcq|selected|chosen|model|my|your)[ _-]?)*"
    r"(?:answer|ans|choice|option|prediction|pred|response|selection|selected|letter|label|verdict|"
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
    """Structured parts of a reply, and the text without them (each leaves a space).

    `answers` are the values of fields that hold an answer; `maps` are objects from names to numbers
    or truth values; `lists` are rankings.
    """

    answers: list[Any]
    maps: list[Mapping[str, Any]]
    lists: list[list[Any]]
    rest: str
    any: bool


def extract_structured(text: str) -> StructuredParts:
    answers: list[Any] = []
    maps: list[Mapping[str, Any]] = []
    lists: list[list[Any]] = []
    rest = text
    for start, end, value in _json_values(text):
        rest = rest[:start] + " " * (end - start) + rest[end:]
        if isinstance(value, dict):
            _read_object(value, answers, maps, lists)
        elif len(value) == 1:
            answers.extend(value)
        elif value and all(isinstance(v, dict) for v in value):
            for item in value:
                _read_object(item, answers, maps, lists)
        elif value:
            answers.append(value)
    any_json = rest != text
    rest, tags = _take_tags(rest)
    rest, boxes = _take_boxes(rest)
    return StructuredParts([*answers, *tags, *boxes], maps, lists, rest, any_json)


def _read_object(
    value: dict[str, Any],
    answers: list[Any],
    maps: list[Mapping[str, Any]],
    lists: list[list[Any]],
) -> None:
    for name, inner in value.items():
        if _RANKING.fullmatch(name) and isinstance(inner, list):
            lists.append(inner)
        elif _SCORES.fullmatch(name) and isinstance(inner, dict):
            maps.append(inner)
        elif _ANSWER.fullmatch(name):
            if isinstance(inner, dict):
                nested = [
                    v for k, v in inner.items() if _ANSWER.fullmatch(k) or _TEXT_OF.fullmatch(k)
                ]
                answers.extend(nested) if nested else maps.append(inner)
            else:
                answers.append(inner)
    maps.append(
        {k: v for k, v in value.items() if parse_score(v) is not None and not _ANSWER.fullmatch(k)}
    )


def parse_score(value: Any) -> float | None:
    """A score: a number, a truth value, or a text such as `0.7` or `70 %`."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(-?\d+(?:[.,]\d+)?)\s*(%?)\s*", value)
        if match:
            return float(match[1].replace(",", ".")) / (100 if match[2] else 1)
    return None


def _json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """The outermost JSON objects and lists, with where they stand."""
    decoder = json.JSONDecoder()
    at = failed = 0
    while failed < MAX_FAILED_OPENERS and (opener := _OPENER.search(text, at)):
        try:
            value, end = decoder.raw_decode(text, opener.start())
        except (ValueError, RecursionError):
            at = opener.start() + 1
            failed += 1
            continue
        yield opener.start(), end, value
        at = end


def _take_tags(text: str) -> tuple[str, list[str]]:
    inside = [match[1] for match in _TAGGED.finditer(text)]
    return _TAGGED.sub(" ", text), [v for i in inside for v in _take_boxes(i)[1] or [i]]


def _take_boxes(text: str) -> tuple[str, list[str]]:
    """The contents of `\\boxed{...}`, with their braces balanced; an unclosed box is left alone."""
    contents: list[str] = []
    at = 0
    while opened := _BOXED.search(text, at):
        depth, end = 1, opened.end()
        while end < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if depth:
            break
        contents.append(text[opened.end() : end - 1])
        text = text[: opened.start()] + " " + text[end:]
        at = opened.start()
    return text, contents
