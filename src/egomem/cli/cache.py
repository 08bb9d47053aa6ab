"""`egomem cache explain | stats | clear`: the replies kept in a memory's or a run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption, MemoryOption
from egomem.cli.output import make_table, print_result

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
    """Print the parts of a reply's key. Without a KEY, list the latest replies."""
    from egomem.memory.replies import differences

    with _reply_cache(memory) as reply_cache:
        replies = [reply_cache.find(k) for k in (key, other) if k] or reply_cache.latest()
    differences_found = differences(replies[0].request, replies[1].request) if other else []

    def show(out: Console) -> None:
        for item in replies:
            out.print(f"{item.key}  {item.made}  {item.reply.model}")
            if key:
                for name, value in item.request.items():
                    out.print(f"  {name}: {_short(value)}")
        if other:
            out.print(f"differs in: {', '.join(differences_found) or 'nothing'}")
        if not replies:
            out.print("no reply is kept here")

    rows = [{"key": k.key, "made": k.made, "request": k.request} for k in replies]
    print_result(
        "cache explain", {"replies": rows, "differs": differences_found}, show=show, json=json
    )


@cache.command()
def stats(memory: MemoryOption = None, json: JsonOption = False) -> None:
    """Count the cached replies, and print what each role has used."""
    with _reply_cache(memory) as reply_cache:
        counted = reply_cache.stats()

    def show(out: Console) -> None:
        out.print(f"{counted.replies} replies, {counted.bytes / 1e6:.1f} MB")
        table = make_table(
            "role", "asked", "from cache", "failed", "tokens in", "tokens cached", "tokens out",
            "frames", "seconds", "US dollars", box=None,
        )  # fmt: skip
        for role, total in counted.spent.items():
            usage = total.usage
            cost = (
                "?"
                if usage.cost is None
                else f"{usage.cost:.4f}" + ("+?" if total.unpriced else "")
            )
            if total.estimated:
                cost += f" (about {total.estimated:.4f} more, estimated)"
            counts = (total.asked, total.cached, total.failed)
            tokens = (
                usage.tokens_in,
                usage.tokens_cached,
                usage.tokens_out,
                usage.frames,
                round(usage.seconds, 1),
            )
            table.add_row(role.value, *map(str, (*counts, *tokens)), cost)
        if counted.spent:
            out.print(table)

    spent = {
        role.value: {**total._asdict(), "usage": total.usage.model_dump(mode="json")}
        for role, total in counted.spent.items()
    }
    result = {"replies": counted.replies, "bytes": counted.bytes, "spent": spent}
    print_result("cache stats", result, show=show, json=json)


@cache.command()
def clear(memory: MemoryOption = None, json: JsonOption = False) -> None:
    """Remove all cached replies. Observations stay, and so does the ledger of what was spent."""
    with _reply_cache(memory) as reply_cache:
        removed = reply_cache.clear()
    print_result(
        "cache clear", {"removed": removed}, show=lambda o: o.print(f"{removed} removed"), json=json
    )


def _reply_cache(memory: Path | None) -> ReplyCache:
    from egomem.config import load_settings
    from egomem.errors import NoMemoryError, missing_folder
    from egomem.memory.replies import ReplyCache

    folder = load_settings(memory=memory).memory
    if not folder.is_dir():
        raise NoMemoryError(
            f"there is no memory or run at {folder}{missing_folder(folder)}",
            "name the folder with --memory",
        )
    return ReplyCache(folder)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 300 else f"{text[:299]}…"
