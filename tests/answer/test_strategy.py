"""The register of strategies, and their settings."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from egomem import plugins
from egomem.answer import StrategySettings, Task, get, register, settings_hash, strategies
from egomem.answer.strategy import STRATEGIES
from egomem.errors import ConfigError, UsageError
from egomem.records import Answer, Question, Status


def test_the_built_in_ones_come_first_and_say_what_they_do() -> None:
    listed = strategies()
    assert list(listed)[:6] == [
        "clean", "video", "caption", "retrieve", "verify", "extractive",
    ]  # fmt: skip
    assert all(s.summary.endswith(".") for s in listed.values())


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="choose one of: clean, video"):
        get("clairvoyant")


def test_settings_are_checked_by_name_and_value() -> None:
    video = get("video")
    assert video.configure({"frames": 8}).model_dump()["frames"] == 8
    with pytest.raises(ConfigError, match=r"strategy video: frames: .*greater than or equal to 1"):
        video.configure({"frames": 0})
    with pytest.raises(ConfigError, match=r"framez.*its settings are: .*frames"):
        video.configure({"framez": 8})


def test_the_hash_names_a_strategy_with_all_its_settings() -> None:
    video, plain = get("video"), get("video").configure()
    assert settings_hash("video", plain) == settings_hash("video", video.configure({}))
    assert settings_hash("video", plain) != settings_hash("video", video.configure({"frames": 8}))
    assert settings_hash("video", plain) != settings_hash("other", plain)


def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """Another package that is installed: a module, and its entry point."""
    (tmp_path / f"{name}_module.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint(name, f"{name}_module", STRATEGIES.group)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])


def test_other_packages_add_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "from egomem.answer import register\n"
        "from egomem.records import Answer, Status\n"
        "@register('echo')\n"
        "async def echo(task):\n"
        "    '''Says the question again.'''\n"
        "    return Answer(text=task.question.text, status=Status.PARSED, strategy='echo')\n"
    )
    module(tmp_path, monkeypatch, "echo", text)
    assert get("echo").summary == "Says the question again."
    assert "echo" in strategies()
    STRATEGIES.discard("echo")


def test_a_broken_package_is_warned_of_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(tmp_path, monkeypatch, "broken", "raise RuntimeError('no luck')\n")
    with pytest.warns(UserWarning, match="broken cannot be loaded .*no luck"):
        listed = strategies()
    assert "broken" not in listed
    assert "caption" in listed
    with pytest.raises(ConfigError, match="no luck"):
        get("broken")


def test_two_packages_cannot_share_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    get("clean")

    async def other(task: Task[Any]) -> Answer:
        return Answer(text="", status=Status.ABSTAINED, strategy="clean")

    with pytest.raises(ConfigError, match="two strategies are named clean"):
        register("clean", StrategySettings)(other)


@pytest.mark.parametrize("form", ["scores", "letter"])
def test_a_strategy_declares_that_it_asks_for_evidence_where_it_does(form: str) -> None:
    question = Question.of("Where?", ["here", "there"])
    for name, asks in (("clean", False), ("caption", True), ("video", True), ("verify", True)):
        strategy = get(name)
        assert strategy.texts is not None
        declared = strategy.texts(question, strategy.configure({"format": form}))
        assert any("vidence" in text for text in declared) is asks, name
