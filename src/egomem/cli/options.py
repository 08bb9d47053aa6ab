"""The options that commands share."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

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
        help="Answer as of this time, and read nothing after it: '2026-03-02 10:30', "
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
BinsOption = Annotated[
    str,
    typer.Option(
        "--bins",
        metavar="N|SHARES",
        help="Bins of the evidence's position in the video: a number of equal bins, or inner "
        "edges as shares: 0.2,0.8",
    ),
]
RegimesOption = Annotated[
    str,
    typer.Option(
        "--regimes",
        metavar="MINUTES",
        help="Edges between groups of video durations; above the last one a video is long.",
    ),
]
IntervalsOption = Annotated[
    str,
    typer.Option(
        "--intervals",
        metavar="widened|percentile",
        help="Confidence intervals: bootstrap percentiles widened for few videos, or as they are.",
    ),
]
FitOption = Annotated[
    bool | None,
    typer.Option("--fit", help="Reduce requests that exceed a server's limits, and record it."),
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


def read_bins(given: str) -> int | tuple[float, ...]:
    """`5` equal bins, or the inner edges `0.2,0.8`. Raises UsageError for what is neither."""
    if given.strip().isdecimal() and 2 <= int(given) <= 50:
        return int(given)
    edges = _ascending(given)
    # Bins are named in whole per cent.
    if edges and edges[0] > 0 and edges[-1] < 1:
        named = {f"{edge:.0%}" for edge in edges}
        if len(named) == len(edges) and not named & {"0%", "100%"}:
            return edges
    raise UsageError(
        f"--bins {given}: no bins", "give a number from 2 to 50, or ascending shares: 0.2,0.8"
    )


def read_regimes(given: str) -> tuple[float, ...]:
    """Seconds of `12,20` (minutes). Raises UsageError for what is no ascending list of times."""
    edges = _ascending(given)
    if edges and edges[0] > 0 and edges[-1] < math.inf:
        return tuple(60 * edge for edge in edges)
    raise UsageError(f"--regimes {given}: no durations", "give ascending minutes: 12,20")


def read_intervals(given: str) -> Literal["widened", "percentile"]:
    """Raises UsageError for a method that is neither."""
    if given == "widened":
        return "widened"
    if given == "percentile":
        return "percentile"
    raise UsageError(f"--intervals {given}: no such intervals", "give widened or percentile")


def _ascending(given: str) -> tuple[float, ...]:
    """Numbers that ascend; () for anything else."""
    try:
        numbers = tuple(float(part) for part in given.split(","))
    except ValueError:
        return ()
    return numbers if all(a < b for a, b in pairwise(numbers)) else ()


def parse_settings(given: Iterable[str], **flags: object) -> dict[str, object] | None:
    """`["frames=64", "as_video=true"]` and flags that were given -> settings, None for none."""
    settings = {name: value for name, value in flags.items() if value is not None}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting}: there is no value", "write it as NAME=VALUE")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings or None


def settings_by_name(given: Iterable[str]) -> dict[str, dict[str, object]]:
    """`["speech.language=de"]` -> `{"speech": {"language": "de"}}`."""
    settings: dict[str, dict[str, object]] = {}
    for setting in given:
        name, dot, rest = setting.partition(".")
        if not dot or "=" in name:
            raise UsageError(f"--set {setting}: it names no observer", "write OBSERVER.NAME=VALUE")
        settings.setdefault(name, {}).update(parse_settings([rest]) or {})
    return settings
