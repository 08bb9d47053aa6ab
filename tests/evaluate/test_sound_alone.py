"""Questions about recordings of sound alone: no frames is no error of a model, and of nobody."""

from __future__ import annotations

import asyncio
import wave
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, RunSummary, load_run, opened, plan
from egomem.evaluate import status as status_of
from egomem.memory import Store
from egomem.records import Evidence, Observation, Recording, Status, Track, Video
from egomem.testing import ScriptedServer
from egomem.timeline import Span

Go = Callable[..., RunSummary]
SETTINGS = (
    "clean", "video", "caption@2", "verify@2", "aligned@2", "caption@evidence", "video@evidence",
)  # fmt: skip


@pytest.fixture
def heard(benchmark: Benchmark, tmp_path: Path) -> Benchmark:
    """v0 is a film and v1 a note of 4 s of silence; q0 and q1 alone, q1 is asked about the note."""
    with wave.open(str(tmp_path / "note.wav"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(2 * 8000 * 4))
    note = Video(id="v1", path=str(tmp_path / "note.wav"), duration=4)
    return benchmark.model_copy(
        update={"videos": (benchmark.videos[0], note), "questions": benchmark.questions[:2]}
    )


def test_what_has_no_pictures_is_no_error(
    heard: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    every = config.model_copy(update={"settings": SETTINGS})
    outcome = go(heard, every, tmp_path / "run")
    assert (outcome.by_status, outcome.faults) == ({"parsed": 8, "abstained": 6}, ())
    run = load_run(tmp_path / "run")
    rows = {c.setting: f.answer for (q, c), f in run.cells.items() if q == "q1"}
    assert rows["clean"].status is Status.PARSED
    nothing = "nothing was captioned in this part of the memory"
    assert {k: a.reason for k, a in rows.items() if k != "clean"} == {
        "video": "no picture was recorded in this part of the memory",
        "caption@2": nothing,
        "verify@2": nothing,
        "aligned@2": nothing,
        "caption@evidence": "no caption covers the evidence",
        "video@evidence": "no picture was recorded where the evidence lies",
    }
    assert [(t.done, t.total) for t in status_of(run).captions] == [(2, 2), (2, 2)]
    before = len(server.requests)
    again = go(heard, every, tmp_path / "run")
    assert (again.asked, again.kept, len(server.requests)) == (0, 14, before)


def test_sound_alone_takes_no_frames_from_films(
    heard: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    """A question about everything: four frames, all of the film, and evidence in both."""
    pieces = tuple(Evidence(recording=f"v{k}", span=Span(1, 2)) for k in (1, 0))
    asked = heard.questions[0].model_copy(update={"recording": None, "evidence": pieces})
    only = config.model_copy(update={"settings": ("video", "video@evidence"), "frames": 4})
    outcome = go(heard.model_copy(update={"questions": (asked,)}), only, tmp_path / "run")
    assert outcome.by_status == {"parsed": 2}
    assert {len(s.images) for s in server.requests} == {4}
    answers = [f.answer for f in load_run(tmp_path / "run").cells.values()]
    assert all("missing" in s and not s["missing"] for a in answers for s in a.trace[:1])  # type: ignore[operator,index]


def test_its_transcript_is_read_where_speech_is_asked_for(
    heard: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_track(Track(source="speech", observer="made"))
        store.put_recording(Recording(id="v1", name="v1", duration=4, facts={"video": None}))
        rows = {"source": "speech", "track": "speech/made", "text": "One two three."}
        store.add([Observation(recording="v1", span=Span(0, 1), **rows)])
    about = heard.model_copy(update={"questions": heard.questions[1:]})
    for sources, status in ((["caption"], "abstained"), (["caption", "speech"], "parsed")):
        given = {"settings": ("caption",), "strategies": {"caption": {"sources": sources}}}
        done = go(
            about,
            config.model_copy(update=given),
            tmp_path / status,
            memory=tmp_path / "memory",
        )
        assert done.by_status == {status: 1}
    (sent,) = server.requests
    assert "One two three." in sent.text


def test_no_caption_of_it_is_planned(heard: Benchmark, config: Config, tmp_path: Path) -> None:
    only = config.model_copy(update={"settings": ("caption@2", "aligned@2")})

    async def planned() -> list[tuple[int, int, int]]:
        async with opened(heard, only, tmp_path / "run", environ={}) as work:
            return [(p.cells, p.requests, p.frames) for p in plan(work).captions]

    assert asyncio.run(planned()) == [(2, 2, 4), (2, 2, 4)]  # two windows of the film


def test_a_look_at_it_is_no_fault(
    heard: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    """Notes of it may be found, as when they were imported; its answer from notes stands."""
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_track(Track(source="caption", observer="made"))
        path = heard.videos[1].path
        store.put_recording(
            Recording(id="v1", name="v1", duration=4, path=path, facts={"video": None})
        )
        rows = {"source": "caption", "track": "caption/made", "text": "A drawer is number 1."}
        store.add([Observation(recording="v1", span=Span(0, 1), **rows)])
    about = heard.model_copy(update={"questions": heard.questions[1:]})
    only = config.model_copy(update={"settings": ("verify",)})
    done = go(about, only, tmp_path / "run", memory=tmp_path / "memory")
    assert (done.by_status, done.faults) == ({"parsed": 1}, ())
