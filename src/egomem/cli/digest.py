"""`egomem digest`"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import FitOption, JsonOption, MemoryOption, ModelOption, open_memory
from egomem.cli.output import format_usage, print_result
from egomem.cli.progress import ProgressDisplay

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.ingest.digests import LevelReport


class SummarizerChoice(StrEnum):
    AUTO = "auto"
    EXTRACTIVE = "extractive"
    MODEL = "model"


def digest(
    levels: Annotated[
        str,
        typer.Option(metavar="LEVEL,...", help="Lengths of digests: 10min, hour, day."),
    ] = "hour,day",
    by: Annotated[
        SummarizerChoice,
        typer.Option(
            help="Who writes: the model in the role 'summarizer', or 'extractive', which chooses "
            "lines without one. 'auto' takes the model where there is one."
        ),
    ] = SummarizerChoice.AUTO,
    again: Annotated[
        bool, typer.Option("--again", help="Write all of them anew, not only what has changed.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove all digests and keep none from now on.")
    ] = False,
    model: ModelOption = None,
    fit: FitOption = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Maximum cost of digests in US dollars."),
    ] = None,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Write digests of hours and days, each with the observations it rests on.

    Only what is missing or has changed is written; stopped at any moment, the same command goes on
    where it was. From then on `ingest`, `import` and `forget` keep digests current.
    """
    from egomem.text import plural

    with (
        open_memory(memory, models=model, fit=fit) as opened,
        ProgressDisplay(quiet=json) as progress,
    ):
        if remove:
            count = opened.remove_digests()
            report = None
        else:
            report = opened.digest(
                [name.strip() for name in levels.split(",") if name.strip()],
                summarizer=by.value,
                budget=budget,
                again=again,
                on_note=progress.say,
                on_digest=progress.count_digests,
            )
        folder = str(opened.folder)
    if report is None:
        print_result(
            "digest",
            {"removed": count, "memory": folder},
            show=lambda out: out.print(f"removed: {plural(count, 'digest')}"),
            json=json,
        )
        return

    def show(out: Console) -> None:
        for level in report.levels:
            out.print(level_line(level))
        if report.usage.requests:
            out.print(f"{report.usage.requests} requests, {format_usage(report.usage)}")
        out.print(f"memory: {folder}")

    remedy = "run the same command again; finished digests are kept"
    result = report.model_dump(mode="json") | {"memory": folder}
    print_result(
        "digest",
        result,
        show=show,
        json=json,
        problems=[(fault, remedy) for fault in report.faults],
        nothing=bool(report.faults) and not report.built,
    )


def level_line(level: LevelReport) -> str:
    """`day: 2 written, 1 current; 91 % of exact attributes kept (40 % in the text), ...`"""
    counts = [
        f"{n} {label}"
        for label, n in (
            ("written", level.built),
            ("current", level.current),
            ("removed", level.removed),
            ("failed", level.failed),
            ("waiting for those that failed", level.waiting),
        )
        if n
    ]
    figures = level.figures
    shares = []
    if figures.survival is not None and figures.survival_in_text is not None:
        shares.append(
            f"{figures.survival:.0%} of exact attributes kept "
            f"({figures.survival_in_text:.0%} in the text)"
        )
    if figures.substitution is not None:
        shares.append(f"{figures.substitution:.0%} of statements from a neighbouring moment")
    if figures.unsupported:
        shares.append(f"{figures.unsupported} statements marked as unsupported")
    line = f"{level.level}: {', '.join(counts) or 'nothing to write'}"
    return f"{line}; {', '.join(shares)}" if shares else line
