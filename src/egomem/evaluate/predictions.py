"""`predictions/` of a run: a file for each column in the format that `egomem score` reads.

In the order of the questions and without times or costs, so that two runs that say the same are
the same bytes, in however many shards they were made.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from egomem.evaluate.config import Arm
from egomem.evaluate.shuffle import with_original_labels
from egomem.evaluate.stored_run import Finished, TrialKey
from egomem.hashing import SHORT_LENGTH, hash_text
from egomem.paths import file_name as safe_file_name
from egomem.records import Answer, Question
from egomem.score import evidence_rows

FOLDER = "predictions"


def write_predictions(
    folder: Path,
    questions: Sequence[Question],
    columns: Sequence[Arm],
    cells: Mapping[TrialKey, Finished],
    originals: Sequence[Question] = (),
) -> list[Path]:
    """Write the finished cells of each column; a cell that is not there has no row.

    `originals`: the benchmark's questions, whose labels are written where options were shuffled.
    """
    target = folder / FOLDER
    target.mkdir(exist_ok=True)
    written = []
    names = Counter(file_name(column).casefold() for column in columns)
    for column in columns:
        answers = {q.id: cells[q.id, column].answer for q in questions if (q.id, column) in cells}
        answers = with_original_labels(answers, questions, originals)
        rows = [prediction_row(id, answer) for id, answer in answers.items()]
        name = file_name(column)
        # Models whose names differ only in what a file's name cannot hold, or in upper case.
        if names[name.casefold()] > 1:
            name = f"{name}-{hash_text(column.label)[:SHORT_LENGTH]}"
        path = target / f"{name}.jsonl"
        part = path.with_suffix(".part")
        part.write_text("".join(json.dumps(r) + "\n" for r in rows))
        part.replace(path)
        written.append(path)
    return written


def file_name(column: Arm) -> str:
    """A column's name for a file: `caption@30-reader-captioner`."""
    parts = [column.setting, column.reader]
    if column.captioner not in ("", column.reader):
        parts.append(column.captioner)
    name = "-".join(re.sub(r"[^\w@.]+", "_", p) for p in parts if p)
    return safe_file_name(name, "predictions")


def prediction_row(question: str, answer: Answer) -> dict[str, Any]:
    """An answer to the question of this id, as a row that `egomem score` reads."""
    fields: dict[str, Any] = {"id": question, "status": answer.status.value}
    if answer.choice is not None:
        fields["choice"] = answer.choice
    if answer.text:
        fields["text"] = answer.text
    if answer.scores:
        fields["scores"] = answer.scores
    if (raw := raw_reply(answer)) is not None:
        fields["raw"] = raw
    if answer.evidence:
        fields["evidence"] = evidence_rows(answer)
    return {**fields, "strategy": answer.strategy}


def raw_reply(answer: Answer) -> str | None:
    """The last reply to a reader, as it came."""
    for step in reversed(answer.trace):
        if isinstance(step, dict) and step.get("step") == "asked":
            return str(step.get("raw") or "")
    return None
