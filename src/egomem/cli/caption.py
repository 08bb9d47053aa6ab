"""`egomem caption`"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egomem.cli.options import JsonOption, ModelOption
from egomem.cli.output import format_usage, print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.observe.active import CaptionRun


def caption(
    file: Annotated[Path, typer.Argument(help="A video file.")],
    active: Annotated[
        bool,
        typer.Option(
            "--active", help="Check the draft's claims, look again and rewrite (default)."
        ),
    ] = False,
    direct: Annotated[
        bool, typer.Option("--direct", help="Caption in a single pass over evenly spread frames.")
    ] = False,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Compare at equal compute: guided looks, random ones, a single pass.",
        ),
    ] = False,
    explain: Annotated[bool, typer.Option(help="Print every round.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rounds as a page with frames.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Log the run in this file; the same command continues it."
        ),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of text files that may name what is seen. Default: none."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=0, help="Maximum number of rounds.")] = 6,
    looks: Annotated[int, typer.Option(min=0, help="Maximum number of inspections.")] = 12,
    frames: Annotated[
        int, typer.Option(min=0, help="Maximum number of frames beyond the coarse view.")
    ] = 128,
    direct_frames: Annotated[
        int,
        typer.Option(
            min=1, help="Maximum number of frames of --direct, at most one per second of video."
        ),
    ] = 128,
    model: ModelOption = None,
    json: JsonOption = False,
) -> None:
    """Caption FILE; what could not be established is hedged or left out."""
    from egomem.errors import UsageError
    from egomem.observe.active import CaptionBudget, DocumentFolder
    from egomem.observe.active.files import (
        caption_and_close,
        compare_captions,
        installed_tools,
        tools_for,
    )
    from egomem.observe.active.trace import as_html, as_json, as_text

    if active + direct + compare > 1:
        raise UsageError("--active, --direct and --compare exclude each other", "give one of them")
    budget = CaptionBudget(rounds=rounds, looks=looks, frames=frames)
    parts = installed_tools()
    retriever = DocumentFolder(documents) if documents is not None else None
    options: dict[str, Any] = {
        "models": _models(model or []),
        "budget": budget,
        "parts": parts,
        "retriever": retriever,
        "log": log,
    }
    if compare:
        runs = asyncio.run(compare_captions(file, **options))
    else:
        one = caption_and_close(file, active=not direct, direct_frames=direct_frames, **options)
        runs = {"direct" if direct else "active": asyncio.run(one)}
    if html is not None:
        first = next(iter(runs.values()))
        html.write_text(as_html(first, tools_for(file, parts)), "utf-8")

    def show(out: Console) -> None:
        for mode, run in runs.items():
            if explain:
                for line in as_text(run):
                    out.print(line)
            if compare or explain:
                out.print(f"\n{mode}: {_cost(run)}")
            out.print(run.caption or "Nothing could be established.")
        for line in parts.missing:
            out.print(f"without a tool: {line}")

    result: dict[str, Any] = {mode: as_json(run) for mode, run in runs.items()}
    print_result(
        "caption", result if compare else next(iter(result.values())), show=show, json=json
    )


def _models(specs: list[str]) -> Any:
    from egomem.config import load_settings, model_table
    from egomem.models import InMemoryReplyStore, ModelClient

    settings = load_settings(model=model_table(specs) or None)
    named = {role for role, spec in settings.model.items() if spec != "embedded"}
    return ModelClient.from_settings(settings, cache=InMemoryReplyStore()) if named else None


def _cost(done: CaptionRun) -> str:
    state = done.state
    return (
        f"{done.first_frames} first and {state.pictures} extra frames, {state.looks} looks, "
        f"{state.round} rounds; {format_usage(done.usage)}"
    )
