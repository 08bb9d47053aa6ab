"""JSON in a model's text, whatever model or server it came from.

Models fence JSON, chat before and after it, and use braces in prose. A value is taken only if it
fits the schema, and none at all if two different ones do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from egomem.models.wire import DECODER, cleaned

_FENCE = re.compile(r"```[ \t]*[\w-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_OPENER = re.compile(r"[{\[]")


MAX_FAILED_OPENERS = 1000
"""Braces and brackets that open no JSON, after which the search ends: each costs a parse."""


class ExtractedJson(NamedTuple):
    """`value` is None where not exactly one value was found; `problem` then says why."""

    value: JsonValue
    problem: str = ""


def find_json(text: str, schema: Mapping[str, JsonValue] | None = None) -> ExtractedJson:
    """The JSON value in `text` that fits `schema` (without one: the one object or list).

    The first place that holds a fitting value decides, in this order: the whole text, fenced
    blocks, anywhere. Two different fitting values in one place give none. Where nothing fits, a
    value is taken that has more fields than the schema, or lacks some that may be null.
    """
    strict = _find_fitting(text, schema or {})
    if strict.value is not None or not schema or strict.several:
        return ExtractedJson(strict.value, strict.problem)
    tolerant = _find_fitting(text, _tolerant(schema))
    return ExtractedJson(tolerant.value, tolerant.problem if tolerant.several else strict.problem)


class _Fitting(NamedTuple):
    value: JsonValue
    problem: str = ""
    several: bool = False


def _find_fitting(text: str, schema: Mapping[str, JsonValue]) -> _Fitting:
    problem = "no JSON in the reply"
    # A fence is the model's own mark of its answer; JSON in prose may be an example or a quotation.
    whole = _whole_value(text)
    fenced = (v for piece in _FENCE.findall(text) for v in _whole_value(piece) or _values(piece))
    for place in (whole, fenced, _values(text)):
        fitting: list[JsonValue] = []
        for value in place:
            error = schema_error(value, schema)
            if error:
                problem = f"JSON does not fit: {error}"
            elif value not in fitting:  # models repeat themselves
                fitting.append(value)
        if len(fitting) == 1:
            return _Fitting(fitting[0])
        if fitting:
            return _Fitting(None, f"{len(fitting)} different JSON values in the reply", True)
    return _Fitting(None, problem)


def _tolerant(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A schema that also takes fields that it does not know, and lacks of those that may be null.

    Strict servers want every field required: one that may be left out is declared nullable.
    """
    relaxed: dict[str, JsonValue] = {
        name: _tolerant(inner) if isinstance(inner, dict) and name != "properties" else inner
        for name, inner in schema.items()
        if (name, inner) != ("additionalProperties", False)
    }
    rules = schema.get("properties")
    if isinstance(rules, dict):
        relaxed["properties"] = {
            name: _tolerant(rule) if isinstance(rule, dict) else rule
            for name, rule in rules.items()
        }
        required = schema.get("required")
        relaxed["required"] = [
            name
            for name in (required if isinstance(required, list) else [])
            if not _may_be_null(rules.get(str(name)))
        ]
    return relaxed


def _may_be_null(rule: JsonValue) -> bool:
    types = rule.get("type") if isinstance(rule, dict) else None
    return isinstance(types, list) and "null" in types


def _whole_value(text: str) -> list[JsonValue]:
    """The text as one JSON object or list, if it is one."""
    try:
        value = cleaned(DECODER.decode(text))
    except (ValueError, RecursionError):
        return []
    return [value] if isinstance(value, (dict, list)) else []


def _values(text: str) -> Iterator[JsonValue]:
    """The outermost objects and lists in a text, in order."""
    position = failures = 0
    while failures < MAX_FAILED_OPENERS and (opener := _OPENER.search(text, position)):
        try:
            value, position = DECODER.raw_decode(text, opener.start())
            value = cleaned(value)
        except RecursionError:
            return  # thousands of nested brackets are no reply
        except ValueError:
            position = opener.start() + 1  # a brace of prose
            failures += 1
        else:
            yield value


def schema_error(value: JsonValue, schema: Mapping[str, JsonValue]) -> str:
    """What in `value` does not fit a JSON schema, in a few words; "" where it fits.

    Knows the keywords that our schemas use: type, enum, const, properties, required,
    additionalProperties, items, minItems, maxItems, minimum, maximum, anyOf, $ref into $defs.
    """
    return _schema_error(value, schema, schema, "")


_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": int,
}


def _schema_error(
    value: JsonValue, schema: Mapping[str, JsonValue], root: Mapping[str, JsonValue], where: str
) -> str:
    path = where or "value"
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _schema_error(value, _resolve(reference, root), root, where)
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        errors = [_schema_error(value, c, root, where) for c in choices if isinstance(c, dict)]
        if all(errors):
            return errors[0]
    types = schema.get("type")
    if types is not None:
        names = [str(name) for name in (types if isinstance(types, list) else [types])]
        if not any(_has_type(value, name) for name in names):
            return f"{path} is not of type {' or '.join(names)}"
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        return f"{path} is not one of {json.dumps(allowed, ensure_ascii=False)}"
    if "const" in schema and value != schema["const"]:
        return f"{path} is not {json.dumps(schema['const'], ensure_ascii=False)}"
    if isinstance(value, dict):
        return _object_error(value, schema, root, where)
    if isinstance(value, list):
        return _list_error(value, schema, root, where)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if isinstance(low, (int, float)) and value < low:
            return f"{path} is below {low}"
        if isinstance(high, (int, float)) and value > high:
            return f"{path} is above {high}"
    return ""


def _has_type(value: JsonValue, name: str) -> bool:
    # To Python a bool is an int, to JSON it is no number; and 2.0 is an integer there.
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _object_error(
    value: dict[str, JsonValue],
    schema: Mapping[str, JsonValue],
    root: Mapping[str, JsonValue],
    where: str,
) -> str:
    properties = schema.get("properties")
    rules = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in value:
            return f"{where + '.' if where else ''}{name} is missing"
    extra = schema.get("additionalProperties")
    for name, inner in value.items():
        rule = rules.get(name, extra)
        path = f"{where}.{name}" if where else name
        if rule is False:
            return f"{path} is not in the schema"
        if isinstance(rule, dict) and (error := _schema_error(inner, rule, root, path)):
            return error
    return ""


def _list_error(
    value: list[JsonValue],
    schema: Mapping[str, JsonValue],
    root: Mapping[str, JsonValue],
    where: str,
) -> str:
    low, high = schema.get("minItems"), schema.get("maxItems")
    if isinstance(low, int) and len(value) < low:
        return f"{where or 'list'} has fewer than {low} items"
    if isinstance(high, int) and len(value) > high:
        return f"{where or 'list'} has more than {high} items"
    rule = schema.get("items")
    if isinstance(rule, dict):
        for index, item in enumerate(value):
            if error := _schema_error(item, rule, root, f"{where}[{index}]"):
                return error
    return ""


def _resolve(reference: str, root: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    node: JsonValue = dict(root)
    for step in reference.removeprefix("#/").split("/"):
        node = node.get(step) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        raise ValueError(f"schema reference {reference} leads nowhere")
    return node
