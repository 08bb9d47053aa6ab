"""Plug-ins: one registry for each kind, filled by egomem itself and by other packages.

A kind lists its built-ins in one table, in the form of an entry point, and names the group under
which other packages add theirs:

    STRATEGIES = Registry(
        "egomem.strategies", "strategy", Strategy, {"clean": "egomem.answer.clean:clean"}
    )

    # pyproject.toml of another package
    [project.entry-points."egomem.strategies"]
    mine = "my_package.mine"

The object of an entry point is the plug-in itself, or anything whose import adds it: a module, or a
function with a decorator that calls `Registry.add`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from egomem.errors import ConfigError, UsageError
from egomem.hashing import FINGERPRINT_LENGTH, hash_bytes

LARGE = 1_000_000
"""Bytes of a file that is weights or data rather than code or a prompt."""


class Plugin(Protocol):
    """What every kind of plug-in has."""

    @property
    def summary(self) -> str:
        """One line that says what it does."""
        ...


class Origin(NamedTuple):
    """Who provides a plug-in: a distribution and its version, or a module that only this process
    has registered (version "")."""

    provider: str
    version: str

    def __str__(self) -> str:
        return f"{self.provider} {self.version}".rstrip()


T = TypeVar("T", bound=Plugin)


class Registry(Generic[T]):
    """The plug-ins of one kind, by name; each is imported when it is first asked for.

    `group`: of entry points; `noun`: one of the kind, for messages; `kind`: the type of a plug-in;
    `builtin`: name -> "module:object" of those that egomem brings.
    """

    def __init__(self, group: str, noun: str, kind: type[T], builtin: Mapping[str, str]) -> None:
        self.group = group
        self.noun = noun
        self.kind = kind
        self.builtin = dict(builtin)
        self._plugins: dict[str, T] = {}
        self._modules: dict[str, str] = {}

    def add(self, name: str, plugin: T, module: str) -> None:
        """Register a plug-in that `module` defines; the same module may do so again.

        Raises ConfigError where another one has the name.
        """
        holder = self._modules.get(name, self._builtin_module(name)) or module
        if holder != module:
            raise self._duplicate(name, holder, module)
        self._plugins[name] = plugin
        self._modules[name] = module

    def discard(self, name: str) -> None:
        """Forget a plug-in; one that a decorator registers comes back when its module is imported
        anew."""
        self._plugins.pop(name, None)
        self._modules.pop(name, None)

    def names(self) -> list[str]:
        """The names of all plug-ins: egomem's own first, then those of other packages, sorted."""
        foreign = {*self._entry_points(), *self._plugins} - {*self.builtin}
        return [*self.builtin, *sorted(foreign)]

    def get(self, name: str) -> T:
        """The plug-in of that name. Raises UsageError where it is unknown, ConfigError where it
        cannot be loaded or several packages have the name."""
        if name not in self._plugins:
            # Installed packages are not searched for a built-in: that would slow every start.
            points = [self._builtin_point(name)] if name in self.builtin else self._points(name)
            if not points:
                names = ", ".join(self.names())
                raise UsageError(f"there is no {self.noun} named {name}", f"choose one of: {names}")
            if len(points) > 1:
                raise self._duplicate(name, *(str(_origin(point)) for point in points))
            self._load(name, points[0])
        return self._plugins[name]

    def all(self) -> dict[str, T]:
        """All plug-ins by name, in the order of `names`.

        One that cannot be loaded is warned of and left out; `get` says why.
        """
        plugins: dict[str, T] = {}
        for name in self.names():
            try:
                plugins[name] = self.get(name)
            except ConfigError as fault:
                warnings.warn(str(fault), stacklevel=2)
        for point in entry_points(group=self.group):
            if point.name in self.builtin:
                clash = self._duplicate(point.name, "egomem", str(_origin(point)))
                warnings.warn(str(clash), stacklevel=2)
        return plugins

    def origin(self, name: str) -> Origin:
        """Who provides the plug-in of that name, which need not be loaded."""
        if name in self.builtin:
            return Origin("egomem", version("egomem"))
        points = self._points(name)
        module = self._modules.get(name)
        if not points and module is not None:
            # One import may register several, of which the entry points name one.
            points = [p for p in self._entry_points().values() if p.module == module]
        return _origin(points[0]) if points else Origin(module or name, "")

    def code(self, name: str) -> str:
        """What tells the code of a plug-in from that of another release: its origin, and a hash of
        its package's files. "" for egomem's own."""
        if name in self.builtin:
            return ""
        self.get(name)
        return f"{self.origin(name)} {files_hash(self._modules[name])}"

    def _load(self, name: str, point: EntryPoint) -> None:
        try:
            loaded = point.load()
        except ConfigError:
            raise
        except Exception as fault:  # whatever another package's import raises
            raise ConfigError(
                f"{self.noun} {name} cannot be loaded from {point.value}: "
                f"{type(fault).__name__}: {fault}",
                "fix or uninstall the package that provides it",
            ) from fault
        if isinstance(loaded, self.kind):
            self.add(name, loaded, point.module)
        if name not in self._plugins:
            raise ConfigError(
                f"{point.value} registers no {self.noun} named {name}",
                "fix or uninstall the package that provides it",
            )

    def _builtin_module(self, name: str) -> str | None:
        return self._builtin_point(name).module if name in self.builtin else None

    def _builtin_point(self, name: str) -> EntryPoint:
        return EntryPoint(name, self.builtin[name], self.group)

    def _points(self, name: str) -> list[EntryPoint]:
        """The entry points of that name, one for each distribution that has it."""
        points = {_origin(p): p for p in entry_points(group=self.group) if p.name == name}
        return list(points.values())

    def _entry_points(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}

    def _duplicate(self, name: str, *providers: str) -> ConfigError:
        kinds = self.group.rpartition(".")[2]
        return ConfigError(
            f"two {kinds} are named {name}: {' and '.join(providers)}", "rename one of them"
        )


def files_hash(module: str) -> str:
    """16 hex digits over the files of a module's package, so that a changed prompt is seen in
    whatever file of it; large files by name and size alone.

    A module without a file (typed into a shell) has another hash in every process.
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return f"process {os.getpid()}"
    parts = module.split(".")
    parents = (sys.modules.get(".".join(parts[: k + 1])) for k in range(len(parts)))
    # Not of a namespace package, which other distributions share: that has no file.
    packages = (p for p in parents if getattr(p, "__file__", None) and hasattr(p, "__path__"))
    folders = getattr(next(packages, None), "__path__", ())
    paths = [path for folder in folders for path in Path(folder).rglob("*") if path.is_file()]
    pieces = []
    for path in sorted(paths or [Path(file)]):
        if "__pycache__" not in path.parts:
            size = path.stat().st_size
            pieces.append(f"{path.name} {size}\n".encode())
            pieces.append(path.read_bytes() if size <= LARGE else b"")
    return hash_bytes(*pieces)[:FINGERPRINT_LENGTH]


def _origin(point: EntryPoint) -> Origin:
    if point.dist is None:
        return Origin(point.module, "")
    return Origin(point.dist.name, point.dist.version)
