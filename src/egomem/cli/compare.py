"""`egomem compare`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import (
    AtOption,
    FitOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    open_memory,
)
from egomem.cli.output import answer_json, make_table, print_result

if TYPE_CHECKING:
    from rich.console import Console


def compare(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="A strategy to run: {strategies}. Repeatable. Default: all that can run."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="An answer to choose from. Repeatable: A, B, C ..."),
    ] = None,
    at: AtOption = None,
    memory: MemoryOption = None,
    model: ModelOption = None,
    fit: FitOption = None,
    json: JsonOption = False,
) -> None:
    """Answer QUESTION with several strategies: answer, evidence, tokens, seconds and cost."""
    with open_memory(memory, models=model, fit=fit) as opened:
        rows = opened.compare(question, strategies=strategy or (), options=option or (), at=at)
        names = opened.names()

    def show(out: Console) -> None:
        from rich.text import Text

        table = make_table("strategy", "answer", "evidence", "tokens", "seconds", "cost", box=None)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row.cells(names)))
        out.print(table)

    print_result(
        "compare",
        [{"strategy": row.strategy, **answer_json(row.answer, names)} for row in rows],
        show=show,
        json=json,
        problems=[(f"{r.strategy}: {r.answer.reason}", "") for r in rows if r.failed],
    )
