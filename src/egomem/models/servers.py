"""The kinds of model servers: their addresses, and the variables that hold address and key."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit


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
    """The text with the user and password of any address in it removed."""
    return re.sub(r"(https?://)[^/@\s]*@", r"\1", text)


def server_root(url: str) -> str:
    """The server's root: `http://host:8000/v1` -> `http://host:8000`."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", "")).rstrip(
        "/"
    )
