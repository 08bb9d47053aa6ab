"""Stage 1 of CapMem: a reader that answers without the video too well, or worse than by chance,
tells nothing about memory. The outcome is a result with its reason, not a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from egomem.evaluate.config import Column, Config
from egomem.evaluate.results import Finished, Key
from egomem.evaluate.work import Work
from egomem.records import Question, Record
from egomem.score.sheet import sheet


class Gate(Record):
    """`accuracy` is strict: over all `n` questions, wherever the replies ended."""

    reader: str
    accuracy: float | None
    n: int
    by_status: dict[str, int]
    low: float
    high: float
    passed: bool
    reason: str


def gates(work: Work) -> list[Gate]:
    """A gate for each reader, where the run has the setting `clean`."""
    return measured(work.questions, work.config, work.results.cells)


def measured(
    questions: Sequence[Question], config: Config, cells: Mapping[Key, Finished]
) -> list[Gate]:
    names = [w.name for w in config.ways if w.strategy == "clean"]
    return [
        _gate(questions, Column(setting=names[0], reader=r), config, cells)
        for r in config.readers
        if names
    ]


def _gate(
    questions: Sequence[Question], column: Column, config: Config, cells: Mapping[Key, Finished]
) -> Gate:
    held = {q.id: cells[q.id, column].answer for q in questions if (q.id, column) in cells}
    found = sheet(questions, held)
    low, high = config.gate_low, config.gate_high
    accuracy = float(found.right.mean()) if len(found) else None
    bounds = f"{low:.0%} to {high:.0%}, both included"
    if accuracy is None:
        passed, reason = True, "no question has a key, so nothing can be judged"
    elif accuracy > high:
        passed = False
        reason = f"{accuracy:.1%} without the video is above {bounds}: it knows or guesses too well"
    elif accuracy < low:
        passed = False
        reason = f"{accuracy:.1%} without the video is below {bounds}: it answers badly, or not"
    else:
        passed, reason = True, f"{accuracy:.1%} without the video lies within {bounds}"
    return Gate(
        reader=column.reader,
        accuracy=accuracy,
        n=len(found),
        by_status=found.by_status(),
        low=low,
        high=high,
        passed=passed,
        reason=reason,
    )
