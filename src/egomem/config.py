"""Settings: flags over EGOMEM_* variables over egomem.toml over defaults.

`egomem.toml` is looked for in the working folder, then in the user's configuration folder:

    memory = "~/memories/2026"
    wearer = "me"
    window = 30

    [model]
    captioner = "ollama:qwen3-vl:8b"
    reader = "openrouter:qwen/qwen3-vl-32b-instruct"

    [limits.reader]
    images = 128

The same as variables: EGOMEM_MEMORY, EGOMEM_WEARER, EGOMEM_WINDOW, EGOMEM_MODEL (every role) and
EGOMEM_MODEL_<ROLE> (one role).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import platformdirs
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from egomem.errors import ConfigError

EVERY_ROLE = "all"
"""The key of `Settings.model` that fills each role which has no spec of its own."""


def settings_file() -> Path | None:
    """The egomem.toml in force: the working folder's, else the user's, else None."""
    user = Path(platformdirs.user_config_dir("egomem", appauthor=False)) / "egomem.toml"
    return next((p for p in (Path("egomem.toml"), user) if p.is_file()), None)


def default_memory() -> Path:
    return Path(platformdirs.user_data_dir("egomem", appauthor=False)) / "memory"


class Settings(BaseSettings):
    """What can be set. Times are in seconds; see `egomem.models.Role` for the roles of `model`.

    `limits` changes a part of a role's `egomem.models.Limits`; `fit` lets a request that is over
    them be shrunk. `deadline`: of a request, all its attempts together. `concurrency`: requests at
    once to one server.
    """

    model_config = SettingsConfigDict(
        env_prefix="EGOMEM_",
        extra="forbid",
        frozen=True,
    )

    memory: Path = Field(default_factory=default_memory)
    wearer: str = "me"
    window: float = Field(default=30.0, gt=0)
    fps: float = Field(default=1.0, gt=0)
    model: Annotated[dict[str, str], NoDecode] = {}
    limits: dict[str, dict[str, float]] = {}
    fit: bool | None = None
    deadline: float = Field(default=180.0, gt=0)
    concurrency: int = Field(default=8, ge=1)

    @field_validator("model", mode="before")
    @classmethod
    def _one_spec_fills_every_role(cls, value: Any) -> Any:
        return {EVERY_ROLE: value} if isinstance(value, str) else value

    @field_validator("memory")
    @classmethod
    def _home(cls, value: Path) -> Path:
        return value.expanduser()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = settings_file()
        toml = (TomlConfigSettingsSource(settings_cls, file),) if file else ()
        roles = InitSettingsSource(settings_cls, _roles_in_environment())
        return (init_settings, roles, env_settings, *toml)


def _roles_in_environment() -> dict[str, Any]:
    """EGOMEM_MODEL and EGOMEM_MODEL_<ROLE> as one table."""
    head = "EGOMEM_MODEL"
    found = {name: spec for name, spec in os.environ.items() if name.startswith(head) and spec}
    table = {name.removeprefix(head + "_").lower(): spec for name, spec in found.items()}
    if head in found:
        table[EVERY_ROLE] = table.pop(head.lower())
    return {"model": table} if table else {}


def load(**flags: Any) -> Settings:
    """The settings in force; `flags` that are None are left to the other sources.

    Raises ConfigError naming the setting, where it came from and what it may be.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        settings = Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        where = "on the command line" if name in given else _origin(name)
        raise ConfigError(f"setting {name!r} {where}: {first['msg'].lower()}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{settings_file()} is not valid TOML: {error}") from error
    if EVERY_ROLE in given.get("model", {}):  # a flag for all roles is over any role set elsewhere
        settings = settings.model_copy(update={"model": given["model"]})
    return settings


def model_table(specs: Iterable[str]) -> dict[str, str]:
    """`["captioner=ollama:qwen3-vl:8b", "openai:gpt-5-mini"]` -> role (or EVERY_ROLE) -> spec."""
    table = {}
    for spec in specs:
        role, equals, rest = spec.partition("=")
        if equals and role.isidentifier():
            table[role] = rest
        else:
            table[EVERY_ROLE] = spec
    return table


def _origin(name: str) -> str:
    variable = "EGOMEM_" + name.upper().replace(".", "_")
    return f"in {variable}" if variable in os.environ else f"in {settings_file()}"
