"""The strategy of the page, installed as the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import egomem
from egomem.answer import get
from egomem.answer.strategy import STRATEGIES
from egomem.cli import main
from egomem.memory import Store
from egomem.records import Observation, Recording, Status, Track
from egomem.testing.scripted_replies import Rule, Script
from egomem.testing.scripted_server import ScriptedServer
from egomem.timeline import Span

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "extend.md"
REPLY = '{"answer": "She asked for salt.", "evidence": [1]}'


def from_page(language: str) -> str:
    """The first block of a language in the section on strategies."""
    section = PAGE.read_text("utf-8").split("## A strategy", 1)[1]
    match = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture(autouse=True)
def _heard(install: Any) -> None:
    head, point = from_page("toml").strip().split("\n")
    assert head == f'[project.entry-points."{STRATEGIES.group}"]'
    install("my_strategies", from_page("python"), STRATEGIES.group, point.replace('"', ""))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(rules=(Rule(reply=REPLY),))) as running:
        yield running


def test_it_answers_from_what_was_said(server: ScriptedServer, tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_recording(Recording(id="day", name="day.mp4", duration=60))
        for source, text in (("speech", "Pass me the salt."), ("caption", "Ana cooks.")):
            track = Track(source=source, observer="made")
            store.put_track(track)
            note = {"source": source, "track": track.id, "text": text}
            store.add([Observation(recording="day", span=Span(1, 2), **note)])
    with egomem.open(tmp_path / "memory", models={"reader": server.spec}) as memory:
        answer = memory.ask("What did Ana ask for?", strategy="heard")
    assert (answer.text, answer.status) == ("She asked for salt.", Status.PARSED)
    assert [e.quote for e in answer.evidence] == ["Pass me the salt."]
    (request,) = server.requests
    assert "Ana cooks." not in request.text


def test_it_says_nothing_where_nothing_was_said(tmp_path: Path) -> None:
    with egomem.open(tmp_path / "memory", create=True) as memory:
        answer = memory.ask("What did Ana ask for?", strategy="heard")
    assert (answer.status, answer.strategy) == (Status.ABSTAINED, "heard")


def test_it_is_listed_with_its_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "strategies"]) == 0
    (line,) = [x for x in capsys.readouterr().out.splitlines() if x.split()[:1] == ["heard"]]
    # A table that is piped is not wrapped.
    assert " ".join(line.split()) == (
        "heard Answers from what was said, and nothing else. my_strategies 1.0"
    )


def test_it_declares_what_the_page_says() -> None:
    heard = get("heard")
    assert (heard.reads, heard.roles) == ({"speech"}, ("reader",))
    assert heard.identity == "my_strategies 1.0", "prompts are declared, a version is not"
