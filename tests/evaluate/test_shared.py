"""End to end on questions and captions that other people made, with a scripted server."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

from egomem.benchmarks import Benchmark, load
from egomem.evaluate import Arm, Config, RunSummary, load_run
from egomem.ingest.importing import import_files
from egomem.memory import Store
from egomem.report import write_report
from egomem.score import read_predictions, score_answers
from egomem.testing import ReceivedRequest, ScriptedServer

Go = Callable[..., RunSummary]
LIMIT = 15


def last(request: ReceivedRequest) -> str:
    """Always the option that comes last."""
    if "You check answers" in request.text:
        return '{"answer": "A", "support": "partial", "reason": "unclear"}'
    return re.findall(r"^([A-E])\. ", request.text, re.MULTILINE)[-1]


def remembered(data: Path, benchmark: Benchmark, folder: Path) -> Path:
    """A memory of the captions of the videos that the first questions are about."""
    about = {q.recording for q in benchmark.questions[:LIMIT]}
    with gzip.open(data / "memory.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [line for line in file if json.loads(line)["video_id"] in about]
    captions = folder / "captions.jsonl"
    captions.write_text("".join(lines), encoding="utf-8")
    with Store.open(folder / "memory", create=True) as store:
        import_files(store, [captions])
    return folder / "memory"


def test_egoexolearn_with_its_captions_as_memory(shared_data: Path, tmp_path: Path, go: Go) -> None:
    data = shared_data / "egoexolearn"
    benchmark = load(data / "questions.jsonl.gz")
    memory = remembered(data, benchmark, tmp_path)
    with ScriptedServer(answer=last) as server:
        spec = f"openai-compatible:fake@{server.url}"
        config = Config(
            settings=("clean", "caption", "verify", "extractive", "caption@evidence"),
            readers=(spec,),
            gate="report",
            limit=LIMIT,
        )
        outcome = go(benchmark, config, tmp_path / "run", memory=memory)
        sent = len(server.requests)
        again = go(benchmark, config, tmp_path / "run", memory=memory)
        # Nobody can look at frames of videos that are not at hand; nothing is paid to find out.
        assert (again.asked, again.asked_again) == (LIMIT, {"failed": LIMIT})
        assert len(server.requests) == sent
        assert not any("the few notes" in s.text for s in server.requests)
    assert outcome.cells == 5 * LIMIT
    assert outcome.errors == LIMIT
    run = load_run(tmp_path / "run")
    column = Arm(setting="caption", reader=spec)
    captioned = sum("Recording" in s.text for s in server.requests)
    assert captioned >= LIMIT  # the notes stand before the question
    answers = run.sheet(column)
    truth = sum(q.options[-1].label == q.answer for q in run.questions)
    assert (len(answers), answers.right.sum()) == (LIMIT, truth)
    # What is written for `egomem score` scores the same.
    (file,) = (tmp_path / "run" / "predictions").glob("caption-*.jsonl")
    given = read_predictions(file, run.questions)
    assert not given.problems
    assert score_answers(run.questions, given.answers).right.sum() == truth
    written = write_report([tmp_path / "run"], tmp_path / "report")
    text = written.files[1].read_text()
    assert "longest option" in text
    assert "a part of the questions" in text


def test_nextgqa_evidence_bounds_what_is_read(shared_data: Path, tmp_path: Path, go: Go) -> None:
    """The extractive reader on the whole video, and on the spans that people marked."""
    data = shared_data / "nextgqa"
    benchmark = load(data / "questions.jsonl.gz")
    memory = remembered(data, benchmark, tmp_path)
    config = Config(settings=("extractive", "extractive@evidence"), limit=LIMIT)
    outcome = go(benchmark, config, tmp_path / "run", memory=memory)
    assert outcome.errors == 0
    run = load_run(tmp_path / "run")
    spans = {q.id: [e.span for e in q.evidence] for q in run.questions}
    for (id, column), cell in run.cells.items():
        if column.setting == "extractive@evidence" and spans[id]:
            low, high = min(s.start for s in spans[id]), max(s.end for s in spans[id])
            for piece in cell.answer.evidence:
                assert piece.span.start <= high + 0.01
                assert piece.span.end >= low
