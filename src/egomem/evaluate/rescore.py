"""Reading the raw replies again, with the reader of choices as it is now; no model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from egomem.answer.reader import read_reply, schema_for
from egomem.answer.verdict import SCHEMA, decide, has_clock_cue, read_verdict
from egomem.evaluate.config import Config
from egomem.evaluate.load import load_run
from egomem.evaluate.predictions import write_predictions
from egomem.evaluate.results import Finished, Key
from egomem.evaluate.work import locked
from egomem.models import Reply, TokenLogprob
from egomem.models.reading import read
from egomem.records import Answer, Question, Record, Status


class Rescored(Record):
    """`read` replies were read again, of which `changed` now say something else (question, column,
    before, after); `kept` answers hold no reply that can be read again."""

    read: int
    kept: int
    changed: tuple[tuple[str, str, str, str], ...]


def rescore(folder: Path) -> Rescored:
    """Read all replies of a run again and store the answers that changed."""
    with locked(folder):
        run = load_run(folder)
        questions = {q.id: q for q in run.questions}
        fresh: dict[Key, Finished] = {}
        told = kept = 0
        order = sorted(run.columns, key=lambda c: run.config.way(c).strategy == "verify")
        for column in order:
            for id, question in questions.items():
                cell = run.cells.get((id, column))
                if cell is None:
                    continue
                again = reread(question, cell, run.config, {**run.cells, **fresh})
                if again is None:
                    kept += 1
                    continue
                told += 1
                if _says(again) != _says(cell.answer):
                    fresh[cell.key] = cell.model_copy(update={"answer": again})
        changed = []
        for key, cell in fresh.items():
            before = run.cells[key].answer
            run.results.add(cell)
            changed.append((key[0], key[1].label, _short(before), _short(cell.answer)))
        write_predictions(folder, run.questions, run.columns, run.results.cells)
    return Rescored(read=told, kept=kept, changed=tuple(changed))


def reread(
    question: Question, cell: Finished, config: Config, cells: Mapping[Key, Finished]
) -> Answer | None:
    """The answer that the cell's raw replies give now; None where it holds none."""
    way = config.way(cell.column)
    if not way.asks:
        return None
    if way.strategy == "verify":
        return _verified(question, cell, config, cells)
    asked = _asked(cell.answer, -1)
    if asked is None:
        return None
    schema = None
    if config.format == "scores" or not question.options:
        schema = schema_for(question, abstain=config.abstain, evidence=way.strategy != "clean")
    again = read_reply(question, _reply(asked, schema), strategy=cell.answer.strategy)
    kept = {"evidence", "usage", "trace", "confidence"}
    return again.model_copy(update={k: getattr(cell.answer, k) for k in kept})


def _verified(
    question: Question, cell: Finished, config: Config, cells: Mapping[Key, Finished]
) -> Answer | None:
    """The decision again, from the verdict's reply and the caption answer as it now reads."""
    own = config.way(cell.column)
    base = next(
        (
            held.answer
            for (id, column), held in cells.items()
            if id == question.id
            and (column.reader, column.captioner) == (cell.column.reader, cell.column.captioner)
            and (way := config.way(column)).strategy == "caption"
            and (way.captions, way.window) == (own.captions, own.window)
        ),
        None,
    )
    asked = _asked(cell.answer, -1, role="verifier")
    if base is None or asked is None:
        return None
    verdict = read_verdict(question, _reply(asked, SCHEMA))
    decision = decide(question, base, verdict, clock_cue=has_clock_cue(question))
    choice = base.choice
    if decision.outcome == "overridden" and verdict is not None:
        choice = verdict.answer
    trace = tuple(
        {**step, "outcome": decision.outcome, "why": decision.why, "before": base.choice,
         "proposed": verdict.answer if verdict else None, "after": choice}
        if isinstance(step, dict) and step.get("step") == "decision" else step
        for step in cell.answer.trace
    )  # fmt: skip
    if choice == base.choice:
        return base.model_copy(
            update={"strategy": "verify", "usage": cell.answer.usage, "trace": trace}
        )
    text = next((o.text for o in question.options if o.label == choice), "")
    return cell.answer.model_copy(
        update={"choice": choice, "text": text, "status": Status.PARSED, "trace": trace}
    )


def _asked(said: Answer, which: int, role: str = "reader") -> Mapping[str, Any] | None:
    held = [
        s
        for s in said.trace
        if isinstance(s, dict) and s.get("step") == "asked" and s.get("role") == role
    ]
    return held[which] if held else None


def _reply(asked: Mapping[str, Any], schema: Any) -> Reply:
    """The reply of a trace's step, its text read out of the raw one as it is now."""
    status = Status(asked["status"])
    raw = str(asked.get("raw") or "")
    if status not in (Status.PARSED, Status.UNPARSABLE) or not raw:
        return Reply(status=status, raw=raw, detail=str(asked.get("detail") or ""))
    found = read(raw, "", None, schema)
    tokens = asked.get("logprobs")
    return Reply(
        status=found.status,
        text=found.text,
        raw=raw,
        data=found.data,
        detail=found.detail,
        logprobs=tuple(TokenLogprob.model_validate(t) for t in tokens) if tokens else None,
    )


def _says(answer: Answer) -> tuple[object, ...]:
    # The trace holds verify's decision, whose "before" is the caption answer.
    return answer.status, answer.choice, answer.text, answer.scores, answer.trace


def _short(answer: Answer) -> str:
    return answer.choice or answer.status.value
