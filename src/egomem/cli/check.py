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
        bool, typer.Option("--repair", help="Make anew what follows from the record.")
    ] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Verify a memory: its record, index, vectors and pictures."""
    with open_memory(memory) as held:
        found = held.check(repair=repair)

    def show(out: Console) -> None:
        looked_at = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in found.figures.items())
        out.print(looked_at)
        for finding in found.findings:
            if finding.repaired:
                out.print(f"mended: {finding.what}")
        if found.ok:
            out.print("sound" if not found.findings else "sound again")

    problems = [
        (
            finding.what,
            "run: egomem check --repair" if finding.repairable else "restore it from a backup",
        )
        for finding in found.findings
        if not finding.repaired
    ]
    result = {"figures": found.figures, "findings": [asdict(f) for f in found.findings]}
    print_result("check", result, show=show, json=json, problems=problems)
