"""`egomem plugins`, and the names of plug-ins in help."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint, version
from typing import Any

import pytest

from egomem import plugins
from egomem.answer import strategies
from egomem.answer.strategy import STRATEGIES
from egomem.cli import main
from egomem.cli.plugins import REGISTRIES, registry_of

Capture = pytest.CaptureFixture[str]


def listed(capsys: Capture, *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["plugins", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_every_plug_in_is_listed_with_one_line_and_its_origin(capsys: Capture) -> None:
    code, printed = listed(capsys)
    assert code == 0
    assert list(printed["result"]) == list(REGISTRIES)
    for kind, rows in printed["result"].items():
        assert [row["name"] for row in rows] == registry_of(kind).names()
        assert all(row["summary"].endswith(".") for row in rows)
        builtin = [row for row in rows if row["name"] in registry_of(kind).builtin]
        assert {row["origin"] for row in builtin} == {f"egomem {version('egomem')}"}


def test_one_kind_is_listed_as_text(capsys: Capture) -> None:
    assert main(["plugins", "strategies"]) == 0
    printed = capsys.readouterr().out
    assert "extractive" in printed
    assert "observers" not in printed
    assert main(["plugins", "colours"]) == 2


def test_a_broken_package_is_told_and_the_rest_is_listed(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = EntryPoint("broken", "no_such_module", STRATEGIES.group)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [broken])
    code, printed = listed(capsys, "strategies")
    assert code == 1
    assert "strategy broken cannot be loaded" in printed["problems"][0]["what"]
    assert "caption" in [row["name"] for row in printed["result"]["strategies"]]


@pytest.mark.parametrize("command", ["ask", "compare"])
def test_help_names_the_strategies_that_are_installed(command: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert ", ".join(n for n, s in strategies().items() if not s.oracle) in printed
    assert "evidence-frames" not in printed
