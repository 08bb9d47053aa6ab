"""Anyone's predictions, as JSON Lines: read strictly, so that no item is scored twice.

A row is `{"id": "...", "choice": "B"}`, with any of `index` or `response` (instead of `choice`: the
option's number from 0, or a reply to read), `text` (an open answer), `status`, `scores` (label ->
number), `raw` (the reply), `verdict` (a judge's 0 to 1), `evidence` and `usage`; the whole is in
docs/reference/benchmark-formats.md. A line of a harness's log may hold it as its `prediction`.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from egomem.errors import UsageError, reason
from egomem.records import Answer, Option, Question, Status, Usage
from egomem.score.evidence_rows import read_evidence
from egomem.score.prediction_formats import SubmissionReader, prediction_rows

_ROW_FIELDS = frozenset(
    ("id", "choice", "index", "response", "text", "status", "scores", "raw", "verdict", "usage",
     "strategy", "evidence")
)  # fmt: skip

ReplyReader = Callable[[str, Sequence[Option]], tuple[Status, str | None]]
"""What a reply says, and the label that it chooses."""


@dataclass(frozen=True)
class Predictions:
    """Answers and verdicts by question id; `problems` are rows that could not be used.

    `without_evidence` are rows whose answer counts and whose evidence could not be read. `missing`
    questions have no row, `unknown` ids are of no question.
    """

    answers: dict[str, Answer]
    verdicts: dict[str, float]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    problems: tuple[str, ...]
    without_evidence: tuple[str, ...] = ()


def read_lone_label(reply: str, options: Sequence[Option]) -> tuple[Status, str | None]:
    """Reads a reply that is a label and nothing else: "B", "b." or "(B)"."""
    text = reply.strip().strip("().: ").casefold()
    label = next((o.label for o in options if o.label.casefold() == text), None)
    return (Status.PARSED if label else Status.UNPARSABLE), label


def read_predictions(
    path: Path | str,
    questions: Iterable[Question],
    read: ReplyReader = read_lone_label,
    submissions: Sequence[SubmissionReader] = (),
) -> Predictions:
    """Read a file of predictions for these questions; `read` reads each `response`.

    `submissions` read the forms of single benchmarks, such as Video-MME's results; those of all
    installed ones are `egomem.benchmarks.submission_readers()`.

    Raises UsageError where it cannot be read, where an id stands in it twice (which of the two
    counts is not ours to choose), and where it answers none of the questions. A row that is damaged
    is a problem, and its question is missing.
    """
    path = Path(path)
    question_of = {q.id: q for q in questions}
    answers: dict[str, Answer] = {}
    verdicts: dict[str, float] = {}
    problems: list[str] = []
    without_evidence: list[str] = []
    unknown: list[str] = []
    line_of_id: dict[str, int] = {}
    for number, row in prediction_rows(_read_text(path), submissions):
        try:
            if isinstance(row, ValueError):
                raise row
            # A log of samples of lmms-eval holds what its task's `process_results` gave under this
            # name.
            if isinstance(row, dict) and isinstance(row.get("prediction"), dict):
                row = row["prediction"]
            if not isinstance(row, dict) or not row.get("id"):
                raise ValueError("not a JSON object with an 'id' field")
            id = str(row["id"])
        except ValueError as error:
            problems.append(f"{path.name}:{number}: {error}")
            continue
        if id in line_of_id:
            raise UsageError(
                f"{path.name}: lines {line_of_id[id]} and {number} both answer {id}",
                "keep one row for each question",
            )
        # Noted before the row is read: a damaged first answer and a good second one are still two.
        line_of_id[id] = number
        if id not in question_of:
            unknown.append(id)
            continue
        try:
            answers[id] = _answer_from_row(row, question_of[id], read)
            if row.get("verdict") is not None:
                verdicts[id] = _parse_verdict(row["verdict"])
            try:
                evidence = read_evidence(row.get("evidence"), question_of[id])
                answers[id] = answers[id].model_copy(update={"evidence": evidence})
            except ValueError as error:
                # The answer counts: it is the moment that nobody can check.
                without_evidence.append(f"{path.name}:{number}: {id}: {error}")
        except (ValueError, TypeError) as error:
            answers.pop(id, None)
            problems.append(f"{path.name}:{number}: {id}: {_error_text(error)}")
    # Else a file for another benchmark would score 0 % with every question missing.
    if question_of and not answers:
        first_unknown = [f"{id} is none of them" for id in unknown]
        raise UsageError(
            ": ".join(
                [f"{path.name} answers none of the questions", *problems[:1], *first_unknown[:1]]
            ),
            'write a row such as {"id": "q1", "choice": "B"} for each question',
        )
    return Predictions(
        answers=answers,
        verdicts=verdicts,
        missing=tuple(id for id in question_of if id not in answers),
        unknown=tuple(unknown),
        problems=tuple(problems),
        without_evidence=tuple(without_evidence),
    )


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
        if path.name.lower().endswith(".gz"):
            content = gzip.decompress(content)
        # Editors on Windows write a byte-order mark, which is no JSON.
        return content.decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {reason(error)}",
            "name a file of JSON Lines, plain or gzipped, with a row for each question",
        ) from None


def _answer_from_row(row: Mapping[str, Any], question: Question, read: ReplyReader) -> Answer:
    unknown_fields = sorted(set(row) - _ROW_FIELDS)
    if unknown_fields:
        raise ValueError(f"the field {unknown_fields[0]} is not known")
    labels = {o.label.casefold(): o.label for o in question.options}
    choice = _choice_of_row(row, question, labels)
    status = None
    raw, text = row.get("raw"), str(row.get("text") or "")
    if row.get("response") is not None and choice is None:
        raw = str(row["response"])
        # The reader of choices is strict here; of an open question the whole reply is the answer.
        if question.options:
            status, choice = read(raw, question.options)
        else:
            text = text or raw
    return Answer(
        text=text,
        choice=choice,
        status=status or _status_of_row(row, choice, text, question),
        strategy=str(row.get("strategy") or "given"),
        scores=_scores_of_row(row, labels),
        usage=_usage_of_row(row),
        trace=({"step": "given", "raw": raw},) if raw is not None else (),
    )


def _choice_of_row(
    row: Mapping[str, Any], question: Question, labels: Mapping[str, str]
) -> str | None:
    choice, index = row.get("choice"), row.get("index")
    if choice is None and index is not None:
        size = len(question.options)
        # Counting from 0, as EgoSchema does. A negative one would silently count from the end in
        # Python.
        digits = str(index).strip()
        if not digits.isdecimal() or int(digits) >= size:
            raise ValueError(f"the index {index!r} is none of {size} options, counting from 0")
        return question.options[int(digits)].label
    if choice is None:
        return None
    label = str(choice).strip().casefold()
    if label not in labels:
        offered = ", ".join(labels.values()) or "none: it is an open question"
        # `"choice": 2` may mean B or C; guessing would shift every answer by one.
        hint = "; an option's number is its index" if isinstance(choice, int) else ""
        raise ValueError(f"the choice {choice!r} is none of the options ({offered}){hint}")
    return labels[label]


def _scores_of_row(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, float]:
    given = row.get("scores") or {}
    if not isinstance(given, Mapping):
        raise ValueError(f"the scores {given!r} are not a map of label to number")
    scores = {labels.get(k.strip().casefold(), k): float(v) for k, v in given.items()}
    # A NaN is above and below nothing: options would rank as they happen to be sorted.
    for label, score in scores.items():
        if not math.isfinite(score):
            raise ValueError(f"the score of {label} is {score}, which is no number to rank by")
    return scores


def _usage_of_row(row: Mapping[str, Any]) -> Usage:
    usage = Usage.model_validate(row.get("usage") or {})
    for name, amount in usage:
        if amount is not None and not (math.isfinite(amount) and amount >= 0):
            raise ValueError(f"usage: {name} is {amount}, and has to be a number from 0 on")
    return usage


def _status_of_row(
    row: Mapping[str, Any], choice: str | None, text: str, question: Question
) -> Status:
    """As given; else `parsed` where there is an answer. Silence is unparsable, not abstention.

    Of a question with options, only a choice is an answer.
    """
    stated = row.get("status")
    has_answer = choice or (text and not question.options)
    if stated is None:
        return Status.PARSED if has_answer else Status.UNPARSABLE
    try:
        status = Status(stated)
    except ValueError:
        statuses = ", ".join(s.value for s in Status)
        raise ValueError(f"the status {stated!r} is none of {statuses}") from None
    # Such a row would be wrong without showing up among the replies that failed.
    if status is Status.PARSED and not has_answer:
        raise ValueError("the status is parsed, and there is no choice and no text")
    return status


def _parse_verdict(value: object) -> float:
    number = float(value) if isinstance(value, int | float) else -1.0  # True and False, too
    if not 0 <= number <= 1:
        raise ValueError(f"the verdict {value!r} is not from 0 to 1")
    return number


def _error_text(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return str(error.errors()[0]["msg"])
    return str(error)
