"""The examples of docs/reference/time.md are true."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "time.md"


def test_the_page_on_time() -> None:
    examples = doctest.DocTestParser().get_doctest(
        PAGE.read_text(encoding="utf-8").replace("```", ""), {}, PAGE.name, str(PAGE), 0
    )
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.tries == 7
    assert runner.failures == 0
