from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.models import find_json, schema_error
from egomem.models.reply_parsing import split_thinking
from egomem.models.wire import DECODER, cleaned

CAPTION: dict[str, Any] = {
    "type": "object",
    "properties": {"caption": {"type": "string"}},
    "required": ["caption"],
}


@pytest.mark.parametrize(
    "text",
    [
        '{"caption":"a mug"}',
        ' \n{"caption":"a mug"}\n',
        'Sure! {note}\n```json\n{"caption":"a mug"}\n```\nHope it helps',
        '```\n{"caption":"a mug"}\n```',
        '```JSON\r\n{"caption":"a mug"}\r\n```',
        'Here: {"caption":"a mug"} and that is all {really}.',
        'Braces {like {these}} do not matter. {"caption":"a mug"}',
        '{"draft": "no caption"} {"caption":"a mug"}',
        'The set {1, 2} [sic] gives {"caption":"a mug"}',
        '{"caption":"a mug"}\n{"caption": "a mug"}',  # twice the same is once
        'First {"caption":"a cup"}.\n```json\n{"caption":"a mug"}\n```',  # a fence is meant
    ],
)
def test_json_is_found(text: str) -> None:
    assert find_json(text, CAPTION).value == {"caption": "a mug"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("a mug", "no JSON"),
        ("{caption: a mug}", "no JSON"),
        ('{"caption":"a m', "no JSON"),
        ('{"caption": 7}', "caption is not of type string"),
        ('{"text": "a mug"}', "caption is missing"),
        ('{"caption":"a mug"} or {"caption":"a cup"}', "2 different"),
        ("[" * 5000, "no JSON"),
    ],
)
def test_none_is_made_up(text: str, why: str) -> None:
    extracted = find_json(text, CAPTION)
    assert extracted.value is None
    assert why in extracted.problem


@pytest.mark.parametrize(
    ("schema", "good", "bad", "message"),
    [
        ({"type": "integer"}, 3, 3.5, "not of type integer"),
        ({"type": "integer"}, 3.0, True, "not of type integer"),
        ({"type": ["string", "null"]}, None, 1, "not of type string or null"),
        ({"enum": ["yes", "no"]}, "no", "maybe", "not one of"),
        ({"const": 1}, 1, 2, "is not 1"),
        ({"minimum": 0, "maximum": 1}, 0.5, 1.5, "above 1"),
        ({"type": "array", "items": {"type": "number"}, "maxItems": 2}, [1, 2], [1, "2"], "[1]"),
        ({"type": "array", "minItems": 1}, [0], [], "fewer than 1"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 4, "not of type string"),
        (
            {"type": "object", "properties": {}, "additionalProperties": False},
            {},
            {"x": 1},
            "x is not in the schema",
        ),
        (
            {"$defs": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/$defs/n"}}},
            {"a": 1},
            {"a": "1"},
            "a is not of type number",
        ),
    ],
)
def test_schema(schema: dict[str, Any], good: Any, bad: Any, message: str) -> None:
    assert schema_error(good, schema) == ""
    assert message in schema_error(bad, schema)


LOOSE = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "why": {"type": ["string", "null"]},
        "at": {
            "type": "object",
            "properties": {"s": {"type": "number"}},
            "additionalProperties": False,
        },
    },
    "required": ["answer", "why"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"answer": "x"}', {"answer": "x"}),
        ('{"answer": "x", "why": "y", "more": 1}', {"answer": "x", "why": "y", "more": 1}),
        ('{"answer": "x", "at": {"s": 1, "ms": 2}}', {"answer": "x", "at": {"s": 1, "ms": 2}}),
        ('{"why": "y"}', None),
        ('{"answer": 3, "why": "y"}', None),
        ('{"answer": "x", "more": 1}\n{"answer": "z", "more": 1}', None),
        ('{"answer": "x", "why": "y"}\n{"answer": "z", "more": 1}', {"answer": "x", "why": "y"}),
    ],
)
def test_fields_more_and_nullable_ones_less_still_fit(text: str, value: Any) -> None:
    assert find_json(text, LOOSE).value == value


values = st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers(), max_size=4)


@given(values, st.text(alphabet="ab {}[]\n", max_size=30), st.text(alphabet="ab }]\n", max_size=20))
def test_an_object_in_prose_is_found_or_ambiguous(value: Any, before: str, after: str) -> None:
    extracted = find_json(before + "\n" + json.dumps(value) + after, {"type": "object"})
    assert (
        extracted.value == cleaned(DECODER.decode(json.dumps(value)))
        or "different" in extracted.problem
        or "[" in before
        or "{" in before
    )


@pytest.mark.parametrize(
    ("raw", "text", "thinking", "open_"),
    [
        ("B", "B", "", False),
        ("<think>A?</think>B", "B", "A?", False),
        ("<think>\nA?\n</think>\n\n<think>no</think>\nB", "B", "A?\nno", False),
        ("<thinking>A?</thinking> B", "B", "A?", False),
        ("A? no\n</think>\nB", "B", "A? no", False),
        ("<think>Maybe A", "", "Maybe A", True),
        ("Let me see\n<think>Maybe A", "Let me see", "Maybe A", True),
        ("<THINK>A</THINK>C", "C", "A", False),
        ("The sign reads <think> twice", "The sign reads <think> twice", "", False),
    ],
)
def test_thinking(raw: str, text: str, thinking: str, open_: bool) -> None:
    assert split_thinking(raw) == (text, thinking, open_)


def test_the_search_ends_after_many_braces_that_open_nothing() -> None:
    from egomem.models.json_extract import MAX_FAILED_OPENERS

    few = "{" * (MAX_FAILED_OPENERS - 1)
    assert find_json(f'{few} [{{"a": 1}}]').value == [{"a": 1}]
    assert find_json(f'{few}{few} [{{"a": 1}}]').value is None
