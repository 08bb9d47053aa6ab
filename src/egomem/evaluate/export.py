"""`answers.jsonl` and `usage.jsonl` of a run, written from its record.

Answers stand in the order of the questions and without measured values, so that the files of two
runs that say the same are the same bytes, in however many shards they were made. What was measured
is in `usage.jsonl`, which also keeps it of answers that others have replaced.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from egomem.errors import FullError, UsageError, reason
from egomem.evaluate.config import Arm
from egomem.evaluate.legacy_run import ANSWERS, USAGE
from egomem.evaluate.measures import ascii_json, without_measures
from egomem.evaluate.run_reader import load_run
from egomem.evaluate.shuffle import with_original_labels
from egomem.evaluate.stored_run import (
    EarlierMeasures,
    Finished,
    StoredRun,
    TrialKey,
    earlier_measures,
)
from egomem.hashing import SHORT_LENGTH, hash_text
from egomem.records import Answer


def write_answers(folder: Path, stored: StoredRun, order: Iterable[TrialKey]) -> list[Path]:
    """Write both files, the answers of `order` first; one that would not change is left alone.

    Returns their paths. Raises FullError.
    """
    cells = stored.cells
    keys = dict.fromkeys([*(key for key in order if key in cells), *cells])
    measures = [*(earlier_measures(cells[key]) for key in keys), *stored.earlier.values()]
    written = [
        (folder / USAGE, (_usage_line(row) for row in measures)),
        (folder / ANSWERS, (_answer_line(cells[key]) for key in keys)),
    ]
    for path, lines in written:
        _write(path, lines)
    return [path for path, _ in written]


def export_run(folder: Path) -> tuple[list[Path], int]:
    """Write both files of a run, which may be going on; returns their paths and the number of
    answers.

    Raises FullError, and UsageError where the folder holds no run.
    """
    run = load_run(folder)
    order = [(q.id, arm) for q in run.questions for arm in run.config.arms()]
    return write_answers(folder, run.stored, order), len(run.stored.cells)


def export_predictions(folder: Path, directory: Path) -> list[Path]:
    """Write a file of predictions for each arm, as `egomem score` reads them; returns the paths.

    A row holds a question's id and what was answered; an arm without an answer has no file. Raises
    FullError, and UsageError where the folder holds no run.
    """
    run = load_run(folder)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {directory}: {reason(error)}", "name another") from None
    paths = []
    for arm in run.config.arms():
        answered = {
            q.id: cell.answer for q in run.questions if (cell := run.stored.cells.get((q.id, arm)))
        }
        answered = with_original_labels(answered, run.questions, run.benchmark.questions)
        lines = [_prediction_line(id, answer) for id, answer in answered.items()]
        if lines:
            paths.append(directory / f"{_file_name(arm)}.jsonl")
            _write(paths[-1], iter(lines))
    return paths


def _file_name(arm: Arm) -> str:
    """Names of models hold slashes and colons; a hash keeps apart those that differ in these."""
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", arm.label).strip("-.")
    return f"{readable}-{hash_text(arm.label)[:SHORT_LENGTH]}"


def _prediction_line(id: str, answer: Answer) -> str:
    fields = answer.model_dump(mode="json", include={"status", "choice", "text", "scores"})
    return ascii_json({"id": id, **{k: v for k, v in fields.items() if v not in (None, "", {})}})


def _answer_line(cell: Finished) -> str:
    fields = cell.model_dump(mode="json", exclude={"at", "usage", "answer", "base"}, by_alias=True)
    fields["answer"] = without_measures(cell.answer)
    if cell.base is not None:
        fields["base"] = without_measures(cell.base)
    return ascii_json(fields)


def _usage_line(row: EarlierMeasures) -> str:
    question, arm = row.key
    return ascii_json(
        {
            "question": question,
            "column": arm.model_dump(mode="json"),
            "parts": row.parts,
            "at": row.at,
            "usage": json.loads(row.usage),
            "answer": json.loads(row.answer),
            "base": json.loads(row.base) if row.base else None,
            "keys": json.loads(row.reply_keys),
        }
    )


def _write(path: Path, lines: Iterator[str]) -> None:
    """Replace a file whole, or leave it as it is where it holds these lines already."""
    # Two processes may export at once: `egomem eval export` does so while a run goes on.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and filecmp.cmp(part, path, shallow=False):
            part.unlink()
        else:
            part.replace(path)
    except OSError as fault:
        with suppress(OSError):
            part.unlink()
        raise FullError(
            f"cannot write to {path}: {reason(fault)}",
            "nothing that was finished is lost; make room and run the same command again",
        ) from fault
