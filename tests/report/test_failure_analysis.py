"""Which oracle explains which column, and what a reader of the report is told of it."""

from __future__ import annotations

from pathlib import Path

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Finished, Run, StoredRun
from egomem.records import Answer, Evidence, Question, Status
from egomem.report import report_columns
from egomem.report.failure_analysis import (
    explain_column,
    failure_section,
    oracle_columns,
)
from egomem.report.table import ReportTable
from egomem.report.verification import verification_section
from egomem.timeline import Span

READERS = ("ollama:r", "ollama:s")
QUESTION = Question.of(
    "?", ["a", "b", "c"], id="q", answer="A", recording="v",
    evidence=(Evidence(recording="v", span=Span(40.0, 44.0)),),
)  # fmt: skip


def run(*settings: str, answers: dict[str, Answer] | None = None, tracks: bool = True) -> Run:
    """A question whose answers are B, but A by the frames of the evidence."""
    config = Config(settings=settings, readers=READERS)
    results = StoredRun()
    for column in config.arms():
        choice = "A" if column.setting == "video@evidence" else "B"
        trace = ({"step": "notes", "observations": 4},)
        plain = Answer(text="", status=Status.PARSED, choice=choice, strategy="x", trace=trace)
        answer = (answers or {}).get(column.setting, plain)
        cell = Finished(question="q", arm=column, parts={}, answer=answer)
        results.cells[cell.key] = cell
    about = {}
    if tracks:
        tracks_by_column = {
            c.label: f"{config.condition(c).captions} {config.condition(c).window}"
            for c in config.arms()
        }
        about = {"tracks": tracks_by_column}
    benchmark = Benchmark(name="b", format="native", videos=(), questions=(QUESTION,))
    return Run(Path("run"), about, config, benchmark, results)


SETTINGS = (
    "video", "caption@30", "caption@60", "verify@60", "aligned@30", "caption@evidence",
    "video@evidence",
)  # fmt: skip


def reasons(*settings: str) -> dict[str, tuple[str, bool, str]]:
    """Of the first reader's columns: reason, whether it is sure, and the oracles and wants."""
    columns = report_columns([run(*settings)])
    table = failure_section(columns).parts[0]
    assert isinstance(table, ReportTable)
    ends = {str(row[0]): f"{row[-2]}; {row[-1]}" for row in table.rows}
    reasons_by_setting = {}
    for entry in columns:
        why = explain_column(entry, columns)["q"]
        if entry.arm.reader == READERS[0] and why and entry.name in ends:
            reasons_by_setting[entry.arm.setting] = (why.why.value, why.sure, ends[entry.name])
    return reasons_by_setting


def test_an_oracle_explains_the_captions_that_it_read() -> None:
    reasons_by_setting = reasons(*SETTINGS)
    other = "caption@evidence (of other captions: 30 s windows), video@evidence"
    assert reasons_by_setting["caption@30"] == (
        "not observed",
        True,
        "caption@evidence, video@evidence; ",
    )
    assert reasons_by_setting["caption@60"] == (
        "not observed",
        False,
        f"{other}; caption@60@evidence",
    )
    assert reasons_by_setting["verify@60"] == (
        "not observed",
        False,
        f"{other}; caption@60@evidence",
    )
    assert reasons_by_setting["aligned@30"] == (
        "not observed",
        False,
        f"{other}; aligned@30@evidence",
    )
    assert reasons_by_setting["video"][2] == "video@evidence; "


def test_what_the_report_asks_for_makes_it_sure() -> None:
    reasons_by_setting = reasons(*SETTINGS, "caption@60@evidence", "aligned@30@evidence")
    assert reasons_by_setting["caption@60"] == (
        "not observed",
        True,
        "caption@60@evidence, video@evidence; ",
    )
    assert reasons_by_setting["verify@60"] == reasons_by_setting["caption@60"]
    assert reasons_by_setting["aligned@30"] == (
        "not observed",
        True,
        "aligned@30@evidence, video@evidence; ",
    )


def test_without_oracles_nothing_is_sure_and_they_are_asked_for() -> None:
    reasons_by_setting = reasons("video", "caption@60")
    assert reasons_by_setting["caption@60"] == (
        "misread",
        False,
        "none; caption@60@evidence, video@evidence",
    )
    assert reasons_by_setting["video"] == ("misread", False, "none; video@evidence")


def test_the_same_window_of_another_track_is_another_oracle() -> None:
    """Aligned captions of one window and captions of it, and a reader's own captions."""
    loaded = run("caption@30", "caption@evidence")
    columns = report_columns([loaded])
    mine = [e for e in columns if e.arm.setting == "caption@30"]
    assert [oracle_columns(e, columns).difference for e in mine] == ["", ""]
    assert [oracle_columns(e, columns).captions.arm.reader for e in mine] == list(READERS)  # type: ignore[union-attr]
    loaded.about["tracks"][mine[0].arm.label] = "made with another prompt"
    assert [bool(oracle_columns(e, columns).difference) for e in mine] == [True, False]


def test_the_look_that_replaced_a_right_answer_is_named() -> None:
    trace = (
        {"step": "baseline", "choice": "A"},
        {"step": "looked", "frames": [{"recording": "v", "time": 41.0}]},
        {"step": "decision", "outcome": "overridden", "before": "A"},
    )
    wrong = Answer(text="", status=Status.PARSED, choice="C", strategy="verify", trace=trace)
    columns = report_columns([run(*SETTINGS, answers={"verify@60": wrong})])
    entry = next(e for e in columns if e.arm.setting == "verify@60")
    why = explain_column(entry, columns)["q"]
    assert why is not None
    assert (why.why.value, why.sure) == ("misread by the look", True)
    assert why.because == "a look at the frames replaced the caption answer, which was right"


def test_no_verdict_is_explained_where_it_occurs() -> None:
    def note(support: str | None) -> str:
        kept = {"step": "decision", "outcome": "kept", "before": "B", "support": support}
        answer = Answer(text="", status=Status.PARSED, choice="B", strategy="verify", trace=(kept,))
        table = verification_section(
            report_columns([run(*SETTINGS, answers={"verify@60": answer})])
        ).parts[0]
        assert isinstance(table, ReportTable)
        return table.note

    assert "No verdict: no frame was looked at" in note(None)
    assert "No verdict" not in note("weak")
