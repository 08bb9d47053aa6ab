"""`egomem export`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import AtOption, JsonOption, MemoryOption, open_memory
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console


def export(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="A file; for subtitles a folder that gets one file per recording.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(help="webvtt, srt, jsonl or parquet. Default: by the ending of TARGET."),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(help="Only this source, such as caption. Repeatable.")
    ] = None,
    track: Annotated[list[str] | None, typer.Option(help="Only this track. Repeatable.")] = None,
    recording: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this recording, by name, id or the start of its id. Repeatable.",
        ),
    ] = None,
    at: AtOption = None,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Write a memory, or part of it, for other tools. Parquet imported again is the same memory."""
    with open_memory(memory) as opened:
        exported = opened.export(
            target, format, at=at, recordings=recording, sources=source, tracks=track
        )

    def show(out: Console) -> None:
        for file in exported.files:
            out.print(file)
        omitted = (
            f"; {exported.left_out} digests have no place in subtitles" if exported.left_out else ""
        )
        out.print(f"{exported.observations} observations{omitted}")

    print_result("export", exported.model_dump(mode="json"), show=show, json=json)
