"""The options of commands that read a benchmark's questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from egomem.benchmarks import Benchmark

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="The format of the questions: {formats}. Default: detected from their first rows.",
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone", help="The time zone of questions with numbered days: Asia/Shanghai for EgoLife."
    ),
]
DayOption = Annotated[
    str | None,
    typer.Option("--day-one", metavar="DATE", help="The date of DAY1, where days are numbered."),
]
FrameOption = Annotated[
    int | None,
    typer.Option(
        "--frame-base",
        min=1,
        help="How many to a second the last two digits of a time such as 11210217 count. "
        "Default: 20, or 100 where a time of the file goes beyond.",
    ),
]
KeepOption = Annotated[
    bool,
    typer.Option(
        "--keep-faulty", help="Keep faulty rows that can be read, so that n is as published."
    ),
]


def dropped_rows(benchmark: Benchmark) -> str:
    """What a command adds to its number of questions, so that no dropped row goes unnoticed."""
    from egomem.text import plural

    rows = plural(benchmark.left_out, "row")
    return f"; {rows} left out (see egomem benchmark validate)" if benchmark.left_out else ""
