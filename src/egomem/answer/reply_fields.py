"""The fields of a reply's JSON, whether or not it keeps to the schema that was asked for.

A model that adds a field, leaves one out, or writes JSON that is not quite JSON has still said what
it said: only what it says wrongly is lost.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from egomem.models import Reply
from egomem.models.json_extract import find_json
from egomem.models.wire import DECODER, cleaned
from egomem.records import Status

Fields = Mapping[str, JsonValue]

_OBJECT = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_WORDS = {"true": "True", "false": "False", "null": "None"}
_EVIDENCE = re.compile(
    r"(?:evidence|support|cited|citations?)(?:[ _-]?(?:times?|timestamps?|ids?|notes?|frames?|"
    r"numbers?|list|spans?))?|time[ _-]?stamps?|times?|notes?|frames?|sources?|references?",
    re.I,
)
_EVIDENCE_LINE = re.compile(
    r"(?im)^[\s>*_#-]*(?:evidence|based on|notes?|frames?|times?|timestamps?|sources?|依据|证据)"
    r"[\s*_]*[:：=][\s*_]*(?P<list>.+)$"
)
_ITEM = re.compile(r"[^,;，；、\s\[\]][^,;，；、\[\]]*")
MAX_OBJECT_CHARS = 20_000


def reply_fields(reply: Reply) -> dict[str, Any]:
    """The fields of the JSON object in a reply, names in lower case; {} where there is none.

    A reply that ended cleanly but does not fit its schema is read all the same.
    """
    data: Any = reply.data
    if not isinstance(data, dict) and reply.status in (Status.PARSED, Status.UNPARSABLE):
        data = _find_object(reply.text)
    if not isinstance(data, dict):
        return {}
    return {str(name).strip().lower(): value for name, value in data.items()}


def listed_evidence(fields: Fields, text: str) -> list[JsonValue]:
    """What a reply lists as evidence, in its JSON or on a line `Evidence: ...`.

    The field `evidence` comes first; another name for it counts where that is missing. A lone value
    is a list of one; a text such as "3, 7" is two.
    """
    named = [
        fields.get("evidence"),
        *(value for name, value in fields.items() if _EVIDENCE.fullmatch(name)),
    ]
    for value in named:
        if value not in (None, "", [], {}):
            return _items(value)
    lines = [] if fields else list(_EVIDENCE_LINE.finditer(text))
    return _items(lines[-1]["list"]) if lines else []


def without_evidence_line(text: str) -> str:
    """A reply's text without the line that lists its evidence, whose numbers are no answer."""
    return _EVIDENCE_LINE.sub("", text) if text.strip()[:1] not in ("{", "[") else text


def _items(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, str):
        return [item.strip().rstrip(".") for item in _ITEM.findall(value)]
    if isinstance(value, list):
        return [item for inner in value for item in _items(inner)]
    if isinstance(value, dict):
        names = {str(name).lower(): inner for name, inner in value.items()}
        start = next(
            (names[n] for n in ("start", "start_time", "from", "begin") if n in names), None
        )
        end = next((names[n] for n in ("end", "end_time", "to", "until") if n in names), None)
        if start is not None and end is not None:
            return [f"{start}-{end}"]
        ids = ("time", "timestamp", "t", "id", "number", "note", "frame", "start", "span", "index")
        return next((_items(names[name]) for name in ids if name in names), [])
    return [value]


def _find_object(text: str) -> JsonValue:
    """The one object in a text, mended where it is nearly JSON: quotes, a comma too many."""
    if "{" not in text:
        return None
    strict = find_json(text, {"type": "object"}).value
    if isinstance(strict, dict):
        return strict
    objects = []
    for match in _OBJECT.finditer(text[:MAX_OBJECT_CHARS]):
        value = _mended(match[0])
        if isinstance(value, dict) and value not in objects:
            objects.append(value)
    return objects[0] if len(objects) == 1 else None


def _mended(text: str) -> JsonValue:
    text = _TRAILING_COMMA.sub("", text)
    try:
        value: JsonValue = cleaned(DECODER.decode(text))
        return value
    except (ValueError, RecursionError):
        pass
    literal = re.sub(r"\b(true|false|null)\b", lambda match: _WORDS[match[1]], text)
    try:
        value = ast.literal_eval(literal)
        json.dumps(value)
        value = cleaned(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value
