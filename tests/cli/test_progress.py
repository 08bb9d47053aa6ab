"""What moves on a terminal while something long goes on, and what is printed elsewhere."""

from __future__ import annotations

import io
import time

import pytest

from egomem.cli.progress import MAX_ERRORS, ProgressDisplay
from egomem.evaluate import RunProgress
from egomem.ingest import Step
from egomem.records import Usage


def at(done: int, seconds: float, **fields: object) -> RunProgress:
    progress = RunProgress("answers", 400, done=done, **fields)  # type: ignore[arg-type]
    progress.began = time.monotonic() - seconds
    return progress


def test_it_tells_rate_time_left_money_and_errors() -> None:
    sent = Usage(requests=40, cost=0.01234)
    assert at(40, 20, spent=sent, errors=2).line() == (
        "answers 40 / 400, 2.0 a second, 3:00 left, $0.0123, 2 errors"
    )
    unpriced = Usage(requests=1, cost=None)
    assert at(390, 30, spent=unpriced).line() == (
        "answers 390 / 400, 13.0 a second, 0:01 left, price unknown"
    )
    some = Usage(requests=9, cost=0.5, unpriced=3)
    assert at(400, 100, spent=some).line() == ("answers 400 / 400, 4.0 a second, at least $0.5000")
    assert at(0, 5).line() == "answers 0 / 400, 0.0 a second"
    assert at(400, 100).line() == "answers 400 / 400, 4.0 a second"


def test_the_time_left_follows_the_latest_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """900 replies out of a cache in a second, then one in ten seconds."""
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = RunProgress("answers", 2000)
    for _ in range(900):
        clock[0] += 0.001
        progress.advance()
    assert progress.line() == "answers 900 / 2000, 1000.0 a second, 0:01 left"
    for _ in range(100):
        clock[0] += 10
        progress.advance("no reply")
    assert progress.line() == "answers 1000 / 2000, 0.1 a second, 2:46:40 left, 100 errors"
    clock[0] += 630  # nothing comes any more
    assert "5:33:20 left" in progress.line()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


def test_a_terminal_has_a_bar_that_moves_and_errors_above_it() -> None:
    screen = Terminal()
    with ProgressDisplay(stream=screen) as display:
        display.update(at(200, 100, last_error="no such model"))
        display.update(at(300, 100, last_error="no such model"))
        display.say("the gate is passed")
    text = screen.getvalue()
    assert "answers 300 / 400, 3.0 a second" in text
    assert text.count("no such model") == 1
    assert "the gate is passed" in text


def test_a_terminal_has_a_bar_for_the_file_that_is_ingested() -> None:
    screen = Terminal()
    with ProgressDisplay(stream=screen) as display:
        display.step(Step("/videos/day.mp4", "reading", 0, 1))
        display.step(Step("/videos/day.mp4", "watching", 30.0, 600.0))
    assert "watching day.mp4 30 / 600 s" in screen.getvalue()
    assert "reading" not in screen.getvalue()


def test_elsewhere_an_ingest_says_its_notes_alone_and_each_once() -> None:
    out = io.StringIO()
    with ProgressDisplay(stream=out) as display:
        for name in ("a.mp4", "b.mp4"):
            display.say("without objects: pip install 'egomem[objects]'")
            display.step(Step(name, "watching", 30.0, 600.0))
    assert out.getvalue() == "without objects: pip install 'egomem[objects]'\n"


def test_elsewhere_a_run_prints_a_line_now_and_then_and_at_the_end() -> None:
    out = io.StringIO()
    with ProgressDisplay(stream=out) as display:
        for done in (1, 2, 3, 400):
            display.update(at(done, 100))
    assert [text.split(",")[0] for text in out.getvalue().splitlines()] == [
        "answers 1 / 400",
        "answers 400 / 400",
    ]
    quiet = io.StringIO()
    with ProgressDisplay(quiet=True, stream=quiet) as display:
        display.update(at(400, 1, last_error="no such model"))
        display.say("the gate is passed")
    assert quiet.getvalue() == ""


def test_many_different_errors_are_not_all_told() -> None:
    out = io.StringIO()
    with ProgressDisplay(stream=out) as display:
        for k in range(MAX_ERRORS + 3):
            display.update(at(1, 1, errors=k, last_error=f"error {k}"))
    assert out.getvalue().count("error: ") == MAX_ERRORS
