"""Roles, and the specs that fill them: `ollama:qwen3-vl:8b`, `vllm:NAME@http://host:8000/v1`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from egomem.errors import ConfigError


class Role(StrEnum):
    """What a model is asked to do. Each role can be filled by another model."""

    CAPTIONER = "captioner"
    READER = "reader"
    VERIFIER = "verifier"
    PLANNER = "planner"
    ATOMIZER = "atomizer"
    MATCHER = "matcher"
    JUDGE = "judge"
    EMBEDDER = "embedder"
    TRANSCRIBER = "transcriber"


CHAT_ROLES = tuple(r for r in Role if r not in (Role.EMBEDDER, Role.TRANSCRIBER))


class ServerKind(NamedTuple):
    """A kind of server: where it listens, which variables name its place and its key.

    `url` empty: the provider's own default. `needs_key`: a request without a key is bound to fail.
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

_SPEC = re.compile(r"(?P<server>[a-z-]+):(?P<model>.+?)(?:@(?P<url>https?://\S+))?")


@dataclass(frozen=True)
class ModelSpec:
    """A model and the server that has it.

    `url` is the base of the server's API, without user or password; empty where the provider's
    client knows it.
    """

    server: str
    model: str
    url: str = ""

    @classmethod
    def parse(cls, text: str, environ: Mapping[str, str] = os.environ) -> ModelSpec:
        """Read `server:model` or `server:model@URL`; the URL falls back to the server's variable.

        Raises ConfigError on anything else, naming a spec that would do.
        """
        text = text.strip()
        if text == "embedded":
            return cls("embedded", "embedded")
        match = _SPEC.fullmatch(text)
        if not match:
            raise ConfigError(
                f"model spec {redacted_url(text)!r} cannot be read",
                "write SERVER:MODEL or SERVER:MODEL@URL, for example ollama:qwen3-vl:8b",
            )
        server, model, url = match["server"], match["model"], match["url"] or ""
        if server not in SERVERS or server == "embedded":
            raise ConfigError(
                f"model spec {redacted_url(text)!r} names no server that egomem knows",
                f"use one of {', '.join(SERVERS)}",
            )
        if model != model.strip() or any(c.isspace() for c in model):
            raise ConfigError(f"model name {model!r} holds a space", "quote the name exactly")
        kind = SERVERS[server]
        url = url or next((environ[v] for v in kind.url_variables if environ.get(v)), kind.url)
        if server == "openai-compatible" and not url:
            raise ConfigError(f"model spec {text!r} has no address", f"write {kind.example}")
        if "@" in urlsplit(url).netloc:
            raise ConfigError(
                f"the address {redacted_url(url)} holds a password",
                f"put the key into {(kind.key_variables or ('EGOMEM_API_KEY',))[0]} instead",
            )
        return cls(server, model, url.rstrip("/"))

    @property
    def embedded(self) -> bool:
        return self.server == "embedded"

    def key(self, environ: Mapping[str, str] = os.environ) -> str | None:
        """The API key from the server's variables. Never stored, shown or logged."""
        for variable in SERVERS[self.server].key_variables:
            if environ.get(variable):
                return environ[variable]
        return None

    def __str__(self) -> str:
        if self.embedded:
            return "embedded"
        shown = self.url and self.url != SERVERS[self.server].url
        return f"{self.server}:{self.model}" + (f"@{self.url}" if shown else "")


def redacted_url(text: str) -> str:
    """The text with the user and password of any address in it removed."""
    return re.sub(r"(https?://)[^/@\s]*@", r"\1", text)


def server_root(url: str) -> str:
    """The server's root: `http://host:8000/v1` -> `http://host:8000`."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", "")).rstrip(
        "/"
    )


def read_specs(
    specs: Mapping[str, str], environ: Mapping[str, str] = os.environ
) -> dict[Role, ModelSpec]:
    """Chat roles and their specs; `*` or `all` fills every role that has none of its own.

    The specs of an embedder (see `embedders`) and a transcriber (`whisper:NAME` or a folder) are
    read where they are used. Raises ConfigError for an unknown role or a spec that cannot be read.
    """
    known = [*(role.value for role in Role), "all"]
    specs = {"all" if name == "*" else name: spec for name, spec in specs.items()}
    for name in specs:
        if name not in known:
            raise ConfigError(f"there is no model role {name!r}", f"use one of {', '.join(known)}")
    # Embedders and transcribers are not asked in words, and have specs of their own kind.
    own = (Role.EMBEDDER, Role.TRANSCRIBER)
    chats = {n: text for n, text in specs.items() if n not in own or text == "embedded"}
    parsed = {name: ModelSpec.parse(text, environ) for name, text in chats.items()}
    everywhere = parsed.pop("all", None)
    filled = {Role(name): spec for name, spec in parsed.items()}
    if everywhere:
        for role in Role if everywhere.embedded else CHAT_ROLES:
            filled.setdefault(role, everywhere)
    return filled
