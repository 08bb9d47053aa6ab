"""The line that moves while a run goes on."""

from __future__ import annotations

import io
import time

from egomem.evaluate import RunProgress
from egomem.evaluate.progress import TOLD, ProgressLine
from egomem.records import Usage


def at(done: int, seconds: float, **fields: object) -> RunProgress:
    made = RunProgress("answers", 400, done=done, **fields)  # type: ignore[arg-type]
    made.began = time.monotonic() - seconds
    return made


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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_moves_and_errors_above_it() -> None:
    screen = Terminal()
    with ProgressLine(stream=screen) as line:
        line.update(at(400, 100, last_error="no such model"))
        line.update(at(400, 200, last_error="no such model"))
        line.say("the gate is passed")
    shown = screen.getvalue()
    assert shown.startswith("error: no such model\n\ranswers 400 / 400, 4.0 a second")
    assert shown.count("no such model") == 1
    assert shown.endswith(
        "\r" + " " * len("answers 400 / 400, 2.0 a second") + "\rthe gate is passed\n"
    )


def test_elsewhere_a_line_comes_now_and_then_and_at_the_end() -> None:
    out = io.StringIO()
    with ProgressLine(stream=out) as line:
        for done in (1, 2, 3, 400):
            line.update(at(done, 100))
    assert [text.split(",")[0] for text in out.getvalue().splitlines()] == [
        "answers 1 / 400",
        "answers 400 / 400",
    ]
    quiet = io.StringIO()
    with ProgressLine(quiet=True, stream=quiet) as line:
        line.update(at(400, 1, last_error="no such model"))
        line.say("the gate is passed")
    assert quiet.getvalue() == ""


def test_many_different_errors_are_not_all_told() -> None:
    out = io.StringIO()
    with ProgressLine(stream=out) as line:
        for k in range(TOLD + 3):
            line.update(at(1, 1, errors=k, last_error=f"error {k}"))
    assert out.getvalue().count("error: ") == TOLD
