"""Roles, and the specs that fill them: `ollama:qwen3-vl:8b`, `vllm:NAME@http://host:8000/v1`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from egomem.errors import ConfigError
from egomem.models.servers import SERVERS, address_problem, redacted_url


class Role(StrEnum):
    """What a model is used for. Each role can be filled by another model."""

    CAPTIONER = "captioner"
    READER = "reader"
    VERIFIER = "verifier"
    PLANNER = "planner"
    ATOMIZER = "atomizer"
    MATCHER = "matcher"
    JUDGE = "judge"
    SUMMARIZER = "summarizer"
    EMBEDDER = "embedder"
    TRANSCRIBER = "transcriber"


CHAT_ROLES = tuple(r for r in Role if r not in (Role.EMBEDDER, Role.TRANSCRIBER))


_SPEC = re.compile(r"(?P<server>[a-z-]+):(?P<model>.+?)(?:@(?P<url>https?://\S+))?")


@dataclass(frozen=True)
class ModelSpec:
    """A model and the server that serves it.

    `url` is the base of the server's API, without user or password; "" where the provider's client
    knows it.
    """

    server: str
    model: str
    url: str = ""

    @classmethod
    def parse(cls, text: str, environ: Mapping[str, str] = os.environ) -> ModelSpec:
        """Read `server:model` or `server:model@URL`; without a URL, the server's variable gives it.

        Raises ConfigError for anything else, with a spec as an example.
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
            raise ConfigError(f"model name {model!r} contains a space", "write the name exactly")
        kind = SERVERS[server]
        url = url or next((environ[v] for v in kind.url_variables if environ.get(v)), kind.url)
        if server == "openai-compatible" and not url:
            raise ConfigError(f"model spec {text!r} has no address", f"write {kind.example}")
        # Specs are shown, stored in runs and hashed into cache keys; keys must not get there.
        if url and (problem := address_problem(url)):
            remedy = "write it as http://HOST:PORT/v1"
            if "password" in problem or "key" in problem:
                variable = (kind.key_variables or ("EGOMEM_API_KEY",))[0]
                remedy = f"put the key into {variable} instead"
            raise ConfigError(f"the address {redacted_url(url)} {problem}", remedy)
        return cls(server, model, url.rstrip("/"))

    @property
    def embedded(self) -> bool:
        """Whether the spec stands for the models that come with egomem."""
        return self.server == "embedded"

    def key(self, environ: Mapping[str, str] = os.environ) -> str | None:
        """The API key from the server's variables. It is never stored, shown or logged."""
        for variable in SERVERS[self.server].key_variables:
            if environ.get(variable):
                return environ[variable]
        return None

    def __str__(self) -> str:
        if self.embedded:
            return "embedded"
        has_own_url = self.url and self.url != SERVERS[self.server].url
        return f"{self.server}:{self.model}" + (f"@{self.url}" if has_own_url else "")


def read_specs(
    specs: Mapping[str, str], environ: Mapping[str, str] = os.environ
) -> dict[Role, ModelSpec]:
    """The spec of each chat role; `*` or `all` fills every role that has none of its own.

    The specs of an embedder (see `embedders`) and a transcriber (`whisper:NAME` or a folder) are
    read where they are used. Raises ConfigError for an unknown role or a spec that cannot be read.
    """
    names = [*(role.value for role in Role), "all"]
    specs = {"all" if name == "*" else name: spec for name, spec in specs.items()}
    for name in specs:
        if name not in names:
            raise ConfigError(f"there is no model role {name!r}", f"use one of {', '.join(names)}")
    # Embedders and transcribers are no chat models: their specs are of another kind.
    other = (Role.EMBEDDER, Role.TRANSCRIBER)
    chat = {n: text for n, text in specs.items() if n not in other or text == "embedded"}
    parsed = {name: ModelSpec.parse(text, environ) for name, text in chat.items()}
    default = parsed.pop("all", None)
    by_role = {Role(name): spec for name, spec in parsed.items()}
    if default:
        # Only "embedded" can stand for an embedder or a transcriber, too.
        for role in Role if default.embedded else CHAT_ROLES:
            by_role.setdefault(role, default)
    return by_role
