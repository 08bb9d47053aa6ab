"""The kinds of model servers: their addresses, and the variables that hold address and key."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit, urlunsplit


class ServerKind(NamedTuple):
    """A kind of server: its default URL, and the variables that hold its URL and its key.

    `url` is "" for the provider's own default. `needs_key`: a request without a key must fail.
    """

    title: str
    url: str = ""
    url_variables: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    needs_key: bool = False
    example: str = ""


SERVERS: dict[str, ServerKind] = {
    "openai": ServerKind(
        "OpenAI", "", ("OPENAI_BASE_URL",), ("OPENAI_API_KEY",), True, "openai:gpt-6-luna"
    ),
    "azure": ServerKind(
        "Azure OpenAI",
        "",
        ("AZURE_OPENAI_ENDPOINT",),
        ("AZURE_OPENAI_API_KEY",),
        True,
        "azure:my-deployment",
    ),
    "openrouter": ServerKind(
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        (),
        ("OPENROUTER_API_KEY",),
        True,
        "openrouter:qwen/qwen3-vl-32b-instruct",
    ),
    "google": ServerKind(
        "Google Gemini by key",
        "",
        (),
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        True,
        "google:gemini-3.8-flash",
    ),
    "google-cloud": ServerKind(
        "Google Cloud by its credentials", example="google-cloud:gemini-3.8-flash"
    ),
    "anthropic": ServerKind(
        "Anthropic",
        "",
        ("ANTHROPIC_BASE_URL",),
        ("ANTHROPIC_API_KEY",),
        True,
        "anthropic:claude-haiku-5-5",
    ),
    "ollama": ServerKind(
        "Ollama",
        "http://localhost:11434/v1",
        ("OLLAMA_BASE_URL",),
        ("OLLAMA_API_KEY",),
        example="ollama:qwen3-vl:8b",
    ),
    "vllm": ServerKind(
        "vLLM",
        "http://localhost:8000/v1",
        ("VLLM_BASE_URL",),
        ("VLLM_API_KEY",),
        example="vllm:Qwen/Qwen3-VL-8B-Instruct@http://localhost:8000/v1",
    ),
    "llamacpp": ServerKind(
        "llama.cpp",
        "http://localhost:8080/v1",
        ("LLAMACPP_BASE_URL",),
        ("LLAMACPP_API_KEY",),
        example="llamacpp:default",
    ),
    "lmstudio": ServerKind(
        "LM Studio",
        "http://localhost:1234/v1",
        ("LMSTUDIO_BASE_URL",),
        ("LMSTUDIO_API_KEY",),
        example="lmstudio:qwen/qwen3-vl-8b",
    ),
    "openai-compatible": ServerKind(
        "the OpenAI-compatible server",
        key_variables=("EGOMEM_API_KEY",),
        example="openai-compatible:NAME@http://host:8000/v1",
    ),
    "embedded": ServerKind("the models that come with egomem", example="embedded"),
}


def redacted_url(text: str) -> str:
    """The text with the user, the password and the query of any address in it removed."""
    text = re.sub(r"(https?://)[^/@\s]*@", r"\1", text)
    return re.sub(r"(https?://[^\s?#]*)[?#]\S*", r"\1", text)


def shown_address(url: str) -> str:
    """An address without user, password, query and fragment, for messages."""
    return redacted_url(url) if "://" in url else re.sub(r"[?#].*", "", url)


# Fields of a query that hold no key. Any other may: gateways give them names of their own.
_HARMLESS_FIELDS = frozenset(("api-version", "version", "deployment", "region", "alt"))


def address_problem(url: str) -> str:
    """What is wrong with the address of a server, as the end of a sentence about it; "" where
    nothing is. No part of the address that may be secret is in it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        # "Port could not be cast to integer value as 'x'", "Invalid IPv6 URL"
        return f"is not one that can exist ({error})"
    if "@" in parts.netloc:
        return "contains a password"
    fields = (name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    if any(name.lower() not in _HARMLESS_FIELDS for name in fields) or (
        parts.query and "=" not in parts.query
    ):
        return "contains a query, which may be a key"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not host or port == 0:
        return "names no host" if not host else "has the port 0"
    if not _HOST.fullmatch(host) or ".." in host or len(host) > 253:
        return "has a host that cannot exist"
    return "ends in a fragment (#)" if parts.fragment else ""


# Names with letters of any script, and addresses of IPv4 and IPv6.
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+(?:%[\w.-]+)?", re.IGNORECASE)


def server_root(url: str) -> str:
    """The server's root: `http://host:8000/v1` -> `http://host:8000`."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", "")).rstrip(
        "/"
    )
