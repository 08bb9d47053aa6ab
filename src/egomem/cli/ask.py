"""`egomem ask`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.look import ClipOption, LookOption, OpenOption, ToOption, save_looks
from egomem.cli.options import (
    AtOption,
    FitOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    open_memory,
    parse_settings,
)
from egomem.cli.output import answer_json, print_answer, print_query, print_result, query_json

if TYPE_CHECKING:
    from rich.console import Console


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="An answer to choose from. Repeatable: A, B, C ..."),
    ] = None,
    at: AtOption = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="How to answer: {strategies} (see egomem plugins). "
            "Default: retrieve with a reader model, else extractive."
        ),
    ] = None,
    frames: Annotated[
        int | None, typer.Option(min=1, help="Frames to look at, for --strategy video.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the strategy. Repeatable."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print how the question was read, and the steps.")
    ] = False,
    look: LookOption = False,
    clip: ClipOption = False,
    to: ToOption = None,
    open: OpenOption = False,
    memory: MemoryOption = None,
    model: ModelOption = None,
    fit: FitOption = None,
    json: JsonOption = False,
) -> None:
    """Answer QUESTION from the memory, with evidence and times, or say that it does not know."""
    from egomem.recall import times_read
    from egomem.records import Status

    with open_memory(memory, models=model, fit=fit) as opened:
        answer = opened.ask(
            question,
            options=option or (),
            at=at,
            strategy=strategy,
            settings=parse_settings(set_ or (), frames=frames),
        )
        query = opened.read_question(question, options=option or (), at=at) if explain else None
        names = opened.names()
        pictures, problems = save_looks(
            opened, answer.evidence, at=at, look=look, clip=clip, to=to, open=open
        )

    times = times_read(answer.trace)

    def show(out: Console) -> None:
        print_answer(out, answer, names, pictures)
        for line in times:
            out.print(f"  {line}")
        if query is not None:
            print_query(query)
        for step in answer.trace if explain else ():
            out.print_json(data=step)

    result = answer_json(answer, names) | {"times": times}
    for piece, picture in zip(result["evidence"], pictures, strict=True):
        piece["look"] = picture and str(picture)
    if query is not None:
        result["query"] = query_json(query)
        result["trace"] = list(answer.trace)
    failed = answer.status not in (Status.PARSED, Status.ABSTAINED)
    if failed:
        problems = [(f"no answer: {answer.status.value}: {answer.reason}", ""), *problems]
    print_result("ask", result, show=show, json=json, problems=problems, nothing=failed)
