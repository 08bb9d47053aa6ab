"""The report's section on cost: which settings are compared, on what, and which frames are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Finished, Run, StoredRun
from egomem.evaluate.caption_usage import CaptionUsage
from egomem.evaluate.config import Arm
from egomem.records import Answer, Question, Status, Usage, Video
from egomem.report import report_columns
from egomem.report.costs import cost_section
from egomem.report.table import Chart, ReportTable

PRICED, FREE = "openai:gpt-5.2", "ollama:gemma3:4b"
SETTINGS = ("clean", "video", "caption@30", "verify@30", "caption@evidence", "video@evidence")
ASKED = {"clean": 10, "video": 900, "caption@30": 50, "verify@30": 80, "video@evidence": 30}
RIGHT = {"clean": 4, "video": 1, "caption@30": 2, "verify@30": 3, "video@evidence": 4}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Four questions about two videos of 1,000 s; captions took 600 tokens and 1,000 frames each.
    One of the readers takes eight frames."""
    config = Config(
        settings=SETTINGS, readers=(PRICED, FREE), frame_limits={FREE: 8}, gate="report"
    )
    videos = tuple(Video(id=f"v{k}", duration=1000.0) for k in range(2))
    questions = tuple(
        Question.of("?", ["a", "b"], id=f"q{k}", answer="A", recording=f"v{k % 2}")
        for k in range(4)
    )
    results = StoredRun()
    for column in config.arms():
        for k, q in enumerate(questions):
            right = k < RIGHT.get(column.setting, 0)
            used = Usage(
                requests=1,
                tokens_in=ASKED.get(column.setting, 20),
                frames=config.frame_limit(column.reader) if column.setting == "video" else 0,
                seconds=1.0,
                cost=0.25 if column.reader == PRICED else None,
            )
            answer = Answer(
                text="", status=Status.PARSED, choice="A" if right else "B", strategy="x"
            )
            cell = Finished(question=q.id, arm=column, parts={}, answer=answer, usage=used)
            results.cells[cell.key] = cell
    whole = CaptionUsage(
        by_video={
            v.id: Usage(requests=2, tokens_in=600, frames=1000, seconds=2.0, cost=0.5)
            for v in videos
        }
    )

    def built(loaded: Run, column: Arm) -> CaptionUsage:
        return CaptionUsage() if loaded.config.condition(column).captions == "none" else whole

    monkeypatch.setattr(Run, "built", built)
    about = {"tracks": {c.label: c.setting[-2:] + c.reader for c in config.arms()}}
    benchmark = Benchmark(name="b", format="native", videos=videos, questions=questions)
    return Run(Path("run"), about, config, benchmark, results)


def rows(run: Run, title: str) -> list[list[str]]:
    (table,) = (p for p in cost_section(report_columns([run])).parts if p.title.startswith(title))
    assert isinstance(table, ReportTable)
    return [[str(cell) for cell in row] for row in table.rows]


def test_settings_that_can_be_used_make_the_front_at_reuse_1_and_32(run: Run) -> None:
    """Captions cost 650 tokens once and 69 often; clean and the evidence's frames would win."""
    cells = {row[0]: row[1:] for row in rows(run, "Front of cost")}
    a, b = "gpt-5.2", "gemma3:4b"
    whole = f"caption@30 {b}, caption@30 {a}, verify@30 {b}, verify@30 {a}"
    assert cells["tokens per question at reuse 1"] == ["6", whole, ""]
    assert cells["tokens per question at reuse 32"] == ["6", whole, ""]
    free = f"video {b}, caption@30 {b}, verify@30 {b}"
    assert cells["US dollars per question at reuse 1"] == [
        "3", f"video {a}, verify@30 {a}", free
    ]  # fmt: skip
    assert cells["US dollars per question at reuse 32"][1] == f"video {a}, verify@30 {a}"
    charts = [p.title for p in cost_section(report_columns([run])).parts if isinstance(p, Chart)]
    assert charts[1:] == [f"Cost and accuracy: {name}" for name in cells]


def test_frames_by_accounting_and_as_they_were(run: Run) -> None:
    cells = {row[0]: row[1:] for row in rows(run, "Frames")}
    assert cells["by accounting: captions, one window length"] == ["1,536", "1,536 each"]
    assert cells["by accounting: frames for each question"] == [
        "3,072", "2.00 times the captions"
    ]  # fmt: skip
    assert cells["as made: captions of caption@30 gpt-5.2"] == ["2,000", "1,000.0 a video"]
    assert cells["as sent: video gpt-5.2"] == ["3,072", "768.0 a question, at most 768"]
    assert cells["as sent: video gemma3:4b"] == ["32", "8.0 a question, at most 8"]


def test_the_note_on_frames_explains_the_rows_that_are_there(run: Run) -> None:
    def note(run: Run) -> str:
        (table,) = (p for p in cost_section(report_columns([run])).parts if p.title == "Frames")
        assert isinstance(table, ReportTable)
        return table.note

    blind = run.config.model_copy(update={"settings": ("clean",)})
    assert note(Run(run.folder, run.about, blind, run.benchmark, run.stored)).endswith(
        "once for its captions and once for each question."
    )
    assert "As made and as sent" in note(run)


def test_money_of_a_model_without_a_price_is_a_lower_bound(run: Run) -> None:
    table_rows = {row[0]: row for row in rows(run, "Tokens per question")}
    heads = table_rows["caption@30 gpt-5.2"]
    assert heads[1:6] == ["4", "600", "50", "650", "350"]
    assert (heads[-2], heads[-1]) == ("8.0", "2.0000")
    assert table_rows["caption@30 gemma3:4b"][-1] == "at least 1.0000"
    assert table_rows["video gemma3:4b"][-1] == "-"
