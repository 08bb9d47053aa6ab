"""What is written on a command line -> a configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue, ValidationError

from egomem.errors import ConfigError, UsageError
from egomem.evaluate.config import Config, Shard
from egomem.models import ModelSpec, Role

ROLES = (Role.READER, Role.CAPTIONER, Role.VERIFIER)


def split(text: str) -> tuple[str, ...]:
    """`a,b` -> a, b."""
    return tuple(dict.fromkeys(p.strip() for p in text.split(",") if p.strip()))


def models_given(table: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Role -> canonical specs; `all` fills reader and captioner-by-the-reader alike.

    `table` maps a role, or `all`, to specs with commas between. Raises ConfigError for a role that
    an evaluation has no use for, and for a spec that cannot be read.
    """
    roles = [*(r.value for r in ROLES), "all"]
    specs: dict[str, tuple[str, ...]] = {}
    for role, text in table.items():
        if role not in roles:
            raise ConfigError(
                f"an evaluation has no role {role!r}", f"use one of {', '.join(roles)}"
            )
        try:
            specs[role] = tuple(str(ModelSpec.parse(s)) for s in split(text))
        except ConfigError as fault:
            raise ConfigError(f"--model {role}: {fault.message}", fault.remedy) from None
    every = specs.pop("all", ())
    if every:
        specs.setdefault("reader", every)
    if len(specs.get("verifier", ())) > 1:
        raise ConfigError(
            "several verifiers are named", "name one, or none: each reader is its own"
        )
    return specs


def frame_limits(given: Iterable[str]) -> dict[str, int]:
    """`["ollama:qwen3-vl:8b=64"]` -> frames that a model takes at most."""
    limits = {}
    for text in given:
        spec, equals, number = text.rpartition("=")
        if not equals or not number.isdecimal() or int(number) < 1:
            raise UsageError(f"--frame-limit {text} cannot be read", "write it as MODEL=64")
        try:
            model = ModelSpec.parse(spec)
        except ConfigError as fault:
            raise ConfigError(f"--frame-limit {text}: {fault.message}", fault.remedy) from None
        limits[str(model)] = int(number)
    return limits


def strategy_settings(given: Iterable[str]) -> dict[str, dict[str, JsonValue]]:
    """`["verify.second_look=true"]` -> settings by strategy; values are JSON, else text."""
    by_strategy: dict[str, dict[str, JsonValue]] = {}
    for text in given:
        place, equals, value = text.partition("=")
        strategy, dot, name = place.partition(".")
        if not equals or not dot or not strategy or not name:
            raise UsageError(
                f"--set {text} cannot be read", "write it as STRATEGY.NAME=VALUE: verify.pad=10"
            )
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        by_strategy.setdefault(strategy, {})[name] = parsed
    return by_strategy


def request_limits(
    given: Iterable[str], settings: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """`["captioner.images=8"]` over the settings' limits of the roles that an evaluation has."""
    limits = {role: dict(by_name) for role, by_name in settings.items() if role in ROLES}
    for text in given:
        place, _, number = text.partition("=")
        role, _, name = place.partition(".")
        if role not in ROLES or not name or not number.isdecimal():
            raise UsageError(
                f"--request-limit {text} cannot be read",
                f"write it as ROLE.NAME=N, with a role of {', '.join(ROLES)}: captioner.images=8",
            )
        limits.setdefault(role, {})[name] = int(number)
    return limits


def read_shard(text: str) -> Shard:
    """`2/4`: the second of four."""
    index, slash, count = text.partition("/")
    if not slash or not index.isdecimal() or not count.isdecimal():
        raise UsageError(f"--shard {text} cannot be read", "write it as 1/4, counting from 1")
    try:
        return Shard(index=int(index), count=int(count))
    except ValidationError:
        raise UsageError(f"there is no shard {text}", "count from 1: --shard 1/4") from None


OPTIONS = {"format": "--reply", "strategies": "--set", "frame_limits": "--frame-limit",
           "given_limits": "--request-limit", "given_memory": "--memory"}  # fmt: skip
"""What a field of a configuration is called on the command line, where that is another name."""


def option(field: str) -> str:
    """`max_tokens` -> `--max-tokens`"""
    return OPTIONS.get(field) or f"--{field.replace('_', '-')}"


def make_config(**fields: Any) -> Config:
    """The configuration; fields that are None keep their default. Raises ConfigError, which names
    the option."""
    try:
        return Config(**{name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name, *within = (str(part) for part in first["loc"])
        place = " ".join([option(name), *within])
        problem = f"{place} {first['input']}"
        if first["type"] == "literal_error":
            choices = str(first["ctx"]["expected"]).replace("'", "")
            raise ConfigError(f"{problem} is none that there is", f"use {choices}") from None
        raise ConfigError(
            f"{problem}: {first['msg'].lower()}", "see: egomem eval capmem --help"
        ) from None
