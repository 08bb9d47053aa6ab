"""`egomem plugins`"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egomem.cli.options import JsonOption
from egomem.cli.output import make_table, print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.plugins import Registry

REGISTRIES = {
    "strategies": "egomem.answer.strategy:STRATEGIES",
    "observers": "egomem.observe.plugin:OBSERVERS",
    "benchmarks": "egomem.benchmarks.registry:FORMATS",
}
"""Every kind of plug-in -> module:object of its registry."""


def registry_of(kind: str) -> Registry[Any]:
    """The registry of a kind of plug-in."""
    module, _, name = REGISTRIES[kind].partition(":")
    registry: Registry[Any] = getattr(import_module(module), name)
    return registry


def plugins(
    kind: Annotated[
        str | None, typer.Argument(help=f"One of {', '.join(REGISTRIES)}. Default: all.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List strategies, observers and formats of benchmarks, with the package that provides it."""
    import warnings

    from egomem.errors import UsageError

    if kind is not None and kind not in REGISTRIES:
        raise UsageError(f"there is no kind of plug-in {kind!r}", f"one of {', '.join(REGISTRIES)}")
    listed: dict[str, list[dict[str, str]]] = {}
    with warnings.catch_warnings(record=True) as broken:
        warnings.simplefilter("always")
        for each in [kind] if kind else REGISTRIES:
            registry = registry_of(each)
            listed[each] = [
                {"name": name, "summary": plugin.summary, "origin": str(registry.origin(name))}
                for name, plugin in registry.all().items()
            ]

    def show(out: Console) -> None:
        for each, rows in listed.items():
            table = make_table(each, "", "from", box=None)
            for row in rows:
                table.add_row(row["name"], row["summary"], row["origin"])
            out.print(table)

    problems = [(str(warning.message), "") for warning in broken]
    print_result("plugins", listed, show=show, json=json, problems=problems)
