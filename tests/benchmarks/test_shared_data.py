"""Public question sets, repacked by others: what loads, and the faults that are really there."""

from __future__ import annotations

from pathlib import Path

import pytest

from egomem.benchmarks import load, validate, write


@pytest.mark.parametrize(
    ("file", "questions", "videos"),
    [
        ("nextgqa/questions.jsonl.gz", 1732, 294),
        ("egoexolearn/questions.jsonl.gz", 3011, 314),
        ("epic_amb/amb_q2_questions.jsonl.gz", 1077, 34),
        ("epic_amb/amb_q7_questions.jsonl.gz", 902, 34),
        ("goalstep/category_queries.jsonl.gz", 1809, 78),
        ("captaincook4d/step_queries.jsonl.gz", 3477, 228),
        ("epic_sounds/sound_queries.jsonl.gz", 1134, 87),
    ],
)
def test_each_loads(shared_data: Path, file: str, questions: int, videos: int) -> None:
    benchmark = load(shared_data / file)
    assert (benchmark.format, len(benchmark.questions), len(benchmark.videos)) == (
        "native",
        questions,
        videos,
    )


def test_their_faults_are_found_by_id(shared_data: Path) -> None:
    faults = validate(load(shared_data / "nextgqa/questions.jsonl.gz"))
    assert [(f.id, f.kind, f.dropped) for f in faults] == [
        ("5256928210_7", "options", True), ("", "licence", False),
    ]  # fmt: skip
    assert len(load(shared_data / "nextgqa/questions.jsonl.gz", strict=False).questions) == 1733
    faults = validate(load(shared_data / "egoexolearn/questions.jsonl.gz"))
    assert [(f.kind, f.line) for f in faults] == [
        ("row", 2699), ("licence", None), ("balance", None),
    ]  # fmt: skip
    assert "option -1 of 4" in faults[0].message


def test_skipped_steps_cannot_be_answered(shared_data: Path) -> None:
    benchmark = load(shared_data / "captaincook4d/step_queries.jsonl.gz")
    assert sum(q.answerable is False for q in benchmark.questions) == 160


def test_a_public_set_goes_through_the_native_format_whole(
    shared_data: Path, tmp_path: Path
) -> None:
    benchmark = load(shared_data / "epic_amb/amb_q7_questions.jsonl.gz")
    write(benchmark, tmp_path)
    again = load(tmp_path)
    assert again.questions == benchmark.questions
    assert again.videos == benchmark.videos
