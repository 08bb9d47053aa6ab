"""`egomem eval` and `egomem report` as they are typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.evaluate import load_run
from egomem.testing import Rule, Script, ScriptedServer

Told = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> Told:
    """Run a command with --json; its exit code and what it printed."""

    def run(*words: object) -> tuple[int, dict[str, Any]]:
        code = main([*map(str, words), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def data(benchmark: Benchmark, tmp_path: Path) -> Path:
    benchmarks.write(benchmark, tmp_path / "data")
    return tmp_path / "data"


def test_a_run_from_plan_to_report(
    data: Path, tmp_path: Path, server: ScriptedServer, spec: str, run_json: Told
) -> None:
    command = (
        "eval", "capmem", "--data", data, "--media", tmp_path, "--settings", "clean,caption@2",
        "--model", f"reader={spec}", "--gate", "report", "--out", tmp_path / "run",
    )  # fmt: skip
    code, printed = run_json(*command, "--plan")
    assert code == 0
    assert printed["result"]["outcome"] is None
    assert sum(p["requests"] for p in printed["result"]["plan"]["columns"]) == 10
    assert not server.requests
    code, printed = run_json(*command)
    assert code == 0
    assert printed["result"]["outcome"]["by_status"] == {"parsed": 10}
    assert len(server.requests) == 14
    run = load_run(tmp_path / "run")
    assert run.about["config_hash"] == printed["result"]["config_hash"]
    code, printed = run_json("eval", "status", tmp_path / "run")
    assert [(c["done"], c["total"]) for c in printed["result"]["columns"]] == [(5, 5), (5, 5)]
    code, printed = run_json("eval", "rescore", tmp_path / "run")
    assert (code, printed["result"]["changed"]) == (0, [])
    chosen = ("--bins", "0.2,0.8", "--regimes", "0.05", "--closed", "fake")
    code, printed = run_json("report", tmp_path / "run", *chosen, "--out", tmp_path / "chosen")
    assert code == 0
    page = (tmp_path / "chosen" / "report.md").read_text()
    assert "| fake | closed | 5 |" in page
    for wrong in ("--bins=1", "--bins=0.5,0.2", "--bins=0,1", "--regimes=20,12", "--open=other"):
        code, printed = run_json("report", tmp_path / "run", wrong)
        assert (code, printed["problems"][0]["what"].split()[0]) == (2, wrong[: wrong.index("=")])
    code, printed = run_json("report", tmp_path / "run")
    assert code == 0
    assert all(Path(p).is_file() for p in printed["result"]["files"])


def test_shards_and_merge(data: Path, tmp_path: Path, spec: str, run_json: Told) -> None:
    for k in (1, 2):
        code, _ = run_json(
            "eval", "capmem", "--data", data, "--settings", "clean", "--gate", "report",
            "--model", f"reader={spec}", "--shard", f"{k}/2", "--out", tmp_path / f"part{k}",
        )  # fmt: skip
        assert code == 0
    code, printed = run_json(
        "eval", "merge", tmp_path / "whole", tmp_path / "part1", tmp_path / "part2"
    )
    assert (code, printed["result"]["cells"]) == (0, 5)
    code, printed = run_json("eval", "merge", tmp_path / "again", tmp_path / "part1")
    assert code == 2
    assert "cells are missing: q1" in printed["problems"][0]["what"]


def test_errors_are_told_and_end_with_one(data: Path, tmp_path: Path, run_json: Told) -> None:
    with ScriptedServer(Script(rules=(Rule(status=400, times=2), Rule(reply="A")))) as server:
        code, printed = run_json(
            "eval", "capmem", "--data", data, "--settings", "clean", "--gate", "report",
            "--model", f"reader=openai-compatible:x@{server.url}", "--out", tmp_path / "run",
        )  # fmt: skip
    assert code == 1
    assert printed["problems"][0]["what"] == "2 of 5 cells ended in an error"


def test_wrong_usage_is_one_line(data: Path, tmp_path: Path, run_json: Told, spec: str) -> None:
    base = ("eval", "capmem", "--data", data, "--out", tmp_path / "run")
    for more, text in (
        (("--settings", "clean"), "no reader"),
        (("--settings", "cleen", "--model", f"reader={spec}"), "no setting 'cleen'"),
        (("--model", f"reader={spec}", "--shard", "5/4", "--gate", "report"), "no shard 5/4"),
        (("--model", f"painter={spec}"), "no role"),
    ):
        code, printed = run_json(*base, *more)
        assert code == 2
        assert text in printed["problems"][0]["what"]
    code, printed = run_json("eval", "status", tmp_path / "nothing")
    assert code == 2


def test_a_terminal_gets_the_plan_first(
    data: Path, tmp_path: Path, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["eval", "capmem", "--data", str(data), "--settings", "clean", "--gate", "report",
         "--model", f"reader={spec}", "--out", str(tmp_path / "run")]
    )  # fmt: skip
    out, err = capsys.readouterr()
    assert code == 0
    assert out.splitlines()[0] == "5 questions"
    assert "5 to do; 5 requests, 0 frames" in out
    assert "5 cells answered, 0 kept" in out
    assert "gate of" in err
    assert "answers 5 / 5" in err


def test_a_given_memory_is_read_and_not_written_to(
    data: Path, tmp_path: Path, spec: str, run_json: Told
) -> None:
    from egomem.memory import Store
    from egomem.records import Observation, Recording, Track
    from egomem.timeline import Span

    memory = tmp_path / "held"
    with Store.open(memory, create=True) as store:
        store.put_track(Track(source="caption", observer="made"))
        store.put_recording(Recording(id="v0", name="v0.mp4", duration=4))
        note = {"text": "A red drawer.", "source": "caption", "track": "caption/made"}
        store.add([Observation(recording="v0", span=Span(0, 1), **note)])
    before = (memory / "memory.db").read_bytes()
    code, printed = run_json(
        "eval", "capmem", "--data", data, "--settings", "caption,extractive", "--memory", memory,
        "--model", f"reader={spec}", "--out", tmp_path / "run",
    )  # fmt: skip
    assert code == 1  # v1 is not in that memory
    assert printed["result"]["outcome"]["by_status"]["error"] == 4
    assert printed["result"]["plan"]["missing"].keys() == {"v1"}
    run = load_run(tmp_path / "run")
    assert run.about["config_hash"] == printed["result"]["config_hash"]
    assert (memory / "memory.db").read_bytes() == before


def test_a_budget_ends_the_command_with_one_and_it_goes_on(
    data: Path, tmp_path: Path, server: ScriptedServer, spec: str, run_json: Told
) -> None:
    command = (
        "eval", "capmem", "--data", data, "--settings", "clean", "--gate", "report",
        "--model", f"reader={spec}", "--out", tmp_path / "run",
    )  # fmt: skip
    code, printed = run_json(*command, "--max-requests", "2")
    assert (code, len(server.requests)) == (1, 2)
    (problem,) = printed["problems"]
    assert problem["what"] == "all of --max-requests 2 are sent; 3 of 5 cells are not answered"
    assert problem["remedy"].startswith("raise --max-requests and run the same command again")
    assert printed["result"]["outcome"]["spent"]["requests"] == 2
    code, printed = run_json(*command, "--budget", "1")
    assert (code, len(server.requests)) == (2, 2)
    assert "no price is known" in printed["problems"][0]["what"]
    code, printed = run_json(*command)
    assert (code, len(server.requests)) == (0, 5)
    assert printed["result"]["outcome"]["spent_in_all"]["requests"] == 5


def test_settings_of_strategies_are_given_by_name(
    data: Path, tmp_path: Path, spec: str, run_json: Told
) -> None:
    command = (
        "eval", "capmem", "--data", data, "--media", tmp_path, "--settings", "verify@2",
        "--model", f"reader={spec}", "--out", tmp_path / "run",
    )  # fmt: skip
    code, printed = run_json(
        *command, "--set", "verify.second_look=true", "--set", "verify.pad=0.5"
    )
    assert code == 0
    settings = load_run(tmp_path / "run").config.strategies
    assert settings == {"verify": {"second_look": True, "pad": 0.5}}
    for given, text in (
        ("verify.second=true", "strategy verify: second: Extra inputs"),
        ("verify.pad=wide", "strategy verify: pad"),
        ("verify.format=scores", "the run decides this itself"),
        ("video.pad=3", "no setting of this run uses video; it uses verify, caption"),
        ("pad=3", "cannot be read"),
        ("verify.pad", "cannot be read"),
    ):
        code, printed = run_json(*command, "--set", given)
        assert code == 2
        assert text in f"{printed['problems'][0]['what']}; {printed['problems'][0]['remedy']}"


def test_questions_of_egolife_s_days_can_be_asked(
    tmp_path: Path, server: ScriptedServer, spec: str, run_json: Told
) -> None:
    """A clip's time counts frames of 20 a second, or of what --frame-base says."""
    row = {
        "ID": "1", "question": "What is number 2?", "answer": "C", "type": "EntityLog",
        "query_time": {"date": "DAY1", "time": "11210218"},
        "target_time": {"date": "DAY1", "time": "11152408"},
        **{f"choice_{k}": text for k, text in zip("abcd", ("red", "green", "blue", "pink"),
                                                  strict=True)},
    }  # fmt: skip
    file = tmp_path / "EgoLifeQA.json"
    file.write_text(json.dumps([row]))
    command = (
        "eval", "capmem", "--data", file, "--settings", "clean", "--gate", "report",
        "--model", f"reader={spec}", "--out", tmp_path / "run",
    )  # fmt: skip
    code, printed = run_json(*command)
    assert code == 2
    assert "numbered days" in printed["problems"][0]["what"]
    where = ("--zone", "Asia/Shanghai", "--day-one", "2026-03-01")
    code, _ = run_json(*command, *where)
    assert code == 0
    (asked,) = load_run(tmp_path / "run").questions
    assert str(asked.at).startswith("2026-03-01 11:21:02.9")
    code, printed = run_json(*command, *where, "--frame-base", "36")
    assert printed["result"]["outcome"]["asked_again"] == {"question": 1}
    (asked,) = load_run(tmp_path / "run").questions
    assert str(asked.at).startswith("2026-03-01 11:21:02.5")


def test_faulty_rows_are_asked_where_that_is_wanted(
    data: Path, tmp_path: Path, spec: str, run_json: Told
) -> None:
    file = data / "questions.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[1]["evidence"] = [{"recording": "v1", "start": 900, "end": 901}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = (
        "eval", "capmem", "--data", data, "--settings", "clean", "--gate", "report",
        "--model", f"reader={spec}", "--out", tmp_path / "run",
    )  # fmt: skip
    _, printed = run_json(*command, "--plan")
    assert (printed["result"]["plan"]["questions"], printed["result"]["dropped_questions"]) == (
        4,
        1,
    )
    assert printed["result"]["plan"]["left_out"] == 1
    _, printed = run_json(*command, "--plan", "--keep-faulty")
    assert (printed["result"]["plan"]["questions"], printed["result"]["plan"]["left_out"]) == (5, 0)


def test_rows_that_were_left_out_are_said_wherever_the_figures_are(
    data: Path, tmp_path: Path, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (data / "questions.jsonl").open("a") as out:
        out.write('{"id": "q5", "question": "Which?", "options": ["red"], "answer": "Z"}\n{"id"\n')
    run = tmp_path / "run"
    command = (
        "eval", "capmem", "--data", data, "--settings", "clean", "--gate", "report",
        "--model", f"reader={spec}", "--out", run,
    )  # fmt: skip
    assert main([str(word) for word in command]) == 0
    assert "5 questions (2 rows of the data could not be used)\n" in capsys.readouterr().out
    assert json.loads((run / "run.json").read_text())["benchmark"]["left_out"] == 2
    assert main(["report", str(run), "--out", str(tmp_path / "report")]) == 0
    line = "run: 2 rows of the data were left out: questions.jsonl:6: q5: "
    assert line in capsys.readouterr().out
    report = (tmp_path / "report" / "report.md").read_text()
    assert line in report
    assert "; 2 rows of the data could not be used" in report


def test_frames_a_second_and_the_gate_s_bounds_can_be_set(
    data: Path, tmp_path: Path, server: ScriptedServer, spec: str, run_json: Told
) -> None:
    code, printed = run_json(
        "eval", "capmem", "--data", data, "--media", tmp_path, "--settings", "clean,video",
        "--model", f"reader={spec}", "--out", tmp_path / "run", "--fps", "2.5",
        "--gate-low", "0.9", "--gate-high", "1",
    )  # fmt: skip
    assert code == 0
    assert printed["result"]["outcome"]["gates"][0]["passed"] is True
    assert {len(s.images) for s in server.requests} == {0, 10}


def test_errors_are_told_once_as_they_come(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [Rule(status=400, times=3, error="a bad day"), Rule(reply="A")]
    with ScriptedServer(Script(rules=tuple(rules))) as server:
        code = main(
            ["eval", "capmem", "--data", str(data), "--settings", "clean", "--gate", "report",
             "--model", f"reader=openai-compatible:x@{server.url}", "--out", str(tmp_path / "run")]
        )  # fmt: skip
    printed = capsys.readouterr().err
    assert code == 1
    assert printed.count("a bad day") == 1
    assert "answers 5 / 5" in printed
    assert ", 3 errors" in printed
    assert main(["eval", "status", str(tmp_path / "run")]) == 0
    assert "2 of 5 cells finished, 3 ended in an error" in capsys.readouterr().out


@pytest.mark.parametrize("way", ["option", "variable", "file", "fit", "fit variable"])
def test_a_server_with_an_image_limit_is_told_of_as_its_error_says(
    data: Path, tmp_path: Path, run_json: Told, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Windows of 2 s hold 8 frames at 4 a second; the server takes 3 images."""
    monkeypatch.chdir(tmp_path)
    rules = (Rule(when="Question:", reply="A"), Rule(reply="A red drawer."))
    with ScriptedServer(Script(rules=rules, max_images=3)) as server:
        command = (
            "eval", "capmem", "--data", data, "--media", tmp_path, "--settings", "caption@2",
            "--fps", "4", "--model", f"reader=openai-compatible:fake@{server.url}",
            "--out", tmp_path / "run",
        )  # fmt: skip
        code, printed = run_json(*command)
        assert code == 1
        what = printed["problems"][0]["what"]
        for named in ("limits.captioner.images", "EGOMEM_LIMITS_CAPTIONER_IMAGES", "--fit"):
            assert named in what
        more: tuple[str, ...] = ()
        if way == "option":
            more = ("--request-limit", "captioner.images=3")
        elif way == "variable":
            monkeypatch.setenv("EGOMEM_LIMITS_CAPTIONER_IMAGES", "3")
        elif way == "file":
            (tmp_path / "egomem.toml").write_text("[limits.captioner]\nimages = 3\n")
        elif way == "fit":
            more = ("--fit",)
        else:
            monkeypatch.setenv("EGOMEM_FIT", "true")
        code, printed = run_json(*command, *more)
        assert (code, printed["result"]["outcome"]["by_status"]) == (0, {"parsed": 5})
        assert {len(s.images) for s in server.requests if s.images} == {3, 8}


def test_limits_that_are_none_are_one_line(data: Path, tmp_path: Path, run_json: Told) -> None:
    command = (
        "eval",
        "capmem",
        "--data",
        data,
        "--settings",
        "clean",
        "--model",
        "reader=ollama:x",
    )
    for given in ("captioner=8", "captioner.images=few", "judge.images=8", "images=8"):
        code, printed = run_json(*command, "--out", tmp_path / "run", "--request-limit", given)
        assert code == 2
        assert given in printed["problems"][0]["what"]
    wrong = ("--request-limit", "captioner.pictures=8")
    code, printed = run_json(*command, "--out", tmp_path / "run", *wrong)
    assert code == 2
    assert "limits.captioner.pictures" in printed["problems"][0]["what"]


def test_a_refused_window_ends_with_one_in_a_run_and_in_an_ingest_alike(
    data: Path, tmp_path: Path, run_json: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = (
        Rule(when="0:02-0:04 of the recording", reply="[0:02] The wea", finish="length"),
        Rule(when="Question:", reply="A"),
        Rule(reply="A red drawer."),
    )
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        run = (
            "eval", "capmem", "--data", data, "--media", tmp_path, "--settings", "caption@2",
            "--model", f"reader={spec}", "--out", tmp_path / "run",
        )  # fmt: skip
        ingest = (
            "ingest", tmp_path / "v0.mp4", "--memory", tmp_path / "memory", "--window", "2",
            "--model", f"captioner={spec}",
        )  # fmt: skip
        for command, window in ((run, "v0 0:02-0:04 truncated"), (ingest, "2-4 s")):
            code, printed = run_json(*command)
            sent = len(server.requests)
            assert code == 1
            assert window in str(printed["problems"])
            assert "--caption-tokens" in str(printed["problems"])
            code, printed = run_json(*command)
            assert code == 1
            assert "0:02-0:04 truncated" in str(printed["problems"])
            assert len(server.requests) == sent
            run_json(*command, "--caption-tokens", "5000")
            again = server.requests[sent:]
            assert [s.body["max_tokens"] for s in again] == [5000] * len(again)
            assert len(again) == (2 if command is run else 1)
    assert main(["eval", "status", str(tmp_path / "run")]) == 0
    assert "2 / 4, none of 2 truncated" in capsys.readouterr().out
