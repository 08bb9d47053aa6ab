"""The files that data sets are really released as, field by field; every value here is ours."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from egomem.benchmarks import load
from egomem.timeline import Span

NEXT = ["frame_count", "width", "height", "question", "answer", "qid", "type",
        "a0", "a1", "a2", "a3", "a4"]  # fmt: skip


def dump(path: Path, content: Any) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pa = pytest.importorskip("pyarrow")
    path.parent.mkdir(exist_ok=True, parents=True)
    pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), path)
    return path


def test_nextgqa_says_video_id_and_the_answers_text(tmp_path: Path) -> None:
    """Of its folder, the questions and the spans are read; sampled times are no questions."""
    (tmp_path / "val.csv").write_text(
        f"video_id,{','.join(NEXT)}\n"
        "41,300,640,480,what is on the table,2,3,DO,1,2,3,4,5\n"
        "41,300,640,480,why did he stop,red light,5,CW,tired,a car,red light,the end,none\n"
    )
    spans = {"41": {"duration": 10, "fps": 29.97, "location": {"3": [[0.5, 2], [7.5, 10]]}}}
    dump(tmp_path / "gsub_val.json", spans)
    dump(tmp_path / "upbd_val.json", {"41": [1.2, 2.2]})
    benchmark = load(tmp_path)
    assert (benchmark.format, benchmark.faults) == ("nextgqa", ())
    assert [(q.id, q.recording, q.answer) for q in benchmark.questions] == [
        ("41_3", "41", "B"), ("41_5", "41", "C"),
    ]  # fmt: skip
    assert [e.span for e in benchmark.questions[0].evidence] == [Span(0.5, 2), Span(7.5, 10)]
    assert benchmark.by_id["41"].duration == 10


def test_nextqa_says_video_and_the_answers_number(tmp_path: Path) -> None:
    csv = tmp_path / "csv" / "val.csv"
    csv.parent.mkdir()
    csv.write_text(f"video,{','.join(NEXT)}\n41,300,640,480,what is there,2,3,DO,5,4,3,2,1\n")
    row = {"video": 41, "question": "what is there", "answer": 2, "qid": 3, "type": "DO",
           "a0": "5", "a1": "4", "a2": "3", "a3": "2", "a4": "1"}  # fmt: skip
    hub = parquet(tmp_path / "MC" / "test-00000-of-00001.parquet", [row])
    for file in (csv, hub):
        benchmark = load(file)
        assert (benchmark.format, benchmark.faults) == ("nextgqa", ())
        assert [(q.id, q.recording, q.answer) for q in benchmark.questions] == [("41_3", "41", "C")]


def test_an_empty_option_does_not_move_the_others(tmp_path: Path) -> None:
    file = tmp_path / "val.csv"
    file.write_text(f"video,{','.join(NEXT)}\n41,300,640,480,what,3,3,DO,a,b,,d,e\n")
    benchmark = load(file)
    assert benchmark.questions == ()
    assert "option C is empty" in benchmark.faults[0].message


VIDEOMME = {"video_id": "001", "duration_category": "short", "video_category": "Life",
            "video_subcategory": "Pets", "url": "https://example.org/watch?v=aBc"}  # fmt: skip
ASKED = {"question_id": "001-1", "task_type": "Counting Problem", "question": "How many?",
         "choices": ["A. 2.", "B.7.", "C. 6.", "D. 30."], "answer": "B"}  # fmt: skip


def test_videomme_as_its_authors_hand_it_out(tmp_path: Path) -> None:
    """Their keys differ from the hub's, and the results template has the same rows."""
    plain = dump(tmp_path / "a.json", [{**VIDEOMME, "questions": [ASKED]}])
    named = {"duration_category": "duration", "video_category": "domain",
             "video_subcategory": "sub_category", "choices": "options"}  # fmt: skip
    row = {named.get(k, k): v for k, v in {**VIDEOMME, **ASKED, "videoID": "aBc"}.items()}
    hub = parquet(tmp_path / "hub" / "test-00000-of-00001.parquet", [row])
    for file in (plain, hub):
        benchmark = load(file)
        assert (benchmark.format, benchmark.faults) == ("videomme", ())
        question = benchmark.questions[0]
        assert [o.text for o in question.options] == ["2.", "7.", "6.", "30."]
        assert (question.answer, question.tags["length"]) == ("B", "short")
        assert (benchmark.videos[0].domain, benchmark.videos[0].source_uid) == ("Life", "aBc")
        assert benchmark.videos[0].tags["sub_category"] == "Pets"
        assert "academic research only" in benchmark.licence


def test_videomme_v2_writes_its_options_on_lines_and_has_no_task(tmp_path: Path) -> None:
    row = {"video_id": "001", "question_id": "001-1", "question": "Who?", "answer": "E",
           "options": "\n".join(f"{a}. one {a}." for a in "ABCDEFGH"), "level": "1"}  # fmt: skip
    benchmark = load(parquet(tmp_path / "test.parquet", [row]))
    assert (benchmark.format, benchmark.faults) == ("videomme", ())
    assert (benchmark.questions[0].answer, benchmark.questions[0].options[4].text) == (
        "E",
        "one E.",
    )


def test_egoschema_on_the_hub_has_its_questions_three_times_and_its_keys_once(
    tmp_path: Path,
) -> None:
    listed = ["A. to rest", "B. to eat", "C. to talk", "D. to read", "E. to leave"]
    rows = [
        {"question_idx": str(k), "question": "Why?", "video_idx": f"u{k}", "option": listed,
         "answer": None}
        for k in range(3)
    ]  # fmt: skip
    for name in ("GENERATION", "MC", "MC_PPL"):
        parquet(tmp_path / name / "test-00000-of-00001.parquet", rows)
    parquet(tmp_path / "Subset" / "test-00000-of-00001.parquet", [{**rows[1], "answer": "4"}])
    benchmark = load(tmp_path)
    assert (benchmark.format, benchmark.faults) == ("egoschema", ())
    assert [(q.id, q.answer) for q in benchmark.questions] == [
        ("u0", None),
        ("u1", "E"),
        ("u2", None),
    ]
    again = dump(tmp_path / "raw" / "questions.json", [
        {"q_uid": "u0", "google_drive_id": "g", "question": "Why?",
         **{f"option {k}": t for k, t in enumerate(listed)}}
    ] * 2)  # fmt: skip
    assert [(f.id, f.kind) for f in load(again).faults] == [("u0", "duplicate")]


@pytest.mark.parametrize("truth", [-1, "None", None, ""])
def test_egoschemas_keys_that_are_not_public(tmp_path: Path, truth: Any) -> None:
    row = {"question": "Why?", "option 0": "x", "option 1": "y", "truth": truth}
    benchmark = load(dump(tmp_path / "fullset_anno.json", {"u1": row}))
    assert ([(q.id, q.answer) for q in benchmark.questions], benchmark.faults) == (
        [("u1", None)],
        (),
    )


EGOLIFE = {
    "ID": "1", "query_time": {"date": "DAY6", "time": "20000019"}, "type": "EntityLog",
    "type_chinese": "t", "need_audio": False, "need_name": True, "last_time": False,
    "trigger": "t", "question": "Who?", "question_chinese": "q", "choice_a": "Ann",
    "choice_a_chinese": "a", "choice_b": "Bo", "choice_c": "Cy", "choice_d": "Di", "answer": "B",
    "target_time": {"date": "DAY1", "time": "09152408"}, "keywords": "k", "reason": "r",
}  # fmt: skip


@pytest.mark.parametrize(
    ("target", "days"),
    [
        ({"date": "DAY1", "time": "10203004DAY4_15120006DAY5_21401511"},
         [(1, 10), (4, 15), (5, 21)]),
        ({"date": "DAY1", "time": "11301203DAY1_12031503"}, [(1, 11), (1, 12)]),
        ({"date": "DAY1", "time": "11301203DAY212031503DAY12 9152408"},
         [(1, 11), (2, 12), (12, 9)]),
        ({"date": "DAY2", "time_list": ["08152408", "10152408"]}, [(2, 8), (2, 10)]),
        ({"date": "Day2", "time": 9152408}, [(2, 9)]),
        ({"date": "DAY3", "time": "09152408"}, [(3, 9)]),
    ],
)  # fmt: skip
def test_egolifeqas_target_times_run_together(
    tmp_path: Path, target: Any, days: list[tuple[int, int]]
) -> None:
    zone = ZoneInfo("Asia/Shanghai")
    file = dump(tmp_path / "EgoLifeQA_A1_JAKE.json", [{**EGOLIFE, "target_time": target}])
    benchmark = load(file, zone=zone, day_one=date(2024, 5, 1))
    assert benchmark.faults == ()
    whens = [e.when for e in benchmark.questions[0].evidence]
    assert [(w.day, w.hour) for w in whens if w] == days
    assert benchmark.questions[0].at == datetime(2024, 5, 6, 20, 0, 0, 950_000, tzinfo=zone)


def test_what_cannot_be_read_of_egolifeqas_times_is_told(tmp_path: Path) -> None:
    rows = [
        {**EGOLIFE, "target_time": {"date": "DAY1", "time": "09152499DAY2_09152408DAY3_111"}},
        {**EGOLIFE, "ID": "2", "target_time": {"date": "DAY6", "time": "20000100"}},
        {**EGOLIFE, "ID": "3", "query_time": {"date": "DAY1", "time": "09152499"}},
    ]
    benchmark = load(
        dump(tmp_path / "q.json", rows),
        zone=ZoneInfo("UTC"),
        day_one=date(2024, 5, 1),
        frame_base=20,
    )
    assert [(q.id, len(q.evidence)) for q in benchmark.questions] == [("1", 1)]
    assert [(f.id, f.kind, f.dropped) for f in benchmark.faults] == [
        ("1", "evidence", False), ("1", "evidence", False), ("3", "row", True), ("2", "time", True),
    ]  # fmt: skip
    assert "frame 99" in benchmark.faults[0].message
    assert "111 is not" in benchmark.faults[1].message
    assert "frame 99" in benchmark.faults[2].message
    assert "before its evidence on 2024-05-06 20:00:01" in benchmark.faults[3].message


def test_mvbenchs_data_sets_share_names_of_videos(tmp_path: Path, make_video: Any) -> None:
    asked = {"video": "video_7.mp4", "question": "What moved?", "candidates": ["cup", "hat"],
             "answer": "hat"}  # fmt: skip
    dump(tmp_path / "json" / "moving_count.json", [asked])
    dump(tmp_path / "json" / "state_change.json", [{**asked, "question": "And?", "start": None}])
    dump(tmp_path / "json" / "episodic_reasoning.json", [
        {**asked, "video": "s01e01_clip_01", "start": 14.1, "end": 20, "fps": 3,
         "accurate_start": 15.5, "accurate_end": 19}
    ])  # fmt: skip
    dump(tmp_path / "test.json", [{**asked}])
    make_video("v/clevrer/video_validation/video_7.mp4", seconds=0.2)
    make_video("v/perception/videos/video_7.mp4", seconds=0.2)
    benchmark = load(tmp_path, media=tmp_path / "v")
    assert benchmark.format == "mvbench"
    assert sorted(v.id for v in benchmark.videos) == [
        "clevrer/video_7.mp4", "perception/video_7.mp4", "s01e01_clip_01",
    ]  # fmt: skip
    for id in ("clevrer/video_7.mp4", "perception/video_7.mp4"):
        assert id.partition("/")[0] in Path(benchmark.by_id[id].path or "").parts
    assert benchmark.by_id["clevrer/video_7.mp4"].source_dataset == "CLEVRER"
    assert [q.evidence[0].span for q in benchmark.questions if q.evidence] == [Span(15.5, 19)]
    assert [(f.kind, f.dropped, f.file) for f in benchmark.faults] == [
        ("duplicate", True, "test.json")
    ]
