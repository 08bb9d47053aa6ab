"""`egomem models` and `egomem models test`"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import typer

from egomem.cli.options import JsonOption, ModelOption
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.models import ModelClient

models = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    help="The models that fill the roles, and their capabilities.",
)


@models.callback()
def show(ctx: typer.Context, model: ModelOption = None, json: JsonOption = False) -> None:
    if ctx.invoked_subcommand:
        return
    client = _client(model)
    capabilities = asyncio.run(client.probe())
    rows: list[dict[str, Any]] = [
        {
            "role": role.value,
            "spec": str(client.specs[role]),
            **model.model_dump(mode="json"),
            "limits": client.limits(role).model_dump(mode="json"),
        }
        for role, model in capabilities.items()
    ]

    def blocks(out: Console) -> None:
        if not rows:
            out.print("no model is set; give one with --model, for example:")
            out.print("  egomem models --model ollama:qwen3-vl:8b")
            return
        for spec in dict.fromkeys(row["spec"] for row in rows):
            same_model = [row for row in rows if row["spec"] == spec]
            out.print(f"{spec}: {', '.join(row['role'] for row in same_model)}")
            if spec != "embedded":
                row = same_model[0]
                cells = [
                    f"{name.replace('_', ' ')} {_cell(row[name], name not in row['reported'])}"
                    for name in _COLUMNS
                ]
                out.print(f"    {', '.join(cells)}")
                if row["note"]:
                    out.print(f"    {row['note']}")
        out.print("* egomem's default, not reported by the server; ? unknown")

    print_result("models", {"roles": rows}, show=blocks, json=json)


@models.command("test")
def try_roles(model: ModelOption = None, json: JsonOption = False) -> None:
    """Send one tiny request to each role's model, and print the replies."""
    client = _client(model)
    replies = asyncio.run(_tests(client))
    rows = [
        {
            "role": role.value,
            "spec": str(client.specs[role]),
            "status": reply.status.value,
            "text": reply.text,
            "model": reply.model,
            "seconds": round(reply.usage.seconds, 2),
            "detail": reply.detail,
        }
        for role, reply in replies.items()
    ]

    def lines(out: Console) -> None:
        for row in rows:
            out.print(
                f"{row['role']:<12} {row['status']:<10} {row['seconds']:6.2f} s  {row['text']}",
                emoji=False,
            )
        if not rows:
            out.print("no role has a chat model")

    problems = [
        (f"{row['role']} ({row['spec']}): {row['detail']}", "")
        for row in rows
        if row["status"] != "parsed"
    ]
    print_result("models test", {"roles": rows}, show=lines, json=json, problems=problems)


_COLUMNS = ("version", "images", "audio", "video", "json_schema", "context", "image_limit")


def _client(specs: list[str] | None) -> ModelClient:
    from egomem.config import load_settings, model_table
    from egomem.models import ModelClient

    return ModelClient.from_settings(load_settings(model=model_table(specs or ()) or None))


async def _tests(client: ModelClient) -> Any:
    from egomem.models import CHAT_ROLES, send_test_request

    roles = [role for role in CHAT_ROLES if client.has(role)]
    async with client:
        replies = await asyncio.gather(*(send_test_request(client, role) for role in roles))
    return dict(zip(roles, replies, strict=True))


def _cell(value: object, is_default: bool) -> str:
    if value is None:
        return "?"
    text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    return text + ("*" if is_default else "")
