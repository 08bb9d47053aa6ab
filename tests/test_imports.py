"""No circle of files, and nobody reaches into another file's underscore names.

Every import counts: those inside functions, which run all the same, and those under
`TYPE_CHECKING`, which a reader follows as well.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import egomem

ROOT = Path(egomem.__file__).parent

NAMED_TUPLE = {"_", "_asdict", "_fields", "_make", "_replace"}
"""Public names, whatever their spelling."""


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """The groups of files each of which reaches every other one by imports, sorted."""
    reach: dict[str, set[str]] = {}
    for start in imports:
        reach[start], todo = set(), [*imports[start]]
        while todo:
            if (module := todo.pop()) not in reach[start]:
                reach[start].add(module)
                todo += imports.get(module, ())
    groups = {
        tuple(sorted(m for m in reach[start] if start in reach[m]))
        for start in imports
        if start in reach[start]
    }
    return sorted(map(list, groups))


def test_no_circle_of_files() -> None:
    graph = grimp.build_graph("egomem", cache_dir=None)
    rings = circles({m: graph.find_modules_directly_imported_by(m) for m in graph.modules})
    assert rings == []


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE


def private_names(tree: ast.AST) -> set[str]:
    """The underscore names that a file defines: functions, classes, variables, attributes."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Constant(value=str(name)):  # __slots__, and object.__setattr__ of frozen ones
                names.add(name)
    return {name for name in names if is_private(name)}


def reaches(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Each use of an underscore name that another file of ours defines, as "file: name"."""
    defined = {file: private_names(tree) for file, tree in trees.items()}
    ours = set().union(*defined.values())
    for file, tree in trees.items():
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(module), names=names) if module.startswith("egomem"):
                    yield from (f"{file}: {n.name}" for n in names if is_private(n.name))
                case ast.Attribute(value=ast.Name(id="self" | "cls")):
                    pass  # a class uses what it inherits
                case ast.Attribute(attr=name) if name in ours - defined[file]:
                    yield f"{file}: {name}"


def test_nobody_reaches_into_another_files_underscore_names() -> None:
    trees = {str(p.relative_to(ROOT)): ast.parse(p.read_text()) for p in ROOT.rglob("*.py")}
    assert sorted(set(reaches(trees))) == []


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [["a", "b", "c"]]),
        ({"a": {"b"}, "b": {"a"}, "c": {"c"}}, [["a", "b"], ["c"]]),
    ],
)
def test_circles_are_found(imports: dict[str, set[str]], expected: list[list[str]]) -> None:
    assert circles(imports) == expected


def test_reaches_are_found() -> None:
    trees = {
        "a.py": ast.parse("class A:\n    def __init__(self): self._x = 1\ndef _f(): ..."),
        "b.py": ast.parse("from egomem.a import _f\ndef g(a): return a._x, a._replace, a.__doc__"),
        "c.py": ast.parse("class C(A):\n    def g(self): return self._x"),
    }
    assert sorted(reaches(trees)) == ["b.py: _f", "b.py: _x"]
