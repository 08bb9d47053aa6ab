"""The data of the page's question browser: an index that its filters read, and packed details."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from egomem.evaluate.run_reader import Run
from egomem.evaluate.stored_run import Finished
from egomem.records import ABSTAIN_OPTION, Evidence, Question
from egomem.report.columns import ReportColumn, run_name
from egomem.report.evidence_view import EvidenceReader
from egomem.report.failure_analysis import explain_column, is_explainable
from egomem.report.trace_view import trace_steps, truncate
from egomem.score import MISSING, Explanation, by_duration, correctness
from egomem.score.scored_answers import has_key
from egomem.score.slices import NOT_STATED
from egomem.timeline import format_span

BLOCK_SIZE = 20
"""Questions whose details are compressed together: a page decompresses a block when one of its
questions is opened, not all details when it loads."""

MAX_EVIDENCE = 8
"""Pieces of evidence of one answer."""


@dataclass
class _Entry:
    """A question of the page, with its row of the index and its details."""

    question: Question
    index: dict[str, Any]
    details: dict[str, Any]


def browser_data(columns: Sequence[ReportColumn]) -> dict[str, Any]:
    """What the page's script reads, as JSON values.

    `columns`: the names of the report's columns. `questions`: what filters read; `answers` has for
    each column [status, right, choice, why wrong], or null where its run does not ask the question.
    `blocks`: the details, `BLOCK_SIZE` questions each, see `pack`.
    """
    explanations = [explain_column(c, columns) if is_explainable(c) else {} for c in columns]
    entries: dict[str, _Entry] = {}
    evidence = EvidenceReader()
    for run in {id(column.run): column.run for column in columns}.values():
        run_columns = [(k, column) for k, column in enumerate(columns) if column.run is run]
        for question in run.questions:
            # Runs that ask the same question share its entry; a question that only has the same
            # id as another run's gets one of its own.
            name = question.id
            if name in entries and entries[name].question != question:
                name = f"{question.id} in {run_name(run)}"
            if name not in entries:
                regimes = run_columns[0][1].options.regimes
                index = _index(run, question, name, regimes)
                details = _details(run, question, [c for _, c in run_columns], evidence)
                # Null where a run does not ask a question, so that "wrong" never counts what was
                # not asked.
                index["answers"] = [None] * len(columns)
                details["answers"] = [None] * len(columns)
                entries[name] = _Entry(question, index, details)
            entry = entries[name]
            for k, column in run_columns:
                cell = run.cells.get((question.id, column.arm))
                explanation = explanations[k].get(question.id)
                entry.index["answers"][k] = _answer_index(question, cell, explanation)
                if cell is not None:
                    entry.details["answers"][k] = _answer_details(cell, explanation)
    all_details = [entry.details for entry in entries.values()]
    return {
        "columns": [column.name for column in columns],
        "questions": [entry.index for entry in entries.values()],
        "block": BLOCK_SIZE,
        "blocks": [
            pack(all_details[k : k + BLOCK_SIZE]) for k in range(0, len(all_details), BLOCK_SIZE)
        ],
        "pictures_left_out": evidence.pictures_left_out,
    }


def pack(details: Sequence[dict[str, Any]]) -> str:
    """Details as gzip in base64 of a JSON list; the same details give the same text."""
    text = json.dumps(details, ensure_ascii=False, separators=(",", ":"))
    # "replace", as a reply may hold lone surrogates, which UTF-8 cannot.
    data = text.encode("utf-8", "replace")
    # `mtime=0`: the same answers give the same page, byte by byte.
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def unpack(block: str) -> list[dict[str, Any]]:
    """The details that `pack` packed."""
    details: list[dict[str, Any]] = json.loads(gzip.decompress(base64.b64decode(block)))
    return details


def _index(run: Run, question: Question, name: str, regimes: Sequence[float]) -> dict[str, Any]:
    video = run.benchmark.by_id.get(question.recording or "")
    return {
        "id": name,
        "text": question.text,
        "options": [[option.label, option.text] for option in question.options],
        "key": question.answer,
        "answerable": question.answerable is not False,
        "video": question.recording or "",
        "regime": (by_duration(regimes).labels(question, video) or (NOT_STATED,))[0],
        "tags": _tags(question),
    }


def _details(
    run: Run, question: Question, columns: Sequence[ReportColumn], evidence: EvidenceReader
) -> dict[str, Any]:
    return {
        "evidence": [_format_evidence(piece) for piece in question.evidence],
        "pictures": evidence.pictures(run, question),
        "captions": evidence.captions(run, question, columns),
    }


def _answer_index(
    question: Question, cell: Finished | None, explanation: Explanation | None
) -> list[Any]:
    """[status, right, choice] and, of a wrong answer, the reason; right is None without a key."""
    reason = [explanation.why.value] if explanation is not None else []
    if cell is None:
        # A missing answer is a wrong one, here as in the figures.
        return [MISSING, False if has_key(question) else None, None, *reason]
    right = correctness(question, cell.answer) >= 0.5 if has_key(question) else None
    return [cell.answer.status.value, right, cell.answer.choice, *reason]


def _answer_details(cell: Finished, explanation: Explanation | None) -> dict[str, Any]:
    answer = cell.answer
    details = {
        "text": truncate(answer.text),
        "reason": truncate(answer.reason),
        "why": _format_explanation(explanation),
        "evidence": [_format_evidence(piece) for piece in answer.evidence[:MAX_EVIDENCE]],
        "steps": trace_steps(answer.trace),
        "from": _origin(cell),
    }
    return {name: value for name, value in details.items() if value}


def _format_explanation(explanation: Explanation | None) -> str:
    if explanation is None:
        return ""
    inferred = "" if explanation.sure else " (inferred)"
    return f"{explanation.why.value}: {explanation.because}{inferred}"


def _origin(cell: Finished) -> str:
    """When and by what an answer was made: time, egomem's version, and hashes of the inputs."""
    hashes = ", ".join(f"{name} {value}" for name, value in cell.parts.items() if value)
    time = f"answered {cell.at}" if cell.at else ""
    version = f"egomem {cell.version}" if cell.version else ""
    return "; ".join(filter(None, (time, version, hashes)))


def _tags(question: Question) -> list[str]:
    tags = []
    for name, value in question.tags.items():
        if name == ABSTAIN_OPTION:  # the label of an option: no kind of question
            continue
        values = value if isinstance(value, list) else [value]
        tags += [f"{name}: {v}" for v in values if isinstance(v, str | int | float | bool)]
    return tags


def _format_evidence(piece: Evidence) -> str:
    recording = f"{piece.recording} " if piece.recording else ""
    quote = f' "{truncate(piece.quote)}"' if piece.quote else ""
    return f"{recording}{format_span(piece.span)}{quote}"
