"""What a scripted server answers: rules, completions, and plain values that fit a schema."""

from __future__ import annotations

import base64
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue, ValidationError

from egomem.errors import ConfigError
from egomem.hashing import SHORT_LENGTH, hash_bytes, hash_text
from egomem.records import Record


class Rule(Record):
    """One way to answer.

    `when`: text that must be in the request's messages. `times`: how often the rule answers; then
    the next one does (0: always). `reply` may hold `{n}` (number of the request), `{images}` (how
    many) and `{hash}` (eight digits of the request's hash). `finish` "none" sends null.
    """

    when: str = ""
    times: int = Field(default=0, ge=0)
    delay: float = Field(default=0.0, ge=0)
    reply: str = ""
    null: bool = False  # content null instead of `reply`
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    refusal: str = ""
    finish: str = "stop"
    logprobs: dict[str, float] = Field(default_factory=dict)  # for the reply's first token
    status: int = 200
    error: str = "scripted error"
    retry_after: float | None = None
    fault: Literal["", "drop", "cut", "no_choices", "html", "error_body", "echo"] = ""


class Script(Record):
    """What a scripted server does.

    It refuses what exceeds `max_images`, `context` (tokens) or `concurrent`, with HTTP 400, 400 and
    429.
    `pages` are JSON answers at other paths (`/version`, `/api/show`), for any method.
    """

    model: str = "fake"
    rules: tuple[Rule, ...] = ()
    max_images: int | None = None
    context: int | None = None
    concurrent: int | None = None
    delay: float = Field(default=0.0, ge=0)
    pages: dict[str, JsonValue] = Field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Script:
        """Read a script from a JSON or TOML file. Raises ConfigError with the first mistake."""
        try:
            text = path.read_text("utf-8")
            value = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
            return cls.model_validate(value)
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}", "name a JSON or TOML file") from None
        except ValidationError as error:
            first = error.errors()[0]
            at = ".".join(str(step) for step in first["loc"])
            raise ConfigError(
                f"{path}: {at}: {first['msg']}", "see docs/reference/testing.md"
            ) from None
        except ValueError as error:
            raise ConfigError(f"{path} cannot be read: {error}", "write JSON or TOML") from None


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as it arrived.

    `text` is all text of its messages; `images` are the SHA-256 of each image's bytes, in order.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    text: str = ""
    images: tuple[str, ...] = ()


def build_completion(
    script: Script,
    rule: Rule,
    request: ReceivedRequest,
    number: int,
    tokens: int,
    earlier: Sequence[ReceivedRequest],
) -> dict[str, JsonValue]:
    digest = hash_text(request.text + "".join(request.images))[:SHORT_LENGTH]
    text = rule.reply
    for name, value in (("n", number), ("images", len(request.images)), ("hash", digest)):
        text = text.replace("{" + name + "}", str(value))
    message: dict[str, JsonValue] = {"role": "assistant", "content": None if rule.null else text}
    if rule.reasoning:
        message[rule.reasoning_field] = rule.reasoning
    if rule.refusal:
        message["refusal"] = rule.refusal
    choice: dict[str, JsonValue] = {
        "index": 0,
        "message": message,
        "finish_reason": None if rule.finish == "none" else rule.finish,
        "native_finish_reason": rule.finish,  # this and `provider`: OpenRouter's clients want them
    }
    if request.body.get("logprobs") and rule.logprobs:
        choice["logprobs"] = {"content": [_logprob_entry(rule.logprobs)]}
    cached = max((_shared_prefix(request.text, other.text) // 4 for other in earlier), default=0)
    tokens_out = max(1, len(text + rule.reasoning) // 4)
    return {
        "id": f"fake-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": script.model,
        "provider": "egomem",
        "choices": [] if rule.fault == "no_choices" else [choice],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": tokens_out,
            "total_tokens": tokens + tokens_out,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


def _logprob_entry(logprobs: Mapping[str, float]) -> dict[str, JsonValue]:
    top: list[JsonValue] = [{"token": t, "logprob": p, "bytes": None} for t, p in logprobs.items()]
    token, logprob = max(logprobs.items(), key=lambda item: item[1])
    return {"token": token, "logprob": logprob, "bytes": None, "top_logprobs": top}


def parse_request(
    path: str, headers: Mapping[str, str], body: Mapping[str, Any]
) -> ReceivedRequest:
    texts: list[str] = []
    images: list[str] = []
    for message in body["messages"]:
        content: Any = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for part in content:
            if part["type"] == "text":
                texts.append(part["text"])
            elif part["type"] in ("image_url", "video_url"):
                encoded = part[part["type"]]["url"].partition("base64,")[2]
                images += [
                    hash_bytes(base64.b64decode(piece, validate=True))
                    for piece in encoded.split(",")
                ]
    return ReceivedRequest(path, headers, body, "\n".join(texts), tuple(images))


def count_tokens(request: ReceivedRequest) -> int:
    """Four characters of text or a 300th of an image are a token here."""
    return len(request.text) // 4 + 300 * len(request.images)


def _shared_prefix(a: str, b: str) -> int:
    """Length of the common beginning, as a server's prefix cache would find it."""
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return index
    return min(len(a), len(b))


def requested_schema(body: Mapping[str, Any]) -> dict[str, JsonValue] | None:
    response_format = body.get("response_format") or {}
    schema = (response_format.get("json_schema") or {}).get("schema")
    return schema if isinstance(schema, dict) else None


def example_value(schema: Mapping[str, Any], root: Mapping[str, Any]) -> JsonValue:
    """The plainest value that fits a schema."""
    if "$ref" in schema:
        target: Any = root
        for step in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[step]
        return example_value(target, root)
    if "anyOf" in schema:
        return example_value(schema["anyOf"][0], root)
    if "const" in schema:
        return schema["const"]  # type: ignore[no-any-return]
    if schema.get("enum"):
        return schema["enum"][0]  # type: ignore[no-any-return]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {n: example_value(s, root) for n, s in schema.get("properties", {}).items()}
    if kind == "array":
        return [example_value(schema.get("items", {"type": "string"}), root)] * schema.get(
            "minItems", 0
        )
    if kind in ("integer", "number"):
        return max(0, schema.get("minimum", 0))  # type: ignore[no-any-return]
    return {"boolean": False, "null": None}.get(kind, "scripted")
