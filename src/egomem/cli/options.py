"""The options that commands share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.errors import UsageError

if TYPE_CHECKING:
    from egomem.api import Memory

MemoryOption = Annotated[
    Path | None,
    typer.Option(
        "--memory",
        "-m",
        metavar="DIR",
        envvar="EGOMEM_MEMORY",
        help="The memory's folder. Default: one in your data folder.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="TIME",
        help="Look back from this time, and see nothing after it: '2026-03-02 10:30', "
        "'yesterday evening', or a second of a recording as 'street.mp4 1:20'.",
    ),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="[ROLE=]SPEC",
        help="A model for one role, or for all: captioner=ollama:qwen3-vl:8b. Repeatable.",
    ),
]


FitOption = Annotated[
    bool | None,
    typer.Option("--fit", help="Shrink requests that are over a server's limits, and record it."),
]


def open_memory(
    folder: Path | None,
    *,
    create: bool = False,
    models: list[str] | None = None,
    fit: bool | None = None,
) -> Memory:
    """The memory that the options name."""
    from egomem.api import open_memory as open_

    return open_(folder, create=create, models=models or (), fit=fit)


def settings_of(given: Iterable[str], **flags: object) -> dict[str, object] | None:
    """`["frames=64", "as_video=true"]` and flags that were given -> settings, None for none."""
    found = {name: value for name, value in flags.items() if value is not None}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting}: there is no value", "write it as NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found or None
