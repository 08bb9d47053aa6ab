"""What every command prints: text for people, or one documented JSON object."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


def report(
    command: str,
    result: Any,
    *,
    show: Callable[[Console], None],
    json: bool,
    problems: Sequence[tuple[str, str]] = (),
) -> None:
    """Print a command's result, and end with exit code 1 where some items failed.

    As JSON: `{"command", "ok", "result", "problems": [{"what", "remedy"}]}` on standard output.
    As text: whatever `show` prints, then one line per problem on standard error.
    """
    if json:
        _print_json(command, result, problems)
    else:
        from rich.console import Console

        show(Console(highlight=False, soft_wrap=True))
        for what, remedy in problems:
            typer.echo(f"egomem: {_line(what, remedy)}", err=True)
    if problems:
        raise typer.Exit(1)


def fault(what: str, remedy: str, *, json: bool) -> None:
    """Say in one line why nothing could be done."""
    if json:
        _print_json(None, None, [(what, remedy)])
    else:
        print(f"egomem: {_line(what, remedy)}", file=sys.stderr)


def _print_json(command: str | None, result: Any, problems: Sequence[tuple[str, str]]) -> None:
    body = {
        "command": command,
        "ok": not problems,
        "result": result,
        "problems": [{"what": what, "remedy": remedy} for what, remedy in problems],
    }
    print(json_.dumps(body, ensure_ascii=False, default=str))


def _line(what: str, remedy: str) -> str:
    text = f"{what}; {remedy}" if remedy else what
    return " ".join(text.split())
