"""Exit codes, and what a start of the command line costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from egomem import errors
from egomem.cli import main
from egomem.cli.exit_codes import ExitCode, exit_code_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_has_every_code() -> None:
    section = PAGE.read_text("utf-8").split("## Exit codes", 1)[1].partition("\n## ")[0]
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
    assert codes == [code.value for code in ExitCode]


@pytest.mark.parametrize(
    ("kind", "code"),
    [("UsageError", 2), ("TimeError", 2), ("ConfigError", 2), ("MediaError", 3), ("FullError", 3)],
)
def test_wrong_usage_has_a_code_of_its_own(kind: str, code: int) -> None:
    assert exit_code_of(getattr(errors, kind)("x")) == code


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], env={**os.environ, **variables}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip


def test_help_imports_neither_settings_nor_plug_ins() -> None:
    code = (
        "import sys; from egomem.cli import main; main(['--help']); "
        "print('IMPORTED', *sys.modules, file=sys.stderr)"
    )
    modules = run("-c", code).stderr.split()
    assert modules[0] == "IMPORTED"
    heavy = {"pydantic", "numpy", "rich.table", "importlib.metadata", "av", "egomem.config"}
    assert heavy & set(modules) == set()


def test_a_shell_completes_commands_and_options() -> None:
    bash = {"_EGOMEM_COMPLETE": "complete_bash"}
    done = run("-m", "egomem", COMP_WORDS="egomem be", COMP_CWORD="1", **bash)
    assert done.stdout.split() == ["benchmark"]
    line = "egomem benchmark stats --pl"
    done = run("-m", "egomem", COMP_WORDS=line, COMP_CWORD="3", **bash)
    assert done.stdout.split() == ["--plots"]


@pytest.mark.parametrize("name", [".", ".."])
def test_a_path_that_ends_in_a_dot_is_named_whole(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (folder := tmp_path / "inner").mkdir()
    monkeypatch.chdir(folder)
    assert main(["report", name]) == ExitCode.WRONG_USAGE
    assert f"no run at {name};" in capsys.readouterr().err
