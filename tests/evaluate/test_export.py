"""The text files that a run's record is written to: in order, and without measured values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.errors import FullError
from egomem.evaluate import Arm, Config, RunProgress, RunSummary, load_run
from egomem.evaluate.export import write_answers
from egomem.evaluate.legacy_run import ANSWERS, USAGE
from egomem.evaluate.run_db import RunDatabase
from egomem.evaluate.stored_run import Finished
from egomem.score import read_predictions

CLEAN, VIDEO = (Arm(setting=s, reader="ollama:x") for s in ("clean", "video"))
Make = Callable[..., Finished]
ORDER = [(id, arm) for id in ("q1", "q2") for arm in (CLEAN, VIDEO)]


def test_what_was_measured_makes_no_difference_to_the_answers(
    tmp_path: Path, finished: Make
) -> None:
    contents = []
    for k, keys in enumerate((ORDER, ORDER[::-1])):
        folder = tmp_path / str(k)
        folder.mkdir()
        with RunDatabase.open(folder) as record:
            for n, (id, arm) in enumerate(keys):
                record.add(finished(id, arm, seconds=0.5 * k + n))
            write_answers(folder, record.stored, ORDER)
        contents.append((folder / ANSWERS).read_bytes())
    assert contents[0] == contents[1]
    assert b"seconds" not in contents[0]
    assert b"cached" not in contents[0]


def test_the_lines_are_those_of_earlier_versions(tmp_path: Path, finished: Make) -> None:
    with RunDatabase.open(tmp_path) as record:
        for part in ("before", "after"):
            cell = finished("q1", CLEAN, part=part)
            record.add(cell.model_copy(update={"at": "2026-01-01", "version": "1"}))
        write_answers(tmp_path, record.stored, ORDER)
    column = '"column": {"setting": "clean", "reader": "ollama:x", "captioner": ""}'
    (line,) = (tmp_path / ANSWERS).read_text().splitlines()
    head = '{"question": "q1", ' + column + ', "parts": {"question": "after"}, "version": "1", '
    assert line.startswith(head + '"answer": {"text": "b", ')
    assert line.endswith("}}")
    assert r'"raw": "B\u2028"' in line
    rows = [json.loads(line) for line in (tmp_path / USAGE).read_text().splitlines()]
    assert [row["keys"] for row in rows] == [["key-after"], ["key-before"]]
    assert list(rows[0]) == [
        "question", "column", "parts", "at", "usage", "answer", "base", "keys"
    ]  # fmt: skip
    assert rows[0]["answer"]["trace"]["1"]["cached"] is False
    assert rows[0]["base"] is None


def test_files_that_would_not_change_are_left_alone(tmp_path: Path, finished: Make) -> None:
    with RunDatabase.open(tmp_path) as record:
        for id, arm in ORDER:
            record.add(finished(id, arm))
        paths = write_answers(tmp_path, record.stored, ORDER)
        stamps = [path.stat().st_mtime_ns for path in paths]
        write_answers(tmp_path, record.stored, ORDER)
        assert [path.stat().st_mtime_ns for path in paths] == stamps
        write_answers(tmp_path, record.stored, ORDER[::-1])
    lines = (tmp_path / ANSWERS).read_text().splitlines()
    assert [json.loads(line)["question"] for line in lines] == ["q2", "q2", "q1", "q1"]
    assert {path.name for path in tmp_path.iterdir()} == {"run.db", ANSWERS, USAGE}


def test_a_file_that_cannot_be_written_is_told_and_nothing_is_lost(
    tmp_path: Path, finished: Make
) -> None:
    with RunDatabase.open(tmp_path) as record:
        record.add(finished("q1", CLEAN))
        (tmp_path / USAGE).mkdir()
        with pytest.raises(FullError, match="nothing that was finished is lost"):
            write_answers(tmp_path, record.stored, ORDER)
        assert list(record.stored.cells) == [("q1", CLEAN)]
    assert not list(tmp_path.glob("*.part"))


def test_the_command_exports_while_a_run_goes_on(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Callable[..., RunSummary],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the order of the questions, as far as they are answered."""
    folder, lines = tmp_path / "run", []

    def export(progress: RunProgress) -> None:
        assert main(["eval", "export", str(folder)]) == 0
        lines.append((folder / ANSWERS).read_text().splitlines())

    only = config.model_copy(update={"settings": ("clean",)})
    go(benchmark, only, folder, on_progress=export, concurrency=1)
    assert [len(each) for each in lines] == [1, 2, 3, 4, 5]
    assert (folder / ANSWERS).read_text().splitlines() == lines[-1]
    capsys.readouterr()
    assert main(["eval", "export", str(folder), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)["result"]
    assert body == {"answers": 5, "files": [str(folder / USAGE), str(folder / ANSWERS)]}
    assert main(["eval", "export", str(tmp_path)]) == 2
    assert "there is no run at" in capsys.readouterr().err


def test_predictions_of_each_arm_are_what_score_reads(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Callable[..., RunSummary],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, directory = tmp_path / "run", tmp_path / "predictions"
    both = config.model_copy(update={"settings": ("clean", "video")})
    go(benchmark, both, folder)
    command = ["eval", "export", str(folder), "--predictions", str(directory), "--json"]
    assert main(command) == 0
    files = json.loads(capsys.readouterr().out)["result"]["files"]
    assert sorted(files[2:]) == sorted(map(str, directory.iterdir()))
    assert [Path(file).name.split("-")[0] for file in files[2:]] == ["clean", "video"]
    answers = load_run(folder).cells
    for file, arm in zip(files[2:], both.arms(), strict=True):
        predictions = read_predictions(file, benchmark.questions)
        assert (predictions.problems, predictions.unknown) == ((), ())
        for question in benchmark.questions:
            answer, stored = predictions.answers[question.id], answers[question.id, arm].answer
            assert (answer.choice, answer.status) == (stored.choice, stored.status)
            moments = [(e.recording, e.span) for e in answer.evidence]
            assert moments == [(e.recording, e.span) for e in stored.evidence]
