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
EGOMEM_MODEL_<ROLE> (one role), EGOMEM_LIMITS_<ROLE>_<LIMIT>, EGOMEM_FIT, EGOMEM_CAPTION_TOKENS.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from egomem.defaults import CAPTION_TOKENS, DEFAULT_FPS, DEFAULT_WINDOW
from egomem.errors import ConfigError, reason

EVERY_ROLE = "all"
"""The key of `Settings.model` that fills each role which has no spec of its own."""


def settings_file() -> Path | None:
    """The egomem.toml that applies: the working folder's, else the user's, else None."""
    local = Path("egomem.toml")
    if local.is_file():
        return local
    import platformdirs

    user = Path(platformdirs.user_config_dir("egomem", appauthor=False)) / "egomem.toml"
    return user if user.is_file() else None


def default_memory() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("egomem", appauthor=False)) / "memory"


class Settings(BaseModel):
    """All settings. Times are in seconds; see `egomem.models.Role` for the roles of `model`.

    `limits` overrides parts of a role's `egomem.models.Limits`; `fit` allows shrinking a request
    that exceeds them. `caption_tokens`: maximum tokens per caption, reasoning included. `deadline`:
    of a request, all attempts together. `concurrency`: requests at once to one server.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: Path = Field(default_factory=default_memory)
    wearer: str = "me"
    window: float = Field(default=DEFAULT_WINDOW, gt=0)
    fps: float = Field(default=DEFAULT_FPS, gt=0)
    model: dict[str, str] = {}
    limits: dict[str, dict[str, float]] = {}
    fit: bool | None = None
    caption_tokens: int = Field(default=CAPTION_TOKENS, ge=1)
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


_LIMITS = "EGOMEM_LIMITS"


def _environment() -> dict[str, Any]:
    """EGOMEM_* as settings: EGOMEM_WINDOW, EGOMEM_MODEL, EGOMEM_MODEL_READER,
    EGOMEM_LIMITS_READER_IMAGES, EGOMEM_FIT ..."""
    settings: dict[str, Any] = {}
    for name in Settings.model_fields:
        value = os.environ.get(f"EGOMEM_{name.upper()}")
        # An empty variable counts as unset, as shells make it hard to unset one for a command.
        if value and name not in ("model", "limits"):
            settings[name] = value
    head = "EGOMEM_MODEL"
    table = {
        name.removeprefix(f"{head}_").lower(): value
        for name, value in os.environ.items()
        if value and (name == head or name.startswith(f"{head}_"))
    }
    if head.lower() in table:
        table[EVERY_ROLE] = table.pop(head.lower())
    limits: dict[str, Any] = {}
    for name, value in os.environ.items():
        if value and name.startswith(f"{_LIMITS}_"):
            role, _, limit = name.removeprefix(f"{_LIMITS}_").lower().rpartition("_")
            limits.setdefault(role, {})[limit] = value
    tables = {"model": table, "limits": limits}
    return settings | {name: role_limits for name, role_limits in tables.items() if role_limits}


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge `above` over `below`, tables key by key."""
    merged = dict(below)
    for name, value in above.items():
        below_value = merged.get(name)
        if isinstance(value, Mapping) and isinstance(below_value, Mapping):
            value = _over(below_value, value)
        merged[name] = value
    return merged


def load_settings(**flags: Any) -> Settings:
    """The settings that apply; a flag of None leaves the value to the other sources.

    Raises ConfigError naming the setting, where it came from and what it may be.
    """
    flag_values = {name: value for name, value in flags.items() if value is not None}
    try:
        file = settings_file()
        file_settings = tomllib.loads(file.read_text(encoding="utf-8")) if file else {}
        if isinstance(file_settings.get("model"), str):
            file_settings["model"] = {EVERY_ROLE: file_settings["model"]}
        settings = Settings.model_validate(_over(_over(file_settings, _environment()), flag_values))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        where = "on the command line" if name in flag_values else _origin(name)
        raise ConfigError(f"setting {name!r} {where}: {first['msg'].lower()}") from error
    except OSError as error:
        raise ConfigError(
            f"{settings_file()} cannot be read: {reason(error)}", "check its permissions"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{settings_file()} is not valid TOML: {error}") from error
    if EVERY_ROLE in flag_values.get(
        "model", {}
    ):  # a flag for all roles is over any role set elsewhere
        settings = settings.model_copy(update={"model": flag_values["model"]})
    return settings


def model_table(specs: Iterable[str]) -> dict[str, str]:
    """Role (or EVERY_ROLE) -> spec, from `["captioner=ollama:qwen3-vl:8b", "openai:gpt-5"]`."""
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
