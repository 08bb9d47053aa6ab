"""Help texts whose parts are looked up when help is printed, so that commands start quickly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand


def _strategies() -> list[str]:
    from egomem.answer import strategies

    return [name for name, strategy in strategies().items() if not strategy.oracle]


def _caption_tokens() -> list[str]:
    from egomem.defaults import CAPTION_TOKENS

    return [str(CAPTION_TOKENS)]


def _formats() -> list[str]:
    from egomem.benchmarks.registry import FORMATS

    return FORMATS.names()


PLACEHOLDERS: dict[str, Callable[[], list[str]]] = {
    "{strategies}": _strategies,
    "{formats}": _formats,
    "{caption_tokens}": _caption_tokens,
}
"""A placeholder in a help text -> what takes its place."""


class LazyHelpCommand(TyperCommand):
    """A command whose help has its placeholders replaced when it is printed."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for param in self.params:
            text = getattr(param, "help", None) or ""
            for placeholder, names in PLACEHOLDERS.items():
                if placeholder in text:
                    text = text.replace(placeholder, ", ".join(names()))
                    param.help = text  # type: ignore[attr-defined]  # an option has one
        super().format_options(ctx, formatter)
