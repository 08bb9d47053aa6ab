"""Versions of the packages that a run's answers depend on."""

from __future__ import annotations

import sys
from functools import cache

PACKAGES = ("av", "numpy", "pydantic", "pydantic-ai-slim")
"""What decodes frames and sends requests."""


@cache
def version() -> str:
    """The installed version of egomem; looked up once, as each answer is stamped with it."""
    from importlib.metadata import version as installed

    return installed("egomem")


def versions() -> dict[str, str]:
    """Versions of egomem, Python, and those of `PACKAGES` that are installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    by_name = {"egomem": version(), "python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            by_name[name] = installed(name)
        except PackageNotFoundError:
            continue
    return by_name
