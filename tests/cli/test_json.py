"""`--json` is JSON, whatever happens."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from egomem.cli import main
from egomem.cli.output import print_result
from egomem.memory import Store


@pytest.mark.parametrize("flag", ["--json", "--json=1"])
def test_wrong_usage_is_json_too(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "mug", "-k", "none", flag]) == 2
    problem = json.loads(capsys.readouterr().out)["problems"][0]
    assert problem["remedy"].startswith("see: egomem")


def test_behind_two_dashes_nothing_is_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "-m", str(tmp_path / "no"), "--", "--json"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("egomem: there is no memory")


def test_a_fault_of_ours_is_json_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("seven")

    Store.open(tmp_path, create=True).close()
    monkeypatch.setattr("egomem.api.Memory.summary", fail)
    with pytest.raises(ZeroDivisionError):
        main(["show", "--json", "-m", str(tmp_path)])
    problem = json.loads(capsys.readouterr().out)["problems"][0]
    assert "ZeroDivisionError: seven" in problem["what"]


def test_json_has_no_form_for_nan(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"a": [math.nan, 1.5], "b": {"c": -math.inf}}
    print_result("x", values, show=lambda out: None, json=True)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    body = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert body["result"] == {"a": [None, 1.5], "b": {"c": None}}
