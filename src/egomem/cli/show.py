"""`egomem show`"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from egomem.cli.options import JsonOption, MemoryOption, open_memory
from egomem.cli.output import make_table, print_result

if TYPE_CHECKING:
    from rich.console import Console


def show(memory: MemoryOption = None, json: JsonOption = False) -> None:
    """Show what a memory holds: recordings, hours, observations by source, gaps.

    Gaps are times that no recording covers, and windows that a track has nothing of.
    """
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
