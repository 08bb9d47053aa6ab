"""Reads folders of earlier versions, whose record is text files instead of `run.db`.

    RUN/answers.jsonl    a line for each answer, appended while the run went on
    RUN/usage.jsonl      what was measured of each, written at the end of a run
    RUN/captions.jsonl   the usage of each caption

Such a file may end in a torn line, hold lines that an editor or a disk made, or hold an answer
twice: the last good line of a trial counts, and lines that are no answer are counted, not guessed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from egomem.evaluate.config import Arm
from egomem.evaluate.measures import ascii_json, with_measures
from egomem.evaluate.stored_run import (
    EarlierMeasures,
    Finished,
    Place,
    StoredRun,
    TrialKey,
    earlier_measures,
    place,
)
from egomem.records import Usage

ANSWERS = "answers.jsonl"
USAGE = "usage.jsonl"
CAPTION_USAGE = "captions.jsonl"


def read_legacy(folder: Path) -> StoredRun:
    """What the text files of a run's folder hold; nothing where there are none."""
    measures: dict[Place, EarlierMeasures] = {}
    for line in _lines(folder / USAGE):
        if row := _measures(line):
            measures[place(row.key, row.parts)] = row
    cells: dict[TrialKey, Finished] = {}
    unreadable: dict[int, bytes] = {}
    for number, line in enumerate(_lines(folder / ANSWERS), 1):
        if not line.strip():
            continue
        try:
            cell = Finished.model_validate_json(line)
        except (ValidationError, RecursionError):
            unreadable[number] = line
            continue
        if cell.at:  # a run that was killed left the measures in the line itself
            measures[place(cell.key, cell.parts)] = earlier_measures(cell)
        elif row := measures.get(place(cell.key, cell.parts)):
            cell = _whole(cell, row)
        cells[cell.key] = cell
    current = {place(cell.key, cell.parts) for cell in cells.values()}
    return StoredRun(
        cells=cells,
        earlier={where: row for where, row in measures.items() if where not in current},
        caption_usage=_caption_usage(folder),
        unreadable=tuple(unreadable),
        unreadable_lines=tuple(unreadable.values()),
    )


def _measures(line: bytes) -> EarlierMeasures | None:
    """A line of usage.jsonl; None for one that is damaged, whose answer is then unmeasured."""
    try:
        row = json.loads(line)
        key = str(row["question"]), Arm.model_validate(row["column"])
        parts = {str(name): str(value) for name, value in row["parts"].items()}
        Usage.model_validate(row["usage"])
        row["answer"]["usage"], list(row["keys"])
        base = row.get("base")
        return EarlierMeasures(
            key=key,
            parts=parts,
            at=str(row["at"]),
            usage=ascii_json(row["usage"]),
            answer=ascii_json(row["answer"]),
            base=ascii_json(base) if base else None,
            reply_keys=ascii_json(row["keys"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _whole(cell: Finished, row: EarlierMeasures) -> Finished:
    """An answer with its measures, which a finished run kept apart."""
    of_base: Any = json.loads(row.base) if row.base else {}
    return cell.model_copy(
        update={
            "at": row.at,
            "usage": Usage.model_validate_json(row.usage),
            "answer": with_measures(cell.answer, json.loads(row.answer)),
            "base": cell.base and with_measures(cell.base, of_base),
        }
    )


def _caption_usage(folder: Path) -> dict[str, Usage]:
    """Key of a request -> its usage; a line that cannot be read is no line."""
    by_request = {}
    for line in _lines(folder / CAPTION_USAGE):
        try:
            row = json.loads(line)
            by_request[str(row["request"])] = Usage.model_validate(row["usage"])
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
    return by_request


def _lines(path: Path) -> Sequence[bytes]:
    """The lines of a file by newline alone: a text may contain other separators of Unicode."""
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except FileNotFoundError:
        return ()
