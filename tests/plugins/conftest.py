"""Packages that a test installs into a folder of its own: a module and what pip leaves behind."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import pytest

from egomem.answer.strategy import STRATEGIES
from egomem.benchmarks import FORMATS
from egomem.plugins import Registry

REGISTRIES: dict[str, Registry[Any]] = {
    registry.group: registry for registry in (STRATEGIES, FORMATS)
}


@dataclass
class Install:
    """Installs a package of one module into `folder`; the same name again replaces it."""

    folder: Path
    names: list[tuple[str, str]] = field(default_factory=list)

    def __call__(
        self, package: str, text: str, group: str, points: str, version: str = "1.0"
    ) -> None:
        """`points`: lines `name = module:object` of the entry-point group."""
        for old in self.folder.glob(f"{package}-*.dist-info"):
            shutil.rmtree(old)
        (self.folder / f"{package}.py").write_text(text, "utf-8")
        info = self.folder / f"{package}-{version}.dist-info"
        info.mkdir()
        head = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        (info / "METADATA").write_text(head, "utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{points}\n", "utf-8")
        self.names += [(group, line.partition(" =")[0]) for line in points.splitlines()]
        self.forget()

    def forget(self) -> None:
        """Let the packages be imported anew, as in another process."""
        for path in self.folder.glob("*.py"):
            sys.modules.pop(path.stem, None)
        for group, name in self.names:
            if group in REGISTRIES:
                REGISTRIES[group].discard(name)
        invalidate_caches()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages that end with the test."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    # A module that is written twice within a second must not be read from its old bytecode.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    installed = Install(folder)
    yield installed
    installed.forget()
