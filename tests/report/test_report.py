"""The report: all formats say the same, texts cannot break the page, unlike runs are refused."""

from __future__ import annotations

import base64
import csv
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.errors import FullError, UsageError
from egomem.evaluate import Config, Finished, Run, RunSummary, StoredRun, load_run
from egomem.records import Answer, Evidence, Question, Status, Video
from egomem.report import differences, report_columns, report_sections, write_report
from egomem.report.bootstrap_columns import bootstrap_columns
from egomem.report.columns import ReportOptions
from egomem.report.comparability import check_comparable
from egomem.report.failure_analysis import explain_column
from egomem.report.markdown import render_markdown
from egomem.report.model_tables import model_section
from egomem.report.question_browser import browser_data, unpack
from egomem.report.table import ReportTable
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Span

Go = Callable[..., RunSummary]


@pytest.fixture
def folder(benchmark: Benchmark, config: Config, tmp_path: Path, go: Go) -> Path:
    go(benchmark, config, tmp_path / "one", command=["egomem", "eval", "capmem", "--out", "a b"])
    return tmp_path / "one"


class Page(HTMLParser):
    """Tags that are opened and closed, and the data of the script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [v or "" for k, v in attrs if k in ("src", "href")]
        if tag not in ("meta", "input", "img", "br", "line", "rect", "circle", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def test_the_page_stands_alone_and_holds_every_question(folder: Path) -> None:
    written = write_report([folder], folder / "report")
    text = (folder / "report" / "report.html").read_text()
    page = Page(text)
    assert page.open == []
    assert all(link.startswith("#") for link in page.links)
    assert not re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?https?:", text)
    data = json.loads(page.scripts[0])
    assert [q["id"] for q in data["questions"]] == [f"q{k}" for k in range(5)]
    assert data["columns"] == ["clean", "video", "caption@2", "verify@2"]
    assert data["questions"][0]["answers"][0] == ["parsed", True, "A"]
    details = unpack(data["blocks"][0])[0]
    assert details["pictures"][0][0] == "v0 0:00"
    assert base64.b64decode(details["pictures"][0][1]).startswith(b"\xff\xd8")
    assert [len(lines) for lines in details["captions"].values()] == [1]
    assert details["answers"][1]["steps"][0]["title"] == "looked"
    assert details["answers"][1]["steps"][0]["lines"] == [
        "4 frames of v0: 0:00.5, 0:01.5, 0:02.5, 0:03.5"
    ]
    assert {p.name for p in written.files} == {
        "report.html", "report.md", "figures.csv", "tables.tex",
    }  # fmt: skip


def test_texts_of_others_cannot_leave_their_place(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    evil = '</script><script>alert(1)</script><img src="http://x.test/a"> | & % _ \u2028'
    first = benchmark.questions[0].model_copy(update={"text": evil, "tags": {"visual": [evil]}})
    changed = benchmark.model_copy(update={"questions": (first, *benchmark.questions[1:])})
    with ScriptedServer(Script(rules=(Rule(reply=f"B {evil}"),))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        only = config.model_copy(update={"settings": ("clean",), "readers": (spec,)})
        go(changed, only, tmp_path / "run")
    write_report([tmp_path / "run"], tmp_path / "report")
    page = Page((tmp_path / "report" / "report.html").read_text())
    assert len(page.scripts) == 2
    assert all(link.startswith("#") for link in page.links)
    assert json.loads(page.scripts[0])["questions"][0]["text"] == evil


def test_the_page_begins_with_its_finding_and_opens_one_table_of_each_section(folder: Path) -> None:
    write_report([folder], folder / "report")
    text = (folder / "report" / "report.html").read_text()
    sections = text.split("<section ")[1:]
    assert sections[0].startswith('id="finding"><h2>Finding</h2><p class="lead">')
    assert "<svg" in sections[0]
    assert "<table" not in sections[0]
    tables = [section.count('<details class="table"') for section in sections]
    opened = [section.count('<details class="table" open>') for section in sections]
    assert max(tables) > 2
    assert opened == [min(count, 1) for count in tables]
    markdown = (folder / "report" / "report.md").read_text()
    assert markdown.split("\n\n")[2].startswith("**")


def test_a_place_that_cannot_hold_a_report_is_named_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "seven").touch()
    with pytest.raises(FullError) as caught:
        write_report([str(folder)], str(tmp_path / "seven" / "x"))
    assert caught.value.message.endswith("seven/x: Not a directory")
    assert "--out" in caught.value.remedy


def test_every_figure_leads_back_to_its_run(folder: Path) -> None:
    write_report([folder], folder / "report")
    run = load_run(folder)
    text = (folder / "report" / "report.md").read_text()
    assert run.config.hash in text
    assert "egomem eval capmem --out 'a b'" in text
    assert "egomem 0." in text
    with (folder / "report" / "figures.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {r["config_hash"] for r in rows} == {run.config.hash}
    strict = [r for r in rows if r["table"] == "Overall" and r["column"] == "strict %"]
    whole = [r for r in strict if r["reader"] != "none"]
    assert {r["setting"] for r in strict if r["reader"] == "none"} >= {"chance", "longest option"}
    assert {r["setting"] for r in whole} == {"clean", "video", "caption@2", "verify@2"}
    assert all(r["n"] == "5" and "parsed" in r["by_status"] for r in whole)
    # The reader is right, but verify's verdict is always B, which is the key of q1 alone.
    right = {r["setting"]: f"{float(r['value']) * 5 / 100:g}" for r in whole}
    assert right == {"clean": "5", "video": "5", "caption@2": "5", "verify@2": "1"}


def test_what_verify_did_is_counted(folder: Path) -> None:
    run = load_run(folder)
    sections = {s.title: s for s in report_sections([run], report_columns([run]))}
    part = sections["Retrieve and verify"].parts[0]
    assert isinstance(part, ReportTable)
    row = dict(zip(part.headings, part.rows[0], strict=True))
    assert (row["support"], row["n"], row["fixed"], row["broken"]) == ("all", "5", "0", "4")
    assert "post hoc" in sections["Retrieve and verify"].text[0]


def test_the_model_table_sets_the_better_window_against_frames() -> None:
    """Two readers; captions win for one of them, by the second window."""
    settings = ("video", "caption@30", "caption@60")
    a, b = "ollama:gemma3", "openai:gpt-5.2"
    config = Config(settings=settings, readers=(a, b))
    right = {(a, "video"): 2, (a, "caption@30"): 1, (a, "caption@60"): 4}
    right |= {(b, s): 3 for s in settings}
    questions = [
        Question.of("?", ["a", "b"], id=f"q{k}", answer="A", recording=f"v{k}") for k in range(4)
    ]
    results = StoredRun()
    for column in config.arms():
        for k, q in enumerate(questions):
            choice = "A" if k < right[column.reader, column.setting] else "B"
            answer = Answer(text="", status=Status.PARSED, choice=choice, strategy="x")
            cell = Finished(question=q.id, arm=column, parts={}, answer=answer)
            results.cells[cell.key] = cell
    benchmark = Benchmark(name="b", format="native", videos=(), questions=tuple(questions))
    columns = report_columns([Run(Path("run"), {}, config, benchmark, results)])
    section = model_section(bootstrap_columns(columns))
    assert section.text[0].startswith(
        "Readers that do better with captions than with frames: caption@30 0 of 2, caption@60 1 "
        "of 2; with the better window of each reader, by weights: open 1 of 1, closed 0 of 1."
    )
    table = section.parts[0]
    assert isinstance(table, ReportTable)
    first = dict(zip(table.headings, map(str, table.rows[0]), strict=True))
    assert (first["video"], first["caption@60"]) == ("50.0", "100.0")
    table = section.parts[1]
    assert isinstance(table, ReportTable)
    first = dict(zip(table.headings, map(str, table.rows[0]), strict=True))
    assert (first["window"], first["captions %"], first["video %"]) == (
        "caption@60", "100.0", "50.0",
    )  # fmt: skip
    assert first["points"].startswith("+50.0 [")


def test_runs_that_differ_are_refused_by_name(
    benchmark: Benchmark, config: Config, folder: Path, tmp_path: Path, go: Go
) -> None:
    fewer = config.model_copy(update={"frames": 2, "settings": ("video",)})
    less = benchmark.model_copy(update={"questions": benchmark.questions[:3]})
    go(less, fewer, tmp_path / "two")
    with pytest.raises(UsageError) as caught:
        write_report([folder, tmp_path / "two"], tmp_path / "report")
    message = str(caught.value)
    assert "--frames is 768 in one and 2 in two" in message
    assert "one asks 5, two asks 3, 3 in both" in message
    assert "--force" in message
    written = write_report([folder, tmp_path / "two"], tmp_path / "report", force=True)
    assert any("--frames is 768 in one and 2 in two" in w for w in written.warnings)
    text = (tmp_path / "report" / "report.md").read_text()
    assert "Not comparable: --frames is 768" in text
    assert "two: video" in text


def test_each_role_stands_with_its_own_decoding_and_resolution() -> None:
    from egomem.report.run_details import run_details

    given = {"captioner": {"images": 9.0}}
    run = loaded(
        "a", side=224, max_tokens=77, abstain=True, caption_tokens=88, given_limits=given,
        frame_limits={"openai:s": 5},
    )  # fmt: skip
    rows = {str(name): str(value) for name, value in run_details(run).rows}
    assert rows["as a reader"] == (
        "reply letter, at most 77 tokens, may abstain, cites evidence; "
        "at most 768 frames of 224 pixels a side"
    )
    uncited = {str(name): str(value) for name, value in run_details(loaded("a", cite=False)).rows}
    assert "must choose, cites nothing;" in uncited["as a reader"]
    captioning = "caption@1, free text, at most 88 tokens; at most 9 frames of 512 pixels a side"
    assert rows["as a captioner"] == captioning
    checking = "verify@2, JSON, at most 77 tokens; at most 32 frames of 768 pixels a side"
    assert rows["as a verifier"] == checking
    assert rows["frames of openai:s"] == "at most 5"
    fit = {str(name): str(value) for name, value in run_details(loaded("a", fit=True)).rows}
    assert fit["as a captioner"].endswith("pixels a side, fewer where a server takes fewer")
    plain = run_details(
        loaded("a", settings=("video",), strategies={"video": {"as_video": True}})
    ).rows
    assert ("settings of video", "as_video=true") in plain
    assert [str(r[0]) for r in plain if str(r[0]).startswith("as a ")] == ["as a reader"]
    kept = {
        str(name): str(value) for name, value in run_details(loaded("a", given_memory=True)).rows
    }
    assert "as a captioner" not in kept
    assert kept["captioners"] == "none: the captions of a given memory"
    assert rows["captioners"] == "each reader captions for itself"
    assert rows["verifier"] == "the reader"
    assert not {"captioners", "verifier"} & {str(r[0]) for r in plain}
    alone = loaded("a", settings=("extractive",), readers=(), given_memory=True)
    silent = {str(r[0]) for r in run_details(alone).rows}
    roles = {"verifier", "frames", "decoding", "as a reader", "as a captioner", "as a verifier"}
    assert roles <= {*rows}
    assert not silent & roles


def test_bins_and_regimes_reach_every_table(
    graded_run: Run,
) -> None:
    """Ten videos of 2 to 20 minutes, evidence at a tenth more of each."""
    choices = ReportOptions(bins=(0.25, 0.5), regimes=(300.0, 840.0))
    columns = report_columns([graded_run], choices)
    text = render_markdown("", report_sections([graded_run], columns))
    table = text.split("### Evidence position, accuracy %")[1].split("###")[0]
    assert "| 0%-25% (n 3) | 25%-50% (n 2) | 50%-100% (n 5) |" in table
    assert "| <= 5 min (n 2) | 5-14 min (n 5) | > 14 min (n 3) |" in text
    assert "> 14 min (n 3, 3 videos)" in text
    assert "20 min (n" not in text
    # Right are the first three questions, by captions: (3/3 + 0) / 2 - 0.
    drop = text.split("### Middle drop")[1].split("###")[0]
    assert "| caption@30 | 10 | +50.0 [" in drop
    # Videos are drawn within the regimes: the right ones are those of up to 6 minutes.
    alone, whole = (
        bootstrap_columns(report_columns([graded_run], c))[0].bootstrap.interval(1)
        for c in (ReportOptions(regimes=(360.0,)), ReportOptions())
    )
    assert (alone.low, alone.high) == pytest.approx((0.3, 0.3))
    assert whole.low < 0.2
    regimes = {q["regime"] for q in browser_data(columns)["questions"]}
    assert regimes == {"<= 5 min", "5-14 min", "> 14 min"}


def test_weights_that_are_stated_stand_in_the_table_of_models(graded_run: Run) -> None:
    def table(choices: ReportOptions) -> str:
        sections = report_sections([graded_run], report_columns([graded_run], choices))
        return render_markdown("", sections).split("### Accuracy % by reader")[1].split("###")[0]

    assert "| r | not known | 10 |" in table(ReportOptions())
    assert "| r | open | 10 |" in table(ReportOptions(open=("r",)))
    with pytest.raises(UsageError, match="--closed s: no reader has that name"):
        report_columns([graded_run], ReportOptions(closed=("s",)))


@pytest.fixture
def graded_run() -> Run:
    """One reader; video k of ten has 2(k + 1) minutes and one question about its part k."""
    config = Config(settings=("video", "caption@30"), readers=("ollama:r",))
    videos = tuple(Video(id=f"v{k}", duration=120.0 * (k + 1)) for k in range(10))
    questions = tuple(
        Question.of(
            "?", ["a", "b"], id=f"q{k}", answer="A", recording=v.id,
            evidence=(Evidence(recording=v.id, span=Span(at := 12.0 * k * (k + 1), at)),),
        )
        for k, v in enumerate(videos)
    )  # fmt: skip
    results = StoredRun()
    for column in config.arms():
        for k, q in enumerate(questions):
            choice = "A" if k < 3 and column.setting == "caption@30" else "B"
            answer = Answer(text="", status=Status.PARSED, choice=choice, strategy="x")
            cell = Finished(question=q.id, arm=column, parts={}, answer=answer)
            results.cells[cell.key] = cell
    benchmark = Benchmark(name="b", format="native", videos=videos, questions=questions)
    return Run(Path("run"), {}, config, benchmark, results)


def loaded(name: str, **fields: Any) -> Run:
    """A run of two readers without answers, in memory alone."""
    given = {"settings": ("video", "verify@30"), "readers": ("ollama:r", "openai:s"), **fields}
    benchmark = Benchmark(name="b", format="native", videos=(), questions=())
    return Run(Path(name), {}, Config(**given), benchmark, StoredRun())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"frame_limits": {"ollama:r": 5}}, "the frames of ollama:r are 768 in a and 5 in b"),
        ({"frame_limits": {"ollama:r": 900}}, ""),
        ({"frame_limits": {"ollama:x": 5}}, ""),
        ({"readers": ("ollama:r",), "frame_limits": {"openai:s": 5}}, ""),
        ({"strategies": {"verify": {"frames": 7}}}, "--set verify.frames is not given in a and 7"),
        ({"strategies": {"video": {"as_video": True}}}, "--set video.as_video is not given in a"),
        ({"strategies": {"explore": {"steps": 7}}}, ""),
        ({"side": 224}, "--side is 512 in a and 224 in b"),
        ({"fps": 0.25}, "--fps is 1 in a and 0.25 in b"),
        ({"format": "scores"}, "--reply is letter in a and scores in b"),
        (
            {"given_limits": {"captioner": {"images": 7.0}}},
            "--request-limit captioner.images is not given in a and 7 in b",
        ),
        ({"given_limits": {"verifier": {}}}, ""),
        ({"fit": True}, "--fit is not given in a and given in b"),
        ({"track": "import"}, "--track is not given in a and import in b"),
    ],
)
def test_what_differs_is_found_in_either_order(fields: dict[str, Any], message: str) -> None:
    a, b = loaded("a"), loaded("b", **fields)
    for first, second in ((a, b), (b, a)):
        reasons = differences(first, second)
        assert len(reasons) == bool(message)
    assert message in "".join(differences(a, b))


def test_every_run_is_compared_with_every_other() -> None:
    """The second and third differ in a reader that the first does not have."""
    only = loaded("a", readers=("ollama:r",))
    runs = [only, loaded("b"), loaded("c", frame_limits={"openai:s": 3})]
    for order in permutations(runs):
        with pytest.raises(UsageError, match="the frames of openai:s are"):
            check_comparable(order, force=False)
        assert len(check_comparable(order, force=True)) == 1


def test_runs_with_other_prompts_are_refused(
    benchmark: Benchmark, config: Config, folder: Path, tmp_path: Path, go: Go, monkeypatch: Any
) -> None:
    from dataclasses import replace

    from egomem.answer import prompts
    from egomem.answer.strategy import STRATEGIES, get

    other = prompts.Prompt("clean@2", "Answer.")
    registered = replace(get("clean"), texts=prompts.reader_texts(other))
    monkeypatch.setitem(STRATEGIES._plugins, "clean", registered)
    go(benchmark, config.model_copy(update={"settings": ("clean",)}), tmp_path / "two")
    reasons = differences(load_run(folder), load_run(tmp_path / "two"))
    assert reasons == ["the prompts of clean differ between one and two"]


def test_runs_of_the_same_kind_stand_side_by_side(
    benchmark: Benchmark, config: Config, folder: Path, tmp_path: Path, go: Go
) -> None:
    with ScriptedServer(Script(rules=(Rule(reply="A"),))) as server:
        spec = f"openai-compatible:other@{server.url}"
        go(benchmark, config.model_copy(update={"readers": (spec,)}), tmp_path / "two")
    write_report([folder, tmp_path / "two"], tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text()
    assert "one: video fake" in text
    assert "two: video other" in text


def test_why_an_answer_is_wrong_comes_from_trace_and_oracles(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    """Right from the frames of the evidence and wrong from its captions: not observed."""
    rules = (
        Rule(when="You get frames of the recording", reply="A"),
        Rule(when="Question:", reply="B"),
        Rule(reply="A drawer."),
    )
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:fake@{server.url}"
        settings = (
            "caption@2", "caption@evidence", "video@evidence", "caption@1", "caption@1@evidence",
            "aligned@2", "aligned@2@evidence",
        )  # fmt: skip
        wrong = config.model_copy(update={"settings": settings, "readers": (spec,)})
        go(benchmark, wrong, tmp_path / "run")
    columns = report_columns([load_run(tmp_path / "run")])
    why = explain_column(columns[0], columns)
    assert why["q1"] is None  # its key is B
    assert why["q0"] is not None
    assert (why["q0"].why.value, why["q0"].sure) == ("not observed", True)
    assert "(caption@evidence)" in why["q0"].because
    for name in ("caption@1", "aligned@2"):
        (entry,) = (e for e in columns if e.arm.setting == name)
        reasons = explain_column(entry, columns)["q0"]
        assert reasons is not None
        assert (reasons.why.value, reasons.sure) == ("not observed", True)
        assert f"({name}@evidence)" in reasons.because
    assert why["q2"] is not None
    assert why["q2"].why.value == "misread"  # its key is C: wrong from the frames, too


def test_numbers_of_the_cost_table_follow_from_what_was_sent(folder: Path) -> None:
    from egomem.score import amortise

    run = load_run(folder)
    column = next(c for c in run.columns if c.setting == "caption@2")
    built, asked = run.built(column).by_video, run.usage(column)
    assert not run.built(column).missing
    assert set(built) == {"v0", "v1"}
    assert sum(u.requests for u in built.values()) == 4
    assert sum(u.frames for u in built.values()) == 8
    assert len(asked) == 5
    assert all(u.requests == 1 and u.frames == 0 for u in asked.values())
    costs = amortise(asked, built)
    assert costs.tokens[32] < costs.tokens[1]
    verify = next(c for c in run.columns if c.setting == "verify@2")
    assert all(u.requests == 3 for u in run.usage(verify).values())  # caption, candidate, verdict


def test_a_folder_without_a_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run"):
        write_report([tmp_path], tmp_path / "report")
