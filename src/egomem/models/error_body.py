"""What an error body says: its message, its machine codes, and how long to wait.

Servers wrap errors differently, gateways wrap those of others, so a body is searched as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import NamedTuple

from pydantic import JsonValue

MAX_BODY_BYTES = 100_000
"""Of an error body, so many bytes are read: some servers send a whole web page."""

MAX_NODES = 2000
"""So many values of an error body are looked at."""

_CODE_FIELDS = frozenset(
    (
        "code",
        "type",
        "status",
        "reason",
        "error_type",
        "error_code",
        "err_code",
        "errcode",
        "errorcode",
        "error_name",
        "status_code",
        "quotaid",
        "quota_limit",
        "blockreason",
        "native_finish_reason",
    )
)
_MESSAGE_FIELDS = ("error", "message", "detail", "details", "msg", "error_message", "error_msg")
_NESTED = re.compile(r"\{.*\}", re.DOTALL)
_SECONDS = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?")
_RETRY_WORDS = re.compile(
    r"(?:retry|try again|wait)\D{0,20}?(\d+h|(?:\d+m)?\d+(?:\.\d+)?\s?(?:ms|s)\b|\d+m\b)",
    re.IGNORECASE,
)


class ErrorBody(NamedTuple):
    """An error body, read.

    `codes` are its machine codes in lower case. `words` is all of its text, for a search.
    `wait` is how many seconds it asks to wait. `fields` names all fields that have a value.
    """

    message: str
    codes: frozenset[str] = frozenset()
    words: str = ""
    wait: float | None = None
    fields: frozenset[str] = frozenset()


def read_error_body(body: bytes) -> ErrorBody:
    """Read an error body of any shape: JSON, JSON in JSON, a web page, plain text."""
    text = body[:MAX_BODY_BYTES].decode("utf-8", "replace")
    value = _parsed(text)
    if value is None or isinstance(value, (int, float)):
        plain = re.sub(r"<[^>]*>", " ", text)
        return ErrorBody(plain, words=plain, wait=_wait_in_words(plain))
    codes: set[str] = set()
    fields: set[str] = set()
    texts: list[str] = []
    wait = None
    for name, inner in islice(_leaves(value), MAX_NODES):
        fields.add(name)
        if name in _CODE_FIELDS and isinstance(inner, (str, int)) and inner != "":
            codes.add(str(inner).lower())
        if name == "retrydelay" and isinstance(inner, str):
            wait = _duration(inner)
        if isinstance(inner, str):
            texts.append(inner)
    words = "\n".join(texts)
    return ErrorBody(
        message=_message(value),
        codes=frozenset(codes),
        words=words,
        wait=_wait_in_words(words) if wait is None else wait,
        fields=frozenset(fields),
    )


def _parsed(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _leaves(value: JsonValue, name: str = "", depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    """The single values of a body with the names of their fields, those of JSON in strings too."""
    if depth > 12:
        return
    if isinstance(value, Mapping):
        for inner_name, inner in value.items():
            yield from _leaves(inner, inner_name.lower(), depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name, depth + 1)
    elif value is not None:
        yield name, value
        # Gateways quote the error of the server behind them: "Provider returned error {...}".
        if isinstance(value, str) and (nested := _NESTED.search(value)):
            yield from _leaves(_parsed(nested[0]), name, depth + 4)


def _message(value: JsonValue) -> str:
    """The message, however deep: `{"error": {"message": ...}}`, the same in a list (Google)."""
    fallback = value
    for _ in range(5):
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, Mapping):
            by_name = {name.lower(): inner for name, inner in value.items()}
            inner = next((by_name[n] for n in _MESSAGE_FIELDS if by_name.get(n)), "")
            if not inner:
                break
            fallback = value
            value = inner
        else:
            break
    if isinstance(value, str) and value:
        # "Provider returned error" says nothing; the quoted error does.
        raw = _raw_metadata(fallback)
        return f"{value}: {raw}" if raw else value
    return json.dumps(fallback, ensure_ascii=False)


def _raw_metadata(value: JsonValue) -> str:
    metadata = value.get("metadata") if isinstance(value, Mapping) else None
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if not isinstance(raw, str):
        return ""
    inner = _parsed(raw)
    return _message(inner) if isinstance(inner, (Mapping, list)) else raw


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or an HTTP date)."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if re.fullmatch(r"\d+(?:\.\d+)?", value.strip()):
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _wait_in_words(text: str) -> float | None:
    match = _RETRY_WORDS.search(text)
    return _duration(match[1]) if match else None


def _duration(text: str) -> float | None:
    """Seconds of `26s`, `1m12.5s`, `300ms`, `2h`; None for anything else."""
    match = _SECONDS.fullmatch(text.replace(" ", "").lower())
    if not match or not any(match.groups()):
        return None
    hours, minutes, amount, unit = match.groups()
    seconds = float(amount or 0) / (1000 if unit == "ms" else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds
