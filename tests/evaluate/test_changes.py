"""What is changed is asked again, exactly that, and the plan says so; as it is typed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.evaluate import Config, RunSummary, load_run, opened, run
from egomem.memory import Store
from egomem.records import Observation, Recording, Track
from egomem.testing import ScriptedServer
from egomem.timeline import Span

SETTINGS = "clean,video,caption@2,verify@2,caption@evidence,video@evidence"
MakeVideo = Callable[..., Path]


class Typed:
    """The command, its files, and how many requests each call sent."""

    def __init__(self, folder: Path, server: ScriptedServer, capsys: Any) -> None:
        self.folder, self.server, self.capsys = folder, server, capsys

    def rows(self, change: Callable[[dict[str, Any]], None] | None = None) -> None:
        """Change each row of the questions' file."""
        file = self.folder / "data" / "questions.jsonl"
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        for row in rows:
            if change:
                change(row)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def __call__(self, *more: str, settings: str = SETTINGS) -> tuple[dict[str, Any], int]:
        """The result, and the requests that were sent. The plan has foretold them."""
        command = [
            "eval", "capmem", "--data", str(self.folder / "data"), "--settings", settings,
            "--gate", "report", "--out", str(self.folder / "run"), "--json",
            *([] if "--model" in more else self.model()), *more,
        ]  # fmt: skip
        assert main([*command, "--plan"]) == 0
        planned = json.loads(self.capsys.readouterr().out)["result"]["plan"]
        before = len(self.server.requests)
        assert main(command) == 0
        result = json.loads(self.capsys.readouterr().out)["result"]
        sent = len(self.server.requests) - before
        parts = [*planned["captions"], *planned["columns"]]
        # What a plan cannot know is which requests of one call are the same.
        assert sent <= sum(p["requests"] for p in parts)
        assert sum(p["cells"] for p in planned["columns"]) == result["outcome"]["asked"]
        return result, sent

    def model(self, **roles: str) -> list[str]:
        roles = {"reader": "fake", "captioner": "fake", **roles}
        url = self.server.url
        specs = [f"{role}=openai-compatible:{model}@{url}" for role, model in roles.items()]
        return [word for spec in specs for word in ("--model", spec)]


@pytest.fixture
def typed(
    benchmark: Benchmark,
    server: ScriptedServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Typed:
    benchmarks.write(benchmark, tmp_path / "data")
    typed_run = Typed(tmp_path, server, capsys)
    typed_run.rows()
    videos = tmp_path / "data" / "videos.jsonl"
    rows = [json.loads(line) for line in videos.read_text().splitlines()]
    for row in rows:
        row["path"] = str(tmp_path / f"{row['id']}.mp4")
    videos.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return typed_run


def q2(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.update(fields) if row["id"] == "q2" else None


def test_each_change_asks_exactly_what_it_touches(typed: Typed) -> None:
    whole, sent = typed()
    assert whole["outcome"]["asked"] == 30
    # 4 windows; clean, video, caption, candidate, verdict and the evidence's frames of 5 questions.
    # The captions of a window that is all of the evidence make the request of the candidate or of
    # caption@2 no other.
    assert 4 + 6 * 5 <= sent <= 4 + 7 * 5
    file = typed.folder / "data" / "questions.jsonl"
    original = file.read_text()

    def changed(change: Callable[[dict[str, Any]], None]) -> tuple[Any, int]:
        file.write_text(original)
        typed.rows(change)
        result, sent = typed()
        return result["outcome"]["asked_again"], sent

    # Its text and options: that question in all columns, and nothing else.
    again, sent = changed(q2(question="Which shelf is number 2?"))
    assert (again, 6 <= sent <= 7) == ({"question": 6}, True)
    # Back again: the cells are answered again, out of the cache.
    assert changed(q2()) == ({"question": 6}, 0)
    # Where the evidence lies: the oracles alone.
    moved = [{"recording": "v0", "start": 2.5, "end": 3.5}]
    again, sent = changed(q2(evidence=moved))
    assert (again, 1 <= sent <= 2) == ({"question": 2}, True)
    # Tags and the key: nothing, and other figures.
    assert changed(q2(evidence=moved, tags={"visual": ["Text"]}, answer="A")) == ({}, 0)
    run = load_run(typed.folder / "run")
    column = next(c for c in run.columns if c.setting == "clean")
    assert [float(r) for r in run.sheet(column).right] == [1, 1, 0, 1, 1]


def test_a_setting_touches_its_own_columns(typed: Typed) -> None:
    typed()
    for words, asked, least in (
        (("--frames", "64"), 5, 0),  # video alone, whose requests stay the same
        (("--frames", "3", "--side", "32"), 10, 10),  # video, and the evidence's frames
        (("--frames", "3", "--side", "32", "--set", "verify.pad=1"), 5, 0),
        (("--no-cite",), 30, 20),  # clean's requests stay the same
        (("--reply", "scores"), 30, 25),
    ):
        result, sent = typed(*words)
        assert result["outcome"]["asked"] == asked
        assert sent >= least
    result, sent = typed()
    assert result["outcome"]["asked_again"] == {"setting": 30, "prompt": 30}
    assert sent == 0


def test_another_captioner_or_verifier_leaves_what_does_not_read_them(typed: Typed) -> None:
    typed()
    result, sent = typed(*typed.model(captioner="other"))
    # clean, video and the evidence's frames stay; three columns of captions are new ones.
    assert (result["outcome"]["asked"], result["outcome"]["kept"]) == (15, 15)
    captions = [s for s in typed.server.requests if "Question:" not in s.text]
    assert [str(s.body["model"]) for s in captions] == ["fake"] * 4 + ["other"] * 4
    result, sent = typed(*typed.model(verifier="strict"))
    assert result["outcome"]["asked_again"] == {"model": 5}
    assert sent == 5  # the verdicts; what the notes say is cached
    result, sent = typed(settings=SETTINGS.replace("@2", "@4"))
    captions = [s for s in typed.server.requests if "Question:" not in s.text]
    assert len(captions) == 8 + 2  # one window of 4 s for each video
    assert (result["outcome"]["asked"], result["outcome"]["kept"]) == (15, 15)


def test_a_changed_file_is_watched_again_and_one_that_moved_is_not(
    typed: Typed, make_video: MakeVideo
) -> None:
    typed()
    moved = typed.folder / "elsewhere"
    moved.mkdir()
    for name in ("v0.mp4", "v1.mp4"):
        (typed.folder / name).rename(moved / name)
    result, sent = typed("--media", str(moved))
    assert (result["outcome"]["asked"], sent) == (0, 0)
    make_video("elsewhere/v1.mp4", level=111)
    result, sent = typed("--media", str(moved))
    # q1 and q3, in all columns that watch: not in clean.
    assert result["outcome"]["asked_again"] == {"memory": 10}
    last = typed.server.requests[-sent:]
    assert len([s for s in last if "Question:" not in s.text]) == 2
    assert not [s for s in last if "number 2?" in s.text or "number 0?" in s.text]


Go = Callable[..., RunSummary]


def test_a_question_about_all_videos_reads_no_captions_of_a_file_that_is_gone(
    benchmark: Benchmark, config: Config, tmp_path: Path, make_video: MakeVideo
) -> None:
    asked = tuple(q.model_copy(update={"recording": None}) for q in benchmark.questions[:1])
    every = benchmark.model_copy(update={"questions": asked})
    only = config.model_copy(update={"settings": ("caption@2",)})
    counts: list[object] = []
    notes: list[str] = []

    async def again() -> None:
        async with opened(every, only, tmp_path / "run", environ={}, on_note=notes.append) as work:
            await run(work)

    for level in (0, 77):
        make_video("v0.mp4", seconds=4, level=level)
        asyncio.run(again())
        (cell,) = load_run(tmp_path / "run").cells.values()
        counts += [
            s["observations"]
            for s in cell.answer.trace
            if isinstance(s, dict) and s["step"] == "notes"
        ]
    assert counts == [4, 4]  # two windows of each of two videos
    asyncio.run(again())
    assert notes == [
        f"reading {what} for what is in them" for what in ("2 video files", "1 video file")
    ]
    with Store.open(tmp_path / "run" / "memory") as store:
        assert len(store.recordings()) == 3


def test_evidence_that_is_taken_away_is_asked_again(
    benchmark: Benchmark, tmp_path: Path, go: Go
) -> None:
    """Also where it was all that the memory holds."""
    memory = tmp_path / "memory"
    with Store.open(memory, create=True) as store:
        store.put_track(Track(source="caption", observer="made"))
        store.put_recording(Recording(id="v0", name="v0", duration=4))
        note = {"text": "A red drawer is number 0.", "source": "caption", "track": "caption/made"}
        store.add([Observation(recording="v0", span=Span(0.5, 1.5), **note)])
    config = Config(settings=("extractive", "extractive@evidence"))
    first = benchmark.questions[0]
    only = benchmark.model_copy(update={"questions": (first,)})
    assert go(only, config, tmp_path / "run", memory=memory).asked == 2
    bare = only.model_copy(update={"questions": (first.model_copy(update={"evidence": ()}),)})
    outcome = go(bare, config, tmp_path / "run", memory=memory)
    assert (outcome.asked, outcome.by_status["abstained"]) == (1, 1)


def test_retrieve_is_asked_again_when_its_memory_has_changed(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    """Its sources are "all" by default, which is an empty tuple."""
    memory = tmp_path / "memory"
    only = benchmark.model_copy(update={"questions": benchmark.questions[:1]})
    alone = config.model_copy(update={"settings": ("retrieve",)})
    fields = {"recording": "v0", "source": "speech", "track": "speech/made"}
    with Store.open(memory, create=True) as store:
        store.put_track(Track(source="speech", observer="made"))
        store.put_recording(Recording(id="v0", name="v0", duration=4))
        store.add([Observation(span=Span(0.5, 1.5), text="The red drawer sticks.", **fields)])
    outcomes = [go(only, alone, tmp_path / "run", memory=memory) for _ in range(2)]
    with Store.open(memory) as store:
        store.add([Observation(span=Span(0, 0.5), text="This is drawer number 0.", **fields)])
    outcomes.append(go(only, alone, tmp_path / "run", memory=memory))
    assert [o.asked for o in outcomes] == [1, 0, 1]
