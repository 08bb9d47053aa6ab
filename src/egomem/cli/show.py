"""`egomem show`"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import AtOption, JsonOption, MemoryOption, open_memory
from egomem.cli.output import make_table, print_result
from egomem.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console


def show(
    digests: Annotated[
        bool, typer.Option("--digests", help="Show the digests instead, as an outline.")
    ] = False,
    day: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="With --digests: only of this date, 2026-03-02."),
    ] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="With --digests: all exact attributes, with times.")
    ] = False,
    at: AtOption = None,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a memory holds: recordings, hours, observations by source, gaps.

    Gaps are times that no recording covers, and windows that a track has nothing of.
    """
    if digests:
        from egomem.cli.digest_outline import show_digests

        with open_memory(memory) as opened:
            show_digests(opened, day=day, at=at, facts=facts, json=json)
        return
    if day or facts or at:
        raise UsageError("--day, --facts and --at belong to --digests", "add --digests")
    with open_memory(memory) as opened:
        summary = opened.summary()

    def text(out: Console) -> None:
        from egomem.ingest.retry import describe_failed_windows
        from egomem.memory.failed_windows import FailedWindow
        from egomem.text import plural
        from egomem.timeline import Span, format_instant, format_time

        headings = ("recording", "id", "wearer", "starts", "length")
        table = make_table(*headings, box=None, pad_edge=False)
        for r in summary.recordings:
            starts = format_instant(r.clock.start) if r.clock else "clock unknown"
            table.add_row(r.name, r.id, r.wearer, starts, format_time(r.duration))
        out.print(table)
        length = format_time(round(summary.hours * 3600))
        out.print(f"\n{plural(len(summary.recordings), 'recording')}, {length} in all")
        for source, count in sorted(summary.observations.items()):
            out.print(f"  {count:8}  {source}")
        for track in summary.tracks:
            out.print(f"  track {track}")
        for line in (*summary.damaged, *summary.gaps, *summary.overlaps):
            out.print(f"  {line}")
        for (_, track, name), untold_windows in groupby(
            summary.untold, lambda u: (u.recording, u.track, u.name)
        ):
            opened = [FailedWindow(Span(u.start, u.end), u.status) for u in untold_windows]
            out.print(f"  {name}: {track} tells nothing of {describe_failed_windows(opened)}")
        out.print(summary.folder)

    result = summary.model_dump(mode="json")
    print_result("show", result, show=text, json=json)
