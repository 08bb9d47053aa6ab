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
        typer.Option("--script", metavar="FILE", help="JSON or TOML file with the replies."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 for any free one.")
    ] = 8765,
    json: JsonOption = False,
) -> None:
    """Serve scripted replies as a model server would, on this machine only, until stopped.

    With --json, prints one object when the server is ready: its address, model and spec.
    """
    import threading
    from contextlib import suppress

    from egomem.testing import Script, ScriptedServer

    loaded = Script.load(script) if script else Script()
    with suppress(KeyboardInterrupt), ScriptedServer(loaded, port=port) as server:

        def show(out: Console) -> None:
            out.print(f"serving {loaded.model} at {server.url}; stop with Ctrl-C")
            out.print(f"use it with: --model {server.spec}")

        result = {"url": server.url, "model": loaded.model, "spec": server.spec}
        print_result("fake-server", result, show=show, json=json)
        sys.stdout.flush()
        threading.Event().wait()
