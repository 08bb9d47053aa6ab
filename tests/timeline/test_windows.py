"""Windows cover a recording exactly once; times to look at lie on one grid."""

import ast
import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import egomem
from egomem.errors import TimeError, UsageError
from egomem.timeline import Clock, Span, sample_times, windows


@given(st.floats(0.01, 5000), st.floats(0.5, 100))
def test_windows_cover_a_recording_exactly_once(duration: float, length: float) -> None:
    spans = windows(duration, length)
    assert spans[0].start == 0
    assert spans[-1].end == duration
    for one, after in pairwise(spans):
        assert one.end == after.start
        assert one.length == pytest.approx(length)


@pytest.mark.parametrize(
    ("duration", "count"), [(0, 0), (0.04, 1), (29.9, 1), (30, 1), (30.1, 2), (90, 3)]
)
def test_a_recording_of_exactly_k_windows_has_k(duration: float, count: int) -> None:
    assert len(windows(duration, 30)) == count


def test_neighbouring_windows_share_a_grid() -> None:
    times = [t for span in windows(7, 2.5) for t in sample_times(span, 1)]
    assert times == [0, 1, 2, 3, 4, 5, 6]
    assert sample_times(Span(0.2, 0.4), 1) == [0.2]


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_lengths_and_rates_that_cannot_be_are_refused(bad: float) -> None:
    with pytest.raises(UsageError):
        windows(10, bad)
    with pytest.raises(UsageError):
        sample_times(Span(0, 10), bad)


@pytest.mark.parametrize("year", [1, 1066, 9999])
def test_a_start_in_an_impossible_year_is_refused(year: int) -> None:
    with pytest.raises(TimeError, match=f"year {year}"):
        Clock(datetime(year, 1, 1, tzinfo=UTC))


def test_the_default_window_stands_in_one_file() -> None:
    root = Path(egomem.__file__).parent
    homes = {
        path.name
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == 30 and type(node.value) in (int, float)
        if re.search("window|length", path.read_text().splitlines()[node.lineno - 1], re.IGNORECASE)
    }
    assert homes == {"defaults.py"}
