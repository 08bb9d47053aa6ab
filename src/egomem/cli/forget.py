"""`egomem forget`"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption, MemoryOption, open_memory
from egomem.cli.output import format_place, print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.api import Memory
    from egomem.records import Observation
    from egomem.timeline import Span


def forget(
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="From this instant, or with --recording from this second of it.",
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Until this time.")
    ] = None,
    recording: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this recording; alone: all of it.")
    ] = None,
    match: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only what holds this text.")
    ] = None,
    wearer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only what this wearer recorded.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would go, and change nothing.")
    ] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Remove every trace of a time, a recording or a text."""
    with open_memory(memory) as held:
        span, between = _times(held, start, end, recording)
        # What is to go is read before it is gone.
        view, names = held.until(), held.names()
        receipt = held.forget(
            recording=recording,
            span=span,
            between=between,
            match=match,
            wearer=wearer,
            dry_run=dry_run,
        )

    gone = [*receipt.observations, *receipt.dependents]

    def place(o: Observation) -> str:
        return format_place(o.recording, o.span, view.when(o), names)

    def show(out: Console) -> None:
        if dry_run:
            for o in gone:
                out.print(f'{place(o)}: "{o.text}" ({o.source})')
        counts = ", ".join(f"{n} {what}" for what, n in receipt.counts.items() if n)
        out.print(f"{'would go' if dry_run else 'gone'}: {counts or 'nothing'}")

    result = {
        "dry_run": dry_run,
        "kind": receipt.kind,
        "counts": receipt.counts,
        # What is gone is not written down again.
        "observations": [o.model_dump(mode="json") for o in gone] if dry_run else None,
    }
    print_result("forget", result, show=show, json=json)


def _times(
    held: Memory, start: str | None, end: str | None, recording: str | None
) -> tuple[Span | None, tuple[datetime, datetime] | None]:
    """Two written times, as seconds of one recording or as instants; an open end is for ever."""
    from egomem.errors import TimeError
    from egomem.timeline import RecordingTime, Span

    if start is None and end is None:
        return None, None
    low, high = (
        held.until(text if recording is None else f"{recording} {text}").until if text else None
        for text in (start, end)
    )
    if isinstance(low, RecordingTime) or isinstance(high, RecordingTime):
        ends = [low or RecordingTime(recording or "", 0.0), high or RecordingTime("", 1e12)]
        if recording is None or not all(isinstance(t, RecordingTime) for t in ends):
            raise TimeError(
                f"{start or ''} to {end or ''} names seconds of a recording",
                "add --recording ID, or write two instants",
            )
        first, last = (t.seconds for t in ends if isinstance(t, RecordingTime))
        return Span(first, last), None
    first_instant = low or datetime.min.replace(tzinfo=UTC)
    return None, (first_instant, high or datetime.max.replace(tzinfo=UTC))
