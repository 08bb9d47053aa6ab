"""The data behind the report's questions: several runs, what a memory holds, traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Finished, Run, StoredRun
from egomem.memory import Store
from egomem.memory.failed_windows import FailedWindow, to_completed
from egomem.memory.thumbnails import keep_thumbnail
from egomem.records import Answer, Evidence, Observation, Question, Recording, Status, Track
from egomem.report import evidence_view as held_pictures
from egomem.report import report_columns
from egomem.report.missing_captions import missing_captions_section as gaps_of
from egomem.report.question_browser import BLOCK_SIZE, browser_data, unpack
from egomem.report.table import ReportTable
from egomem.report.trace_view import MAX_ITEMS, trace_steps
from egomem.timeline import Span


def run(
    name: str, questions: list[Question], settings: tuple[str, ...] = ("video", "caption@30")
) -> Run:
    config = Config(settings=settings, readers=("ollama:one",), gate="report")
    results = StoredRun()
    for column in config.arms():
        for q in questions:
            reply = Answer(text="", status=Status.PARSED, choice="A", strategy="x")
            cell = Finished(question=q.id, arm=column, parts={}, answer=reply)
            results.cells[cell.key] = cell
    bench = Benchmark(name="b", format="native", videos=(), questions=tuple(questions))
    return Run(Path(name), {}, config, bench, results)


def asked(count: int, **fields: object) -> list[Question]:
    given = {"answer": "A", **fields}
    return [Question.of(f"{k}?", ["a", "b"], id=f"q{k}", **given) for k in range(count)]


def test_questions_of_two_runs_are_one_where_they_are_the_same() -> None:
    """Two of three; the third has another text, and each run has one that the other has not."""
    one, two = asked(4), asked(5)
    two[2] = two[2].model_copy(update={"text": "changed"})
    data = browser_data(report_columns([run("r", one), run("s", two)]))
    right = ["parsed", True, "A"]
    answers = {q["id"]: q["answers"] for q in data["questions"]}
    assert answers["q0"] == [right] * 4
    assert answers["q2"] == [right, right, None, None]
    assert answers["q2 in s"] == [None, None, right, right]
    assert answers["q4"] == [None, None, right, right]
    assert len(answers) == 6


def test_an_answer_without_a_key_is_neither_right_nor_wrong() -> None:
    run_ = run("r", asked(2, answer=None))
    missing = next(key for key in run_.cells if key[0] == "q1")
    del run_.stored.cells[missing]
    first, second = browser_data(report_columns([run_]))["questions"]
    assert first["answers"] == [["parsed", None, "A"]] * 2
    assert second["answers"] == [["missing", None, None], ["parsed", None, "A"]]


def test_details_are_packed_in_the_order_of_the_questions() -> None:
    questions = asked(BLOCK_SIZE + 3)
    questions = [
        q.model_copy(update={"evidence": (Evidence(recording=None, span=Span(k, k + 1)),)})
        for k, q in enumerate(questions)
    ]
    data = browser_data(report_columns([run("r", questions)]))
    blocks = [unpack(block) for block in data["blocks"]]
    assert [len(b) for b in blocks] == [BLOCK_SIZE, 3]
    assert blocks[1][0]["evidence"] == ["0:20-0:21"]


def test_no_reason_is_given_where_nothing_was_read() -> None:
    data = browser_data(report_columns([run("r", asked(1, answer="B"), ("clean", "video"))]))
    clean, video = data["questions"][0]["answers"]
    assert clean == ["parsed", False, "A"]
    assert len(video) == 4


@pytest.fixture
def remembering(tmp_path: Path) -> Run:
    """A run with a memory of one recording: two tracks of captions, three pictures."""
    tracks = [
        Track(source="caption", observer="vlm", model=f"ollama:{name}", prompt="p@1", window=30.0)
        for name in ("one", "two")
    ]
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_recording(Recording(id="r0", name="v0", duration=90.0))
        for track in tracks:
            store.put_track(track)
            store.add(
                Observation(
                    recording="r0", span=Span(s, s + 30), text=f"{track.model} {s}",
                    source="caption", track=track.id,
                )
                for s in (0.0, 30.0, 60.0)
            )  # fmt: skip
    for start in (0.0, 30.0, 60.0):
        keep_thumbnail(tmp_path / "memory", "r0", start, b"\xff\xd8" + bytes(98))
    pieces = (Evidence(recording="v0", span=Span(40.0, 65.0)),)
    run_ = run(str(tmp_path), asked(2, recording="v0", evidence=pieces))
    label = next(c.label for c in run_.config.arms() if c.setting == "caption@30")
    run_.about = {"recordings": {"v0": "r0"}, "tracks": {label: tracks[0].id}}
    return run_


def test_what_the_memory_holds_of_the_evidence(remembering: Run) -> None:
    """The picture before it and the one within it; the captions over it that the run reads."""
    first = unpack(browser_data(report_columns([remembering]))["blocks"][0])[0]
    assert [label for label, _ in first["pictures"]] == ["v0 0:30", "v0 1:00"]
    assert first["captions"] == {
        "one, p@1@30s": ["0:30-1:00 ollama:one 30.0", "1:00-1:30 ollama:one 60.0"]
    }


def test_a_setting_that_chooses_by_itself_may_have_read_any_caption(remembering: Run) -> None:
    remembering.about["tracks"] = {}
    first = unpack(browser_data(report_columns([remembering]))["blocks"][0])[0]
    assert list(first["captions"]) == ["one, p@1@30s", "two, p@1@30s"]


def test_aligned_captions_are_those_that_the_question_was_read_from(tmp_path: Path) -> None:
    """Each question may see as much as it may; one whose answer tells no track has the setting's,
    and a window that was refused is told with the setting that reads it."""
    run_ = run(
        str(tmp_path),
        asked(3, recording="v0", evidence=(Evidence(recording="v0", span=Span(40.0, 50.0)),)),
        ("aligned@30",),
    )
    (column,) = run_.config.arms()
    whole = Track(
        source="caption", observer="vlm", model="ollama:one", prompt="p@1", window=30.0,
        sampling="1fps-aligned3",
    )  # fmt: skip
    cut = [f"{whole.sampling}{end}" for end in ("", "-until55", "-until60")]
    tracks = [whole.model_copy(update={"sampling": s}) for s in cut]
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_recording(Recording(id="r0", name="v0", duration=90.0))
        for track, words in zip(tracks, ("all", "until 55", "until 60"), strict=True):
            store.put_track(track)
            store.add(
                [
                    Observation(
                        recording="r0", span=Span(30, 60), text=words, source="caption",
                        track=track.id,
                    )
                ]
            )  # fmt: skip
        gap = FailedWindow(Span(0, 30), "refused")
        store.add([], completed=[to_completed("r0", tracks[1].id, gap)])
    for id, read in (("q0", tracks[1]), ("q1", tracks[2])):
        cell = run_.stored.cells[id, column]
        trace = ({"step": "notes", "track": read.id, "observations": 2},)
        answer = cell.answer.model_copy(update={"trace": trace})
        run_.stored.cells[id, column] = cell.model_copy(update={"answer": answer})
    run_.about = {"recordings": {"v0": "r0"}, "tracks": {column.label: whole.id}}
    details_of = unpack(browser_data(report_columns([run_]))["blocks"][0])
    captions = [list(details["captions"].values()) for details in details_of]
    assert captions == [[[f"0:30-1:00 {words}"]] for words in ("until 55", "until 60", "all")]
    ((table,),) = [gaps_of([run_]).parts]
    assert isinstance(table, ReportTable)
    (row,) = [list(map(str, r)) for r in table.rows]
    assert row[:2] == [tracks[1].id, "aligned@30"]


def test_pictures_that_have_no_room_are_counted(
    remembering: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_pictures, "MAX_PICTURE_BYTES", 350)  # 100 bytes each
    data = browser_data(report_columns([remembering]))
    counts = [len(details["pictures"]) for details in unpack(data["blocks"][0])]
    assert (counts, data["pictures_left_out"]) == ([2, 1], 1)


def test_steps_of_a_trace_are_told_for_a_person() -> None:
    frames = [{"recording": "v", "time": float(t)} for t in range(MAX_ITEMS + 5)]
    hit = {"recording": "v", "start": 0.0, "end": 30.0, "seed": True, "score": 0.25,
           "parts": {"bm25": 0.1, "time": 0.0}}  # fmt: skip
    looked, hits, asked, other = trace_steps(
        (
            {"step": "looked", "frames": frames, "missing": []},
            {"step": "found", "hits": [hit], "notes": ["one", "two"]},
            {"step": "asked", "role": "reader", "prompt": "p@1", "raw": "B", "key": "abc",
             "usage": {"tokens_in": 7, "tokens_out": 2, "frames": 3, "seconds": 0.5}},
            {"step": "odd", "rows": [{"a": 1}], "yes": True, "no": False, "left": 0},
            "not a step",
        )
    )  # fmt: skip
    assert looked["lines"][0].startswith("35 frames of v: 0:00, 0:01, 0:02")
    assert looked["lines"][0].endswith("0:29 and 5 more")
    assert hits["facts"] == ["notes one, two"]
    assert hits["lines"] == ["v 0:00-0:30; seed; score 0.25; parts: bm25 0.1, time 0"]
    assert asked == {
        "title": "asked reader p@1",
        "facts": ["3 frames", "7 tokens in, 2 out", "0.50 s"],
        "raw": "B",
    }
    assert other["facts"] == ['rows [{"a": 1}]', "yes", "left 0"]
