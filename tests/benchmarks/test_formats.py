"""Other data sets' files, as their own scripts publish them; the values here are ours."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from egomem.benchmarks import load
from egomem.errors import UsageError
from egomem.timeline import Span

CAPMEM = {
    "qid": "c1", "video_id": "v1", "source_dataset": "Ego4D", "source_uid": "u-1",
    "scenario": "cooking", "domain": "home", "duration_s": 1500.5, "question": "What was cut?",
    "options": {"A": "bread", "B": "wood", "C": "paper", "D": "hair"}, "answer": "B",
    "evidence_time_s": 700.25, "perspective": "ego", "intent": "what",
    "tags": ["Object", "Action"], "template_id": "t7", "split": "eval",
}  # fmt: skip


def dump(path: Path, content: Any) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    else:
        path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_capmem(tmp_path: Path) -> None:
    rows = [
        CAPMEM,
        {**CAPMEM, "qid": "c2", "evidence_time_s": 10, "evidence_end_s": 12},
        {**CAPMEM, "qid": "c3", "evidence_time_s": 1860},
        {**CAPMEM, "qid": "c4", "duration_s": 900},
        {**CAPMEM, "qid": "c5", "answer": "E"},
        {**CAPMEM, "qid": "c6", "video_id": None},
    ]
    benchmark = load(dump(tmp_path / "release.jsonl", rows))
    assert (benchmark.format, [q.id for q in benchmark.questions]) == ("capmem", ["c1", "c2", "c4"])
    assert "CC BY-NC 4.0" in benchmark.licence
    first, second = benchmark.questions[:2]
    assert (first.answer, first.recording, first.answerable) == ("B", "v1", True)
    assert (first.evidence[0].span, second.evidence[0].span) == (Span(700.25, 700.25), Span(10, 12))
    assert first.tags == {
        "perspective": "ego", "intent": "what", "template_id": "t7", "split": "eval",
        "visual": ["Object", "Action"],
    }  # fmt: skip
    video = benchmark.by_id["v1"]
    assert (video.duration, video.source_dataset, video.scenario) == (1500.5, "Ego4D", "cooking")
    assert [(f.id, f.kind, f.line) for f in benchmark.faults] == [
        ("v1", "video", 4), ("c5", "row", 5), ("c6", "row", 6), ("c3", "evidence", 3),
    ]  # fmt: skip
    assert "duration is 900.0, and was 1500.5" in benchmark.faults[0].message
    assert "1860" in benchmark.faults[3].message
    assert "1500.5" in benchmark.faults[3].message


def test_egoschema_in_its_three_shapes(tmp_path: Path) -> None:
    raw = {"q_uid": "u1", "question": "Why?", **{f"option {k}": f"because {k}" for k in range(5)}}
    dump(tmp_path / "raw" / "questions.json", [raw, {**raw, "q_uid": "u2"}])
    dump(tmp_path / "raw" / "subset_answers.json", {"u2": 3})
    listed = [f"{a}. because {k}" for k, a in enumerate("ABCDE")]
    hub: dict[str, Any] = {
        "question_idx": "77",
        "question": "Why?",
        "video_idx": "u2",
        "option": listed,
    }
    hub["answer"] = "3"
    dump(tmp_path / "hub.jsonl", [{**hub, "video_idx": "u1", "answer": None}, hub])
    mapped = {"u1": {k: v for k, v in raw.items() if k != "q_uid"} | {"truth": 3}}
    dump(tmp_path / "subset_anno.json", mapped)
    both = load(tmp_path / "raw")
    assert [(q.id, q.recording, q.answer) for q in both.questions] == [
        ("u1", "u1", None), ("u2", "u2", "D"),
    ]  # fmt: skip
    flat, subset = load(tmp_path / "hub.jsonl"), load(tmp_path / "subset_anno.json")
    assert [(q.id, q.recording, q.answer) for q in flat.questions] == [
        ("u1", "u1", None), ("u2", "u2", "D"),
    ]  # fmt: skip
    assert (subset.questions[0].id, subset.questions[0].answer) == ("u1", "D")
    for benchmark in (both, flat, subset):
        assert (benchmark.format, benchmark.faults) == ("egoschema", ())
        assert [o.text for o in benchmark.questions[0].options] == [
            f"because {k}" for k in range(5)
        ]


def test_videomme_grouped_and_flat(tmp_path: Path) -> None:
    listed = ["A. One.", "B. Two.", "C. Three.", "D. A. Four"]
    asked: dict[str, Any] = {
        "question_id": "001-1",
        "task_type": "Counting",
        "question": "How many?",
    }
    asked |= {"options": listed, "answer": "C"}
    shared = {"video_id": "001", "duration": "short", "domain": "Life", "sub_category": "Pets"}
    dump(
        tmp_path / "grouped.json",
        [{**shared, "questions": [asked, {**asked, "question_id": "001-2", "answer": "Z"}]}],
    )
    dump(tmp_path / "flat.jsonl", [{**shared, **asked, "videoID": "yt", "url": "u"}])
    grouped, flat = load(tmp_path / "grouped.json"), load(tmp_path / "flat.jsonl")
    assert [f.id for f in grouped.faults] == ["001-2"]
    for benchmark in (grouped, flat):
        assert benchmark.format == "videomme"
        question = benchmark.questions[0]
        assert (question.id, question.recording, question.answer) == ("001-1", "001", "C")
        assert [o.text for o in question.options] == ["One.", "Two.", "Three.", "A. Four"]
        assert question.tags == {"type": "Counting", "length": "short", "sub_category": "Pets"}
        assert benchmark.by_id["001"].duration is None
        assert benchmark.by_id["001"].domain == "Life"
    assert flat.by_id["001"].source_uid == "yt"


def test_letters_that_are_part_of_the_text_stay(tmp_path: Path) -> None:
    row = {"video_id": "1", "question_id": "1-1", "task_type": "t", "question": "Who?",
           "options": ["B. Franklin", "A. Lincoln"], "answer": "B"}  # fmt: skip
    question = load(dump(tmp_path / "q.jsonl", [row])).questions[0]
    assert [o.text for o in question.options] == ["B. Franklin", "A. Lincoln"]


EGOLIFE = {
    "ID": "7", "query_time": {"date": "DAY2", "time": "11210217"}, "type": "EventRecall",
    "need_audio": False, "need_name": True, "last_time": False, "trigger": "t", "question": "Who?",
    "choice_a": "Ann", "choice_b": "Bo", "choice_c": "Cy", "choice_d": "Di", "answer": "A",
    "target_time": {"date": "DAY1", "time": "20000000"}, "keywords": "k", "reason": "r",
}  # fmt: skip


def test_egolifeqa_is_placed_on_the_wearers_timeline(tmp_path: Path) -> None:
    rows = [
        EGOLIFE,
        {
            **EGOLIFE,
            "ID": "8",
            "target_time": {"date": "DAY1", "time_list": ["09000000", "09000010"]},
        },
        {
            **EGOLIFE,
            "ID": "9",
            "target_time": "DAY1_09000000-10000000, DAY2 08000000",
            "query_time": {"date": "DAY3", "time": "11210217"},
        },
        {**EGOLIFE, "ID": "10", "target_time": [{"date": "DAY1", "time": "09000000"}]},
        {**EGOLIFE, "ID": "11", "target_time": "09000000"},
        {**EGOLIFE, "ID": "12", "query_time": {"date": "DAY2", "time": "99210217"}},
    ]
    file = dump(tmp_path / "EgoLifeQA_A1_JAKE.json", rows)
    with pytest.raises(UsageError, match="numbered days; give the zone"):
        load(file)
    zone = ZoneInfo("Asia/Shanghai")
    benchmark = load(file, zone=zone, day_one=date(2024, 5, 1))
    assert benchmark.format == "egolifeqa"
    assert [q.id for q in benchmark.questions] == ["7", "8", "9", "10", "11"]
    assert [(f.id, f.line, f.dropped) for f in benchmark.faults] == [
        ("11", 5, False),
        ("12", 6, True),
    ]
    assert "the target time 09000000 has no day: it is left out" in benchmark.faults[0].message
    assert benchmark.questions[4].evidence == ()
    first = benchmark.questions[0]
    assert first.at == datetime(2024, 5, 2, 11, 21, 2, 850_000, tzinfo=zone)  # frame 17 of 20
    assert (first.answer, first.recording, first.tags["type"]) == ("A", None, "EventRecall")
    at = [e.span.start for e in first.evidence]
    assert at == [datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp()]
    days = [[e.when for e in q.evidence] for q in benchmark.questions[1:4]]
    nine = datetime(2024, 5, 1, 9, tzinfo=zone)
    assert days == [
        [nine, nine.replace(microsecond=500_000)],
        [nine, nine.replace(hour=10), datetime(2024, 5, 2, 8, tzinfo=zone)],
        [nine],
    ]
    hundredths = load(file, zone=zone, day_one=date(2024, 5, 1), frame_base=100)
    assert hundredths.questions[0].at == datetime(2024, 5, 2, 11, 21, 2, 170_000, tzinfo=zone)


def test_nextgqa_joins_questions_and_spans(tmp_path: Path) -> None:
    columns = ["video", "frame_count", "width", "height", "question", "answer", "qid", "type",
               "a0", "a1", "a2", "a3", "a4"]  # fmt: skip
    rows = [
        [
            "91",
            600,
            640,
            480,
            "why did she, then, stop",
            "red light",
            3,
            "CW",
            "a",
            "b",
            "red light",
            "c",
            "d",
        ],
        ["91", 600, 640, 480, "what now", "i", 5, "TN", "e", "f", "g", "h", "i"],
        ["92", 300, 640, 480, "how", "nothing", 1, "CH", "k", "l", "m", "n", "o"],
    ]
    with (tmp_path / "val.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    spans = {"91": {"duration": 20, "fps": 30, "location": {"3": [[1.5, 4.0], [9, 12]]}}}
    dump(tmp_path / "gsub_val.json", spans)
    benchmark = load(tmp_path)
    assert benchmark.format == "nextgqa"
    assert [(q.id, q.answer, q.tags["type"]) for q in benchmark.questions] == [
        ("91_3", "C", "CW"), ("91_5", "E", "TN"),
    ]  # fmt: skip
    assert [e.span for e in benchmark.questions[0].evidence] == [Span(1.5, 4), Span(9, 12)]
    assert benchmark.questions[1].evidence == ()
    assert benchmark.by_id["91"].duration == 20
    assert [(f.id, f.line) for f in benchmark.faults] == [("1", 4)]
    assert load(tmp_path / "val.csv").questions == benchmark.questions


def test_mvbench_is_a_file_a_task(tmp_path: Path) -> None:
    item = {"video": "a.mp4", "question": "What moved?", "candidates": ["cup", "ball", "hat"],
            "answer": "ball"}  # fmt: skip
    dump(
        tmp_path / "object_motion.json",
        [item, {**item, "question": "And?", "start": 2.0, "end": 5}],
    )
    still = {**item, "video": "b.mp4"}
    dump(tmp_path / "state.json", [still, {**still, "question": "Why?", "answer": "shoe"}])
    benchmark = load(tmp_path)
    assert benchmark.format == "mvbench"
    assert [q.answer for q in benchmark.questions] == ["B", "B", "B"]
    assert [q.tags["type"] for q in benchmark.questions] == [
        "object_motion",
        "object_motion",
        "state",
    ]
    assert benchmark.questions[1].evidence[0].span == Span(2, 5)
    assert len({q.id for q in benchmark.questions}) == 3
    assert "the answer 'shoe' is none of the options" in benchmark.faults[0].message
    assert load(tmp_path).questions == benchmark.questions  # ids follow from the content


def test_parquet_of_another_data_set(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [{k: v for k, v in CAPMEM.items() if k != "tags"} | {"tags": ["Object"]}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "release.parquet")
    benchmark = load(tmp_path)
    assert (benchmark.format, benchmark.faults) == ("capmem", ())
    assert [o.label for o in benchmark.questions[0].options] == ["A", "B", "C", "D"]


MVBENCH = {"video": "a.mp4", "question": "What?", "candidates": ["cup", "ball"], "answer": "ball"}
VIDEOMME = {"video_id": "1", "question_id": "1-1", "task_type": "t", "question": "What?",
            "options": ["A. x", "B. y"], "answer": "A", "duration": "short"}  # fmt: skip
EGOSCHEMA = {"q_uid": "u", "question": "What?", "option 0": "x", "option 1": "y", "truth": 0}
NATIVE = {"id": "q", "video": "v", "question": "What?", "options": ["x", "y"], "answer": "A",
          "answerable": True, "at": 9, "evidence": [[1, 2]], "tags": {"visual": ["o"]}}  # fmt: skip
GONE = object()


@pytest.mark.parametrize(
    "odd", [GONE, None, "", "x", 7, -1, 1.5, True, [], [[]], [None], {}, {"a": {}}]
)
@pytest.mark.parametrize(
    ("format", "row"),
    [("capmem", CAPMEM), ("egolifeqa", EGOLIFE), ("mvbench", MVBENCH), ("videomme", VIDEOMME),
     ("egoschema", EGOSCHEMA), ("native", NATIVE)],
)  # fmt: skip
def test_no_value_of_any_field_stops_the_others(
    tmp_path: Path, format: str, row: dict[str, Any], odd: Any
) -> None:
    id = {"capmem": "qid", "egolifeqa": "ID", "videomme": "question_id", "egoschema": "q_uid",
          "native": "id", "mvbench": "question"}[format]  # fmt: skip
    rows = [row]
    for k, field in enumerate(row):
        benchmark = {**row, id: f"{row[id]}{k}"} | {field: odd}
        rows.append({name: value for name, value in benchmark.items() if value is not GONE})
    rows.append({**row, id: "last"})
    file = dump(tmp_path / "rows.jsonl", rows)
    benchmark = load(file, format, zone=UTC, day_one=date(2024, 5, 1))
    assert len(benchmark.questions) + sum(f.dropped for f in benchmark.faults) >= len(rows) - 1
    assert benchmark.questions[0].answer == benchmark.questions[-1].answer is not None
