"""The table of cited evidence: settings and blind baselines in one table."""

from __future__ import annotations

from pathlib import Path

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Finished, Run, StoredRun
from egomem.records import Answer, Evidence, Question, Status, Video
from egomem.report import report_columns, report_sections
from egomem.report.evidence_times import evidence_section
from egomem.report.table import ReportTable
from egomem.timeline import Span


def piece(start: float, end: float) -> Evidence:
    return Evidence(recording="v", span=Span(start, end))


def run(*, cites: bool) -> Run:
    """Three questions; `video` cites one moment rightly, one wrongly, and one not at all."""
    config = Config(settings=("clean", "video"), readers=("ollama:r",))
    questions = [
        Question.of("?", ["a", "b"], id=f"q{k}", answer="A", recording="v",
                    evidence=(piece(100 * k, 100 * k + 20),))
        for k in (1, 2, 3)
    ]  # fmt: skip
    cited = {"q1": (piece(110, 130),), "q2": (piece(500, 510),)} if cites else {}
    stored = StoredRun()
    for arm in config.arms():
        for question in questions:
            answer = Answer(
                text="",
                status=Status.PARSED,
                choice="B" if question.id == "q2" else "A",
                strategy="x",
                evidence=cited.get(question.id, ()) if arm.setting == "video" else (),
            )
            finished = Finished(question=question.id, arm=arm, parts={}, answer=answer)
            stored.cells[finished.key] = finished
    videos = (Video(id="v", duration=330.0),)
    benchmark = Benchmark(name="b", format="native", videos=videos, questions=tuple(questions))
    return Run(Path("run"), {}, config, benchmark, stored)


def test_settings_and_baselines_stand_in_one_table() -> None:
    columns = report_columns([run(cites=True)])
    table = evidence_section(columns).parts[0]
    assert isinstance(table, ReportTable)
    rows = {str(row[0]): [str(cell) for cell in row[1:]] for row in table.rows}
    assert list(rows) == ["video", "nearest in time", "middle of video"]
    assert rows["video"] == [
        "3", "2", "33.3", "33.3", "33.3", "0.11", "140.0", "15.0",
        "100.0 of 1", "0.0 of 1", "100.0 of 1",
    ]  # fmt: skip
    assert rows["nearest in time"][:5] == ["3", "3", "33.3", "33.3", "33.3"]
    assert table.footer_rows == 2
    assert "our reconstruction" in table.note


def test_the_report_has_no_such_section_where_nothing_is_cited() -> None:
    silent = run(cites=False)
    titles = [s.title for s in report_sections([silent], report_columns([silent]))]
    assert "Evidence time" not in titles
    loud = run(cites=True)
    assert "Evidence time" in [s.title for s in report_sections([loud], report_columns([loud]))]
