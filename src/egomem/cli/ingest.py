"""`egomem ingest`"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import (
    FitOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    open_memory,
    settings_by_name,
)
from egomem.cli.output import format_usage, print_result
from egomem.cli.progress import ProgressDisplay
from egomem.cli.stream_options import StreamOption, StreamStartOption, stream_files
from egomem.defaults import DEFAULT_WINDOW

if TYPE_CHECKING:
    from rich.console import Console


class Caption(StrEnum):
    DIRECT = "direct"
    ACTIVE = "active"


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders or globs.")],
    memory: MemoryOption = None,
    window: Annotated[
        float | None,
        typer.Option(min=0.1, help=f"Length of a window in seconds (default {DEFAULT_WINDOW:g})."),
    ] = None,
    fps: Annotated[
        float | None, typer.Option(min=0.001, help="Frames per second to look at (default 1).")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When the recording began, with its zone: 2026-03-02T08:10+01:00.",
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="Time zone of start times in file names: Europe/Berlin."),
    ] = None,
    wearer: Annotated[str | None, typer.Option(help="Who wore the camera. Default: me.")] = None,
    model: ModelOption = None,
    fit: FitOption = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Maximum cost of captions in US dollars."),
    ] = None,
    caption_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum tokens per caption, reasoning included (default 1024; at least 2048 with "
            "--caption active).",
        ),
    ] = None,
    caption: Annotated[
        Caption,
        typer.Option(
            help="'active' checks the claims of each caption and looks again at the frames."
        ),
    ] = Caption.DIRECT,
    observers: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Who observes: names of `egomem plugins`; 'default' stands for speech, text, "
            "objects and captions.",
        ),
    ] = "default",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="OBSERVER.NAME=VALUE",
            help="A setting of an observer: speech.language=de. Repeatable.",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Observe known recordings again at another --fps without asking."
        ),
    ] = False,
    subtitles: Annotated[
        bool, typer.Option("--subtitles", help="Remember subtitles that lie beside a recording.")
    ] = False,
    digests: Annotated[
        bool | None,
        typer.Option(
            "--digests/--no-digests",
            help="Write digests of hours and days, too. Default: where the memory has some.",
        ),
    ] = None,
    stream: StreamOption = None,
    stream_start: StreamStartOption = None,
    no_streams: Annotated[
        bool, typer.Option("--no-streams", help="Leave streams that lie beside a recording alone.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Watch recordings and remember what is seen, read and said in them.

    Stopped at any moment, the same command goes on where it was. A file that is already remembered
    is left alone; one that cannot be used is reported, and the rest goes on (exit code 1).
    """
    from egomem.ingest import media_files
    from egomem.ingest.subtitle_files import subtitles_beside, subtitles_note

    media_files(paths)  # a wrong path is reported before a memory is created
    streams = stream_files(stream, stream_start)
    with (
        open_memory(memory, create=True, models=model, fit=fit) as opened,
        ProgressDisplay(quiet=json) as progress,
    ):
        ingested = opened.ingest(
            *paths,
            window=window,
            fps=fps,
            start=start,
            zone=zone,
            wearer=wearer,
            streams=streams,
            find_streams=not no_streams,
            budget=budget,
            caption_tokens=caption_tokens,
            caption=caption.value,
            observers=[name.strip() for name in observers.split(",") if name.strip()],
            observer_settings=settings_by_name(set_ or ()),
            digests=digests,
            on_again=(lambda line: None) if again else progress.ask,
            on_note=progress.say,
            on_step=progress.step,
        )
        beside = subtitles_beside(Path(o.path) for o in ingested.outcomes if o.recording)
        taken = opened.import_files(*beside) if subtitles and beside else []
        if beside and not subtitles:
            progress.say(subtitles_note(beside))
        folder = opened.folder

    def show(out: Console) -> None:
        from egomem.cli.digest import level_line
        from egomem.text import plural

        for o in ingested.outcomes:
            out.print(
                f"{o.status:9} {o.path}  {o.seconds:.1f} s, {plural(o.windows, 'new window')}, "
                f"{plural(o.observations, 'new observation')}",
            )
            for note in o.notes:
                out.print(f"          {note}")
        if ingested.usage.requests:
            out.print(
                f"captions: {ingested.usage.requests} requests, {format_usage(ingested.usage)}"
            )
        for file in taken:
            out.print(f"subtitles {file.path}  {plural(file.observations, 'new observation')}")
        for level in ingested.digests.levels:
            if level.built or level.failed:
                out.print(f"digests, {level_line(level)}")
        counts = ", ".join(f"{n} {status}" for status, n in ingested.counts.items())
        out.print(f"{counts}; memory: {folder}")

    problems = [(fault, o.remedy) for o in ingested.faulty for fault in o.faults]
    problems += [(fault, "run: egomem digest") for fault in ingested.digests.faults]
    problems += [(file.fault, file.remedy) for file in taken if file.fault]
    result = ingested.model_dump(mode="json") | {
        "counts": ingested.counts,
        "memory": str(folder),
        "subtitles": [file.model_dump(mode="json") for file in taken],
    }
    none = all(o.status == "failed" for o in ingested.outcomes)
    print_result("ingest", result, show=show, json=json, problems=problems, nothing=none)
