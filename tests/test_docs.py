"""The commands in the tutorial and the README run, and print what stands there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from egomem.cli import app, main
from egomem.testing import Rule

ROOT = Path(__file__).resolve().parents[1]
RUN = ("README.md", "docs/tutorial/first-memory.md")
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")


def sessions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each `$ command` of the console blocks, with the lines that stand under it."""
    for block in BLOCK.findall(text):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = piece.rstrip("\n").split("\n")
            yield command, [line for line in output if line.strip()]


@pytest.mark.parametrize("page", RUN)
def test_commands_print_what_the_page_shows(
    page: str,
    demo_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(demo_folder.parent)
    monkeypatch.setenv("EGOMEM_MEMORY", str(demo_folder / "memory"))
    ran = 0
    for command, expected in sessions((ROOT / page).read_text()):
        words = shlex.split(command)
        if words[:2] not in [["egomem", c] for c in ("show", "search", "ask", "probe", "doctor")]:
            continue
        if "--model" in words:
            continue
        code = main(words[1:])
        printed = capsys.readouterr().out
        assert code == 0, command
        lines = {" ".join(line.split()) for line in printed.splitlines()}
        for line in expected:
            if line.strip() != "...":
                assert " ".join(line.split()) in lines, f"{page}: {command}: {line!r} in {printed}"
        ran += 1
    assert ran >= 3


PAGES = [
    page
    for page in sorted(ROOT.glob("**/*.md"))
    if not any(part.startswith(".") for part in page.relative_to(ROOT).parts)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = [t for t in LINK.findall(page.read_text()) if not (page.parent / t).exists()]
    assert missing == []


def options(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """Each long option below a command, with the command that has it."""
    if hasattr(command, "list_commands"):
        for one in command.list_commands(None):
            yield from options(command.get_command(None, one), f"{name} {one}")
    for parameter in command.params:
        long = [o for o in parameter.opts if o.startswith("--")]
        if long:
            yield name, long[0]


def test_every_option_stands_in_a_page() -> None:
    texts = [page.read_text() for page in PAGES if page.name != "CHANGELOG.md"]
    documented = {word for text in texts for word in re.findall(r"--[a-z][a-z-]*", text)}
    options_found = list(options(typer.main.get_command(app), "egomem"))
    assert len(options_found) > 150
    assert [(name, o) for name, o in options_found if o not in documented] == []


def test_the_page_on_testing_runs() -> None:
    page = (ROOT / "docs/reference/testing.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(code, names)
    names["test_a_busy_server_is_asked_again"]()


def test_the_page_on_testing_names_every_field_of_a_rule() -> None:
    page = (ROOT / "docs/reference/testing.md").read_text()
    assert set(Rule.model_fields) <= set(
        re.findall(r"\b(\w+)\b", page[page.index("## The script") :])
    )
