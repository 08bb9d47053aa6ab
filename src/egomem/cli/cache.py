"""`egomem cache explain | stats | clear`: the replies kept in a memory's or a run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption, MemoryOption
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from egomem.memory.replies import ReplyCache

cache = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Model replies kept so far, and their cost.",
)


@cache.command()
def explain(
    key: Annotated[str, typer.Argument(help="The beginning of a reply's key.")] = "",
    other: Annotated[str, typer.Argument(help="Another key, to see what differs.")] = "",
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a reply's key is made of. Without a KEY, list the latest replies."""
    from egomem.memory.replies import differences

    held = _held(memory)
    kept = [held.find(k) for k in (key, other) if k] or held.latest()
    differ = differences(kept[0].request, kept[1].request) if other else []

    def show(out: Console) -> None:
        for item in kept:
            out.print(f"{item.key}  {item.made}  {item.reply.model}")
            if key:
                for name, value in item.request.items():
                    out.print(f"  {name}: {_short(value)}")
        if other:
            out.print(f"differs in: {', '.join(differ) or 'nothing'}")
        if not kept:
            out.print("no reply is kept here")

    rows = [{"key": k.key, "made": k.made, "request": k.request} for k in kept]
    print_result("cache explain", {"replies": rows, "differs": differ}, show=show, json=json)


@cache.command()
def stats(memory: MemoryOption = None, json: JsonOption = False) -> None:
    """Count what is kept, and what was spent per role."""
    found = _held(memory).stats()

    def show(out: Console) -> None:
        from rich.table import Table

        out.print(f"{found.replies} replies, {found.bytes / 1e6:.1f} MB")
        columns = (
            "asked",
            "from cache",
            "failed",
            "tokens in",
            "cached",
            "out",
            "frames",
            "s",
            "$",
        )
        table = Table("role", *columns, box=None)
        for role, total in found.spent.items():
            u = total.usage
            cost = "?" if u.cost is None else f"{u.cost:.4f}" + ("+?" if total.unpriced else "")
            counts = (total.asked, total.cached, total.failed)
            tokens = (u.tokens_in, u.tokens_cached, u.tokens_out, u.frames, round(u.seconds, 1))
            table.add_row(role.value, *map(str, (*counts, *tokens)), cost)
        if found.spent:
            out.print(table)

    spent = {
        role.value: {**total._asdict(), "usage": total.usage.model_dump(mode="json")}
        for role, total in found.spent.items()
    }
    result = {"replies": found.replies, "bytes": found.bytes, "spent": spent}
    print_result("cache stats", result, show=show, json=json)


@cache.command()
def clear(memory: MemoryOption = None, json: JsonOption = False) -> None:
    """Remove all replies and the ledger. What was remembered stays."""
    gone = _held(memory).clear()
    print_result(
        "cache clear", {"removed": gone}, show=lambda o: o.print(f"{gone} removed"), json=json
    )


def _held(memory: Path | None) -> ReplyCache:
    from egomem.config import load_settings
    from egomem.errors import NoMemoryError
    from egomem.memory.replies import ReplyCache

    folder = load_settings(memory=memory).memory
    if not folder.is_dir():
        raise NoMemoryError(
            f"there is no memory or run at {folder}", "name the folder with --memory"
        )
    return ReplyCache(folder)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 300 else f"{text[:299]}…"
