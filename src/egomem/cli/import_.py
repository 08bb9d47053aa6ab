"""`egomem import`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption, MemoryOption, open_memory
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="JSONL, JSON, SRT, WebVTT, WhisperX JSON, EgoLife captions, Parquet; also .gz.",
        ),
    ],
    map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=THEIRS",
            help="Names of other fields: 'text=narration,start=t0', 'video_id={conv}-{part}'.",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="The source of rows that name none: caption, speech.")
    ] = None,
    track: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The observer in the name of the track. Default: import."
        ),
    ] = None,
    wearer: Annotated[str, typer.Option(help="Who wore the camera.")] = "me",
    recording: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The video of rows that name none. Default: the file's."),
    ] = None,
    videos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the videos, if they are not beside the files."),
    ] = None,
    zone: Annotated[
        str | None, typer.Option(help="The zone of wall-clock times without one: Europe/Berlin.")
    ] = None,
    day_one: Annotated[
        str | None, typer.Option(metavar="DATE", help="The date of EgoLife's DAY1: 2026-03-01.")
    ] = None,
    frame_base: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many to a second the last two digits of an EgoLife time count. "
            "Default: 20, or 100 where a time of the file goes beyond.",
        ),
    ] = None,
    step: Annotated[
        float, typer.Option(min=0.001, help="Length in seconds of each row without times.")
    ] = 5.0,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Remember captions and transcripts that exist already, with or without the video.

    Bad lines are named and counted, and the rest is remembered (exit code 1 only where a whole file
    could not be read). The same file again adds nothing.
    """
    with open_memory(memory, create=True) as opened:
        outcomes = opened.import_files(
            *files,
            videos=videos,
            map=map or (),
            source=source,
            track=track,
            wearer=wearer,
            recording=recording,
            zone=zone,
            day_one=day_one,
            frames_per_second=frame_base,
            step=step,
        )
        folder = str(opened.folder)

    def show(out: Console) -> None:
        from egomem.text import plural

        for o in outcomes:
            if o.fault:
                continue
            out.print(
                f"{o.path}: {plural(o.observations, 'new observation')} of "
                f"{plural(len(o.recordings), 'recording')}, "
                f"{o.known} known, {o.passed_over} of {o.rows} rows passed over"
            )
            for problem in o.problems:
                out.print(f"  {problem}")
        out.print(f"memory: {folder}")

    problems = [(o.fault, o.remedy) for o in outcomes if o.fault]
    result = {"files": [o.model_dump(mode="json") for o in outcomes], "memory": folder}
    print_result("import", result, show=show, json=json, problems=problems)
