"""Running, stopping and going on: nothing that was answered is asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.errors import LockedError, ModelError
from egomem.evaluate import Arm, Config, RunProgress, RunSummary, load_run
from egomem.evaluate.legacy_run import ANSWERS
from egomem.evaluate.run_db import UNREADABLE
from egomem.memory import Store
from egomem.memory.failed_windows import FailedWindow, to_completed
from egomem.models import RequestPolicy
from egomem.records import Observation, Recording, Status, Track
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Span

Go = Callable[..., RunSummary]
Leave = Callable[[Path], None]


def asked(server: ScriptedServer) -> list[tuple[str, tuple[str, ...]]]:
    """What each request held: its text and images."""
    return [(s.text, s.images) for s in server.requests]


def test_every_setting_is_answered_and_nothing_twice(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    outcome = go(benchmark, config, tmp_path / "run")
    assert outcome.by_status == {"parsed": 20}
    requests = asked(server)
    assert len(requests) == len(set(requests))
    # 4 windows of captions, and for each question: clean, video, caption, candidate and verdict
    assert len(requests) == 4 + 5 * 5
    again = go(benchmark, config, tmp_path / "run")
    assert (again.asked, again.kept) == (0, 20)
    assert len(server.requests) == len(requests)


class Stopped(Exception):
    pass


def test_a_run_that_stops_after_any_cell_goes_on_and_asks_nothing_twice(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    folder = tmp_path / "run"
    stops = 0
    while True:

        def stop(progress: RunProgress) -> None:
            if progress.stage == "answers" and progress.done == 3:
                raise Stopped

        try:
            go(benchmark, config, folder, on_progress=stop, concurrency=1)
        except Stopped:
            stops += 1
        else:
            break
    assert stops >= 5
    requests = asked(server)
    assert len(requests) == len(set(requests)) == 4 + 5 * 5
    run = load_run(folder)
    assert len(run.cells) == 20


def test_a_killed_process_leaves_a_run_that_goes_on(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    folder = tmp_path / "run"
    file = tmp_path / "benchmark.json"
    script = (
        "import asyncio, sys, pathlib\n"
        "from egomem.benchmarks import Benchmark\n"
        "from egomem.evaluate import Config, opened, run\n"
        "b = Benchmark.model_validate_json(pathlib.Path(sys.argv[1]).read_text())\n"
        "c = Config.model_validate_json(sys.argv[2])\n"
        "async def go():\n"
        "    async with opened(b, c, pathlib.Path(sys.argv[3]), environ={}) as work:\n"
        "        await run(work, concurrency=1)\n"
        "asyncio.run(go())\n"
    )
    file.write_text(benchmark.model_dump_json())
    with ScriptedServer(Script(delay=0.02, rules=(Rule(reply="A"),))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"readers": (spec,), "settings": ("clean", "video")})
        command = [sys.executable, "-c", script, str(file), only.model_dump_json(), str(folder)]
        process = subprocess.Popen(command)
        try:
            while len(server.requests) < 4:
                assert process.poll() is None
                time.sleep(0.005)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        before = len(load_run(folder).cells)
        outcome = go(benchmark, only, folder)
        assert outcome.kept == before
        assert outcome.by_status == {"parsed": 10}
        counts = Counter(asked(server))
        assert len(counts) == 10
        # A request that was under way when the process died has no reply, and is asked again.
        assert sum(counts.values()) <= 11


def test_a_changed_question_is_asked_again_alone(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    go(benchmark, config, tmp_path / "run")
    before = len(server.requests)
    changed = [
        q.model_copy(update={"text": "Which one is number 6?"}) if q.id == "q2" else q
        for q in benchmark.questions
    ]
    outcome = go(
        benchmark.model_copy(update={"questions": tuple(changed)}), config, tmp_path / "run"
    )
    assert (outcome.asked, outcome.kept) == (4, 16)
    assert outcome.asked_again == {"question": 4}
    assert all("number 6?" in s.text for s in server.requests[before:])
    assert len(server.requests) - before == 5


def test_a_changed_prompt_asks_its_setting_again_alone(
    benchmark: Benchmark,
    config: Config,
    server: ScriptedServer,
    tmp_path: Path,
    go: Go,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dataclasses import replace

    from egomem.answer import clean, prompts
    from egomem.answer.strategy import STRATEGIES, get

    go(benchmark, config, tmp_path / "run")
    before = len(server.requests)
    other = prompts.Prompt("clean@1", prompts.CLEAN.system + " Take care.")
    monkeypatch.setattr(clean, "CLEAN", other)
    registered = replace(get("clean"), texts=prompts.reader_texts(other))
    monkeypatch.setitem(STRATEGIES._plugins, "clean", registered)
    outcome = go(benchmark, config, tmp_path / "run")
    assert (outcome.asked, outcome.asked_again) == (5, {"prompt": 5})
    assert len(server.requests) - before == 5


def test_a_changed_setting_asks_what_it_touches(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    go(benchmark, config, tmp_path / "run")
    before = len(server.requests)
    fewer = config.model_copy(update={"frames": 2})
    outcome = go(benchmark, fewer, tmp_path / "run")
    assert (outcome.asked, outcome.asked_again) == (5, {"setting": 5})  # video alone
    assert {len(s.images) for s in server.requests[before:]} == {2}
    summary = go(benchmark, config.model_copy(update={"max_tokens": 100}), tmp_path / "run")
    assert summary.asked == 20


def test_what_was_remembered_anew_is_asked_anew(
    benchmark: Benchmark, tmp_path: Path, go: Go
) -> None:
    """Something more is remembered of v1: the questions about it are answered again, alone."""

    def note(video: str, text: str) -> Observation:
        return Observation(
            recording=video, span=Span(0, 1), text=text, source="caption", track="caption/made"
        )

    memory = tmp_path / "memory"
    with Store.open(memory, create=True) as store:
        store.put_track(Track(source="caption", observer="made"))
        for video in ("v0", "v1"):
            store.put_recording(Recording(id=video, name=video, duration=4))
            store.add([note(video, "A red drawer is opened.")])
    config = Config(settings=("extractive",))
    assert go(benchmark, config, tmp_path / "run", memory=memory).asked == 5
    assert go(benchmark, config, tmp_path / "run", memory=memory).asked == 0
    with Store.open(memory) as store:
        store.add([note("v1", "The black drawer is shut.")])
    outcome = go(benchmark, config, tmp_path / "run", memory=memory)
    assert (outcome.asked, outcome.asked_again) == (2, {"memory": 2})
    cell = load_run(tmp_path / "run").cells["q1", Arm(setting="extractive")]
    assert all(e.recording == "v1" for e in cell.answer.evidence)


def test_a_gap_that_a_memory_has_since_is_told_of(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    """A window of v1 is refused after its questions were answered: they are asked again, alone."""
    memory, track = tmp_path / "memory", Track(source="caption", observer="made", window=2)
    with Store.open(memory, create=True) as store:
        store.put_track(track)
        for video in ("v0", "v1"):
            store.put_recording(Recording(id=video, name=video, duration=4))
            note = {"text": "A red drawer.", "source": "caption", "track": track.id}
            store.add([Observation(recording=video, span=Span(0, 2), **note)])
    only = config.model_copy(update={"settings": ("caption@2",)})
    assert go(benchmark, only, tmp_path / "run", memory=memory).asked == 5
    with Store.open(memory) as store:
        store.add([], completed=[to_completed("v1", track.id, FailedWindow(Span(2, 4), "refused"))])
    before = len(server.requests)
    outcome = go(benchmark, only, tmp_path / "run", memory=memory)
    assert (outcome.asked, outcome.asked_again) == (2, {"memory": 2})
    assert all("[-] 0:02-0:04" in s.text for s in server.requests[before:])


def test_torn_and_odd_lines_are_told_and_their_cells_asked_from_the_cache(
    benchmark: Benchmark,
    config: Config,
    server: ScriptedServer,
    tmp_path: Path,
    go: Go,
    leave_text_files: Leave,
) -> None:
    folder = tmp_path / "run"
    go(benchmark, config, folder)
    leave_text_files(folder)
    before = len(server.requests)
    lines = (folder / ANSWERS).read_bytes().split(b"\n")
    bad = [
        lines[0][: len(lines[0]) // 2],
        b"\x00" * 40,
        b'{"question": 3}',
        "\u2028\u0085".encode(),
        b"[" * 5000,
    ]
    (folder / ANSWERS).write_bytes(b"\n".join([lines[1], *bad, *lines[2:-2], lines[-2][:30]]))
    assert load_run(folder).stored.unreadable == (2, 3, 4, 5, 6, 24)
    outcome = go(benchmark, config, folder)
    assert (outcome.asked, outcome.kept) == (2, 18)
    assert len(server.requests) == before  # their replies were kept
    run = load_run(folder)
    assert len(run.cells) == 20
    assert not run.stored.unreadable  # imported, and nothing of it is thrown away
    assert (folder / UNREADABLE).read_bytes() == b"\n".join([*bad, lines[-2][:30], b""])


def test_a_cell_that_stands_twice_counts_once(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, leave_text_files: Leave
) -> None:
    only = config.model_copy(update={"settings": ("clean",)})
    go(benchmark, only, tmp_path / "run")
    leave_text_files(tmp_path / "run")
    file = tmp_path / "run" / ANSWERS
    file.write_bytes(file.read_bytes() + file.read_bytes().split(b"\n")[0] + b"\n")
    run = load_run(tmp_path / "run")
    assert len(run.cells) == 5
    assert len(run.sheet(run.columns[0])) == 5


def test_odd_characters_of_a_reply_are_kept_and_end_no_line(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    odd = "B\u2028\u2029\x85 a nul \x00 and an end"
    with ScriptedServer(Script(rules=(Rule(reply=odd),))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"readers": (spec,), "settings": ("clean",)})
        go(benchmark, only, tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert not run.stored.unreadable
    assert len((tmp_path / "run" / ANSWERS).read_text().splitlines()) == 5
    (step,) = [s for s in run.cells["q0", Arm(setting="clean", reader=spec)].answer.trace if s]
    assert isinstance(step, dict)
    assert step["raw"] == odd.replace("\x00", "\ufffd")  # a NUL ends texts in other programs


def test_an_error_is_counted_and_tried_again(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    rules = (Rule(status=400, times=2), Rule(reply="B"))
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"readers": (spec,), "settings": ("clean",)})
        outcome = go(benchmark, only, tmp_path / "run", concurrency=1)
        assert outcome.by_status == {"error": 2, "parsed": 3}
        sheet = load_run(tmp_path / "run").sheet(Arm(setting="clean", reader=spec))
        assert len(sheet) == 5
        assert sheet.by_status() == {"parsed": 3, "error": 2}
        again = go(benchmark, only, tmp_path / "run")
        assert (again.asked, again.asked_again) == (2, {"failed": 2})
        assert again.by_status == {"parsed": 5}


def test_a_reply_that_no_answer_can_be_read_from_is_a_result(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    with ScriptedServer(Script(rules=(Rule(reply="Both A and B"),))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"readers": (spec,), "settings": ("clean",)})
        assert go(benchmark, only, tmp_path / "run").by_status == {"unparsable": 5}
        before = len(server.requests)
        assert go(benchmark, only, tmp_path / "run").asked == 0
        assert len(server.requests) == before


def test_a_server_that_is_gone_ends_the_run_soon(
    config: Config, benchmark: Benchmark, tmp_path: Path, go: Go
) -> None:
    many = tuple(
        q.model_copy(update={"id": f"{q.id}-{k}", "text": f"{q.text} {k}?"})
        for k in range(20)
        for q in benchmark.questions
    )
    big = benchmark.model_copy(update={"questions": many})
    only = config.model_copy(
        update={"readers": ("openai-compatible:x@http://127.0.0.1:9/v1",), "settings": ("clean",)}
    )
    quick = RequestPolicy(max_attempts=1, deadline=5.0)
    with pytest.raises(ModelError, match="20 errors in a row"):
        go(big, only, tmp_path / "run", policy=quick)
    assert len(load_run(tmp_path / "run").cells) < 40


def test_two_processes_do_not_write_to_one_run(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    from egomem.evaluate.run_folder import locked

    folder = tmp_path / "run"
    folder.mkdir()
    with locked(folder), pytest.raises(LockedError):
        go(benchmark, config, folder)


def test_a_key_is_nowhere_in_a_run(
    benchmark: Benchmark, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    from egomem.evaluate import opened, run

    key = "sk-TEST-1234abcd"
    folder = tmp_path / "run"
    with ScriptedServer(Script(rules=(Rule(fault="echo", times=2), Rule(reply="B")))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"readers": (spec,), "settings": ("clean", "caption@2")})

        async def whole() -> None:
            environ = {"EGOMEM_API_KEY": key}
            async with opened(benchmark, only, folder, environ=environ) as work:
                await run(work)

        asyncio.run(whole())
        assert any(key in str(s.headers) for s in server.requests)
    files = [p for p in folder.rglob("*") if p.is_file()]
    assert len(files) > 5
    assert not [p for p in files if key.encode() in p.read_bytes()]


def test_a_run_holds_no_pictures_in_its_answers(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    go(benchmark, config, tmp_path / "run")
    for line in (tmp_path / "run" / ANSWERS).read_text().splitlines():
        assert len(line) < 20_000
        assert json.loads(line)["answer"]["status"] == Status.PARSED


@pytest.mark.parametrize("apart", [False, True])
def test_verify_starts_from_the_very_caption_answer(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, apart: bool
) -> None:
    """Also where that reply was cut off, which no cache keeps, and in a run of its own."""
    whole = "You get notes that were written"
    rules = (
        Rule(when=whole, reply="The answer", finish="length"),
        Rule(when="Question:", reply="A"),
        Rule(reply="A drawer."),
    )
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        both = config.model_copy(update={"settings": ("caption@2", "verify@2"), "readers": (spec,)})
        if apart:
            alone = both.model_copy(update={"settings": ("caption@2",)})
            go(benchmark, alone, tmp_path / "run")
        go(benchmark, both, tmp_path / "run")
        assert sum(whole in s.text for s in server.requests) == 5
    cells = load_run(tmp_path / "run").cells
    assert {c.answer.status for c in cells.values()} == {Status.TRUNCATED}
    assert len(cells) == 10


WHOLE, FEW, LOOK = "You get notes that were written", "the few notes", "You check answers"
VERDICT = '{"answer": "C", "support": "strong", "reason": "it is there"}'


@pytest.mark.parametrize("status", [400, 401, 500])
@pytest.mark.parametrize("which", [FEW, LOOK])
def test_a_check_that_failed_is_an_error_and_tried_again(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, status: int, which: str
) -> None:
    quick = RequestPolicy(max_attempts=1)
    rules = [Rule(when=which, status=status, times=3), Rule(when=LOOK, reply=VERDICT)]
    rules += [Rule(when="Question:", reply="A"), Rule(reply="A drawer.")]
    with ScriptedServer(Script(rules=tuple(rules))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        both = config.model_copy(update={"settings": ("caption@2", "verify@2"), "readers": (spec,)})
        first = go(benchmark, both, tmp_path / "run", policy=quick)
        assert first.by_status == {"parsed": 7, "error": 3}
        before = len(server.requests)
        again = go(benchmark, both, tmp_path / "run", policy=quick)
        assert (again.asked, again.asked_again) == (3, {"failed": 3})
        assert again.by_status == {"parsed": 10}
        # What had come of a check is not paid for again.
        assert len(server.requests) - before == 3 if which is LOOK else 6
    cells = load_run(tmp_path / "run").cells
    looked = [c for c in cells.values() if c.arm.setting == "verify@2"]
    assert {c.answer.choice for c in looked} == {"C"}


@pytest.mark.parametrize("apart", [False, True])
def test_verify_follows_a_caption_answer_that_was_mended(
    benchmark: Benchmark,
    config: Config,
    tmp_path: Path,
    go: Go,
    leave_text_files: Leave,
    apart: bool,
) -> None:
    """It overrides no error, and is asked again with what came in its place."""
    rules = [Rule(when=WHOLE, status=400, times=2), Rule(when=LOOK, reply=VERDICT)]
    rules += [Rule(when="Question:", reply="A"), Rule(reply="A drawer.")]
    with ScriptedServer(Script(rules=tuple(rules))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        both = config.model_copy(update={"settings": ("caption@2", "verify@2"), "readers": (spec,)})
        assert go(benchmark, both, tmp_path / "run").by_status == {"parsed": 6, "error": 4}
        assert (
            sum(LOOK in s.text for s in server.requests) == 3
        )  # nobody looks where nothing stands
        if apart:
            only = both.model_copy(update={"settings": ("caption@2",)})
            assert go(benchmark, only, tmp_path / "run").asked == 2
            # As an earlier version left it: an answer that starts from what has been mended since.
            leave_text_files(tmp_path / "run")
            file = tmp_path / "run" / ANSWERS
            text = file.read_text().replace('"baseline": "', '"baseline": "0')
            file.write_text(text)
        again = go(benchmark, both, tmp_path / "run")
        assert again.by_status == {"parsed": 10}
        assert again.asked == (5 if apart else 4)
        before = len(server.requests)
        assert go(benchmark, both, tmp_path / "run").asked == 0
        assert len(server.requests) == before
    for (_, column), cell in load_run(tmp_path / "run").cells.items():
        if column.setting == "verify@2":
            (decision,) = [s for s in cell.answer.trace if s["step"] == "decision"]
            assert (decision["before"], decision["outcome"], decision["after"]) == (
                "A",
                "overridden",
                "C",
            )


def test_a_failed_check_keeps_the_caption_answer_that_it_made_itself(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    """Also one that was cut off, which no cache keeps."""
    rules = [Rule(when=LOOK, status=400, times=5), Rule(when=LOOK, reply=VERDICT)]
    rules += [Rule(when=WHOLE, reply="The answer", finish="length")]
    rules += [Rule(when="Question:", reply="A"), Rule(reply="A drawer.")]
    with ScriptedServer(Script(rules=tuple(rules))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        alone = config.model_copy(update={"settings": ("verify@2",), "readers": (spec,)})
        assert go(benchmark, alone, tmp_path / "run").errors == 5
        assert go(benchmark, alone, tmp_path / "run").by_status == {"parsed": 5}
        assert sum(WHOLE in s.text for s in server.requests) == 5
