"""What every command prints: text for people, or one documented JSON object."""

from __future__ import annotations

import json as json_
import math
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

import typer

from egomem.cli.exit_codes import ExitCode
from egomem.cli.terminal import escaped_json, make_console

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, JustifyMethod
    from rich.table import Table

    from egomem.recall import Query
    from egomem.records import Answer, Usage
    from egomem.timeline import Span


PIPE_WIDTH = 100_000
"""Columns of an output that is no terminal: rows of a table stay lines, for grep and awk."""


def print_result(
    command: str,
    result: Any,
    *,
    show: Callable[[Console], None],
    json: bool,
    problems: Sequence[tuple[str, str]] = (),
    nothing: bool = False,
) -> None:
    """Print a command's result, and end with exit code 1 where some items failed.

    `nothing`: none of them was done, which is exit code 3.

    As JSON: `{"command", "ok", "result", "problems": [{"what", "remedy"}]}` on standard output.
    As text: whatever `show` prints, then one line per problem on standard error.
    """
    if json:
        _print_json(command, result, problems)
    else:
        show(cast("Console", LazyConsole()))
        for what, remedy in problems:
            typer.echo(f"egomem: {_one_line(what, remedy)}", err=True)
    if problems:
        raise typer.Exit(ExitCode.NOTHING_DONE if nothing else ExitCode.SOME_FAILED)


class LazyConsole:
    """A rich console, made when it is first used: what prints plain lines need not wait for it."""

    _made: Console | None = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = make_console(
                highlight=False,
                soft_wrap=True,
                width=None if sys.stdout.isatty() else PIPE_WIDTH,
            )
        return getattr(self._made, name)


def print_error(what: str, remedy: str, *, json: bool) -> None:
    """Print one line that says why nothing could be done, and what to do."""
    if json:
        _print_json(None, None, [(what, remedy)])
    else:
        print(f"egomem: {_one_line(what, remedy)}", file=sys.stderr)


def _print_json(command: str | None, result: Any, problems: Sequence[tuple[str, str]]) -> None:
    body = {
        "command": command,
        "ok": not problems,
        "result": result,
        "problems": [{"what": what, "remedy": remedy} for what, remedy in problems],
    }
    wide = (sys.stdout.encoding or "").lower() in ("utf-8", "utf8")
    try:
        text = json_.dumps(body, ensure_ascii=not wide, default=str, allow_nan=False)
    except ValueError:
        text = json_.dumps(_finite(body), ensure_ascii=not wide, default=str)
    print(escaped_json(text))


def _finite(value: Any) -> Any:
    """A value whose NaN and infinities, which JSON has no form for, are None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(v) for key, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


def _one_line(what: str, remedy: str) -> str:
    # A path may end in a dot that is its name: `.`, `..`, `videos/..`.
    what = re.sub(r"(?<=\w)\.$", "", what)
    text = f"{what}; {remedy}" if remedy else what
    return " ".join(text.split())


def make_table(*headings: str, right: Collection[str] = (), **options: Any) -> Table:
    """A table for a terminal; columns named in `right` are aligned right.

    Cells are never cut short: one without blanks is broken anywhere, since names of models and
    files often differ at their ends.
    """
    from rich.table import Table

    table = Table(**options)
    for heading in headings:
        justify: JustifyMethod = "right" if heading in right else "left"
        table.add_column(heading, overflow="fold", justify=justify)
    return table


def format_place(
    recording: str | None, span: Span, when: datetime | None, names: Mapping[str, str]
) -> str:
    """A place in a memory, for a person: `street.mp4 0:02-0:04, 2026-03-02 08:10:02+01:00`."""
    from egomem.timeline import format_instant, format_span

    clock = format_instant(when) if when else "clock unknown"
    if recording is None:
        return clock
    return f"{names.get(recording, recording)} {format_span(span)}, {clock}"


def print_answer(
    out: Console,
    answer: Answer,
    names: Mapping[str, str],
    pictures: Sequence[Path | None] = (),
) -> None:
    """Print an answer and its evidence; `pictures` are paths, one for each piece of evidence."""
    if answer.text:
        out.print(f"  {answer.text}", style="bold")
    if answer.abstained and answer.reason not in answer.text:
        out.print(f"  {answer.reason}")
    for piece, picture in zip_longest(answer.evidence, pictures[: len(answer.evidence)]):
        place = format_place(piece.recording, piece.span, piece.when, names)
        out.print(f'    {place}: "{piece.quote}" ({piece.source})')
        if picture is not None:
            out.print(f"      {picture}")


def format_usage(usage: Usage) -> str:
    """`1,200 tokens in (300 cached), 80 out, 30 frames, $0.0012`"""
    cached = f" ({usage.tokens_cached:,} cached)" if usage.tokens_cached else ""
    bound = "at least " if usage.without_price else ""
    money = "" if usage.cost is None else f", {bound}${usage.cost:.4f}"
    return (
        f"{usage.tokens_in:,} tokens in{cached}, {usage.tokens_out:,} out, "
        f"{usage.frames:,} frames{money}"
    )


def print_query(query: Query) -> None:
    """Print how a question was read."""
    from egomem.recall import explained

    for line in explained(query):
        print(f"  {line}")


def query_json(query: Query) -> dict[str, Any]:
    from egomem.recall import explain

    return dict(explain(query))


def answer_json(answer: Answer, names: Mapping[str, str]) -> dict[str, Any]:
    """An answer as JSON; each piece of evidence also names its recording's file."""
    body = answer.model_dump(mode="json", exclude={"trace"})
    for item in body["evidence"]:
        item["name"] = names.get(item["recording"] or "")
    return body
