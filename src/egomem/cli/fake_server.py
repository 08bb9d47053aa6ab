"""`egomem fake-server`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fake_server(
    script: Annotated[
        Path | None,
        typer.Option("--script", metavar="FILE", help="What to answer: a JSON or TOML file."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 8765,
) -> None:
    """Serve scripted replies as a model server does, on this machine alone, until stopped."""
    import threading
    from contextlib import suppress

    from egomem.models.fake_server import FakeServer, Script

    told = Script.load(script) if script else Script()
    with suppress(KeyboardInterrupt), FakeServer(told, port=port) as server:
        typer.echo(f"serving {told.model} at {server.url}; stop with Ctrl-C")
        typer.echo(f"use it with: --model openai-compatible:{told.model}@{server.url}")
        threading.Event().wait()
