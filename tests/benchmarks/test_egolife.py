"""EgoLife's questions: EgoLifeQA as released, and EgoMemReason with its submission."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from egomem.benchmarks import load, write_submission
from egomem.cli import main
from egomem.errors import UsageError
from egomem.records import Answer, Status

SHANGHAI = ZoneInfo("Asia/Shanghai")
DAY_ONE = date(2024, 5, 1)
RELEASED = Path(__file__).parents[3] / "shared" / "data" / "egolife" / "questions.json"

QA: dict[str, Any] = {
    "ID": "1", "query_time": {"date": "DAY2", "time": "14050711"}, "type": "TaskMaster",
    "question": "What is still to buy?", "choice_a": "salt", "choice_b": "oil", "choice_c": "rice",
    "choice_d": "tea", "answer": "C", "target_time": {"date": "DAY1", "time": "18300004"},
}  # fmt: skip

REASON: dict[str, Any] = {
    "example_id": 17, "p_id": "P1", "identity": "A1_JAKE", "query_time": "DAY7, 19:00:00",
    "question": "In which order were the rooms cleaned?", "query_type": "Event Ordering",
    "options": {"A": "hall, attic", "B": "attic, hall", "C": "hall, cellar", "D": "cellar, hall",
                "E": "attic, cellar"},
}  # fmt: skip


def dump(path: Path, rows: list[dict[str, Any]]) -> Path:
    lines = "\n".join(json.dumps(row) for row in rows)
    path.write_text(lines if path.suffix == ".jsonl" else json.dumps(rows))
    return path


@pytest.mark.parametrize(
    ("target", "microsecond"),
    [
        ({"date": "DAY1", "time": "18300004"}, 550_000),  # frame 11 of 20
        ({"date": "DAY1", "time": "18300020"}, 550_000),  # the data set counts 1 to 20 in places
        ({"date": "DAY1", "time": "18300077"}, 110_000),  # 77 is no frame, so all are hundredths
        ({"date": "DAY1", "time": "18300004DAY1_18310021"}, 110_000),
        ({"date": "DAY1", "time_list": ["18300004", "18310099"]}, 110_000),
    ],
)
def test_a_file_tells_what_its_last_two_digits_count(
    tmp_path: Path, target: dict[str, Any], microsecond: int
) -> None:
    rows = [QA, {**QA, "ID": "2", "target_time": target}]
    benchmark = load(dump(tmp_path / "q.json", rows), zone=SHANGHAI, day_one=DAY_ONE)
    assert benchmark.faults == ()
    first = benchmark.questions[0]
    assert first.at == datetime(2024, 5, 2, 14, 5, 7, microsecond, tzinfo=SHANGHAI)


def test_identical_options_are_a_finding_and_their_row_can_stay(tmp_path: Path) -> None:
    file = dump(tmp_path / "q.json", [QA, {**QA, "ID": "2", "choice_d": "salt"}])
    strict = load(file, zone=SHANGHAI, day_one=DAY_ONE)
    assert [q.id for q in strict.questions] == ["1"]
    assert [(f.id, f.kind, f.dropped) for f in strict.faults] == [("2", "options", True)]
    whole = load(file, zone=SHANGHAI, day_one=DAY_ONE, strict=False)
    assert [q.id for q in whole.questions] == ["1", "2"]


@pytest.mark.skipif(not RELEASED.exists(), reason="the shared EgoLife data is not here")
def test_the_released_questions_are_read_whole() -> None:
    benchmark = load(RELEASED, zone=SHANGHAI, day_one=DAY_ONE, strict=False)
    assert len(benchmark.questions) == len(json.loads(RELEASED.read_text())) == 330
    assert all(q.evidence and q.at for q in benchmark.questions)


def test_egomemreason_is_placed_on_the_wearers_timeline(tmp_path: Path) -> None:
    rows = [
        REASON,
        {**REASON, "example_id": 18, "query_time": "DAY3, 09:15:30", "correct_answer": "e"},
        {**REASON, "example_id": 19, "query_time": "on the third day"},
        {**REASON, "example_id": 20, "query_time": "DAY3, 29:15:30"},
    ]
    file = dump(tmp_path / "annotations_public.jsonl", rows)
    with pytest.raises(UsageError, match="numbered days; give the zone"):
        load(file)
    benchmark = load(file, zone=SHANGHAI, day_one=DAY_ONE)
    assert benchmark.format == "egomemreason"
    first, second = benchmark.questions
    assert first.at == datetime(2024, 5, 7, 19, tzinfo=SHANGHAI)
    assert second.at == datetime(2024, 5, 3, 9, 15, 30, tzinfo=SHANGHAI)
    assert (first.answer, second.answer) == (None, "E")
    assert [option.label for option in first.options] == list("ABCDE")
    assert first.tags == {"type": "Event Ordering", "identity": "A1_JAKE", "p_id": "P1"}
    assert [(f.id, f.line, f.dropped) for f in benchmark.faults] == [("19", 3, True),
                                                                     ("20", 4, True)]  # fmt: skip
    assert "not a day and a time: DAY7, 19:00:00" in benchmark.faults[0].message


def test_answers_are_handed_in_in_the_benchmarks_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**REASON, "example_id": n} for n in (1, 2, 3)]
    file = dump(tmp_path / "annotations_public.jsonl", rows)
    predictions = dump(
        tmp_path / "p.jsonl", [{"id": "3", "choice": "e"}, {"id": "1", "status": "abstained"}]
    )
    place = ["--zone", "Asia/Shanghai", "--day-one", "2024-05-01", "--submission"]
    target = tmp_path / "submission.json"
    assert main(["score", str(file), str(predictions), *place, str(target), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["submission"] == {"file": str(target), "answers": 1}
    assert json.loads(target.read_text()) == [{"example_id": 3, "predicted_answer": "E"}]
    # What is handed in is read back as predictions.
    again = tmp_path / "again.json"
    assert main(["score", str(file), str(target), *place, str(again)]) == 0
    assert again.read_bytes() == target.read_bytes()
    assert f"{again}: 1 of 3 questions have an answer" in capsys.readouterr().out.replace("\n", "")


def test_a_submission_counts_egoschemas_options_from_0(tmp_path: Path) -> None:
    row = {"q_uid": "u", "question": "Why?", "option 0": "x", "option 1": "y"}
    benchmark = load(dump(tmp_path / "questions.json", [row]))
    answer = Answer(text="y", status=Status.PARSED, strategy="s", choice="B")
    assert write_submission(tmp_path / "s.json", benchmark, {"u": answer}) == 1
    assert json.loads((tmp_path / "s.json").read_text()) == {"u": 1}


def test_a_format_without_a_form_of_submission_says_which_have_one(tmp_path: Path) -> None:
    benchmark = load(dump(tmp_path / "q.json", [QA]), zone=SHANGHAI, day_one=DAY_ONE)
    with pytest.raises(UsageError, match=r"no form of submission for egolifeqa; .*egomemreason"):
        write_submission(tmp_path / "s.json", benchmark, {})
    assert not (tmp_path / "s.json").exists()
