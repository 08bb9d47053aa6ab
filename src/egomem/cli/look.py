"""`egomem look`, and what `ask --look` and `search --look` share with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import AtOption, JsonOption, MemoryOption, open_memory
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from egomem.api import Memory
    from egomem.recall import Hit
    from egomem.records import Evidence

LookOption = Annotated[
    bool,
    typer.Option("--look", help="Save a frame of each moment, with boxes, and print its path."),
]
ClipOption = Annotated[
    bool, typer.Option("--clip", help="Save a clip of each moment, and print its path.")
]
ToOption = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="DIR",
        help="Folder for frames and clips. Default: a new private one among temporary files.",
    ),
]
OpenOption = Annotated[
    bool, typer.Option("--open", help="Open what was saved in the system's viewer.")
]


def look(
    place: Annotated[
        list[str],
        typer.Argument(
            metavar="PLACE...",
            help="A second of a recording (street.mp4 1:20), or a wall-clock time.",
        ),
    ],
    clip: ClipOption = False,
    to: ToOption = None,
    open: OpenOption = False,
    at: AtOption = None,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Save the frame at PLACE, with boxes of what was found there, and print its path."""
    with open_memory(memory) as opened:
        path = opened.look(" ".join(place), at=at, clip=clip, to=to)
    if open:
        typer.launch(str(path))
    print_result("look", {"path": str(path), "clip": clip}, show=lambda out: print(path), json=json)


def save_looks(
    memory: Memory,
    moments: Sequence[Evidence | Hit],
    *,
    at: str | None,
    look: bool,
    clip: bool,
    to: Path | None,
    open: bool,
) -> tuple[list[Path | None], list[tuple[str, str]]]:
    """A frame or a clip of each moment, None where none can be had; and problems, each once."""
    from egomem.errors import MediaError, UsageError

    if not (look or clip or open):
        return [None] * len(moments), []
    if to is None:
        from egomem.memory.evidence_view import temporary_folder

        to = temporary_folder()
    paths: list[Path | None] = []
    problems: dict[str, str] = {}
    for moment in moments:
        try:
            paths.append(memory.look(moment, at=at, clip=clip, to=to))
        except (MediaError, UsageError) as error:
            paths.append(None)
            problems[error.message] = error.remedy
    for path in dict.fromkeys(path for path in paths if path is not None) if open else ():
        typer.launch(str(path))
    return paths, list(problems.items())
