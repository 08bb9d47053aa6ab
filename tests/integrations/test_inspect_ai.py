"""Our strategies inside inspect_ai, with its scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.errors import UsageError
from egomem.memory import Store
from egomem.records import Observation, Recording, Track
from egomem.timeline import Span

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_track(Track(source="caption", observer="made"))
        for video in ("v0", "v1"):
            store.put_recording(Recording(id=video, name=video, duration=4))
            text = f"The drawer of {video} is opened."
            store.add(
                [
                    Observation(
                        recording=video,
                        span=Span(0, 1),
                        text=text,
                        source="caption",
                        track="caption/made",
                    )
                ]
            )
    return tmp_path / "memory"


def test_a_strategy_asks_inspect_s_model_and_is_scored(
    benchmark: Benchmark, memory: Path, tmp_path: Path
) -> None:
    from inspect_ai import eval as run
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from egomem.integrations.inspect_ai import memory_qa

    benchmarks.write(benchmark, tmp_path / "data")
    replies = ["A", "Both A and B", "C", "The answer is (D).", "B"]
    # With a usage: without one, inspect_ai counts tokens with a vocabulary that it downloads.
    used = ModelUsage(input_tokens=100, output_tokens=2, total_tokens=102)
    outputs = [ModelOutput.from_content("mockllm/model", r) for r in replies]
    for output in outputs:
        output.usage = used
    task = memory_qa(
        str(tmp_path / "data"), str(memory), settings={"format": "letter", "abstain": False}
    )
    (log,) = run(
        task,
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path / "logs"),
        display="none",
        max_samples=1,
    )
    assert log.status == "success", log.error
    assert log.results is not None
    metrics = log.results.scores[0].metrics
    assert metrics["accuracy"].value == pytest.approx(3 / 5)  # q0, q2, q3
    counts = {name: m.value for name, m in metrics.items() if name.startswith("n_") and m.value}
    assert counts == {"n_parsed": 4, "n_unparsable": 1}
    # v0: 2 of 3 right, v1: 1 of 2; residuals 2 - 3 * 0.6 and 1 - 2 * 0.6, times 2 / (2 - 1)
    assert metrics["stderr"].value == pytest.approx((2 * (0.2**2 + 0.2**2)) ** 0.5 / 5)
    samples = {s.id: s for s in log.samples or []}
    metadata = {i: s.scores["right"].metadata for i, s in samples.items() if s.scores}
    assert {i: m["status"] for i, m in metadata.items() if m} == {
        "q0": "parsed",
        "q1": "unparsable",
        "q2": "parsed",
        "q3": "parsed",
        "q4": "parsed",
    }
    trace = samples["q1"].metadata["answer"]["trace"]
    assert [step["step"] for step in trace] == ["notes", "asked"]
    asked = [e for e in samples["q1"].events if e.event == "model"]
    assert samples["q1"].metadata["answer"]["usage"]["tokens_in"] == 100
    text = str(asked[0].input)
    assert "The drawer of v1 is opened." in text
    assert "v0" not in text


def test_a_video_that_the_memory_lacks_is_an_error_that_counts(
    benchmark: Benchmark, memory: Path, tmp_path: Path
) -> None:
    from inspect_ai import eval as run
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from egomem.integrations.inspect_ai import memory_qa

    lost = benchmark.questions[0].model_copy(update={"id": "lost", "recording": "v9"})
    asked = (lost, benchmark.questions[1])
    benchmarks.write(benchmark.model_copy(update={"questions": asked}), tmp_path / "data")
    options = {"strategy": "caption", "settings": {"format": "letter", "abstain": False}}
    output = ModelOutput.from_content("mockllm/model", "B")
    output.usage = ModelUsage(input_tokens=100, output_tokens=2, total_tokens=102)
    (log,) = run(
        memory_qa(str(tmp_path / "data"), str(memory), **options),
        model=get_model("mockllm/model", custom_outputs=[output]),
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(1 / 2)
    metadata = {s.id: s.scores["right"].metadata for s in log.samples or [] if s.scores}
    assert {i: m["status"] for i, m in metadata.items() if m} == {"lost": "error", "q1": "parsed"}


def test_clean_needs_no_memory(benchmark: Benchmark, tmp_path: Path) -> None:
    from egomem.integrations.inspect_ai import memory_qa

    benchmarks.write(benchmark, tmp_path / "data")
    with (tmp_path / "data" / "questions.jsonl").open("a") as out:
        out.write('{"id"\n{"id": "q9", "question": "Which?", "options": ["red", "blue"]}\n')
    task = memory_qa(str(tmp_path / "data"), strategy="clean")
    assert (len(task.dataset), task.metadata) == (
        5,
        {"dropped_questions": 1, "unscored_questions": 1},
    )
    with pytest.raises(UsageError, match="caption reads a memory, and none is named"):
        memory_qa(str(tmp_path / "data"))


def test_frames_go_with_their_times() -> None:
    from egomem.integrations.inspect_ai import messages
    from egomem.models import ImagePart, Request, Role, TextPart

    request = Request(
        role=Role.READER,
        parts=(ImagePart(b"\xff\xd8a", 3.0, "[0:03]"), TextPart("What is it?")),
        prompt="video@1",
        system="Look.",
    )
    system, user = messages(request)
    assert system.text == "Look."
    assert [c.type for c in user.content] == ["text", "image", "text"]
    assert user.text.startswith("[0:03]")
