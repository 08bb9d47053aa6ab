"""Anyone's predictions, as JSON Lines: read strictly, so that no item is scored twice.

A row is `{"id": "...", "choice": "B"}`, with any of `text` (an open answer), `status`, `scores`
(label -> number), `raw` (the reply), `verdict` (a judge's 0 to 1) and `usage`; the whole is in
docs/reference/benchmark-formats.md. A line of a harness's log may hold it as its `prediction`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from egomem.errors import UsageError
from egomem.records import Answer, Question, Status, Usage

_KNOWN = frozenset(
    ("id", "choice", "text", "status", "scores", "raw", "verdict", "usage", "strategy")
)


@dataclass(frozen=True)
class Predictions:
    """Answers and verdicts by question id; `problems` are rows that could not be used.

    `missing` questions have no row, `unknown` ids are of no question.
    """

    answers: dict[str, Answer]
    verdicts: dict[str, float]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    problems: tuple[str, ...]


def read_predictions(path: Path | str, questions: Iterable[Question]) -> Predictions:
    """Read a file of predictions for these questions.

    Raises UsageError where it cannot be read, and where an id stands in it twice: which of the two
    counts is not ours to choose. A row that is damaged is a problem, and its question is missing.
    """
    path = Path(path)
    asked = {q.id: q for q in questions}
    answers: dict[str, Answer] = {}
    verdicts: dict[str, float] = {}
    problems: list[str] = []
    unknown: list[str] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if isinstance(row, dict) and isinstance(row.get("prediction"), dict):
                row = row["prediction"]
            if not isinstance(row, dict) or not row.get("id"):
                raise ValueError("it is no JSON object with an id")
            id = str(row["id"])
        except (ValueError, RecursionError) as error:
            problems.append(f"{path.name}:{number}: {error}")
            continue
        if id in lines:
            raise UsageError(
                f"{path.name}: lines {lines[id]} and {number} both answer {id}",
                "keep one row for each question",
            )
        lines[id] = number
        if id not in asked:
            unknown.append(id)
            continue
        try:
            answers[id] = _answer(row, asked[id])
            if row.get("verdict") is not None:
                verdicts[id] = _verdict(row["verdict"])
        except (ValueError, TypeError) as error:
            answers.pop(id, None)
            problems.append(f"{path.name}:{number}: {id}: {_first(error)}")
    return Predictions(
        answers=answers,
        verdicts=verdicts,
        missing=tuple(id for id in asked if id not in answers),
        unknown=tuple(unknown),
        problems=tuple(problems),
    )


def _lines(path: Path) -> list[str]:
    try:
        held = path.read_bytes()
        if path.name.lower().endswith(".gz"):
            held = gzip.decompress(held)
        # By newline alone: other characters that str.splitlines() cuts at may stand inside JSON.
        return held.decode("utf-8-sig").split("\n")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _answer(row: Mapping[str, Any], question: Question) -> Answer:
    extra = sorted(set(row) - _KNOWN)
    if extra:
        raise ValueError(f"the field {extra[0]} is not known")
    choice = row.get("choice")
    labels = {o.label.casefold(): o.label for o in question.options}
    if choice is not None:
        if str(choice).casefold() not in labels:
            said = ", ".join(labels.values()) or "none: it is an open question"
            raise ValueError(f"the choice {choice!r} is none of the options ({said})")
        choice = labels[str(choice).casefold()]
    text = str(row.get("text") or "")
    return Answer(
        text=text,
        choice=choice,
        status=_status(row, choice, text),
        strategy=str(row.get("strategy") or "given"),
        scores={
            labels.get(k.casefold(), k): float(v) for k, v in (row.get("scores") or {}).items()
        },
        usage=Usage.model_validate(row.get("usage") or {}),
        trace=({"step": "given", "raw": row["raw"]},) if row.get("raw") is not None else (),
    )


def _status(row: Mapping[str, Any], choice: str | None, text: str) -> Status:
    """As given; else `parsed` where there is an answer. Silence is unparsable, not abstention."""
    said = row.get("status")
    if said is None:
        return Status.PARSED if choice or text else Status.UNPARSABLE
    try:
        status = Status(said)
    except ValueError:
        known = ", ".join(s.value for s in Status)
        raise ValueError(f"the status {said!r} is none of {known}") from None
    if status is Status.PARSED and not (choice or text):
        raise ValueError("the status is parsed, and there is no choice and no text")
    return status


def _verdict(value: object) -> float:
    held = float(value) if isinstance(value, int | float) else -1.0  # True and False, too
    if not 0 <= held <= 1:
        raise ValueError(f"the verdict {value!r} is not from 0 to 1")
    return held


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return str(error.errors()[0]["msg"])
    return str(error)
