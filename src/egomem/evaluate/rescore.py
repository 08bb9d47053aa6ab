"""Reading the raw replies again, with the reader of choices as it is now; no model is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from egomem.evaluate.bias_gate import measured
from egomem.evaluate.export import write_answers
from egomem.evaluate.fingerprint import answer_digest
from egomem.evaluate.predictions import write_predictions
from egomem.evaluate.reread import reread
from egomem.evaluate.run_db import RunDatabase
from egomem.evaluate.run_folder import locked
from egomem.evaluate.run_info import rewrite_about
from egomem.evaluate.run_reader import check_run, load_run
from egomem.evaluate.stored_run import Finished, Key
from egomem.records import Answer, Record


class Rescored(Record):
    """`read` replies were read again, of which `changed` now say something else (question, column,
    before, after); `kept` answers hold no reply that can be read again. `gates` are those whose
    verdict is another one now (reader, before, after)."""

    read: int
    kept: int
    changed: tuple[tuple[str, str, str, str], ...]
    gates: tuple[tuple[str, str, str], ...] = ()


def rescore(folder: Path, on_note: Callable[[str], None] = lambda line: None) -> Rescored:
    """Read all replies of a run again and store the answers that changed.

    Raises UsageError where the folder holds no run.
    """
    check_run(folder)
    with locked(folder), RunDatabase.open(folder, on_note) as record:
        run = load_run(folder, record.stored)
        questions = {q.id: q for q in run.questions}
        columns = run.columns
        judged = measured(run.questions, run.config, run.cells)
        fresh: dict[Key, Finished] = {}
        told = kept = 0
        # A look at the frames starts from the caption answer as it now reads.
        for column in sorted(columns, key=lambda c: run.config.way(c).strategy == "verify"):
            base = run.config.base(column)
            for id, question in questions.items():
                cell = run.cells.get((id, column))
                if cell is None:
                    continue
                under = None
                if base is not None:
                    under = fresh.get((id, base)) or run.cells.get((id, base))
                again = reread(question, cell, run.config, under.answer if under else None)
                if again is None:
                    kept += 1
                    continue
                told += 1
                if under is not None and "baseline" in cell.parts:
                    parts = {**cell.parts, "baseline": answer_digest(under.answer)}
                    again = again.model_copy(update={"parts": parts})
                if (again.answer, again.base) != (cell.answer, cell.base):
                    fresh[cell.key] = again
        changed = []
        for key, cell in fresh.items():
            before = run.cells[key].answer
            record.add(cell)
            run.cells[key] = record.stored.cells[key]
            changed.append((key[0], key[1].label, _short(before), _short(cell.answer)))
        order = [(q.id, c) for q in run.questions for c in run.config.columns()]
        record.put_in_order(order)
        write_answers(folder, record.stored, order)
        write_predictions(folder, run.questions, columns, run.cells)
        gates = measured(run.questions, run.config, run.cells)
        if changed:
            rewrite_about(folder, gates=[g.model_dump(mode="json") for g in gates])
    turned = [
        (was.reader, was.verdict, now.verdict)
        for was, now in zip(judged, gates, strict=True)
        if was.verdict != now.verdict
    ]
    return Rescored(read=told, kept=kept, changed=tuple(changed), gates=tuple(turned))


def _short(answer: Answer) -> str:
    return answer.choice or answer.status.value
