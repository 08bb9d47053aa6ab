"""`egomem check`"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption, MemoryOption, open_memory
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console


def check(
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild the index, vectors and other derived data.")
    ] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Verify a memory: its record, index, vectors and pictures."""
    with open_memory(memory) as opened:
        report = opened.check(repair=repair)

    def show(out: Console) -> None:
        figures = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in report.figures.items())
        out.print(figures)
        for finding in report.findings:
            if finding.repaired:
                out.print(f"mended: {finding.what}")
        for note in report.notes:
            out.print(f"note: {note}")
        if report.ok:
            out.print("no faults" if not report.findings else "no faults any more")

    problems = [
        (
            finding.what,
            "run: egomem check --repair" if finding.repairable else "restore it from a backup",
        )
        for finding in report.findings
        if not finding.repaired
    ]
    result = {
        "figures": report.figures,
        "findings": [asdict(f) for f in report.findings],
        "notes": list(report.notes),
    }
    print_result("check", result, show=show, json=json, problems=problems)
