"""Files as people have them: several formats, damaged ones, CSV, and media elsewhere."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark, load, validate
from egomem.benchmarks.rows import read_rows
from egomem.errors import UsageError
from egomem.records import Video
from egomem.timeline import Span

ROW = {"id": "q1", "video": "v", "question": "Where?", "options": ["x", "y"], "answer": "A"}


def lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_folder_of_two_formats_is_not_guessed_at(tmp_path: Path) -> None:
    native = lines(tmp_path / "a.jsonl", ROW)
    lines(tmp_path / "b.jsonl", {"q_uid": "u", "question": "?", "option 0": "x", "option 1": "y"})
    with pytest.raises(UsageError, match=r"several formats: a.jsonl is native, b.jsonl is egosch"):
        load(tmp_path)
    assert [q.id for q in load(tmp_path, "egoschema").questions] == ["u"]
    assert [q.id for q in load(native).questions] == ["q1"]


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    lines(tmp_path / "questions.jsonl", ROW)
    (tmp_path / "telemetry.json").write_text("{not json")
    (tmp_path / "other.csv").write_bytes(b"\xff\xfe\x00")
    benchmark = load(tmp_path)
    assert [q.id for q in benchmark.questions] == ["q1"]
    assert [(f.kind, f.line, f.dropped) for f in benchmark.faults] == [
        ("unreadable", None, True)
    ] * 2
    assert "telemetry.json is not JSON" in benchmark.faults[1].message
    with pytest.raises(UsageError, match="is not JSON"):
        load(tmp_path / "telemetry.json")
    lines(tmp_path / "videos.jsonl", {"id": "v"})
    with pytest.raises(UsageError, match="is not JSON"):
        load(tmp_path / "telemetry.json")
    (tmp_path / "questions.jsonl").unlink()
    (tmp_path / "videos.jsonl").unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path)


def test_what_lies_beside_a_file_is_read_by_its_own_format_alone(tmp_path: Path) -> None:
    lines(tmp_path / "videos.jsonl", {"id": "v", "duration": 9})
    (tmp_path / "subset_answers.json").write_text('{"u": 1}')
    (tmp_path / "gsub_val.json").write_text('{"v": {"duration": 5}}')
    asked = {"video_id": "v", "question_id": "1", "question": "?", "options": ["x", "y"]}
    other = load(lines(tmp_path / "mme.jsonl", {**asked, "answer": "A", "task_type": "t"}))
    assert (other.format, other.faults, other.by_id["v"].duration) == ("videomme", (), None)
    native = load(lines(tmp_path / "q.jsonl", ROW))
    assert (native.faults, native.by_id["v"].duration) == ((), 9)


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_csv_may_hold_lists_and_cells_of_several_lines(tmp_path: Path, mark: str) -> None:
    cells = [
        ["id", "video", "question", "options", "answer", "answerable", "at", "evidence", "extra"],
        ["q1", "v", '"Where,\nthen?"', '"[""on"", ""in""]"', "B", "true", "", '"[[1, 2.5]]"', "9"],
        ["q2", "v", "What?", "\"['x y', 'z']\"", "E", "", "", "", ""],
        ["q3", "v", "[1] or [2]?", "\"['x y', 'z']\"", "A", "False", "7", "", ""],
    ]
    text = "\r\n".join(mark.join(row) for row in cells)
    (tmp_path / "q.csv").write_text("\ufeff" + text, encoding="utf-8", newline="")
    benchmark = load(tmp_path)
    assert benchmark.format == "native"
    first, second = benchmark.questions
    assert (first.text.replace("\r", ""), first.answer, first.answerable, first.at) == (
        "Where,\nthen?", "B", True, None,
    )  # fmt: skip
    assert [o.text for o in first.options] == ["on", "in"]
    assert (first.evidence[0].span, first.tags) == (Span(1, 2.5), {"extra": "9"})
    assert (second.text, second.answerable, second.tags) == ("[1] or [2]?", False, {})
    assert [(f.id, f.line) for f in benchmark.faults] == [("q2", 4)]


def test_odd_csv(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text(f'id,question\nq1,a,b\nq2,{"x" * 200_000}\n\n,"of\nthree\nlines"\n')
    benchmark = load(file)
    assert [(q.id, len(q.text)) for q in benchmark.questions] == [("q2", 200_000)]
    assert [(f.line, f.kind) for f in benchmark.faults] == [(2, "unreadable"), (5, "row")]
    assert "more cells than the first line names" in benchmark.faults[0].message
    file.write_text("")
    assert list(read_rows(file)) == []


def videos(*ids: str, **facts: Any) -> Benchmark:
    entries = tuple(Video(id=id, duration=1.0, **facts) for id in ids)
    return Benchmark(name="t", format="native", videos=entries, questions=(), licence="ours")


def test_media_is_told_from_what_lies_beside_it(tmp_path: Path) -> None:
    for name in ("a/v.json", "a/v.srt", "b/v.MP4", "c/w.webm", "d/w.mp4", "d/u.mp4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    benchmark = videos("v", "w", "u", "z").with_media(tmp_path)
    assert [Path(v.path).name if v.path else None for v in benchmark.videos] == [
        "v.MP4", None, "u.mp4", None,
    ]  # fmt: skip
    assert [(f.id, f.kind) for f in validate(benchmark)] == [("w", "media"), ("z", "media")]
    assert "2 files have its name" in validate(benchmark)[0].message
    named = videos("w", path="c/w.webm").with_media(tmp_path)
    assert named.videos[0].path == str(tmp_path / "c" / "w.webm")
    inside = videos("d/w.mp4").with_media(tmp_path)
    assert inside.videos[0].path == str(tmp_path / "d" / "w.mp4")


def test_media_that_is_nowhere_is_told_once(tmp_path: Path) -> None:
    benchmark = videos("v", "w").with_media(tmp_path)
    assert [f.message for f in validate(benchmark)] == [
        f"none of the 2 videos has a file in {tmp_path}"
    ]
    with pytest.raises(UsageError, match="no folder of media"):
        videos("v").with_media(tmp_path / "none")


def test_columns_that_json_could_not_hold(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    odd = {"made": datetime(2024, 5, 1, 9), "cost": Decimal("1.5"),
           "video_file": {"bytes": b"\x00", "path": "v.mp4"}, "blob": b"\xff"}  # fmt: skip
    table = pa.Table.from_pylist([{**ROW, **odd, "at": datetime(2024, 5, 2, tzinfo=UTC)}])
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "q.parquet")
    benchmark = load(tmp_path)
    assert benchmark.faults == ()
    question = benchmark.questions[0]
    assert question.at == datetime(2024, 5, 2, tzinfo=UTC)
    assert question.tags == {
        "made": "2024-05-01T09:00:00", "cost": 1.5, "video_file": {"bytes": None, "path": "v.mp4"},
    }  # fmt: skip


def test_an_index_that_a_gap_made_a_fraction(tmp_path: Path) -> None:
    benchmark = load(lines(tmp_path / "q.jsonl", {**ROW, "answer": None, "answer_idx": 1.0}))
    assert benchmark.questions[0].answer == "B"


def test_questions_are_known_by_question_id_too(tmp_path: Path) -> None:
    row = {"question_id": 7, "id": None, "question": "What is it?", "answer": "a cup"}
    assert [q.id for q in load(lines(tmp_path / "q.jsonl", row)).questions] == ["7"]


def test_a_question_of_capmem_without_its_time_is_told(tmp_path: Path) -> None:
    row = {"qid": "c1", "video_id": "v", "question": "?", "options": {"A": "x", "B": "y"},
           "answer": "A", "evidence_time_s": 3}  # fmt: skip
    benchmark = load(
        lines(tmp_path / "r.jsonl", row, {**row, "qid": "c2", "evidence_time_s": None})
    )
    assert [q.id for q in benchmark.questions] == ["c1", "c2"]
    assert [(f.id, f.kind, f.dropped) for f in benchmark.faults] == [("c2", "evidence", False)]
