"""CapMem's rules: the gate, frame limits, the aligned control, crossed captions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Arm, Config, Run, RunSummary, StoredRun, load_run
from egomem.evaluate import status as status_of
from egomem.evaluate.bias_gate import bias_gates
from egomem.evaluate.stored_run import Finished
from egomem.memory import Store
from egomem.records import Answer, Question, Status
from egomem.report import differences, report_columns, report_sections
from egomem.report.model_tables import cross_captioning_section
from egomem.report.question_browser import browser_data, unpack
from egomem.report.table import ReportTable
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import RecordingTime

Go = Callable[..., RunSummary]


def gate(
    right: int, total: int, errors: int = 0, missing: int = 0
) -> tuple[bool | None, float | None]:
    """A reader that is right on so many questions; some of the rest are errors, or missing."""
    config = Config(settings=("clean",), readers=("ollama:x",))
    column = Arm(setting="clean", reader="ollama:x")
    questions = [Question.of("?", ["a", "b"], id=f"q{k}", answer="A") for k in range(total)]
    cells = {}
    for k, q in enumerate(questions):
        if k >= total - missing:
            continue
        status = Status.ERROR if k >= total - errors - missing else Status.PARSED
        choice = None if status is Status.ERROR else "A" if k < right else "B"
        answer = Answer(text="", status=status, choice=choice, strategy="clean")
        cells[q.id, column] = Finished(question=q.id, arm=column, parts={}, answer=answer)
    (gate_result,) = bias_gates(questions, config, cells)
    assert gate_result.reason
    return gate_result.passed, gate_result.accuracy


def test_the_gate_holds_both_bounds() -> None:
    assert gate(15, 100) == (True, 0.15)
    assert gate(35, 100) == (True, 0.35)
    assert gate(14, 100) == (False, 0.14)
    assert gate(36, 100) == (False, 0.36)


@pytest.mark.parametrize("lost", ["errors", "missing"])
@pytest.mark.parametrize(
    ("right", "unsure", "passed"),
    [
        (30, 70, None),  # neither 30 of 30 nor 30 of 100
        (0, 100, None),
        (30, 5, True),  # whatever becomes of them
        (30, 6, None),
        (14, 1, None),
        (12, 2, False),
        (36, 40, False),
        (35, 0, True),
    ],
)
def test_the_gate_is_not_judged_on_errors(
    right: int, unsure: int, passed: bool | None, lost: str
) -> None:
    """An outage does not decide who goes on, unless it cannot matter."""
    assert gate(right, 100, **{lost: unsure}) == (passed, right / 100)


def test_a_reader_that_could_not_be_asked_is_judged_when_it_can_be(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    folder = tmp_path / "run"
    with ScriptedServer(Script(rules=(Rule(status=400, times=5), Rule(reply="C")))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        stop = config.model_copy(
            update={"gate": "stop", "settings": ("clean", "video"), "readers": (spec,)}
        )
        outcome = go(benchmark, stop, folder)
        (gate_result,) = outcome.gates
        assert (gate_result.passed, gate_result.verdict, outcome.stopped) == (
            None,
            "not judged",
            (spec,),
        )
        assert "5 of 5 questions ended in an error" in gate_result.reason
        assert len(server.requests) == 5
        again = go(benchmark, stop, folder)
        assert (again.gates[0].verdict, again.stopped) == ("passes", ())
        assert again.by_status == {"parsed": 10}


def test_a_reader_that_fails_the_gate_goes_no_further(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    """The reader of the fixture is right on every question without seeing anything."""
    stop = config.model_copy(update={"gate": "stop"})
    outcome = go(benchmark, stop, tmp_path / "run")
    assert [g.passed for g in outcome.gates] == [False]
    assert "above" in outcome.gates[0].reason
    assert outcome.stopped == config.readers
    assert len(server.requests) == 5
    assert not any(s.images for s in server.requests)


def test_a_reader_within_the_gate_goes_on(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    with ScriptedServer(Script(rules=(Rule(reply="C"),))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        stop = config.model_copy(
            update={"gate": "stop", "settings": ("clean", "video"), "readers": (spec,)}
        )
        outcome = go(benchmark, stop, tmp_path / "run")
    assert outcome.gates[0].accuracy == pytest.approx(0.2)  # q2 alone has the key C
    assert (outcome.stopped, outcome.by_status) == ((), {"parsed": 10})


def test_direct_frames_keep_to_the_model_s_limit(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go, spec: str
) -> None:
    limited = config.model_copy(update={"settings": ("video",), "frame_limits": {spec: 3}})
    go(benchmark, limited, tmp_path / "run")
    assert {len(s.images) for s in server.requests} == {3}


def test_aligned_captions_are_made_from_exactly_the_frames_of_video(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    aligned = config.model_copy(update={"settings": ("video", "aligned@2"), "frames": 3})
    go(benchmark, aligned, tmp_path / "run")
    with Store.open(tmp_path / "run" / "memory") as store:
        captioned = {
            r.name: sorted(
                t for o in store.view().observations(recording=r.id) for t in o.provenance.frames
            )
            for r in store.recordings()
        }
        tracks = [t.id for t in store.tracks()]
    (track,) = tracks
    assert "aligned3" in track
    run = load_run(tmp_path / "run")
    for (id, column), cell in run.cells.items():
        if column.setting != "video":
            continue
        (looked,) = [s for s in cell.answer.trace if isinstance(s, dict) and s["step"] == "looked"]
        frames = looked["frames"]
        assert isinstance(frames, list)
        times = [f["time"] for f in frames if isinstance(f, dict)]
        assert {f["recording"] for f in frames if isinstance(f, dict)} == {f"v{int(id[1:]) % 2}"}
        assert times == captioned[f"v{int(id[1:]) % 2}.mp4"]
        assert len(times) == 3


@pytest.mark.parametrize("frames", [3, 768])
def test_aligned_captions_are_those_of_what_each_question_may_see(
    benchmark: Benchmark,
    config: Config,
    server: ScriptedServer,
    tmp_path: Path,
    go: Go,
    frames: int,
) -> None:
    """Also where it looks back from before the end, or is asked about all videos."""
    at = {"q1": RecordingTime("v1", 2.6), "q3": RecordingTime("v1", 1.5)}
    asked = tuple(
        q.model_copy(
            update={"at": at.get(q.id), "recording": None if q.id == "q4" else q.recording}
        )
        for q in benchmark.questions
    )
    folder = tmp_path / "run"
    aligned = config.model_copy(
        update={"settings": ("video", "aligned@2"), "frames": frames, "fps": 3.0}
    )
    whole = benchmark.model_copy(update={"questions": asked})
    assert go(whole, aligned, folder).by_status == {"parsed": 10}
    run = load_run(folder)
    with Store.open(folder / "memory") as store:
        by_id = {o.id: o for t in store.tracks() for o in store.view().observations(tracks=[t.id])}
        names = {r.id: r.name.removesuffix(".mp4") for r in store.recordings()}
    counts = {}
    for question in asked:
        visible, read = (
            run.cells[question.id, Arm(setting=s, reader=config.readers[0], captioner=c)].answer
            for s, c in (("video", ""), ("aligned@2", config.readers[0]))
        )
        (looked,) = [s for s in visible.trace if s["step"] == "looked"]
        frames_seen = {(f["recording"], f["time"]) for f in looked["frames"]}
        (notes,) = [s for s in read.trace if s["step"] == "notes"]
        captioned = {
            (names[o.recording or ""], t)
            for o in by_id.values()
            if o.track == notes["track"]
            for t in o.provenance.frames
            if question.recording in (None, names[o.recording or ""])
        }
        assert captioned == frames_seen
        counts[question.id] = (len(frames_seen), notes["track"].rpartition("-aligned")[2])
    assert counts["q0"] == counts["q2"]
    assert counts["q0"] == (min(frames, 12), str(frames))
    assert counts["q1"] == (min(frames, 7), f"{frames}-until2.6")
    assert counts["q4"][0] == min(frames, 24)
    assert "-over2-" in counts["q4"][1]
    before = len(server.requests)
    assert go(whole, aligned, folder).asked == 0
    assert len(server.requests) == before
    captions = {}
    for question, details in zip(
        asked, unpack(browser_data(report_columns([run]))["blocks"][0]), strict=True
    ):
        if frames == 768:  # else there are windows without a frame, and without a caption
            (read,) = details["captions"]
            captions[question.id] = read.rpartition("-aligned")[2]
    assert captions == ({id: cut for id, (_, cut) in counts.items()} if frames == 768 else {})
    column = Arm(setting="aligned@2", reader=config.readers[0], captioner=config.readers[0])
    built = sum(u.frames for u in run.built(column).by_video.values())
    assert built == sum(len(o.provenance.frames) for o in by_id.values())
    if frames == 768:  # else there are windows without a frame, which are finished, too
        assert sum(t.done for t in status_of(run).captions) == len(by_id)


def test_crossed_captions_are_built_once_for_each_captioner(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    with ScriptedServer(
        Script(rules=(Rule(when="Question:", reply="A"), Rule(reply="It is red.")))
    ) as s:
        one, two = (f"openai-compatible:{n}@{s.url}" for n in ("one", "two"))
        crossed = config.model_copy(
            update={
                "settings": ("caption@2",),
                "readers": (one, two),
                "captioners": (one, two),
                "cross": True,
            }
        )
        outcome = go(benchmark, crossed, tmp_path / "run")
        assert outcome.cells == 20
        captions = [r for r in s.requests if "Question:" not in r.text]
        assert len(captions) == 2 * 4
        assert {str(r.body["model"]) for r in captions} == {"one", "two"}
    run = load_run(tmp_path / "run")
    table = cross_captioning_section(report_columns([run])).parts[0]
    assert isinstance(table, ReportTable)
    assert table.headings == ("captions by", "one", "two")
    assert tuple(tuple(map(str, row)) for row in table.rows[:3]) == (
        ("one", "40.0", "40.0"),
        ("two", "40.0", "40.0"),
        ("max - min", "0.0", "0.0"),
    )


def test_the_spread_is_over_captioners_for_each_reader() -> None:
    """A reader that is right with one captioner's captions alone."""
    config = Config(
        settings=("caption@30",),
        readers=("ollama:r", "ollama:s"),
        captioners=("ollama:c", "ollama:d"),
        cross=True,
    )
    questions = [Question.of("?", ["a", "b"], id=f"q{k}", answer="A") for k in range(4)]
    benchmark = Benchmark(name="b", format="native", videos=(), questions=tuple(questions))
    results = StoredRun()
    for column in config.arms():
        right = 3 if (column.reader, column.captioner) == ("ollama:r", "ollama:d") else 1
        for k, q in enumerate(questions):
            choice = "A" if k < right else "B"
            answer = Answer(text="", status=Status.PARSED, choice=choice, strategy="caption")
            cell = Finished(question=q.id, arm=column, parts={}, answer=answer)
            results.cells[cell.key] = cell
    run = Run(Path("run"), {}, config, benchmark, results)
    table = cross_captioning_section(report_columns([run])).parts[0]
    assert isinstance(table, ReportTable)
    assert tuple(tuple(map(str, row)) for row in table.rows[:3]) == (
        ("c", "25.0", "25.0"),
        ("d", "75.0", "25.0"),
        ("max - min", "50.0", "0.0"),
    )


def test_a_video_that_is_not_at_hand_is_said_in_each_cell(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    Path(benchmark.videos[1].path or "").unlink()
    only = config.model_copy(update={"settings": ("clean", "video", "caption@2")})
    outcome = go(benchmark, only, tmp_path / "run")
    assert outcome.by_status == {"parsed": 5 + 3 + 3, "error": 4}
    cell = load_run(tmp_path / "run").cells["q1", Arm(setting="video", reader=only.readers[0])]
    assert "v1 is not at hand" in cell.answer.reason


def test_windows_that_could_not_be_captioned_keep_their_questions_open(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    rules = (
        Rule(when="0:02-0:04 of the recording", status=400, times=1),
        Rule(when="Question:", reply="A"),
        Rule(reply="A red drawer."),
    )
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"settings": ("caption@2",), "readers": (spec,)})
        first = go(benchmark, only, tmp_path / "run")
        assert first.errors in (2, 3)
        assert len(first.faults) == 1
        assert go(benchmark, only, tmp_path / "run").by_status == {"parsed": 5}


SECOND = "0:02-0:04 of the recording"


@pytest.mark.parametrize(
    ("rule", "status", "sent"),
    [
        (Rule(refusal="I cannot describe this."), "refused", 2),
        (Rule(reply="", finish="content_filter"), "refused", 2),
        (Rule(reply="[0:02] The wearer op", finish="length"), "truncated", 2),
        (Rule(reply=""), "unparsable", 4),
    ],
)
def test_a_window_without_a_caption_is_a_gap_and_no_error(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, rule: Rule, status: str, sent: int
) -> None:
    """The other captions are read; the gap is told to the reader, counted, and not paid again."""
    folder = tmp_path / "run"
    rules = [rule.model_copy(update={"when": SECOND}), Rule(when="Question:", reply="A")]
    with ScriptedServer(Script(rules=(*rules, Rule(reply="A red drawer.")))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        ways = ("caption@2", "verify@2", "caption@evidence", "aligned@2")
        only = config.model_copy(update={"settings": ways, "readers": (spec,)})
        outcome = go(benchmark, only, folder)
        assert "error" not in outcome.by_status
        assert (outcome.faults, outcome.left) == ((), 0)
        lost = [(w.video, w.start, w.end, w.status) for w in outcome.uncaptioned]
        assert lost == [("v0", 2, 4, status), ("v1", 2, 4, status)] * 2  # two tracks
        assert sum(SECOND in s.text for s in server.requests) == 2 * sent
        whole = [s.text for s in server.requests if "You get notes that were" in s.text]
        noted = ["[-] 0:02-0:04 (nothing could be noted" in text for text in whole]
        # Aligned captions say the same here; the oracle's notes end before.
        assert (sum(noted), len(noted)) == (5, 10)
        before = len(server.requests)
        again = go(benchmark, only, folder)
        assert (again.asked, len(server.requests) - before) == (0, 0)
        assert again.uncaptioned == outcome.uncaptioned
    run = load_run(folder)
    assert run.uncaptioned() == list(outcome.uncaptioned)
    (first, _) = status_of(run).captions
    assert (first.done, first.total, first.without) == (2, 4, {status: 2})
    sections = report_sections([run], report_columns([run]))
    (section,) = [s for s in sections if s.title == "Missing captions"]
    (table,) = section.parts
    assert isinstance(table, ReportTable)
    (row, *_) = [list(map(str, r)) for r in table.rows]
    assert row[1:] == ["caption@2, verify@2, caption@evidence", "v0", "1", f"0:02-0:04 {status}"]


def test_a_caption_that_was_cut_off_is_asked_for_again_with_more_tokens(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    rules = (
        Rule(when=SECOND, reply="[0:02] The wea", finish="length", times=2),
        Rule(when="Question:", reply="A"),
        Rule(reply="A red drawer."),
    )
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"settings": ("caption@2",), "readers": (spec,)})
        assert len(go(benchmark, only, tmp_path / "run").uncaptioned) == 2
        before = len(server.requests)
        less = only.model_copy(update={"caption_tokens": 900})
        assert go(benchmark, less, tmp_path / "run").asked == 0
        more = only.model_copy(update={"caption_tokens": 4000})
        outcome = go(benchmark, more, tmp_path / "run")
        assert (outcome.uncaptioned, outcome.asked_again) == ((), {"memory": 5})
        captioned = [s for s in server.requests[before:] if "Question:" not in s.text]
        assert [s.body["max_tokens"] for s in captioned] == [4000, 4000]
    assert load_run(tmp_path / "run").uncaptioned() == []


def test_a_server_with_an_image_limit_runs_everything(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    """At 4 frames a second a window of 2 s holds 8, and it takes 3 of them."""
    rules = (
        Rule(when="You check answers", reply='{"answer": "B", "support": "weak", "reason": "r"}'),
        Rule(when="Question:", reply="A"),
        Rule(reply="A red drawer."),
    )
    with ScriptedServer(Script(rules=rules, max_images=3)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        ways = ("clean", "video", "caption@2", "verify@2", "video@evidence", "caption@evidence")
        only = config.model_copy(update={"settings": ways, "readers": (spec,), "fps": 4.0})
        failed = go(benchmark, only, tmp_path / "run")
        assert failed.errors
        assert "EGOMEM_LIMITS_CAPTIONER_IMAGES" in failed.faults[0]
        most = {role: {"images": 3.0} for role in ("captioner", "reader", "verifier")}
        limited = only.model_copy(update={"given_limits": most})
        outcome = go(benchmark, limited, tmp_path / "run")
        assert outcome.by_status == {"parsed": 30}
        asked = [s for s in server.requests if SECOND in s.text][-1]
        assert len(asked.images) == 3
        assert re.findall(r"\[0:0(\S+)\]", asked.text) == ["2.2", "3", "3.5"]
    run = load_run(tmp_path / "run")
    tracks = run.about["tracks"]
    assert all("~4fps-max3" in t for t in tracks.values() if t)
    assert differences(run, replace(run, config=only)) != []


def test_aligned_captions_that_could_not_be_aligned_say_so(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    most = {"captioner": {"images": 1.0}}
    only = config.model_copy(update={"settings": ("aligned@2",), "given_limits": most})
    outcome = go(benchmark, only, tmp_path / "run")
    assert outcome.by_status == {"error": 5}
    assert "would not be aligned" in outcome.faults[0]
    fewer = only.model_copy(update={"frames": 2})
    assert go(benchmark, fewer, tmp_path / "run").by_status == {"parsed": 5}


def test_evidence_names_the_videos_of_the_benchmark(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    reply = '{"answer": "A", "scores": {"A": 0.9, "B": 0.1, "C": 0, "D": 0}, "evidence": [2]}'
    rules = (Rule(when="Question:", reply=reply), Rule(reply="A drawer."))
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(
            update={"settings": ("caption@2",), "readers": (spec,), "format": "scores"}
        )
        go(benchmark, only, tmp_path / "run")
    for (id, _), cell in load_run(tmp_path / "run").cells.items():
        (piece,) = cell.answer.evidence
        assert (piece.recording, piece.span.start) == (f"v{int(id[1:]) % 2}", 2.0)
        assert cell.answer.scores["A"] == 0.9
