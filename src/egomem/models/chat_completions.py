"""Requests to servers of one's own that speak OpenAI's protocol, without a provider's client.

A local server answers thousands of short requests an hour, where the clients of providers take
several times the CPU of the request itself (bench/evaluate.py). Hosted providers, which differ by
model and by key, are asked through pydantic-ai.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx2
from pydantic import JsonValue

from egomem.models.completion import Completion, read_logprobs
from egomem.models.request import AudioPart, ImagePart, Request, TextPart
from egomem.models.roles import ModelSpec
from egomem.models.transport import EXCHANGE, HttpExchange

DIRECT_SERVERS = frozenset(("openai-compatible", "vllm", "ollama", "llamacpp", "lmstudio"))


class ChatServer(NamedTuple):
    """A model of a server, over one client's connections."""

    client: httpx2.AsyncClient
    url: str
    model: str
    headers: dict[str, str]


def connect(spec: ModelSpec, client: httpx2.AsyncClient, key: str | None) -> ChatServer:
    """The model of a spec whose server is one of `DIRECT_SERVERS`."""
    # Some gateways refuse a request without the header, though they take any key.
    headers = {"authorization": f"Bearer {key or 'none'}", "content-type": "application/json"}
    return ChatServer(client, f"{spec.url}/chat/completions", spec.model, headers)


async def send_request(
    server: ChatServer, request: Request, exchange: HttpExchange, *, schema_in_words: bool = False
) -> Completion:
    """Send a request once. `schema_in_words`: describe the JSON schema in the prompt.

    Raises httpx2's errors, and ValueError for anything but a completion; `exchange.response` then
    holds the response, if any.
    """
    body = request_body(server.model, request, exchange, schema_in_words=schema_in_words)
    token = EXCHANGE.set(exchange)
    try:
        response = await server.client.post(
            server.url, content=json.dumps(body).encode(), headers=server.headers
        )
    finally:
        EXCHANGE.reset(token)
    if response.status_code != 200:
        raise ValueError(f"HTTP {response.status_code}")
    return _completion(json.loads(response.content))


def request_body(
    model: str, request: Request, exchange: HttpExchange, *, schema_in_words: bool = False
) -> dict[str, JsonValue]:
    """The body of a request, with placeholders for what `exchange` holds the bytes of."""
    messages: list[JsonValue] = []
    if request.system:
        messages.append({"role": "system", "content": request.system})
    content = _content(request, exchange)
    if request.schema is not None and schema_in_words:
        content.append(_text(f"Reply with JSON of this schema: {json.dumps(request.schema)}"))
    texts = [part["text"] for part in content if part["type"] == "text"]
    if len(texts) == len(content):
        # Servers of text-only models often take nothing but a plain string.
        messages.append({"role": "user", "content": "\n\n".join(texts)})
    else:
        messages.append({"role": "user", "content": list(content)})
    body: dict[str, JsonValue] = {
        "model": model,
        "stream": False,
        "messages": messages,
        "temperature": request.temperature,
    }
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.seed is not None:
        body["seed"] = request.seed
    if request.logprobs:
        body["logprobs"] = True
        body["top_logprobs"] = request.logprobs
    if request.schema is not None and not schema_in_words:
        schema = {"name": "reply", "schema": _closed(dict(request.schema)), "strict": False}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _content(request: Request, exchange: HttpExchange) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []

    def letters(sha256: str, *data: bytes) -> str:
        return base64.b64encode(exchange.add(sha256, *data)).decode()

    for part in request.parts:
        if isinstance(part, TextPart):
            content.append(_text(part.text))
        elif isinstance(part, ImagePart):
            if part.label:
                content.append(_text(part.label))
            url = f"data:image/jpeg;base64,{letters(part.sha256, part.data)}"
            content.append({"type": "image_url", "image_url": {"url": url}})
        elif isinstance(part, AudioPart):
            sound = {"data": letters(part.sha256, part.data), "format": part.format}
            content.append({"type": "input_audio", "input_audio": sound})
        else:
            media = "video/jpeg" if part.frames else "video/mp4"
            pieces = [frame.data for frame in part.frames] or [part.data]
            url = f"data:{media};base64,{letters(part.sha256, *pieces)}"
            content.append({"type": "video_url", "video_url": {"url": url}})
    return content


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _closed(schema: Any) -> Any:
    """The schema with its objects closed where it does not say: servers that decode by a grammar
    add fields of their own otherwise."""
    if isinstance(schema, list):
        return [_closed(inner) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    closed = {name: _closed(inner) for name, inner in schema.items()}
    if closed.get("type") == "object" and "properties" in closed:
        closed.setdefault("additionalProperties", False)
    return closed


def _completion(body: Any) -> Completion:
    """The first choice of a body that `wire.check_body` has mended."""
    if not isinstance(body, dict) or not body.get("choices"):
        raise ValueError("no choices")
    choice = body["choices"][0]
    message = choice["message"]
    reasoning = [message.get(name) for name in ("reasoning_content", "reasoning", "thinking")]
    logprobs = choice["logprobs"]
    return Completion(
        raw=message["content"] or "",
        reasoning=next((text for text in reasoning if text), ""),
        refusal=message.get("refusal") or "",
        finish=choice["finish_reason"],
        logprobs=read_logprobs(logprobs["content"]) if logprobs else None,
        model=body["model"],
    )
