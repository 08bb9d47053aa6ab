"""What a reader of a report has to know before its figures: answers that are missing, left out or
of another version, and choices that are egomem's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.evaluate.run_reader import Run, stale_text
from egomem.evaluate.versions import version
from egomem.report.columns import run_name, short_model
from egomem.text import plural

RECONSTRUCTIONS = (
    "Where the papers leave a value open, egomem chose it: prompts, bins of evidence position, "
    "edges of durations, signal weights of recall, levels of support, placement of frames (see the "
    "documentation)."
)


def caveats(runs: Sequence[Run]) -> Iterator[str]:
    """One sentence for each thing to know, run by run."""
    for run in runs:
        name = run_name(run)
        for caveat in (*_answer_caveats(run), *_memory_caveats(run), *_data_caveats(run)):
            yield f"{name}: {caveat}"
    yield RECONSTRUCTIONS


def _answer_caveats(run: Run) -> Iterator[str]:
    keys = ((question.id, arm) for arm in run.columns for question in run.questions)
    cells = (run.cells.get(key) for key in keys)
    failed = sum(cell is None or cell.failed for cell in cells)
    if failed:
        yield (
            f"{plural(failed, 'answer is', 'answers are')} missing or ended in an error, which "
            "counts as wrong."
        )
    if stale := stale_text(run):
        yield f"{stale}; run the same command again to replace them."
    if held_back := [arm for arm in run.held_back if arm not in run.columns]:
        readers = ", ".join(dict.fromkeys(short_model(arm.reader) for arm in held_back))
        yield (
            f"the bias gate stopped {readers}: {plural(len(held_back), 'column')} without "
            "figures. Add --gate report to answer them all the same."
        )
    if run.stored.unreadable:
        lines = plural(len(run.stored.unreadable), "line")
        yield f"{lines} of answers.jsonl cannot be read, and left out."
    others = {cell.version for cell in run.cells.values() if cell.version} - {version()}
    if others:
        yield f"some answers were made by egomem {', '.join(sorted(others))}."


def _memory_caveats(run: Run) -> Iterator[str]:
    if missing := len(run.uncaptioned()):
        windows = plural(missing, "window has", "windows have")
        yield f"{windows} no caption; see Missing captions."
    if run.about.get("recordings") and not run.remembers:
        yield (
            f"there is no memory at {run.memory}, so the report lacks pictures and captions of "
            "the evidence, and the cost of the captions."
        )


def _data_caveats(run: Run) -> Iterator[str]:
    if fault := next((f for f in run.benchmark.faults if f.dropped), None):
        dropped = run.benchmark.left_out
        what = plural(dropped, "row of the data was", "rows of the data were")
        yield f"{what if dropped else 'a file of the data was'} left out: {fault}."
    if run.config.limit or run.config.shard:
        yield "only a part of the questions was asked."
