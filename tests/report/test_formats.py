"""The formats of a report: what each escapes, how columns stand, and what drawings hold."""

from __future__ import annotations

import re

import pytest

from egomem.report import charts
from egomem.report.latex import render_latex
from egomem.report.markdown import render_markdown
from egomem.report.table import CellValue, Section, build_table


def test_tables_escape_what_their_format_reads() -> None:
    evil = "<b>x</b> ![i](http://x.test) a\u202e\x00b *c* _d_"
    section = Section(
        title="S",
        parts=(
            build_table("T", ("a|b", "50%"), [["x_y & z", "1\n2"], ["--data #1 'q'", "2.0"]]),
            build_table("", ("", ""), [[evil, CellValue(text="7.5", detail="2a")], ["", "-2.0"]]),
        ),
    )
    text = render_markdown("M", [section])
    assert "| a\\|b | 50% |" in text
    assert "| x_y & z | 1 2 |" in text
    assert "| \\<b>x\\</b> ![i\\](http://x.test) a  b \\*c\\* \\_d\\_ | 7.5 (2a) |" in text
    text = render_latex([section], ["run one:\nx"])
    assert "% run one: x\n" in text
    assert "x\\_y \\& z & 1 2 \\\\" in text
    assert "a\\textbar{}b & 50\\% \\\\" in text
    assert "-{}-data \\#1 \\textquotesingle{}q\\textquotesingle{}" in text
    assert "& $-$2.0 \\\\" in text
    assert "7.5 {\\tiny 2a}" in text


def test_headings_over_several_columns() -> None:
    groups = (("", 1), ("on & off", 2))
    table = build_table(
        "T", ("", "a", CellValue(text="b", detail="n 1")), [["x", "1", "-2"]], column_groups=groups
    )
    text = render_latex([Section(title="S", parts=(table,))])
    assert "\\multicolumn{1}{c}{} & \\multicolumn{2}{c}{on \\& off} \\\\" in text
    assert "\\cmidrule(lr){2-3}\n & a & \\shortstack[r]{b\\\\{\\tiny n 1}} \\\\" in text


def test_columns_of_figures_are_flush_right() -> None:
    rows = [["a", "1,200", "+3.2 [-1.0, +7.4]", "12 parsed, 1 error", "-", "3 of 4", "1.2.3 x"]]
    table = build_table("T", [f"h{k}" for k in range(7)], rows)
    assert [table.is_numeric(k) for k in range(7)] == [False, True, True, False, True, True, False]
    assert "|---|---:|---:|---|---:|---:|---|" in render_markdown(
        "M", [Section(title="S", parts=(table,))]
    )


def test_drawings_hold_their_points_and_gaps() -> None:
    series = {"a <b>": [10.0, None, 30.0], "c": [1.0, 2.0, 3.0]}
    marks = {name: charts.SeriesStyle("#123456", "circle") for name in series}
    drawn = charts.line_chart(series, [(x, "n 1") for x in "xyz"], y_label="%", styles=marks)
    assert drawn.count("<circle") == 5
    assert drawn.count("<polyline") == 1  # the gap leaves single points
    assert "a &lt;b&gt;, x: 10" in drawn
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', drawn)][:2]
    assert heights[0] > heights[1]  # 10 lies below 30
    for points in ({"a": (1.0, 5.0)}, {"a": (1.0, 5.0), "b": (5000.0, 9.0)}, {"a": (0.0, 0.0)}):
        looks = {name: charts.SeriesStyle("#123456", "circle") for name in points}
        assert charts.scatter_chart(points, x_label="cost", y_label="%", styles=looks).count(
            "<circle"
        ) == len(points)


def test_an_interval_is_drawn_where_its_figures_are() -> None:
    looks = {"a": charts.SeriesStyle("#123456", "circle")}
    drawn = charts.interval_chart(
        [("a", 50.0, 40.0, 60.0)],
        x_label="accuracy %",
        styles=looks,
        references={"chance": 25.0},
        x_max=100.0,
    )
    chance, value = re.findall(r'<polyline points="([^"]+)"', drawn)
    low, high = (float(p.split(",")[0]) for p in value.split())
    wide = charts.WIDTH - charts.LABEL_WIDTH - charts.RIGHT
    assert high - low == pytest.approx(0.2 * wide, abs=0.2)
    assert float(chance.split(",")[0]) == pytest.approx(charts.LABEL_WIDTH + 0.25 * wide, abs=0.2)


def test_series_that_follow_each_other_look_different() -> None:
    styles = [charts.series_style(k) for k in range(16)]
    assert len(set(styles)) == 16
