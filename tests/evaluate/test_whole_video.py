"""One caption of the whole video as the memory: its prompt, its frames, its plan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, RunSummary, load_run, opened, plan
from egomem.evaluate import status as status_of
from egomem.memory import Store
from egomem.observe.caption_prompt import INSTRUCTIONS, WHOLE_INSTRUCTIONS
from egomem.report.run_details import run_details
from egomem.testing import ReceivedRequest, ScriptedServer
from egomem.timeline import RecordingTime, Span

Go = Callable[..., RunSummary]


def captioning(server: ScriptedServer, instructions: str) -> list[ReceivedRequest]:
    """The requests for captions by a prompt."""
    return [r for r in server.requests if instructions in r.text]


def test_one_caption_of_each_video_is_made_and_read_beside_those_of_windows(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    both = config.model_copy(update={"settings": ("caption@2", "caption@whole"), "whole_frames": 3})
    folder = tmp_path / "run"

    async def planned() -> dict[str, tuple[int, int, int]]:
        async with opened(benchmark, both, folder, environ={}) as run:
            return {p.label: (p.cells, p.requests, p.frames) for p in plan(run).captions}

    by_track = asyncio.run(planned())
    (label,) = (each for each in by_track if each.endswith("#whole-video@1~1fps-whole3"))
    assert by_track[label] == (2, 2, 6)
    assert go(benchmark, both, folder).by_status == {"parsed": 10}
    whole = captioning(server, WHOLE_INSTRUCTIONS)
    assert [len(request.images) for request in whole] == [3, 3]
    assert all(
        "Question" not in r.text and "Write the lines for 0:00-0:04" in r.text for r in whole
    )
    assert [len(r.images) for r in captioning(server, INSTRUCTIONS)] == [2, 2, 2, 2]
    with Store.open(folder / "memory") as store:
        observations = store.view().observations(tracks=[label.removeprefix("captions ")])
    assert [o.span for o in observations] == [Span(0.0, 4.0)] * 2
    assert [len(o.provenance.frames) for o in observations] == [3, 3]
    run = load_run(folder)
    answers = [c for (_, arm), c in run.cells.items() if arm.setting == "caption@whole"]
    assert [c.answer.usage.frames for c in answers] == [0] * 5
    statuses = {c.track: (c.done, c.total) for c in status_of(run).captions}
    assert statuses[label.removeprefix("captions ")] == (2, 2)
    details = {str(name): str(value) for name, value in run_details(run).rows}
    assert details["as a captioner"].startswith("caption@1 and whole-video@1, free text")


def test_its_frame_budget_is_its_own(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    settings = ("video", "caption@2", "caption@whole")
    first = config.model_copy(update={"settings": settings, "whole_frames": 3})
    go(benchmark, first, tmp_path / "run")
    sent = len(server.requests)
    again = go(benchmark, first, tmp_path / "run")
    assert (again.asked, len(server.requests)) == (0, sent)
    fewer = go(benchmark, first.model_copy(update={"whole_frames": 2}), tmp_path / "run")
    assert fewer.asked == 5
    assert sorted(len(r.images) for r in captioning(server, WHOLE_INSTRUCTIONS)) == [2, 2, 3, 3]
    limited = first.model_copy(update={"given_limits": {"captioner": {"images": 1}}})
    go(benchmark, limited.model_copy(update={"settings": ("caption@whole",)}), tmp_path / "one")
    assert [len(r.images) for r in server.requests if r.images][-2:] == [1, 1]


def test_its_caption_ends_where_the_question_looks_back_from(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    early, *rest = benchmark.questions
    at = RecordingTime(early.recording or "", 2.0)
    questions = (early.model_copy(update={"at": at}), *rest)
    asked = benchmark.model_copy(update={"questions": questions})
    whole = config.model_copy(update={"settings": ("caption@whole",)})
    assert go(asked, whole, tmp_path / "run").by_status == {"parsed": 5}
    requests = captioning(server, WHOLE_INSTRUCTIONS)
    spans = sorted((r.text.rpartition("lines for ")[2][:9], len(r.images)) for r in requests)
    assert spans == [("0:00-0:02", 2), ("0:00-0:04", 4), ("0:00-0:04", 4)]


def test_a_question_about_all_videos_reads_the_captions_of_each(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    *rest, last = benchmark.questions
    questions = (*rest, last.model_copy(update={"recording": None}))
    asked = benchmark.model_copy(update={"questions": questions})
    whole = config.model_copy(update={"settings": ("caption@whole",), "whole_frames": 3})
    assert go(asked, whole, tmp_path / "run").by_status == {"parsed": 5}
    assert [len(r.images) for r in captioning(server, WHOLE_INSTRUCTIONS)] == [3, 3]
    (read,) = [r for r in server.requests if f"Question: {last.text}" in r.text]
    assert read.text.count("red drawer") == 2
    with Store.open(tmp_path / "run" / "memory") as store:
        assert [t.sampling for t in store.tracks()] == ["1fps-whole3"]
