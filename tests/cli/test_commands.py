"""Commands as a user runs them: what they print, their JSON, their exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from egomem.cli import COMMANDS, main
from egomem.extras import install_line
from egomem.observe import Window, WindowFailed
from egomem.records import Observation, Status, Track
from egomem.testing import Rule, Script, ScriptedServer

MakeVideo = Callable[..., Path]
Run = Callable[..., tuple[int, str, str]]


class Watcher:
    """Stands for the embedded observers, which need weights: says which second it sees."""

    track = Track(source="object", observer="watcher", window=2)

    async def observe(self, window: Window) -> list[Observation]:
        what = "a red kettle" if window.span.start < 2 else "a green door"
        return [
            Observation(
                recording=window.recording.id,
                span=window.span,
                text=what,
                source="object",
                track=self.track.id,
                data={"label": what.split()[-1], "min_count": 1, "max_count": 1},
            )
        ]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EGOMEM_MEMORY", str(tmp_path / "memory"))
    monkeypatch.setattr("egomem.ingest.observer_set.DEFAULT_OBSERVERS", (Watcher(),))

    def go(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return go


def body(text: str) -> Any:
    """The one JSON object that a command with --json prints."""
    envelope = json.loads(text)
    assert set(envelope) == {"command", "ok", "result", "problems"}
    return envelope


def test_from_a_file_to_an_answer(run: Run, make_video: MakeVideo) -> None:
    video = make_video("day.mp4")
    start = "2026-03-02T08:10+01:00"
    code, out, _ = run("ingest", str(video), "--window", "2", "--start", start)
    assert code == 0
    assert "done" in out
    code, out, _ = run("search", "kettle")
    assert code == 0
    assert "0:00-0:02  object: a red kettle" in out
    assert "2026-03-02T08:10:00+01:00" in out
    code, out, _ = run("ask", "When did I see the red kettle?")
    assert code == 0
    assert "08:10:00" in out
    code, out, _ = run("ask", "Where did I leave my umbrella?")
    assert code == 0
    assert "umbrella" in out or "not" in out.lower()
    code, out, _ = run("show")
    assert code == 0
    assert "1 recording, " in out


def test_the_same_as_json(run: Run, make_video: MakeVideo) -> None:
    video = make_video("day.mp4")
    _, out, err = run("ingest", str(video), "--window", "2", "--json")
    printed = body(out)
    assert printed["ok"] is True
    assert printed["result"]["counts"] == {"done": 1}
    assert err == ""
    _, out, _ = run("ingest", str(video), "--window", "2", "--json")
    assert body(out)["result"]["counts"] == {"unchanged": 1}
    _, out, _ = run("search", "kettle", "-k", "1", "--json")
    (hit,) = body(out)["result"]["hits"]
    assert (hit["name"], hit["span"], hit["when"]) == (
        "day.mp4",
        {"start": 0, "end": 4},
        None,
    )
    assert hit["observations"][0]["text"] == "a red kettle"
    _, out, _ = run("ask", "Did I see a red kettle?", "--json")
    assert body(out)["result"]["evidence"][0]["name"] == "day.mp4"
    _, out, _ = run("ask", "Did I see a unicorn?", "--explain", "--json")
    assert body(out)["result"]["status"] == "abstained"
    assert body(out)["result"]["trace"]
    _, out, _ = run("show", "--json")
    assert body(out)["result"]["observations"] == {"object": 2, "caption": 2}


def test_windows_that_a_track_has_nothing_of_are_shown(
    run: Run, make_video: MakeVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unwilling(Watcher):
        async def observe(self, window: Window) -> list[Observation]:
            if window.span.start in (2, 6):
                raise WindowFailed("nothing", status=Status.REFUSED)
            return await super().observe(window)

    monkeypatch.setattr("egomem.ingest.observer_set.DEFAULT_OBSERVERS", (Unwilling(),))
    run("ingest", str(make_video("day.mp4", seconds=8)), "--window", "2")
    (recording,) = body(run("show", "--json")[1])["result"]["recordings"]
    untold = body(run("show", "--json")[1])["result"]["untold"]
    track = Watcher.track.id
    row = {"track": track, "recording": recording["id"], "name": "day.mp4", "status": "refused"}
    assert untold == [{**row, "start": s, "end": s + 2} for s in (2.0, 6.0)]
    code, out, _ = run("show")
    assert code == 0
    line = f"day.mp4: {track} tells nothing of 2 windows: 0:02-0:04 refused, 0:06-0:08 refused"
    assert line in " ".join(out.split())


def test_one_broken_file_is_exit_code_1_and_the_rest_goes_on(
    run: Run, make_video: MakeVideo, tmp_path: Path
) -> None:
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    make_video("good.mp4")
    code, out, err = run("ingest", str(tmp_path))
    assert code == 1
    assert "1 failed" in out
    assert "1 done" in out
    (fault,) = [line for line in err.splitlines() if line.startswith("egomem: ")]
    assert "broken.mp4" in fault
    code, out, _ = run("ingest", str(tmp_path), "--json")
    assert code == 1
    assert "broken.mp4" in body(out)["problems"][0]["what"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ingest", "nothing.mp4"], 2, "no such file or folder"),
        (["ingest"], 2, "Missing argument"),
        (["nonsense"], 2, "nonsense"),
        (["search", "x", "-k", "0"], 2, "-k"),
        (["search", "x"], 3, "there is no memory at"),
        (["ask", "x", "--model", "reader=nonsense"], 2, "nonsense"),
        (["show", "--memory", "/dev/null/x"], 3, "there is no memory at"),
    ],
)
def test_a_fault_is_one_line_with_its_exit_code(
    run: Run, arguments: list[str], code: int, message: str
) -> None:
    got, out, err = run(*arguments)
    assert got == code
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""
    got, out, err = run(*arguments, "--json")
    assert got == code
    assert body(out)["ok"] is False
    assert err == ""


@pytest.mark.parametrize("rule", [Rule(status=400), Rule(null=True), Rule(refusal="no")])
def test_a_question_without_a_usable_reply_is_said_and_exit_code_3(
    run: Run, make_video: MakeVideo, rule: Rule
) -> None:
    run("ingest", str(make_video("day.mp4")))
    with ScriptedServer(Script(rules=(rule,))) as server:
        spec = f"reader=openai-compatible:fake@{server.url}"
        asked = ("ask", "What is red?", "--strategy", "clean", "--model", spec)
        code, out, err = run(*asked)
        assert code == 3
        assert out.strip() == ""
        assert err.startswith("egomem: no answer: ")
        code, out, _ = run(*asked, "--json")
        assert code == 3
        assert body(out)["problems"]


def test_without_anybody_to_observe_nothing_is_ingested(
    run: Run, make_video: MakeVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("egomem.ingest.observer_set.DEFAULT_OBSERVERS", ("speech", "text"))
    monkeypatch.setattr("egomem.observe.plugin.are_installed", lambda *modules: False)
    code, out, err = run("ingest", str(make_video("day.mp4")))
    assert (code, out) == (3, "")
    assert "faster_whisper is not installed" in err
    assert install_line("embedded") in err


def test_an_unreadable_time_is_wrong_usage(run: Run, make_video: MakeVideo) -> None:
    video = str(make_video("day.mp4"))
    assert run("ingest", video, "--start", "2026-03-02 08:10")[0] == 2  # no zone
    assert run("ingest", video, "--start", "2026-03-02T08:10+01:00")[0] == 0
    code, _, err = run("ask", "What was there?", "--at", "gibberish o'clock")
    assert code == 2
    assert "gibberish" in err


def test_two_recordings_cannot_share_one_start(run: Run, make_video: MakeVideo) -> None:
    first, second = make_video("a.mp4"), make_video("b.mp4", level=9)
    code, _, err = run("ingest", str(first), str(second), "--start", "2026-03-02T08:10+01:00")
    assert code == 2
    assert "one start" in err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Usage: egomem" in text
    assert "--json" in text or "Commands" in text


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(command in text for command in COMMANDS)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_what_an_output_cannot_show_is_escaped(tmp_path: Path, encoding: str) -> None:
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    for arguments in (["search", "ü“\udcff😀"], ["search", "x", "--json"]):
        command = [sys.executable, "-m", "egomem", *arguments, "--memory", "ü“\udcff😀"]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
        assert done.returncode == 3
        assert b"Traceback" not in done.stderr
        if done.stdout:
            assert "ü“\udcff😀" in json.loads(done.stdout)["problems"][0]["what"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "egomem", "models"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "egomem: stopped; the same command goes on where it stopped"),
        (OSError(28, "No space left on device"), 3, "No space left on device"),
    ],
)
def test_what_ends_a_command_from_outside_has_its_own_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, message: str
) -> None:
    def end(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("egomem.cli.show.open_memory", end)
    got, out, err = run("show")
    assert (got, out) == (code, "")
    assert message in err


@pytest.mark.parametrize("group", [(), ("benchmark",), ("cache",), ("eval",)])
def test_a_command_alone_prints_its_help_as_it_is(run: Run, group: tuple[str, ...]) -> None:
    code, out, err = run(*group)
    assert (code, out) == (2, "")
    assert err == run(*group, "--help")[1]
    assert len(err.splitlines()) > 8


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_offers_to_install_completion(run: Run, command: str) -> None:
    assert "completion" not in run(command, "--help")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("score", "demo", "no.jsonl"), 2, "no.jsonl cannot be read: *; name a file of JSON*"),
        (
            ("score", "no", "no"),
            2,
            "there is no benchmark at no: *; name a folder or file *",
        ),
        (("benchmark", "stats", "demo", "--media", "no"), 2, "*no folder of media at no; name *"),
        (
            ("benchmark", "stats", "odd"),
            2,
            "odd/a.jsonl.gz cannot be read: Not a gzipped *; check *",
        ),
        (("benchmark", "stats", "demo", "--plots", "file/x"), 2, "file/x cannot be a folder *; *"),
        (("import", "no.srt"), 1, "there is no file no.srt; check the path"),
        (
            ("cache", "stats", "--memory", "no"),
            3,
            "there is no memory *at no: *; name the folder *",
        ),
        (("show", "--memory", "no"), 3, "there is no memory at no: that folder does not exist; *"),
        (("show", "--memory", "odd"), 3, "there is no memory at odd; *"),
        (("report", "no"), 2, "there is no run at no: that folder does not exist; *"),
        (("import", "no.srt", "--videos", "no", "-m", "m"), 2, "*no folder of videos at no; *"),
        (("caption", "no.mp4", "--documents", "no"), 2, "*no folder of documents at no; *"),
    ],
)
def test_what_cannot_be_used_is_named_once_with_a_remedy(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "a.jsonl.gz").write_bytes(b"no gzip")
    got, _, err = run(*arguments)
    line = err.splitlines()[-1]
    assert (got, fnmatch(line, f"egomem: {message}")) == (code, True), line
    assert "Errno" not in line


def test_a_path_of_the_system_is_named_once_too(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: object, **__: object) -> None:
        (tmp_path / "no" / "seven").mkdir()

    monkeypatch.setattr("egomem.cli.show.open_memory", end)
    path = tmp_path / "no" / "seven"
    code, _, err = run("show")
    assert code == 3
    assert err.startswith(f"egomem: cannot use {path}: No such file or directory; check that path")
    assert err.count("seven") == 1


def test_settings_that_cannot_be_read_are_not_called_invalid(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "egomem.toml").mkdir()
    monkeypatch.setattr("egomem.config.settings_file", lambda: tmp_path / "egomem.toml")
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    code, _, err = run("models")
    assert code == 2
    assert "egomem.toml cannot be read: Is a directory; check its permissions" in err
