"""Tables that are written oddly or damaged: what can be read is, and the rest gets its line."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.errors import MediaError
from egomem.media.streams import ProblemLog, Samples, csv_table, open_stream, survey

ROWS = ["0.00,0.1,0.2,1", "0.02,0.3,0.4,1", "0.04,0.5,0.6,1", "0.06,0.7,0.8,1"]


def read(path: Path) -> tuple[Samples, list[str]]:
    problems = ProblemLog()
    samples = open_stream(path, "gaze").load(problems=problems)
    return samples, [str(problem) for problem in problems.problems]


def gaze(path: Path, lines: list[str], header: str = "t,x,y,confidence") -> Path:
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


@pytest.fixture(params=["pyarrow", "numpy"])
def converter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(csv_table, "are_installed", lambda *names: False)
    else:
        pytest.importorskip("pyarrow")
    return str(request.param)


@pytest.mark.usefixtures("converter")
@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([*ROWS[:1], "0.01,0.9", *ROWS[1:]], "a row with fewer than 4 fields at line 3"),
        ([*ROWS[:2], "0.03,1,2,3,4", *ROWS[2:]], "a row with more than 4 fields at line 4"),
        ([*ROWS, "0.08,0.9"], "a row with fewer than 4 fields at line 6"),
        ([*ROWS[:3], "t,x,y,confidence", ROWS[3]], "the header stands between the rows again"),
        ([*ROWS[:1], "later,0.3,0.3,1", *ROWS[1:]], "no number in the column t at line 3"),
        ([*ROWS[:1], ",0.3,0.3,1", *ROWS[1:]], "no time"),
    ],
)
def test_a_bad_row_is_named_and_the_others_are_read(
    tmp_path: Path, lines: list[str], problem: str
) -> None:
    samples, problems = read(gaze(tmp_path / "g.csv", lines))
    assert samples["x"].tolist() == [0.1, 0.3, 0.5, 0.7]
    assert any(each.startswith(problem) for each in problems), problems


@pytest.mark.usefixtures("converter")
def test_fields_without_a_number_are_nan(tmp_path: Path) -> None:
    lines = ["0,,0.2,NaN", "0.1,N/A,0.2,1", "0.2,inf,0.2,1", "0.3,?,0.2,1"]
    samples, problems = read(gaze(tmp_path / "g.csv", lines))
    assert np.isnan(samples["x"]).all()
    assert samples["y"].tolist() == [0.2] * 4
    assert problems == ["an infinite x", "no number in the column x at line 5"] or problems == [
        "no number in the column x at line 5",
        "an infinite x",
    ]


@pytest.mark.usefixtures("converter")
@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("\ufeff" + "t,x,y\n0,0.5,0.25\n", "a byte order mark"),
        ("t;x;y\n0;0,5;0,25\n", "decimal commas"),
        ("t\tx\ty\n0\t0.5\t0.25\n", "tabs"),
        ("t,x,y\r\n0,0.5,0.25\r\n", "CRLF"),
        ('"t","x","y"\n"0","0.5","0.25"\n', "quotes"),
        ("# made by a logger\n# unit: 1\nt,x,y\n0,0.5,0.25\n", "comments"),
        ("t,x,y\n\n0, 0.5, 0.25\n\n", "blank lines and blanks"),
        ("t,x,y\n0,0.5,0.25", "no line end"),
        ("t,x,y\n0;0.5;0.25\n", "rows with another delimiter than the header"),
        ("t,x,y,\n0,0.5,0.25,\n", "a delimiter at the end"),
    ],
)
def test_tables_as_programs_write_them(tmp_path: Path, text: str, case: str) -> None:
    path = tmp_path / "g.csv"
    path.write_text(text, newline="")
    samples, problems = read(path)
    assert samples.stack("x", "y").tolist() == [[0.5, 0.25]], case
    assert not problems


def test_a_gzip_file_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    lines = [f"{k / 50:.2f},{x:.9f},{y:.9f}" for k, (x, y) in enumerate(rng.random((4000, 2)))]
    packed = gzip.compress(("t,x,y\n" + "\n".join(lines)).encode())
    path = tmp_path / "g.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(MediaError, match="cannot be read"):
        open_stream(path)


def test_a_stretch_ends_with_a_line_wherever_the_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"{k / 50:.2f},{k / 1000:.3f},0.5,1" for k in range(300)]
    lines[150] = "oops"
    path = gaze(tmp_path / "g.csv", lines)
    monkeypatch.setattr(csv_table, "STRETCH_BYTES", 97)
    samples, problems = read(path)
    assert len(samples) == 299
    assert samples["x"].tolist() == [k / 1000 for k in range(300) if k != 150]
    assert problems == ["a row with fewer than 4 fields at line 152"]


def test_both_converters_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(8)
    values = np.column_stack([np.arange(200) / 60, rng.normal(size=(200, 3))])
    lines = [",".join(f"{v:.12g}" for v in row) for row in values]
    path = gaze(tmp_path / "g.csv", lines)
    by_arrow, _ = read(path)
    monkeypatch.setattr(csv_table, "are_installed", lambda *names: False)
    by_numpy, _ = read(path)
    np.testing.assert_array_equal(by_arrow.stack("x", "y"), by_numpy.stack("x", "y"))
    np.testing.assert_array_equal(by_arrow.times, by_numpy.times)


_number = st.one_of(
    st.floats(-10, 10, allow_nan=False).map(repr),
    st.sampled_from(["", "nan", "NaN", "inf", "-inf", "1e400", "?", "0,5", '"', "\x00", "é", "- "]),
)
_line = st.one_of(
    st.lists(_number, min_size=0, max_size=6).map(",".join),
    st.lists(_number, min_size=3, max_size=3).map(";".join),
    st.sampled_from(["t,x,y", "# note", "", "\ufeff0,1,1"]),
)


@settings(max_examples=60, deadline=None)
@given(
    header=st.sampled_from(["t,x,y", "time [ms];x;y", "\ufefftimestamp_ns\tx\ty", "t x y"]),
    lines=st.lists(_line, max_size=12),
    cut=st.integers(0, 20),
)
def test_whatever_the_rows_hold_times_increase_and_nothing_is_raised_but_one_line(
    tmp_path_factory: pytest.TempPathFactory, header: str, lines: list[str], cut: int
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "f.csv"
    data = "\n".join([header, *lines]).encode()
    path.write_bytes(data[: len(data) - cut] if cut < len(data) else data)
    fault = ""
    try:
        info = survey(open_stream(path, "gaze"))
        samples, _ = read(path)
    except MediaError as error:
        fault = str(error)
    if fault:
        assert "\n" not in fault
        return
    assert np.isfinite(samples.times).all()
    assert (np.diff(samples.times) > 0).all()
    assert not np.isinf(samples["x"]).any()
    assert info.samples == len(samples)
    assert info.rate is None or math.isfinite(info.rate)
    info.model_dump_json()
