"""`egomem fake-server`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console


def fake_server(
    script: Annotated[
        Path | None,
        typer.Option("--script", metavar="FILE", help="What to answer: a JSON or TOML file."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 8765,
    json: JsonOption = False,
) -> None:
    """Serve scripted replies as a model server does, on this machine alone, until stopped.

    With --json, one object is printed when the server is ready: its address and model.
    """
    import threading
    from contextlib import suppress

    from egomem.testing.scripted_server import Script, ScriptedServer

    told = Script.load(script) if script else Script()
    with suppress(KeyboardInterrupt), ScriptedServer(told, port=port) as server:
        spec = f"openai-compatible:{told.model}@{server.url}"

        def show(out: Console) -> None:
            out.print(f"serving {told.model} at {server.url}; stop with Ctrl-C")
            out.print(f"use it with: --model {spec}")

        result = {"url": server.url, "model": told.model, "spec": spec}
        print_result("fake-server", result, show=show, json=json)
        sys.stdout.flush()
        threading.Event().wait()
