"""Rescoring reads the stored replies again: no model, and the same answers from the same reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from egomem.answer import reader
from egomem.answer.choice import ChoiceReading
from egomem.benchmarks import Benchmark
from egomem.cli import app
from egomem.evaluate import Config, RunSummary, load_run, rescore
from egomem.evaluate.run_db import RunDatabase
from egomem.memory import Store
from egomem.records import Observation, Recording, Status, Track
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Span

Go = Callable[..., RunSummary]

REPLIES = (
    Rule(reply="B"),
    Rule(reply="Both A and B"),
    Rule(reply="<think>Maybe A.</think>C"),
    Rule(reply="I cannot tell."),
    Rule(reply="The answer is (d)"),
    Rule(reply="The answer", finish="length"),
    Rule(reply="A", finish="a new reason"),
    Rule(reply="", reasoning="It was blue, so C."),
    Rule(refusal="I must not say."),
    Rule(reply='{"answer": "A", "scores": {"A": 0.4, "B": 0.9, "C": 0, "D": 0.1}}'),
    Rule(reply='{"answer": "D", "scores": {"A": 0.4, "B": 0.2'),
    Rule(reply="none"),
)
VERDICTS = (
    '{"answer": "B", "support": "strong", "reason": "seen at 0:01"}',
    '{"answer": "D", "support": "partial", "reason": "perhaps"}',
    '{"answer": "none", "support": "none", "reason": "nothing"}',
    "It is hard to say.",
)
LOGPROBS = {"A": -2.5, " C": -0.2, "D": -3.0, "x": -0.9}


PROMPTS = (
    "You are shown nothing of the recording",
    "You get frames of the recording",
    "You get notes that were written",
    "You get the few notes",
)


def script(seed: int) -> Script:
    """Every kind of reply to every kind of request, in an order of its own for each seed."""
    count = len(REPLIES)
    rules = [
        REPLIES[(k + 3 * n + 5 * seed) % count].model_copy(
            update={"when": prompt, "times": 1, "logprobs": LOGPROBS}
        )
        for n, prompt in enumerate(PROMPTS)
        for k in range(count)
    ]
    rules += [
        Rule(when="You check answers", times=1, reply=VERDICTS[(k + seed) % 4]) for k in range(12)
    ]
    return Script(rules=(*rules, Rule(reply="[0:00-0:02] A red drawer.")))


BOTH = {"verify": {"second_look": True, "abstain_unsupported": True}}
ALL = ("clean", "video", "caption@2", "verify@2", "aligned@2", "caption@evidence", "video@evidence")


@pytest.mark.parametrize(
    ("seed", "form", "settings", "strategies"),
    [
        (0, "letter", ALL, {}),
        (1, "scores", ("caption@2", "verify@2", "verify@4"), BOTH),
        (2, "logprobs", ALL, BOTH),
        (3, "scores", ("verify@2",), BOTH),
        (4, "letter", ("verify@2", "clean"), BOTH),
    ],
)
def test_an_untouched_run_is_what_it_was(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    seed: int,
    form: str,
    settings: tuple[str, ...],
    strategies: Any,
) -> None:
    """Whatever was replied, and whether or not the caption answer has a column of its own."""
    timed = tuple(
        q.model_copy(update={"text": f"Which drawer is number {k} at 0:0{k % 3}?"}) if k % 2 else q
        for k, q in enumerate(benchmark.questions)
    )
    asked = benchmark.model_copy(update={"questions": timed})
    with ScriptedServer(script(seed)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        mixed = config.model_copy(
            update={
                "settings": settings,
                "readers": (spec,),
                "format": form,
                "abstain": True,
                "strategies": strategies,
            }
        )
        go(asked, mixed, tmp_path / "run")
        before = load_run(tmp_path / "run").cells
        files = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*.jsonl")}
        sent = len(server.requests)
        summary = rescore(tmp_path / "run")
        assert len(server.requests) == sent
    assert (summary.read, summary.kept, summary.changed) == (len(before), 0, ())
    assert load_run(tmp_path / "run").cells == before
    assert {p: p.read_bytes() for p in files} == files
    assert len({c.answer.status for c in before.values()}) >= (3 if "video" in settings else 1)
    steps = [s["step"] for c in before.values() for s in c.answer.trace if isinstance(s, dict)]
    assert ("second_look" in steps) == bool(strategies)
    assert sum("logprobs" in str(c.answer.trace) for c in before.values()) >= 5 * (
        form == "logprobs"
    )


def test_answers_out_of_a_given_memory_are_what_they_were(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    """Without a model there is no reply to read again, and nothing changes either."""
    memory = tmp_path / "memory"
    with Store.open(memory, create=True) as store:
        store.put_track(Track(source="caption", observer="made", window=4))
        for video in ("v0", "v1"):
            store.put_recording(Recording(id=video, name=video, duration=4))
            note = {"text": "A red drawer is number 2.", "source": "caption"}
            store.add(
                [Observation(recording=video, span=Span(0, 4), track="caption/made/4s", **note)]
            )
    with ScriptedServer(script(5)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        given = config.model_copy(
            update={
                "settings": ("extractive", "extractive@evidence", "caption", "caption@evidence"),
                "readers": (spec,),
            }
        )
        go(benchmark, given, tmp_path / "run", memory=memory)
    before = load_run(tmp_path / "run").cells
    summary = rescore(tmp_path / "run")
    assert (summary.read, summary.kept, summary.changed) == (10, 10, ())
    assert load_run(tmp_path / "run").cells == before


def test_a_better_reader_changes_what_it_reads_better_alone(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reading that failed is mended without asking; verify follows the answer it starts from."""
    folder = tmp_path / "run"
    whole = reader.read_choice

    def blind(text: str, options: Any) -> ChoiceReading:
        reading = whole(text, options)
        if reading.letter != "C":
            return reading
        return replace(reading, status=Status.UNPARSABLE, letter=None, ranking=())

    monkeypatch.setattr(reader, "read_choice", blind)
    go(benchmark, config, folder)
    before = load_run(folder).cells
    lost = {key for key, c in before.items() if c.answer.status is Status.UNPARSABLE}
    assert {(id, c.setting) for id, c in lost} == {
        ("q2", "clean"),
        ("q2", "video"),
        ("q2", "caption@2"),
    }
    monkeypatch.setattr(reader, "read_choice", whole)
    summary = rescore(folder)
    after = load_run(folder).cells
    assert {(q, now) for q, _, _, now in summary.changed} == {("q2", "C"), ("q2", "B")}
    assert all(after[key].answer.choice == "C" for key in lost)
    # What verify would have fixed or broken is told of the answer as it now reads.
    (decision,) = [
        step
        for (id, column), cell in after.items()
        if id == "q2" and column.setting == "verify@2"
        for step in cell.answer.trace
        if isinstance(step, dict) and step["step"] == "decision"
    ]
    assert (decision["before"], decision["after"]) == ("C", "B")
    assert not rescore(folder).changed
    again = go(benchmark, config, folder)
    assert again.asked == 0


@pytest.mark.parametrize("which", ["You check answers", "the few notes", "You get notes that were"])
def test_a_decision_that_nobody_checked_is_taken_back(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, which: str
) -> None:
    """Earlier forms left one where a request had failed; the next run asks again."""
    folder = tmp_path / "run"
    rules = [Rule(when=which, status=400, times=5)]
    rules += [Rule(when="You check answers", reply=VERDICTS[0])]
    rules += [Rule(when="Question:", reply="A"), Rule(reply="A drawer.")]
    with ScriptedServer(Script(rules=tuple(rules))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        both = config.model_copy(update={"settings": ("caption@2", "verify@2"), "readers": (spec,)})
        go(benchmark, both, folder)
        run = load_run(folder)
        for cell in list(run.cells.values()):
            if cell.arm.setting == "verify@2":
                steps = ({"step": "verdict", "verdict": None}, {"step": "decision", "after": "B"})
                edited = cell.answer.model_copy(
                    update={
                        "status": Status.PARSED,
                        "choice": "B",
                        "trace": (*cell.answer.trace, *steps),
                    }
                )
                with RunDatabase.open(folder) as record:
                    record.add(cell.model_copy(update={"answer": edited}))
        sent = len(server.requests)
        summary = rescore(folder)
        assert [c[2:] for c in summary.changed] == [("B", "error")] * 5
        for cell in load_run(folder).cells.values():
            if cell.arm.setting == "verify@2":
                assert cell.failed
                assert not {"verdict", "decision"} & {s["step"] for s in cell.answer.trace}
        assert not rescore(folder).changed
        assert len(server.requests) == sent
        assert go(benchmark, both, folder).by_status == {"parsed": 10}


def test_a_gate_follows_what_is_read_anew(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the run's own record, too, and in what is said of it."""
    folder = tmp_path / "run"
    whole = reader.read_choice
    only = config.model_copy(update={"settings": ("clean",)})

    def blind(text: str, options: Any) -> ChoiceReading:
        lost = whole(text, options)
        return lost if lost.letter == "A" else replace(lost, status=Status.UNPARSABLE, letter=None)

    monkeypatch.setattr(reader, "read_choice", blind)
    outcome = go(benchmark, only.model_copy(update={"gate_low": 0.2, "gate_high": 0.5}), folder)
    assert outcome.gates[0].accuracy == 0.4  # q0 and q4
    monkeypatch.setattr(reader, "read_choice", whole)
    summary = rescore(folder)
    assert summary.gates == ((only.readers[0], "passes", "fails"),)
    (gate,) = load_run(folder).about["gates"]
    assert (gate["accuracy"], gate["passed"]) == (1.0, False)
    result = CliRunner().invoke(app, ["eval", "status", str(folder)])
    assert "100.0% right without the video is above" in result.output
    assert not rescore(folder).gates
