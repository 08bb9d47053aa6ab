"""Our tasks for lmms-eval: which questions they ask, and how."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from egomem.answer import Task, register
from egomem.answer.prompts import CAPTION
from egomem.answer.reader import ReaderSettings, ask_reader
from egomem.answer.strategy import STRATEGIES
from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.errors import UsageError
from egomem.integrations import lmms_eval
from egomem.memory import Store
from egomem.models import TextPart
from egomem.records import Answer, Recording

Place = Callable[..., dict[str, Any]]


def text_of(messages: list[dict[str, Any]]) -> list[str]:
    return [c.get("text", "<image>") for m in messages for c in m["content"]]


def test_the_questions_come_from_where_the_environment_says(place: Place) -> None:
    rows = lmms_eval.rows(place("caption"))
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
    options = {"data": str(tmp_path / "data"), "memory": str(tmp_path / "memory"), "format": None}
    rows = lmms_eval.rows(place("caption", **options))
    assert [r["fault"] for r in rows] == [""] * 5
    assert "The drawer of v1" in lmms_eval.doc_to_text(rows[1])


def test_a_question_is_asked_as_its_strategy_asks_it(place: Place) -> None:
    captioned = lmms_eval.rows(place("caption"))[1]
    system, user = lmms_eval.doc_to_messages(captioned)
    assert (system["role"], user["role"]) == ("system", "user")
    text = text_of([system, user])
    assert text[0].startswith("You answer questions")
    assert "The drawer of v1 is opened." in text[1]
    assert "v0" not in text[1]
    assert text[2].startswith("Question: Which drawer is number 1?\nA. red\nB. green")
    assert lmms_eval.doc_to_text(captioned) == "\n\n".join(text)
    assert lmms_eval.doc_to_visual(captioned) == []

    blind = lmms_eval.doc_to_text(lmms_eval.rows(place("clean"))[1])
    assert "drawer of" not in blind
    assert blind.endswith(
        "Reply with the letter of the right option (A, B, C, D) and nothing else."
    )


def test_clean_needs_no_memory(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory = lmms_eval.doc_to_text(lmms_eval.rows(place("clean"))[0])
    monkeypatch.setenv("EGOMEM_MEMORY", "/nowhere")
    assert lmms_eval.doc_to_text(lmms_eval.rows(place("clean"))[0]) == with_memory


@pytest.mark.usefixtures("films")
def test_each_frame_is_told_with_its_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    # Four frames of four seconds, at the centres of their quarters.
    doc = lmms_eval.rows(place("video", settings={**place("video")["settings"], "frames": 4}))[1]
    text = text_of(lmms_eval.doc_to_messages(doc))
    times = ["[0:00.5]", "[0:01.5]", "[0:02.5]", "[0:03.5]"]
    # As the captions of another arm do, frames come under their recording and its clock.
    assert text[1] == "Recording, clock unknown:"
    assert text[2:10] == [x for t in times for x in (t, "<image>")]
    levels = [p.convert("L").getpixel((9, 9)) for p in lmms_eval.doc_to_visual(doc)]
    assert levels == pytest.approx([25, 35, 45, 55], abs=2)
    system, heading, frames, asked = lmms_eval.doc_to_text(doc).split("\n\n", 3)
    assert heading == text[1]
    assert frames == f"Frames of the recording, taken at {', '.join(times)}."
    assert (system, asked) == (text[0], text[10])

    def gone(*_: object, **__: object) -> Any:
        raise AssertionError("nothing is decoded to read a reply")

    monkeypatch.setattr("egomem.integrations.harness.frames", gone)
    result = lmms_eval.process_results(doc, ["B"])
    assert result["accuracy"] == {"video": "v1", "score": 1.0}
    assert result["request"]["frames"] == 4


def test_a_strategy_of_others_sees_the_question_s_video_alone(
    place: Place, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: STRATEGIES.discard("whole"))

    @register("whole", ReaderSettings)
    async def whole(task: Task[ReaderSettings]) -> Answer:
        """Asks with all that it can see."""
        captions = [TextPart(o.text) for o in task.view.observations()]
        return await ask_reader(task, task.settings, CAPTION, captions, strategy="whole")

    text = lmms_eval.doc_to_text(lmms_eval.rows(place("whole"))[1])
    assert "drawer of v1" in text
    assert "drawer of v0" not in text


def test_what_a_strategy_answers_without_a_model_is_its_answer(
    place: Place, benchmark: Benchmark, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "bare", create=True) as store:
        store.put_recording(Recording(id="v0", name="v0", duration=4))
    docs = lmms_eval.rows(place("caption", memory=str(tmp_path / "bare")))
    assert "nothing to answer from" in lmms_eval.doc_to_text(docs[0])
    assert text_of(lmms_eval.doc_to_messages(docs[0])) == [lmms_eval.doc_to_text(docs[0])]
    assert lmms_eval.doc_to_visual(docs[0]) == []
    result = lmms_eval.process_results(docs[0], ["A"])  # the key, had it been asked
    assert (result["prediction"]["status"], result["accuracy"]["score"]) == ("abstained", 0.0)
    # v1 is not in that memory: an error of that question, which counts, and the run goes on.
    result = lmms_eval.process_results(docs[1], ["B"])
    assert (result["prediction"]["status"], result["accuracy"]["score"]) == ("error", 0.0)
    assert result["request"]["reason"].startswith("video v1 is not at hand")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"strategy": "verify"}, "verify asks more than once .* use clean, caption or video here"),
        ({"strategy": "extractive", "settings": {}}, "asks no model; run it with: egomem eval"),
        ({"strategy": "guess"}, "there is no strategy named guess; choose one of: clean"),
        (
            {"strategy": "clean", "settings": {"from": "letter"}},
            "its settings are: abstain, cite, form",
        ),
        ({"strategy": "clean", "question": "x"}, "the task's JSON file: question: extra inputs"),
        ({"strategy": "clean", "data": "/nowhere"}, "nowhere"),
        ({"strategy": "caption", "memory": "/nowhere"}, "there is no memory at /nowhere"),
        ({"strategy": "caption", "memory": "other"}, r"none of the 2 videos of tiny \(v0"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(
    place: Place, tmp_path: Path, options: dict[str, Any], line: str
) -> None:
    with Store.open(tmp_path / "other", create=True) as store:
        store.put_recording(Recording(id="x", name="x", duration=4))
    if options.get("memory") == "other":
        options = {**options, "memory": str(tmp_path / "other")}
    (first, *_) = lmms_eval.rows(place(**options))
    with pytest.raises(UsageError, match=line) as fault:
        lmms_eval.doc_to_text(first)
    assert "\n" not in str(fault.value)


def test_questions_must_be_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EGOMEM_DATA")
    (row,) = lmms_eval.rows(place("clean"))
    with pytest.raises(UsageError, match="no questions are named; set EGOMEM_DATA"):
        lmms_eval.doc_to_messages(row)


def test_a_harness_may_ask_from_inside_its_own_loop(place: Place) -> None:
    doc = lmms_eval.rows(place("caption"))[0]

    async def inside() -> str:
        return lmms_eval.doc_to_text(doc)

    assert asyncio.run(inside()) == lmms_eval.doc_to_text(doc)


def test_the_task_files_name_what_there_is(place: Place) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        pass

    def named(loader: Any, node: Any) -> Any:
        module, _, name = loader.construct_scalar(node).rpartition(".")
        return getattr(import_module(module), name)

    Loader.add_constructor("!function", named)
    shared = yaml.load((lmms_eval.FOLDER / "_egomem").read_text(), Loader)
    assert shared["metadata"]["data"] == os.environ["EGOMEM_DATA"]
    result = lmms_eval.process_results(lmms_eval.rows(place("clean"))[0], ["A"])
    metrics = [m["metric"] for m in shared["metric_list"]]
    assert set(metrics) == set(result) - {"prediction", "request"}
    tasks = [yaml.load(p.read_text(), Loader) for p in lmms_eval.FOLDER.glob("*.yaml")]
    assert sorted(t["task"] for t in tasks) == ["egomem_caption", "egomem_clean", "egomem_video"]
    for task in tasks:
        document = json.loads(
            (lmms_eval.FOLDER / task["dataset_kwargs"]["data_files"]["test"]).read_text()
        )
        assert task["task"] == f"egomem_{document['strategy']}"
        assert [r["fault"] for r in lmms_eval.rows(document)] == [""] * 5


def test_the_folder_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "lmms-tasks"]) == 0
    assert Path(capsys.readouterr().out.strip()) == lmms_eval.FOLDER
