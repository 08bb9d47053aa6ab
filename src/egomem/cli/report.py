"""`egomem report`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import (
    BinsOption,
    IntervalsOption,
    JsonOption,
    RegimesOption,
    read_bins,
    read_intervals,
    read_regimes,
)
from egomem.cli.output import print_result as print_report

if TYPE_CHECKING:
    from rich.console import Console


def report_(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Default: report/ in the first run's folder."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare runs that differ in their conditions.")
    ] = False,
    bins: BinsOption = "3",
    regimes: RegimesOption = "12,20",
    intervals: IntervalsOption = "widened",
    open_: Annotated[
        list[str] | None,
        typer.Option("--open", metavar="MODEL", help="A model with published weights. Repeatable."),
    ] = None,
    closed: Annotated[
        list[str] | None,
        typer.Option(
            "--closed", metavar="MODEL", help="A model without published weights. Repeatable."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a page, Markdown, CSV and LaTeX of one or several runs.

    Runs that differ in frames, prompts, resolution or questions are refused without --force.
    """
    from egomem.report import ReportOptions, write_report

    options = ReportOptions(
        bins=read_bins(bins),
        regimes=read_regimes(regimes),
        intervals=read_intervals(intervals),
        open=tuple(open_ or ()),
        closed=tuple(closed or ()),
    )
    target = out or runs[0] / "report"
    written = write_report(runs, target, force=force, options=options)

    def show(console: Console) -> None:
        for path in written.files:
            console.print(str(path))
        for line in written.warnings:
            console.print(line)

    print_report("report", written.model_dump(mode="json"), show=show, json=json)
