"""The questions as data for the page: an index that filters read, and packed details."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

from egomem.evaluate.run_reader import Run
from egomem.evaluate.stored_run import Finished
from egomem.records import Evidence, Question
from egomem.report.columns import ReportColumn
from egomem.report.evidence_view import EvidenceReader
from egomem.report.failure_analysis import explain_column, is_explainable
from egomem.report.trace_view import trace_steps, truncate
from egomem.score import MISSING, Explanation, by_duration, correctness
from egomem.score.scored_answers import has_key
from egomem.score.slices import NOT_STATED
from egomem.timeline import format_span

BLOCK_SIZE = 20
"""Questions whose details are packed together; a page unpacks a block when one is opened."""


def browser_data(entries: Sequence[ReportColumn]) -> dict[str, Any]:
    """What the page's script shows.

    `columns`: names of settings. `questions`: what filters read; `said` has for each column
    [status, right, choice, why wrong], or null where that run does not ask the question. `blocks`:
    gzip in base64 of a JSON list of details, `BLOCK_SIZE` questions each.
    """
    why = [explain_column(e, entries) if is_explainable(e) else {} for e in entries]
    held: dict[str, tuple[Question, dict[str, Any], dict[str, Any]]] = {}
    memory = EvidenceReader()
    for run in {id(e.run): e.run for e in entries}.values():
        own = [(k, e) for k, e in enumerate(entries) if e.run is run]
        for question in run.questions:
            name = question.id
            if name in held and held[name][0] != question:
                name = f"{question.id} in {run.folder.resolve().name}"
            if name not in held:
                details = _details(run, question, [e for _, e in own], memory)
                index = _index(run, question, name, own[0][1].choices.regimes)
                index["said"] = [None] * len(entries)
                details["said"] = [None] * len(entries)
                held[name] = (question, index, details)
            _, index, details = held[name]
            for k, entry in own:
                cell = entry.run.cells.get((question.id, entry.column))
                index["said"][k] = _verdict(question, cell, why[k].get(question.id))
                if cell is not None:
                    details["said"][k] = _said(cell, why[k].get(question.id))
    records = [details for _, _, details in held.values()]
    return {
        "columns": [e.name for e in entries],
        "questions": [index for _, index, _ in held.values()],
        "block": BLOCK_SIZE,
        "blocks": [pack(records[k : k + BLOCK_SIZE]) for k in range(0, len(records), BLOCK_SIZE)],
        "pictures_left_out": memory.left_out,
    }


def pack(records: Sequence[dict[str, Any]]) -> str:
    text = json.dumps(records, ensure_ascii=False, separators=(",", ":"))
    data = text.encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def unpack(block: str) -> list[dict[str, Any]]:
    """What `pack` packed, as the page's script reads it."""
    found: list[dict[str, Any]] = json.loads(gzip.decompress(base64.b64decode(block)))
    return found


def _index(run: Run, question: Question, name: str, regimes: Sequence[float]) -> dict[str, Any]:
    video = run.benchmark.by_id.get(question.recording or "")
    return {
        "id": name,
        "text": question.text,
        "options": [[o.label, o.text] for o in question.options],
        "key": question.answer,
        "answerable": question.answerable is not False,
        "video": question.recording or "",
        "regime": (by_duration(regimes).labels(question, video) or (NOT_STATED,))[0],
        "tags": _tags(question),
    }


def _details(
    run: Run, question: Question, own: Sequence[ReportColumn], memory: EvidenceReader
) -> dict[str, Any]:
    return {
        "evidence": [_place(e) for e in question.evidence],
        "pictures": memory.pictures(run, question),
        "captions": memory.captions(run, question, own),
    }


def _verdict(question: Question, cell: Finished | None, why: Explanation | None) -> list[Any]:
    reason = [why.why.value] if why is not None else []
    if cell is None:
        return [MISSING, False if has_key(question) else None, None, *reason]
    right = correctness(question, cell.answer) >= 0.5 if has_key(question) else None
    return [cell.answer.status.value, right, cell.answer.choice, *reason]


def _said(cell: Finished, why: Explanation | None) -> dict[str, Any]:
    said = cell.answer
    shown = {
        "text": truncate(said.text),
        "reason": truncate(said.reason),
        "why": f"{why.why.value}: {why.because}{'' if why.sure else ' (inferred)'}" if why else "",
        "evidence": [_place(e) for e in said.evidence[:8]],
        "steps": trace_steps(said.trace),
        "from": _from(cell),
    }
    return {k: v for k, v in shown.items() if v}


def _from(cell: Finished) -> str:
    """What a cell leads back to."""
    parts = ", ".join(f"{name} {held}" for name, held in cell.parts.items() if held)
    at = f"answered {cell.at}" if cell.at else ""
    by = f"egomem {cell.version}" if cell.version else ""
    return "; ".join(filter(None, (at, by, parts)))


def _tags(question: Question) -> list[str]:
    found = []
    for name, value in question.tags.items():
        if name == "abstain_option":
            continue
        values = value if isinstance(value, list) else [value]
        found += [f"{name}: {v}" for v in values if isinstance(v, str | int | float | bool)]
    return found


def _place(piece: Evidence) -> str:
    where = f"{piece.recording} " if piece.recording else ""
    quote = f' "{truncate(piece.quote)}"' if piece.quote else ""
    return f"{where}{format_span(piece.span)}{quote}"
