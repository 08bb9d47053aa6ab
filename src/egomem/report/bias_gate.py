"""Stage 1 of CapMem: which readers answer too well, or too badly, without the video."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.bias_gate import bias_gates
from egomem.evaluate.run_reader import Run
from egomem.report.cell_format import baselines_sentence
from egomem.report.columns import run_name, short_model
from egomem.report.table import Section, build_table
from egomem.score import group_accuracy


def bias_gate_section(runs: Sequence[Run]) -> Section:
    """The verdict of the bias gate on each reader; empty where no reader was asked blind."""
    rows = []
    for run in runs:
        for gate in bias_gates(run.questions, run.config, run.cells):
            if not gate.n:
                continue
            prefix = f"{run_name(run)}: " if len(runs) > 1 else ""
            statuses = ", ".join(f"{count} {status}" for status, count in gate.by_status.items())
            name = f"{prefix}{short_model(gate.reader)}"
            rows.append([name, gate.n, statuses, gate.verdict, gate.reason])
    if not rows:
        return Section(title="Bias gate")
    scored = (run.sheet(arm) for run in runs for arm in run.columns[:1])
    notes = dict.fromkeys(baselines_sentence(group_accuracy(s)) for s in scored if len(s))
    headings = ("reader", "n", "n by status", "gate", "reason")
    table = build_table("Answered without the video", headings, rows, " ".join(notes))
    return Section(title="Bias gate", parts=(table,))
