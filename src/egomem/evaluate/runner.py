"""Runs what is left of a run: stage 1, its gate, captions, stage 2."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from egomem.errors import UsageError
from egomem.evaluate.answer_stage import AnswerStage
from egomem.evaluate.bias_gate import BiasGate, bias_gates, gate_text
from egomem.evaluate.caption_stage import make_captions
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.export import write_answers
from egomem.evaluate.predictions import write_predictions
from egomem.evaluate.run_folder import OpenRun
from egomem.evaluate.run_info import write_run_info
from egomem.evaluate.run_summary import OnNote, OnProgress, RunSummary
from egomem.evaluate.stored_run import Finished, TrialKey
from egomem.evaluate.video_map import VideoMap

CONCURRENCY = 8
"""Questions answered at once."""


async def run(
    open_run: OpenRun,
    *,
    command: Sequence[str] = (),
    concurrency: int = CONCURRENCY,
    on_note: OnNote = lambda line: None,
    on_progress: OnProgress = lambda progress: None,
) -> RunSummary:
    """Answer everything that is not finished; returns what was done.

    Killed at any moment, the same call goes on. A trial that ends in an error is tried again by the
    next run. Where the budget is spent, what is under way is finished, and the summary says so.
    Raises UsageError where no video is at hand and a setting needs one, ConfigError, StoreError and
    MissingExtraError, and ModelError after many errors in a row.
    """
    began = time.monotonic()
    config, questions, arms = open_run.config, open_run.questions, open_run.arms
    fingerprints, budget = open_run.fingerprints, open_run.budget
    _check_videos(config, open_run.videos)
    budget.check_prices(spec for arm in arms for spec in open_run.clients.specs(arm))
    write_run_info(open_run, command, fingerprints.stale(questions, arms))
    stage = AnswerStage(open_run, concurrency, on_progress)
    first = [arm for arm in arms if config.condition(arm).judges_bias]
    await stage.answer(first)
    # A gate is over all questions: it is not judged before they are answered.
    stored = open_run.record.stored
    gates = [] if budget.closed else bias_gates(questions, config, stored.cells)
    for gate in gates:
        on_note(f"gate of {gate.reader}: {gate_text(gate, config)}")
    stopped = {g.reader for g in gates if not g.passed} if config.gate == "stop" else set()
    rest = [arm for arm in arms if arm not in first and arm.reader not in stopped]
    faults = await make_captions(open_run, rest, on_note, on_progress)
    await stage.answer(rest)

    asked = [*first, *rest]
    stale = fingerprints.stale(questions, arms)
    current = fingerprints.current(stale)
    summary = _summary(open_run, stage, asked, current, gates, stopped, faults, began)
    order = [(question.id, arm) for question in questions for arm in arms]
    open_run.record.put_in_order(order)
    write_answers(open_run.folder, stored, order)
    write_run_info(open_run, command, stale, summary, gates)
    write_predictions(open_run.folder, questions, asked, current, open_run.benchmark.questions)
    return summary


def _check_videos(config: Config, videos: VideoMap) -> None:
    """Raises UsageError where no video is at hand and a setting needs one: each answer of it would
    be an error, and trying again could not help."""
    needing = [condition.name for condition in config.conditions if not condition.blind]
    if not needing or videos.recordings or not videos.missing:
        return
    id, why = next(iter(videos.missing.items()))
    remedy = "name a memory that holds them"
    if not config.given_memory:
        remedy = "give their folder with --media, or a memory of them with --memory"
    raise UsageError(
        f"{', '.join(needing)}: no video is at hand ({id}: {why})",
        f"{remedy}; clean needs none",
    )


def _summary(
    open_run: OpenRun,
    stage: AnswerStage,
    arms: Sequence[Arm],
    current: Mapping[TrialKey, Finished],
    gates: Sequence[BiasGate],
    stopped: set[str],
    faults: Sequence[str],
    began: float,
) -> RunSummary:
    budget, questions = open_run.budget, open_run.questions
    keys = [(question.id, arm) for question in questions for arm in arms]
    answers = [current[key].answer for key in keys if key in current]
    return RunSummary(
        cells=len(keys),
        asked=stage.answered,
        kept=stage.kept,
        left=len(keys) - stage.answered - stage.kept,
        by_status=dict(Counter(answer.status.value for answer in answers)),
        asked_again=dict(stage.asked_again),
        gates=tuple(gates),
        stopped=tuple(sorted(stopped)),
        faults=tuple(faults),
        uncaptioned=tuple(open_run.inputs.uncaptioned(open_run.arms, questions)),
        halted=budget.closed.message if budget.closed else "",
        remedy=budget.closed.remedy if budget.closed else "",
        seconds=time.monotonic() - began,
        spent=budget.spent(),
        spent_in_all=budget.earlier + budget.spent(),
        unpriced=budget.unpriced,
    )
