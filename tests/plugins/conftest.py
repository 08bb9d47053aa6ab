"""Packages that a test installs into a folder of its own: a module and what pip leaves behind."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import invalidate_caches
from pathlib import Path

import pytest


@dataclass
class Install:
    """Installs a package of one module into `folder`; the same name again replaces it."""

    folder: Path

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
        sys.modules.pop(package, None)
        invalidate_caches()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages that end with the test."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    # A module that is written twice within a second must not be read from its old bytecode.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Install(folder)
    for path in folder.glob("*.py"):
        sys.modules.pop(path.stem, None)
