"""`egomem forget`"""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption, MemoryOption, open_memory
from egomem.cli.output import format_place, print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.records import Observation


def forget(
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="From this time on, or with --recording from this second of it; "
            "a day or an evening from its beginning.",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="TIME", help="Until this time; a day or an evening to its end."
        ),
    ] = None,
    recording: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only this recording, by name, id or the start of its id; alone: all of it.",
        ),
    ] = None,
    match: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only observations that contain this text.")
    ] = None,
    wearer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only recordings of this wearer.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be removed, and change nothing.")
    ] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Remove every trace of a time, a recording or a text."""
    from egomem.memory.moments import bounds_of

    with open_memory(memory) as opened:
        if recording is not None:
            recording = opened.recording(recording).id
        span, between = bounds_of(opened.store, start, end, recording)
        # Times and names are looked up before their records are removed.
        view, names = opened.until(), opened.names()
        receipt = opened.forget(
            recording=recording,
            span=span,
            between=between,
            match=match,
            wearer=wearer,
            dry_run=dry_run,
        )

    observations = [*receipt.observations, *receipt.dependents]

    def place(o: Observation) -> str:
        return format_place(o.recording, o.span, view.when(o), names)

    def show(out: Console) -> None:
        if dry_run:
            for o in observations:
                out.print(f'{place(o)}: "{o.text}" ({o.source})')
        if between is not None:
            out.print(_range(*between))
        counts = ", ".join(f"{n} {what}" for what, n in receipt.counts.items() if n)
        out.print(f"{'would remove' if dry_run else 'removed'}: {counts or 'nothing'}")
        for note in receipt.notes:
            out.print(f"note: {note}")

    result = {
        "dry_run": dry_run,
        "kind": receipt.kind,
        "counts": receipt.counts,
        "notes": list(receipt.notes),
        # What was removed must not be printed, or a log would keep it.
        "observations": [o.model_dump(mode="json") for o in observations] if dry_run else None,
    }
    print_result("forget", result, show=show, json=json)


def _range(start: datetime, end: datetime) -> str:
    """How the two times were read; an end that was left open is not named."""
    from egomem.timeline import format_instant

    parts = [f"from {format_instant(start)}"] if start.year > MINYEAR else []
    parts += [f"until {format_instant(end)}"] if end.year < MAXYEAR else []
    return f"times read as: {', '.join(parts)}"
