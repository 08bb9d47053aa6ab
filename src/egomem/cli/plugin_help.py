"""Help texts that name the plug-ins which are installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand


def _strategies() -> list[str]:
    from egomem.answer import strategies

    return [name for name, strategy in strategies().items() if not strategy.oracle]


def _formats() -> list[str]:
    from egomem.benchmarks.registry import FORMATS

    return FORMATS.names()


PLACEHOLDERS: dict[str, Callable[[], list[str]]] = {
    "{strategies}": _strategies,
    "{formats}": _formats,
}
"""What stands in a help text -> the names that take its place."""


class PluginCommand(TyperCommand):
    """Looks up the names of plug-ins when its help is printed: a command that runs need not."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for param in self.params:
            text = getattr(param, "help", None) or ""
            for placeholder, names in PLACEHOLDERS.items():
                if placeholder in text:
                    text = text.replace(placeholder, ", ".join(names()))
                    param.help = text  # type: ignore[attr-defined]  # an option has one
        super().format_options(ctx, formatter)
