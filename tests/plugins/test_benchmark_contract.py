"""What every benchmark format must keep: egomem's own, and the one of the page, installed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import (
    FORMATS,
    Benchmark,
    BenchmarkFormat,
    load,
    published_sizes,
    question_hash,
    stats,
    validate,
)
from egomem.benchmarks.load import detect_format
from egomem.cli import main
from egomem.errors import ConfigError, UsageError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "extend.md"
FORMATS_PAGE = PAGE.parents[1] / "reference" / "benchmark-formats.md"
FOREIGN = "quizzes"
GROUP = "egomem.benchmarks"
BUILTIN = list(FORMATS.builtin)
ALL = [*BUILTIN, FOREIGN]


def from_page(language: str) -> str:
    """The first block of a language in the section on benchmarks."""
    section = PAGE.read_text("utf-8").split("## A benchmark", 1)[1]
    match = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture(autouse=True)
def _quizzes(install: Any) -> Iterator[None]:
    """The format of the page, installed as the page says."""
    head, point = from_page("toml").strip().split("\n")
    assert head == f'[project.entry-points."{GROUP}"]'
    install("my_benchmarks", from_page("python"), GROUP, point.replace('"', ""))
    yield
    FORMATS.discard(FOREIGN)


@pytest.fixture(params=ALL)
def format(request: pytest.FixtureRequest) -> BenchmarkFormat:
    return FORMATS.get(request.param)


def write(folder: Path, rows: list[dict[str, Any]], name: str = "rows.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def read(file: Path, format: str | None = None) -> Benchmark:
    return load(file, format, zone=UTC, day_one=date(2024, 5, 1))


def names(format: BenchmarkFormat, holds: str) -> list[str]:
    return [f.name for f in format.fields if f.holds == holds and f.example is not None]


def replaced(value: Any, old: str, new: str) -> Any:
    """A copy of a JSON value in which texts that end with `old` end with `new`."""
    if isinstance(value, str):
        return value.removesuffix(old) + new if value.endswith(old) else value
    if isinstance(value, list):
        return [replaced(v, old, new) for v in value]
    if isinstance(value, dict):
        return {k: replaced(v, old, new) for k, v in value.items()}
    return value


def test_a_minimal_file_is_detected_as_this_format_alone(
    format: BenchmarkFormat, tmp_path: Path
) -> None:
    rows = format.sample_rows()
    assert detect_format(rows) == [format.name]
    benchmark = read(write(tmp_path, rows))
    assert (benchmark.format, benchmark.faults) == (format.name, ())
    assert len({q.id for q in benchmark.questions}) == len(benchmark.questions) == len(rows)
    for question in benchmark.questions:
        assert question.answer in [o.label for o in question.options]
    assert [f for f in validate(benchmark) if f.dropped] == []


def test_it_loads_to_the_same_questions_twice(format: BenchmarkFormat, tmp_path: Path) -> None:
    file = write(tmp_path, format.sample_rows())
    assert read(file) == read(file) == read(file, format.name)


def test_faulty_rows_are_named_and_the_rest_loads(format: BenchmarkFormat, tmp_path: Path) -> None:
    required = [f.name for f in format.fields if f.required]
    assert required
    for name in required:
        rows = format.sample_rows(3)
        del rows[1][name]
        benchmark = read(write(tmp_path, rows), format.name)
        kept = [q.text for q in benchmark.questions]
        assert kept == [q.text for q in whole(format, tmp_path) if q.text != text_of(format, 1)]
        assert {(f.file, f.line, f.dropped) for f in benchmark.faults} == {
            ("rows.jsonl", 2, True)
        }, name


def whole(format: BenchmarkFormat, folder: Path) -> tuple[Any, ...]:
    return read(write(folder, format.sample_rows(3), "whole.jsonl"), format.name).questions


def text_of(format: BenchmarkFormat, number: int) -> str:
    (name,) = names(format, "question")
    return str(format.sample_rows(3)[number][name])


def test_a_line_that_is_not_json_hides_nothing_else(
    format: BenchmarkFormat, tmp_path: Path
) -> None:
    file = write(tmp_path, format.sample_rows(2))
    file.write_text('{"torn": \n' + file.read_text("utf-8"), "utf-8")
    benchmark = read(file)
    assert len(benchmark.questions) == 2
    assert [(f.line, f.kind) for f in benchmark.faults] == [(1, "unreadable")]


@pytest.mark.parametrize("change", ["question", "options", "answer"])
def test_a_change_touches_the_hash_of_exactly_its_question(
    format: BenchmarkFormat, tmp_path: Path, change: str
) -> None:
    rows = format.sample_rows(3)
    before = [question_hash(q) for q in read(write(tmp_path, rows)).questions]
    for changed in changes(format, rows, tmp_path, change):
        file = write(tmp_path, [rows[0], changed, rows[2]])
        after = [question_hash(q) for q in read(file).questions]
        assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, True]


def changes(
    format: BenchmarkFormat, rows: list[dict[str, Any]], folder: Path, change: str
) -> list[dict[str, Any]]:
    """The second row with another question, another wrong option, or another right answer."""
    first, row, last = rows
    question = read(write(folder, rows, "all.jsonl")).questions[1]
    wrong = next(o for o in question.options if o.label != question.answer)
    if change == "question":
        return [row | dict.fromkeys(names(format, "question"), "Something else?")]
    if change == "options":
        fields = {n: replaced(row[n], wrong.text, "a hat") for n in names(format, "options")}
        assert fields != {n: row[n] for n in fields}
        return [row | fields]
    (name,) = names(format, "answer")
    keys = (wrong.label, [o.label for o in question.options].index(wrong.label), wrong.text)
    valid = []
    for changed in ({**row, name: key} for key in keys):
        loaded = read(write(folder, [first, changed, last], "answer.jsonl"), format.name)
        if [q.answer for q in loaded.questions[1:2]] == [wrong.label] and not loaded.faults:
            valid.append(changed)
    assert valid, "the answer is neither a label nor a number nor a text"
    return valid


@pytest.mark.parametrize("name", [n for n in BUILTIN if n != "native"])  # it has a table of its own
def test_every_field_stands_in_the_reference(name: str) -> None:
    section = FORMATS_PAGE.read_text("utf-8").split(f"### {name}\n", 1)[1].partition("\n#")[0]
    format = FORMATS.get(name)
    assert format.name == name
    rows = [
        f"| `{f.name}` | {f.holds} | {f.meaning}{' (required)' if f.required else ''} |"
        for f in format.fields
    ]
    assert [row for row in section.splitlines() if row.startswith("| `")] == rows
    if format.published:
        sizes = ", ".join(f"{n:,} ({split})" for split, n in format.published.items())
        assert f"Published: {sizes}." in section
    if format.submission:
        assert f"Submission: {format.submission.summary}." in section


def test_a_foreign_format_is_listed_checked_and_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, FORMATS.get(FOREIGN).sample_rows(2))
    assert main(["plugins", "benchmarks"]) == 0
    (line,) = [x for x in capsys.readouterr().out.splitlines() if x.split()[:1] == [FOREIGN]]
    assert line.split() == ["quizzes", "Quizzes", "about", "clips.", "my_benchmarks", "1.0"]
    for command in (
        ["benchmark", "validate"],
        ["benchmark", "stats"],
        ["score"],
        ["eval", "capmem"],
    ):
        assert main([*command, "--help"]) == 0
        assert FOREIGN in capsys.readouterr().out, command
    main(["benchmark", "validate", str(file)])
    assert "rows (quizzes): 2 questions about 1 video" in capsys.readouterr().out
    benchmark = read(file)
    assert (benchmark.licence, published_sizes(benchmark)) == ("CC BY 4.0", {"all": 1200})
    assert stats(benchmark).questions == 2
    assert main(["benchmark", "stats", str(file)]) == 0
    assert "published n           all 1200" in capsys.readouterr().out


def test_two_formats_that_recognise_a_row_are_told_and_one_can_be_named(
    tmp_path: Path, install: Any
) -> None:
    twin = from_page("python").replace('name="quizzes"', 'name="twin"')
    install("twin_benchmarks", twin, GROUP, "twin = twin_benchmarks:QUIZZES")
    file = write(tmp_path, FORMATS.get(FOREIGN).sample_rows(2))
    with pytest.raises(UsageError, match=r"rows.jsonl is quizzes, rows.jsonl is twin"):
        load(file)
    assert load(file, "twin").format == "twin"
    higher = twin.replace("detect=detect", "priority=1, detect=detect")
    install("twin_benchmarks", higher, GROUP, "twin = twin_benchmarks:QUIZZES")
    assert load(file).format == "twin"


def test_a_package_cannot_take_the_name_of_a_format_of_ours(install: Any) -> None:
    install("thief", from_page("python"), GROUP, "capmem = thief:QUIZZES")
    with pytest.warns(UserWarning, match="two benchmarks are named capmem"):
        assert FORMATS.all()["capmem"].summary.startswith("CapMem")
    install("empty_benchmarks", "THING = 1\n", GROUP, "empty = empty_benchmarks:THING")
    with pytest.raises(ConfigError, match="registers no format named empty"):
        FORMATS.get("empty")
