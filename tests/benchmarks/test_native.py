"""The native format: what it reads, what it refuses, and that it comes back as it went out."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark, demo, load, write
from egomem.errors import UsageError
from egomem.timeline import RecordingTime, Span


def save(folder: Path, name: str = "questions.jsonl", *rows: Any) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


FULL = {
    "id": "q1",
    "video": "v",
    "question": "Where is the red mug?",
    "options": ["on the shelf", "in the sink"],
    "answer": "b",
    "answerable": True,
    "at": 55.5,
    "evidence": [[10, 12.5], 20, {"start": 30, "end": 31, "quote": "a mug"}],
    "tags": {"visual": ["object"]},
    "type": "place",
}


def test_every_field_has_its_place(tmp_path: Path) -> None:
    save(tmp_path, "questions.jsonl", FULL)
    save(tmp_path, "videos.jsonl", {"id": "v", "duration": 60, "clock": "2026-03-01T09:00:00+02:00",
                                    "source_dataset": "ours", "view": "ego"})  # fmt: skip
    benchmark = load(tmp_path)
    assert (benchmark.format, benchmark.faults) == ("native", ())
    question = benchmark.questions[0]
    assert [(o.label, o.text) for o in question.options] == [
        ("A", "on the shelf"), ("B", "in the sink"),
    ]  # fmt: skip
    assert (question.answer, question.recording, question.answerable) == ("B", "v", True)
    assert question.at == RecordingTime("v", 55.5)
    assert [e.span for e in question.evidence] == [Span(10, 12.5), Span(20, 20), Span(30, 31)]
    assert question.evidence[2].quote == "a mug"
    assert question.tags == {"visual": ["object"], "type": "place"}
    video = benchmark.videos[0]
    assert (video.duration, video.source_dataset, video.tags) == (60, "ours", {"view": "ego"})
    assert video.clock is not None
    assert video.clock.start == datetime.fromisoformat("2026-03-01T09:00:00+02:00")


def test_other_names_and_shapes_of_the_same_things(tmp_path: Path) -> None:
    rows = [
        {"qid": "a", "video_id": "v", "question": "?", "choices": ["x", "y"], "answer_idx": 1},
        {"id": "b", "question": "?", "options": {"1": "x", "2": "y"}, "answer": 2},
        {"id": "c", "question": "?", "answer": "K", "at": "2026-03-01T09:00:00Z",
         "options": [{"label": "k", "text": "x"}, {"label": "l", "text": "y"}]},
        {"id": "d", "question": "?", "answer": "free text", "tags": ["object"]},
        {"id": "e", "question": "?", "options": ["x", "y"], "answerable": False},
    ]  # fmt: skip
    benchmark = load(save(tmp_path, "anything.jsonl", *rows))
    assert benchmark.faults == ()
    assert [q.answer for q in benchmark.questions] == ["B", "2", "k", "free text", None]
    assert [o.label for o in benchmark.questions[1].options] == ["1", "2"]
    assert benchmark.questions[3].tags == {"visual": ["object"]}
    assert [v.id for v in benchmark.videos] == ["v"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": None}, "the field id is missing"),
        ({"question": "  "}, "the field question is missing"),
        ({"options": ["x", ""]}, "option B is empty"),
        ({"options": "x, y"}, "neither a list nor a map"),
        ({"options": ["x", "X."]}, "options A and B are the same: 'X.'"),
        ({"options": ["only"], "answer": "A"}, "a single option"),
        ({"answer": "E"}, "the answer 'E' is none of the options A, B"),
        ({"answer": None, "answer_idx": 2}, "option 2 of 2"),
        ({"answer": None, "answer_idx": "x"}, "not the index of an option"),
        ({"answer": None, "answer_idx": -1}, "option -1 of 2"),
        ({"answerable": "yes"}, "neither true nor false"),
        ({"at": "2026-03-01T09:00:00"}, "has no zone"),
        ({"at": "nine"}, "no time"),
        ({"at": float("nan")}, "not a time"),
        ({"at": -4, "evidence": []}, "it is asked at -4 s"),
        ({"at": 12, "video": None}, "no video is named"),
        ({"evidence": [[9, 4]]}, "evidence from 9 s to 4 s cannot be"),
        ({"evidence": [[-3, 4]]}, "evidence from -3 s to 4 s cannot be"),
        ({"evidence": ["soon"]}, "not a number"),
        ({"evidence": [[0, float("inf")]]}, "not a finite number"),
        ({"evidence": [{"end": 4}]}, "has no start"),
        ({"evidence": "12"}, "not a list"),
        ({"tags": 3}, "not an object"),
        ({"evidence": [[1858.0, 1860.0]], "at": None}, "ends at 1860 s, and the video at 1700 s"),
        ({"at": 1701.0}, "asked at 1701 s, and the video ends at 1700 s"),
        ({"at": 5.0}, "asked at 5 s, before its evidence at 10 s"),
    ],
)
def test_a_faulty_row_is_named_by_line_and_id_and_the_rest_loads(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    rows = [{**FULL, "id": "first"}, {**FULL, **change}, {**FULL, "id": "last"}]
    save(tmp_path, "questions.jsonl", *rows)
    save(tmp_path, "videos.jsonl", {"id": "v", "duration": 1700})
    benchmark = load(tmp_path)
    assert [q.id for q in benchmark.questions] == ["first", "last"]
    assert len(benchmark.faults) == 1
    fault = benchmark.faults[0]
    assert message in fault.message
    assert fault.dropped
    assert fault.id == ("" if change.get("id", 0) is None else "q1")
    assert str(fault).startswith("questions.jsonl:2: ")


def test_without_strictness_what_can_be_read_is_kept(tmp_path: Path) -> None:
    rows = [{**FULL, "options": ["x", "x"]}, {**FULL, "id": "q2", "options": ["x", ""]}]
    benchmark = load(save(tmp_path, "questions.jsonl", *rows), strict=False)
    assert [q.id for q in benchmark.questions] == ["q1"]
    assert [f.id for f in benchmark.faults] == ["q2"]


def test_a_question_may_have_evidence_on_both_sides_of_its_time(tmp_path: Path) -> None:
    benchmark = load(save(tmp_path, "questions.jsonl", {**FULL, "at": 15.0}))
    assert benchmark.faults == ()
    assert len(benchmark.questions[0].evidence) == 3


def test_torn_and_odd_lines(tmp_path: Path) -> None:
    odd = json.dumps({**FULL, "question": "a\u2028b\u0085c"}, ensure_ascii=False)
    save(tmp_path, "questions.jsonl", odd, "", "[1, 2]", '{"id": "q9", "quest')
    benchmark = load(tmp_path)
    assert [q.text for q in benchmark.questions] == ["a\u2028b\u0085c"]
    assert [(f.kind, f.line) for f in benchmark.faults] == [("unreadable", 3), ("unreadable", 4)]
    assert "not a JSON object" in benchmark.faults[0].message
    assert "not JSON" in benchmark.faults[1].message


def test_evidence_in_another_video_is_held_against_that_one(tmp_path: Path) -> None:
    def asked(id: str, end: float) -> dict[str, Any]:
        return {**FULL, "id": id, "evidence": [{"video": "w", "start": 1, "end": end}]}

    save(tmp_path, "questions.jsonl", asked("in", 30), asked("out", 31))
    save(tmp_path, "videos.jsonl", {"id": "v", "duration": 60}, {"id": "w", "duration": 30})
    benchmark = load(tmp_path)
    assert [q.id for q in benchmark.questions] == ["in"]
    assert "ends at 31 s, and the video at 30 s" in benchmark.faults[0].message
    assert [v.id for v in load(tmp_path / "questions.jsonl").videos] == ["v", "w"]


def test_other_files_of_a_folder_are_no_questions(tmp_path: Path) -> None:
    save(tmp_path, "captions.jsonl", *({"video_id": "v", "text": "a mug"} for _ in range(30)))
    nameless = {name: value for name, value in FULL.items() if name != "id"}
    save(tmp_path, "part_1.jsonl", nameless, "{torn", FULL)
    save(tmp_path, "part_2.jsonl", {**FULL, "id": "q2"})
    save(tmp_path, "part_3.jsonl", "{torn")
    benchmark = load(tmp_path)
    assert [q.id for q in benchmark.questions] == ["q1", "q2"]
    assert [(f.file, f.line) for f in benchmark.faults] == [
        ("part_1.jsonl", 1), ("part_1.jsonl", 2), ("part_3.jsonl", 1),
    ]  # fmt: skip


def test_a_second_question_of_an_id_is_a_fault(tmp_path: Path) -> None:
    benchmark = load(save(tmp_path, "questions.jsonl", FULL, {**FULL, "answer": "A"}))
    assert [(q.id, q.answer) for q in benchmark.questions] == [("q1", "B")]
    assert [(f.id, f.kind, f.line) for f in benchmark.faults] == [("q1", "duplicate", 2)]


def test_gzip_json_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff" + json.dumps([FULL])
    (tmp_path / "questions.json.gz").write_bytes(gzip.compress(text.encode()))
    assert load(tmp_path / "questions.json.gz").questions[0].id == "q1"


def test_what_is_no_benchmark_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no benchmark at"):
        load(tmp_path / "none")
    with pytest.raises(UsageError, match="no questions in a known format"):
        load(save(tmp_path / "a", "rows.jsonl", {"x": 1}))
    with pytest.raises(UsageError, match="no format named vqa"):
        load(tmp_path / "a", "vqa")
    (tmp_path / "a" / "rows.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "a")
    (tmp_path / "a" / "rows.jsonl").unlink()
    (tmp_path / "a" / "questions.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UsageError, match="cannot be read as Parquet"):
        load(tmp_path / "a")


def same(one: Benchmark, other: Benchmark) -> bool:
    return (one.questions, one.videos, one.name, one.licence, one.provenance) == (
        other.questions, other.videos, other.name, other.licence, other.provenance,
    )  # fmt: skip


@pytest.mark.parametrize("parquet", [False, True])
def test_what_is_written_is_read_back_as_it_was(tmp_path: Path, parquet: bool) -> None:
    if parquet:
        pytest.importorskip("pyarrow")
    benchmark = demo()
    write(benchmark, str(tmp_path / "out"), parquet=parquet)
    assert same(load(tmp_path / "out"), benchmark)
    assert {p.suffix for p in (tmp_path / "out").iterdir()} == {
        ".json", ".parquet" if parquet else ".jsonl",
    }  # fmt: skip


def test_files_belong_to_videos_by_name(tmp_path: Path, make_video: Any) -> None:
    make_video("clips/v.mkv", seconds=0.2)
    make_video("clips/other.mp4", seconds=0.2)
    save(tmp_path, "questions.jsonl", FULL, {**FULL, "id": "q2", "video": "w"})
    benchmark = load(tmp_path, media=tmp_path / "clips")
    assert benchmark.by_id["v"].path == str(tmp_path / "clips" / "v.mkv")
    assert benchmark.by_id["w"].path is None
    save(tmp_path, "videos.jsonl", {"id": "v", "path": "clips/other.mp4"})
    assert load(tmp_path).by_id["v"].path == str(tmp_path / "clips" / "other.mp4")
