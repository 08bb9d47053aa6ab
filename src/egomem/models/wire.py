"""Checks of what comes over the wire, before any client, storage or JSON of ours sees it.

A server may send anything: lone surrogates, counts of 10^30, 50,000 nested braces, fields of the
wrong type. Here a body becomes one that every client reads, with the same text, or a problem.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from egomem.models.reported_usage import ReportedUsage, read_usage

MAX_BODY_BYTES = 64_000_000
"""The largest reply that is read; one of 128,000 tokens with log-probabilities has some 30 MB."""
MAX_DEPTH = 64
"""The most objects and lists inside each other; replies of all known servers have 12 at most."""
MAX_INT_DIGITS = 18
"""Of a whole number: SQLite keeps 64 bits."""

_PLAIN_TYPES = (str, int, float, bool, type(None))


class CheckedBody(NamedTuple):
    """`content` is what clients get to read; `problem` says why nothing of the body can be used.

    `usage` is what the body says that the request took, also where the body is of no other use.
    """

    content: bytes
    usage: ReportedUsage | None = None
    problem: str = ""


def check_body(content: bytes) -> CheckedBody:
    """A body in which every value can be stored; see `CheckedBody`. What is no JSON stays as is."""
    try:
        value = _parsed(content)
    except RecursionError:
        return CheckedBody(b"", problem=f"JSON nested more than {MAX_DEPTH} deep")
    except ValueError:
        return CheckedBody(content)
    try:
        value = cleaned(value)
    except RecursionError:
        return CheckedBody(b"", problem=f"JSON nested more than {MAX_DEPTH} deep")
    if not isinstance(value, dict):
        return CheckedBody(_encoded(value))
    usage = read_usage(value)
    if isinstance(value.get("choices"), list):
        _mend_chat_completion(value)
    else:
        _mend_counts(value)
    return CheckedBody(_encoded(value), usage)


def clean_text(text: str) -> str:
    """The text without characters that UTF-8 or SQLite cannot hold: each becomes U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    # Two halves of a pair that were escaped apart are one character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _parsed(content: bytes) -> Any:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
    return DECODER.decode(text)


def _whole_number(digits: str) -> int | None:
    return int(digits) if len(digits.lstrip("-")) <= MAX_INT_DIGITS else None


DECODER = json.JSONDecoder(parse_int=_whole_number, parse_constant=lambda name: None)
"""Reads numbers that cannot be stored as null."""


def cleaned(value: Any, depth: int = 0) -> Any:
    """A JSON value in which every text and number can be stored.

    Raises RecursionError where it is nested more than `MAX_DEPTH` deep.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, _PLAIN_TYPES):
        return value
    if depth >= MAX_DEPTH:
        raise RecursionError
    if isinstance(value, list):
        return [cleaned(inner, depth + 1) for inner in value]
    return {clean_text(name): cleaned(inner, depth + 1) for name, inner in value.items()}


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _mend_chat_completion(body: dict[str, Any]) -> None:
    """Fields that no answer is read from never cost one: they get the type that clients expect.

    Usage is read already, so clients need not.
    """
    body.pop("usage", None)
    for name in ("id", "model"):
        body[name] = body[name] if isinstance(body.get(name), str) else ""
    body["object"] = "chat.completion"
    created = body.get("created")
    body["created"] = int(created) if isinstance(created, (int, float)) else 0
    for name in ("moderation", "service_tier", "system_fingerprint"):
        body.pop(name, None)
    choices = [choice for choice in body["choices"] if isinstance(choice, dict)]
    for index, choice in enumerate(choices):
        choice["index"] = index
        finish = choice.get("finish_reason")
        choice["finish_reason"] = finish if isinstance(finish, str) and finish else None
        logprobs = choice.get("logprobs")
        choice["logprobs"] = logprobs if _has_token_logprobs(logprobs) else None
        message = choice.get("message")
        # Completions of the older kind have the text beside the choice's other fields.
        if not isinstance(message, dict):
            message = {"content": message if isinstance(message, str) else choice.get("text")}
        choice["message"] = _mended_message(message)
    body["choices"] = choices


def _mended_message(message: dict[str, Any]) -> dict[str, Any]:
    """A message with its text as one string; tool calls, which we never ask for, are left out."""
    content = message.get("content")
    if isinstance(content, list):
        pieces = (p.get("text") if isinstance(p, dict) else p for p in content)
        content = "".join(p for p in pieces if isinstance(p, str))
    kept = {
        name: message[name]
        for name in ("refusal", "reasoning", "reasoning_content", "thinking")
        if isinstance(message.get(name), str)
    }
    text = content if isinstance(content, str) else None
    return {"role": "assistant", "content": text, **kept}


def _has_token_logprobs(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        return False
    return all(_is_token(token) for token in value["content"])


def _is_token(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("token"), str):
        return False
    if value.get("logprob") is not None and not isinstance(value["logprob"], (int, float)):
        return False
    top = value.get("top_logprobs")
    return top is None or (
        isinstance(top, list)
        and all(isinstance(t, dict) and isinstance(t.get("token"), str) for t in top)
    )


def _mend_counts(body: dict[str, Any]) -> None:
    """Counts of Anthropic's and Google's replies as whole numbers, else left out."""
    for name in ("usage", "usageMetadata"):
        counts = body.get(name)
        if isinstance(counts, dict):
            body[name] = {
                field: int(count) if isinstance(count, float) else count
                for field, count in counts.items()
                if count is None
                or isinstance(count, (int, float, dict, list))
                or (isinstance(count, str) and not count.strip().lstrip("+-").isdigit())
            }
