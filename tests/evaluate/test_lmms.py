"""Our tasks for lmms-eval: what they ask, how they score; and inside it, with a scripted server."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from egomem import benchmarks
from egomem.answer import Task, register
from egomem.answer.prompts import CAPTION
from egomem.answer.reader import ReaderSettings, ask_reader
from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.errors import UsageError
from egomem.evaluate import lmms
from egomem.memory import Store
from egomem.models import Text
from egomem.models.fake_server import FakeServer, Rule, Script, Seen
from egomem.records import Answer, Observation, Question, Recording, Track, Video
from egomem.score import read_predictions
from egomem.timeline import Span

LETTERS = {"format": "letter", "abstain": False}
REPLIES = ["A", "Both A and B", "", "The answer is (D).", "B"]
STATUSES = ["parsed", "unparsable", "unparsable", "parsed", "parsed"]
RIGHT = [1.0, 0.0, 0.0, 1.0, 0.0]
"""The keys are A, B, C, D, A; q2 gets an empty reply."""


@pytest.fixture
def benchmark() -> Benchmark:
    """Two videos of 4 s, five questions; the key of question k is option k mod 4."""
    options = ["red", "green", "blue", "black"]
    asked = [
        Question.of(
            f"Which drawer is number {k}?",
            options,
            id=f"q{k}",
            recording=f"v{k % 2}",
            answer="ABCD"[k % 4],
        )
        for k in range(5)
    ]
    videos = tuple(Video(id=f"v{k}", duration=4) for k in range(2))
    return Benchmark(name="tiny", format="native", videos=videos, questions=tuple(asked))


@pytest.fixture
def films(make_video: Callable[..., Path]) -> dict[str, str]:
    """The videos as files: frame k of v1 is grey level 20 + k, ten frames a second."""
    return {f"v{k}": str(make_video(f"v{k}.mp4", seconds=4, level=20 * k)) for k in range(2)}


@pytest.fixture
def memory(benchmark: Benchmark, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A caption of each video; the files, too, for a test that uses `films`."""
    files = request.getfixturevalue("films") if "films" in request.fixturenames else {}
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_track(Track(source="caption", observer="made"))
        for id in ("v0", "v1"):
            store.put_recording(Recording(id=id, name=id, duration=4, path=files.get(id)))
            text = f"The drawer of {id} is opened."
            said = {"source": "caption", "track": "caption/made"}
            store.add([Observation(recording=id, span=Span(0, 1), text=text, **said)])
    return tmp_path / "memory"


@pytest.fixture
def place(
    benchmark: Benchmark, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """A task's JSON file, with the questions and the memory told by the environment."""
    benchmarks.write(benchmark, tmp_path / "data")
    monkeypatch.setenv("EGOMEM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("EGOMEM_MEMORY", str(memory))
    return lambda strategy, **more: {"strategy": strategy, "settings": LETTERS, **more}


Place = Callable[..., dict[str, Any]]


def text_of(messages: list[dict[str, Any]]) -> list[str]:
    return [c.get("text", "<image>") for m in messages for c in m["content"]]


def test_the_questions_come_from_where_the_environment_says(place: Place) -> None:
    rows = lmms.rows(place("caption"))
    assert [(r["id"], r["video"], r["target"], r["fault"]) for r in rows] == [
        ("q0", "v0", "A", ""),
        ("q1", "v1", "B", ""),
        ("q2", "v0", "C", ""),
        ("q3", "v1", "D", ""),
        ("q4", "v0", "A", ""),
    ]


def test_the_json_file_is_over_the_environment(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGOMEM_MEMORY", str(tmp_path / "none"))
    monkeypatch.setenv("EGOMEM_DATA", str(tmp_path / "none"))
    told = {"data": str(tmp_path / "data"), "memory": str(tmp_path / "memory"), "format": None}
    rows = lmms.rows(place("caption", **told))
    assert [r["fault"] for r in rows] == [""] * 5
    assert "The drawer of v1" in lmms.doc_to_text(rows[1])


def test_a_question_is_asked_as_its_strategy_asks_it(place: Place) -> None:
    captioned = lmms.rows(place("caption"))[1]
    system, user = lmms.doc_to_messages(captioned)
    assert (system["role"], user["role"]) == ("system", "user")
    said = text_of([system, user])
    assert said[0].startswith("You answer questions")
    assert "The drawer of v1 is opened." in said[1]
    assert "v0" not in said[1]
    assert said[2].startswith("Question: Which drawer is number 1?\nA. red\nB. green")
    assert lmms.doc_to_text(captioned) == "\n\n".join(said)
    assert lmms.doc_to_visual(captioned) == []

    blind = lmms.doc_to_text(lmms.rows(place("clean"))[1])
    assert "drawer of" not in blind
    assert blind.endswith(
        "Reply with the letter of the right option (A, B, C, D) and nothing else."
    )


def test_clean_needs_no_memory(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory = lmms.doc_to_text(lmms.rows(place("clean"))[0])
    monkeypatch.setenv("EGOMEM_MEMORY", "/nowhere")
    assert lmms.doc_to_text(lmms.rows(place("clean"))[0]) == with_memory


@pytest.mark.usefixtures("films")
def test_each_frame_is_told_with_its_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    # Four frames of four seconds, at the centres of their quarters.
    doc = lmms.rows(place("video", settings={**LETTERS, "frames": 4}))[1]
    said = text_of(lmms.doc_to_messages(doc))
    times = ["[0:00.5]", "[0:01.5]", "[0:02.5]", "[0:03.5]"]
    assert said[1:9] == [x for t in times for x in (t, "<image>")]
    levels = [p.convert("L").getpixel((9, 9)) for p in lmms.doc_to_visual(doc)]
    assert levels == pytest.approx([25, 35, 45, 55], abs=2)
    system, frames, asked = lmms.doc_to_text(doc).split("\n\n", 2)
    assert frames == f"Frames of the recording, taken at {', '.join(times)}."
    assert (system, asked) == (said[0], said[9])

    def gone(*_: object, **__: object) -> Any:
        raise AssertionError("nothing is decoded to read a reply")

    monkeypatch.setattr("egomem.evaluate.harness.frames", gone)
    found = lmms.process_results(doc, ["B"])
    assert found["accuracy"] == {"video": "v1", "score": 1.0}
    assert found["request"]["frames"] == 4


@pytest.mark.parametrize(
    ("reply", "status", "choice", "score"),
    [
        ("B", "parsed", "B", 1.0),
        ("The answer is (D).", "parsed", "D", 0.0),
        ("<think>A or C?</think>B", "parsed", "B", 1.0),
        ('{"answer": "B"}', "parsed", "B", 1.0),
        ("", "unparsable", None, 0.0),
        (None, "unparsable", None, 0.0),
        ("Both A and B", "unparsable", None, 0.0),
        ("<think>It is B, as", "truncated", None, 0.0),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error: B", "error", None, 0.0),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", "error", None, 0.0),
    ],
)
def test_a_reply_is_read_and_counted(
    place: Place, reply: str | None, status: str, choice: str | None, score: float
) -> None:
    found = lmms.process_results(lmms.rows(place("caption"))[1], [reply])
    assert found["accuracy"] == {"video": "v1", "score": score}
    assert found["prediction"]["status"] == status
    assert found["prediction"].get("choice") == choice
    assert found["prediction"].get("raw") == (reply or "")
    counted = {k for k, v in found.items() if v == {"count": 1}}
    assert counted == {"n", f"n_{status}"}


def test_no_question_leaves_the_denominator(
    place: Place, benchmark: Benchmark, tmp_path: Path
) -> None:
    extra = (
        Question.of("Which drawer is number 5?", ["red", "green"], id="q5", recording="v1"),
        Question.of("Which drawer is number 6?", ["red", "green"], id="q6", answer="B"),
    )
    more = benchmark.model_copy(update={"questions": (*benchmark.questions, *extra)})
    benchmarks.write(more, tmp_path / "more")
    docs = lmms.rows(place("caption", data=str(tmp_path / "more")))
    found = [lmms.process_results(d, [r]) for d, r in zip(docs, [*REPLIES, "A", "B"], strict=True)]
    # q5 has no key; q6 is about the whole memory, and right. 3 of 6 with a key.
    assert lmms.accuracy([f["accuracy"] for f in found]) == pytest.approx(3 / 6)
    assert lmms.guessing([f["chance"] for f in found]) == pytest.approx((5 / 4 + 1 / 2) / 6)
    totals = {k: lmms.count([f[k] for f in found]) for k in found[0] if k.startswith("n")}
    assert {k: n for k, n in totals.items() if n} == {
        "n": 7,
        "n_unscored": 1,
        "n_parsed": 5,
        "n_unparsable": 2,
    }
    assert math.isnan(lmms.accuracy([found[5]["accuracy"]]))
    assert found[6]["accuracy"]["video"] == "question q6"


def test_an_open_answer_is_read_out_of_its_json(
    place: Place, benchmark: Benchmark, tmp_path: Path
) -> None:
    told = Question(id="q", text="Where is the key?", recording="v0", answer="The drawer")
    benchmarks.write(benchmark.model_copy(update={"questions": (told,)}), tmp_path / "open")
    (doc,) = lmms.rows(place("caption", data=str(tmp_path / "open")))
    found = lmms.process_results(doc, ['{"answer": "the drawer.", "evidence": [1]}'])
    assert found["prediction"]["text"] == "the drawer."
    assert (found["accuracy"]["score"], found["chance"]) == (1.0, {})


def test_a_strategy_of_others_sees_the_question_s_video_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("egomem.answer.strategy._REGISTERED", {})

    @register("whole", ReaderSettings)
    async def whole(task: Task[ReaderSettings]) -> Answer:
        """Asks with all that it can see."""
        seen = [Text(o.text) for o in task.view.observations()]
        return await ask_reader(task, task.settings, CAPTION, seen, strategy="whole")

    text = lmms.doc_to_text(lmms.rows(place("whole"))[1])
    assert "drawer of v1" in text
    assert "drawer of v0" not in text


def test_the_log_of_samples_can_be_scored(
    place: Place, benchmark: Benchmark, tmp_path: Path
) -> None:
    docs = lmms.rows(place("caption"))
    found = [lmms.process_results(d, [r]) for d, r in zip(docs, REPLIES, strict=True)]
    lines = [json.dumps({"doc_id": k, "target": "A", **f}) + "\n" for k, f in enumerate(found)]
    (tmp_path / "log.jsonl").write_text("".join(lines))
    read = read_predictions(tmp_path / "log.jsonl", benchmark.questions)
    assert [a.status.value for a in read.answers.values()] == STATUSES
    assert [a.choice for a in read.answers.values()] == ["A", None, None, "D", "B"]
    assert (read.missing, read.unknown, read.problems) == ((), (), ())


def test_rows_that_cannot_be_read_are_counted(place: Place, tmp_path: Path) -> None:
    with (tmp_path / "data" / "questions.jsonl").open("a") as out:
        out.write('{"id": "q7", "question": "Which?", "options": ["red"], "answer": "Z"}\n{"id"\n')
    docs = lmms.rows(place("caption"))
    found = [lmms.process_results(d, [r]) for d, r in zip(docs, REPLIES, strict=True)]
    assert [f["n_dropped"]["count"] for f in found] == [2, 0, 0, 0, 0]


def test_what_a_strategy_answers_without_a_model_is_its_answer(
    place: Place, benchmark: Benchmark, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "bare", create=True) as store:
        store.put_recording(Recording(id="v0", name="v0", duration=4))
    docs = lmms.rows(place("caption", memory=str(tmp_path / "bare")))
    assert "nothing to answer from" in lmms.doc_to_text(docs[0])
    assert text_of(lmms.doc_to_messages(docs[0])) == [lmms.doc_to_text(docs[0])]
    assert lmms.doc_to_visual(docs[0]) == []
    found = lmms.process_results(docs[0], ["A"])  # the key, had it been asked
    assert (found["prediction"]["status"], found["accuracy"]["score"]) == ("abstained", 0.0)
    # v1 is not in that memory: an error of that question, which counts, and the run goes on.
    found = lmms.process_results(docs[1], ["B"])
    assert (found["prediction"]["status"], found["accuracy"]["score"]) == ("error", 0.0)
    assert found["request"]["reason"].startswith("video v1 is not at hand")


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"strategy": "verify"}, "verify asks more than once .* use clean, caption or video here"),
        ({"strategy": "extractive", "settings": {}}, "asks no model; run it with: egomem eval"),
        ({"strategy": "guess"}, "there is no strategy named guess; choose one of: clean"),
        ({"strategy": "clean", "settings": {"from": "letter"}}, "its settings are: abstain, form"),
        ({"strategy": "clean", "question": "x"}, "the task's JSON file: question: extra inputs"),
        ({"strategy": "clean", "data": "/nowhere"}, "nowhere"),
        ({"strategy": "caption", "memory": "/nowhere"}, "there is no memory at /nowhere"),
        ({"strategy": "caption", "memory": "other"}, r"none of the 2 videos of tiny \(v0"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(
    place: Place, tmp_path: Path, told: dict[str, Any], line: str
) -> None:
    with Store.open(tmp_path / "other", create=True) as store:
        store.put_recording(Recording(id="x", name="x", duration=4))
    if told.get("memory") == "other":
        told = {**told, "memory": str(tmp_path / "other")}
    (first, *_) = lmms.rows(place(**told))
    with pytest.raises(UsageError, match=line) as fault:
        lmms.doc_to_text(first)
    assert "\n" not in str(fault.value)


def test_questions_must_be_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EGOMEM_DATA")
    (row,) = lmms.rows(place("clean"))
    with pytest.raises(UsageError, match="no questions are named; set EGOMEM_DATA"):
        lmms.doc_to_messages(row)


def test_a_harness_may_ask_from_inside_its_own_loop(place: Place) -> None:
    doc = lmms.rows(place("caption"))[0]

    async def inside() -> str:
        return lmms.doc_to_text(doc)

    assert asyncio.run(inside()) == lmms.doc_to_text(doc)


def test_the_task_files_name_what_there_is(place: Place) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        pass

    def named(loader: Any, node: Any) -> Any:
        module, _, name = loader.construct_scalar(node).rpartition(".")
        return getattr(import_module(module), name)

    Loader.add_constructor("!function", named)
    shared = yaml.load((lmms.FOLDER / "_egomem").read_text(), Loader)
    assert shared["metadata"]["data"] == os.environ["EGOMEM_DATA"]
    found = lmms.process_results(lmms.rows(place("clean"))[0], ["A"])
    metrics = [m["metric"] for m in shared["metric_list"]]
    assert set(metrics) == set(found) - {"prediction", "request"}
    tasks = [yaml.load(p.read_text(), Loader) for p in lmms.FOLDER.glob("*.yaml")]
    assert sorted(t["task"] for t in tasks) == ["egomem_caption", "egomem_clean", "egomem_video"]
    for task in tasks:
        told = json.loads((lmms.FOLDER / task["dataset_kwargs"]["data_files"]["test"]).read_text())
        assert task["task"] == f"egomem_{told['strategy']}"
        assert [r["fault"] for r in lmms.rows(told)] == [""] * 5


def test_the_folder_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "lmms-tasks"]) == 0
    assert Path(capsys.readouterr().out.strip()) == lmms.FOLDER


needs_lmms = pytest.mark.skipif(find_spec("lmms_eval") is None, reason="lmms-eval is not installed")
inside = [needs_lmms, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def scripted() -> Iterator[FakeServer]:
    """A server that gives REPLIES by the question's number; null where it is empty."""

    def says(seen: Seen) -> str | None:
        found = re.search(r"Question: .*?(\d+)\?", seen.text)
        assert found is not None
        return REPLIES[int(found[1])] or None

    with FakeServer(Script(rules=(Rule(null=True),)), answer=says) as running:
        yield running


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "LMMS_EVAL_DATASETS_CACHE": str(tmp_path / "hf"),
        "OPENAI_API_KEY": "none",
    }.items():
        monkeypatch.setenv(name, value)


def evaluated(server: FakeServer, tasks: list[str], **more: Any) -> dict[str, Any]:
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    found: dict[str, Any] = simple_evaluate(
        model="openai",
        model_args=f"model=fake,base_url={server.url},max_retries=1,num_concurrent=1",
        tasks=tasks,
        task_manager=TaskManager(include_path=str(lmms.FOLDER), include_defaults=False),
        batch_size=1,
        **more,
    )
    return found


@pytest.mark.usefixtures("offline", "films", "place")
class TestInside:
    pytestmark = inside

    @pytest.mark.parametrize("simple", [False, True], ids=["chat", "simple"])
    def test_every_task_asks_the_model_and_is_scored(
        self, scripted: FakeServer, simple: bool
    ) -> None:
        found = evaluated(scripted, ["egomem"], force_simple=simple)
        assert set(found["results"]) == {"egomem_caption", "egomem_clean", "egomem_video"}
        for task, samples in found["samples"].items():
            figures = found["results"][task]
            assert figures["accuracy,none"] == pytest.approx(2 / 5), task
            assert figures["chance,none"] == pytest.approx(1 / 4)
            assert figures["n,none"] == 5
            assert (figures["n_parsed,none"], figures["n_unparsable,none"]) == (3, 2)
            assert [s["prediction"]["status"] for s in samples] == STATUSES
            assert [s["accuracy"]["score"] for s in samples] == RIGHT
        sent = Counter((len(s.images), "drawer of" in s.text) for s in scripted.seen)
        # 4 s at one frame a second; captions or frames, or neither
        assert sent == {(0, True): 5, (0, False): 5, (4, False): 5}
        assert all("[0:00.5]" in s.text for s in scripted.seen if s.images)

    def test_a_server_that_fails_is_an_error_that_counts(self, scripted: FakeServer) -> None:
        broken = Script(rules=(Rule(status=400, error="B is not to be had"),))
        with FakeServer(broken) as server:
            found = evaluated(server, ["egomem_clean"])
        figures = found["results"]["egomem_clean"]
        assert (figures["n_error,none"], figures["n,none"]) == (5, 5)
        assert figures["accuracy,none"] == 0.0

    def test_the_command_and_its_logs(
        self, scripted: FakeServer, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        done = self.command(
            *("--tasks", "egomem_caption", "--output_path", str(tmp_path / "out")),
            *("--log_samples", "--model", "openai", "--model_args"),
            f"model=fake,base_url={scripted.url},max_retries=1",
        )
        assert re.search(r"egomem_caption\|none +\| +0\|accuracy +\|↑ +\| +0\.40", done), done
        (log,) = (tmp_path / "out").rglob("*_samples_egomem_caption.jsonl")
        read = read_predictions(log, benchmark.questions)
        assert [a.status.value for a in read.answers.values()] == STATUSES
        assert (read.missing, read.unknown, read.problems) == ((), (), ())
        (results,) = (tmp_path / "out").rglob("*_results.json")
        about = json.loads(results.read_text())["configs"]["egomem_caption"]["metadata"]
        assert about["data"] == os.environ["EGOMEM_DATA"]

    def test_a_fault_is_the_last_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("EGOMEM_DATA")
        said = self.command("--tasks", "egomem_caption", "--model", "dummy")
        last = said.strip().splitlines()[-1]
        assert "Error during evaluation: no questions are named; set EGOMEM_DATA" in last

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "lmms_eval", "--include_path", str(lmms.FOLDER), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout
