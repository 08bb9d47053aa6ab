"""`predictions/` of a run: a file for each column in the format that `egomem score` reads.

In the order of the questions and without times or costs, so that two runs that say the same are
the same bytes, in however many shards they were made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from egomem.evaluate.config import Arm
from egomem.evaluate.stored_run import Finished, Key
from egomem.records import Answer, Question

FOLDER = "predictions"


def write_predictions(
    folder: Path,
    questions: Sequence[Question],
    columns: Sequence[Arm],
    cells: Mapping[Key, Finished],
) -> list[Path]:
    """Write the finished cells of each column; a cell that is not there has no row."""
    target = folder / FOLDER
    target.mkdir(exist_ok=True)
    written = []
    for column in columns:
        held = [cells[q.id, column] for q in questions if (q.id, column) in cells]
        rows = [row(cell.question, cell.answer) for cell in held]
        path = target / f"{file_name(column)}.jsonl"
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
    return "-".join(re.sub(r"[^\w@.]+", "_", p) for p in parts if p)


def row(question: str, said: Answer) -> dict[str, Any]:
    """An answer to the question of this id, as a row that `egomem score` reads."""
    found: dict[str, Any] = {"id": question, "status": said.status.value}
    if said.choice is not None:
        found["choice"] = said.choice
    if said.text:
        found["text"] = said.text
    if said.scores:
        found["scores"] = said.scores
    if (raw := raw_of(said)) is not None:
        found["raw"] = raw
    return {**found, "strategy": said.strategy}


def raw_of(said: Answer) -> str | None:
    """The last reply to a reader, as it came."""
    for step in reversed(said.trace):
        if isinstance(step, dict) and step.get("step") == "asked":
            return str(step.get("raw") or "")
    return None
