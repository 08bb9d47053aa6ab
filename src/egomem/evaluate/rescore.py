"""Re-parse the stored replies of a run with the current parser; no request is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from egomem.evaluate.bias_gate import bias_gates
from egomem.evaluate.config import Config
from egomem.evaluate.export import write_answers
from egomem.evaluate.fingerprint import baseline_digest
from egomem.evaluate.predictions import write_predictions
from egomem.evaluate.run_db import RunDatabase
from egomem.evaluate.run_folder import locked
from egomem.evaluate.run_info import update_run_info
from egomem.evaluate.run_reader import check_run, load_run
from egomem.evaluate.stored_run import Finished, TrialKey
from egomem.records import Answer, Question, Record


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
        # The benchmark as the run has stored it: the files may have changed since.
        questions = {q.id: q for q in run.questions}
        arms = run.columns
        gates_before = bias_gates(run.questions, run.config, run.cells)
        # Nothing is written before all is read: an error in the middle leaves the run as it was.
        fresh: dict[TrialKey, Finished] = {}
        reread_count = kept = 0
        # An answer that starts from another one starts from it as it now reads.
        for arm in run.config.in_order(arms):
            bases = run.config.bases(arm)
            for id, question in questions.items():
                stored = run.cells.get((id, arm))
                if stored is None:
                    continue
                starts = {
                    name: (fresh.get((id, base)) or run.cells[id, base]).answer
                    for name, base in bases.items()
                    if (id, base) in run.cells
                }
                again = reread(question, stored, run.config, starts)
                if again is None:
                    kept += 1
                    continue
                reread_count += 1
                if starts and "baseline" in stored.parts:
                    digest = baseline_digest([starts[name] for name in bases if name in starts])
                    again = again.model_copy(update={"parts": {**stored.parts, "baseline": digest}})
                # What reads as before is not written, so a second rescore changes nothing.
                if (again.answer, again.base) != (stored.answer, stored.base):
                    fresh[stored.key] = again
        changed = []
        for key, rescored in fresh.items():
            before = run.cells[key].answer
            record.add(rescored)
            run.cells[key] = record.stored.cells[key]
            changed.append((key[0], key[1].label, _short(before), _short(rescored.answer)))
        order = [(q.id, c) for q in run.questions for c in run.config.arms()]
        record.put_in_order(order)
        write_answers(folder, record.stored, order)
        write_predictions(folder, run.questions, arms, run.cells, run.benchmark.questions)
        gates = bias_gates(run.questions, run.config, run.cells)
        if changed:
            update_run_info(folder, gates=[g.model_dump(mode="json") for g in gates])
    turned = [
        (was.reader, was.verdict, now.verdict)
        for was, now in zip(gates_before, gates, strict=True)
        if was.verdict != now.verdict
    ]
    return Rescored(read=reread_count, kept=kept, changed=tuple(changed), gates=tuple(turned))


def reread(
    question: Question, stored: Finished, config: Config, starts: Mapping[str, Answer]
) -> Finished | None:
    """The answer to a question with what its stored replies say now; None where none can be read.

    `starts`: the answers of other columns that it starts from, as they now read.
    """
    *before, strategy = config.condition(stored.arm).lineage
    if strategy.reread is None:
        return None
    settings = config.configured(stored.arm, None)
    base = None
    if stored.base is not None and before and (start := before[0]).name not in starts:
        if start.reread is not None:
            base = start.reread(question, stored.base, settings[start.name], {})
        base = base or stored.base
        starts = {**starts, start.name: base}
    answer = strategy.reread(question, stored.answer, settings[strategy.name], starts)
    return None if answer is None else stored.model_copy(update={"answer": answer, "base": base})


def _short(answer: Answer) -> str:
    return answer.choice or answer.status.value
