"""Running: captions, then every cell that is not finished, each durable as soon as it is there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from egomem.answer import answer
from egomem.errors import (
    ConfigError,
    EgomemError,
    MissingExtraError,
    ModelError,
    StoreError,
    UsageError,
)
from egomem.evaluate import captions
from egomem.evaluate.bias_gate import after, gates
from egomem.evaluate.budget import BudgetExhausted
from egomem.evaluate.caption_usage import gap_key, keep_building, keep_gap
from egomem.evaluate.config import Arm
from egomem.evaluate.fingerprint import Trial
from egomem.evaluate.predictions import write_predictions
from egomem.evaluate.results import Finished, Key
from egomem.evaluate.run_folder import RunContext
from egomem.evaluate.run_info import write_about
from egomem.evaluate.run_summary import OnNote, OnProgress, RunProgress, RunSummary
from egomem.records import Answer, Question, Recording, Status, Usage
from egomem.timeline import Span

log = logging.getLogger(__name__)

AT_ONCE = 8
"""Questions answered at once."""
IN_A_ROW = 20
"""So many errors, one after the other, end a run: the server is gone or the key is wrong."""


async def run(
    work: RunContext,
    *,
    command: Sequence[str] = (),
    at_once: int = AT_ONCE,
    on_note: OnNote = lambda line: None,
    on_progress: OnProgress = lambda progress: None,
) -> RunSummary:
    """Everything that is left to do: stage 1, its gate, captions, stage 2.

    Killed at any moment, the same call goes on. A cell that ends in an error is tried again by the
    next run. Where the budget is spent, what is under way is finished, and the outcome says so.
    Raises UsageError where no video is at hand and a setting needs one, ConfigError and StoreError,
    and ModelError after `IN_A_ROW` errors.
    """
    began = time.monotonic()
    _check_videos(work)
    work.purse.check_prices(spec for c in work.columns for spec in work.specs(c))
    runner = _Runner(work, at_once, on_note, on_progress)
    write_about(work, command, work.stale())
    first = [c for c in work.columns if work.way(c).judges_bias]
    await runner.answer(first)
    # A gate is over all questions: it is not judged before they are answered.
    judged = gates(work) if work.purse.closed is None else []
    stopped = {g.reader for g in judged if not g.passed} if work.config.gate == "stop" else set()
    for gate in judged:
        on_note(f"gate of {gate.reader}: {after(gate, work.config)}")
    rest = [c for c in work.columns if c not in first and c.reader not in stopped]
    try:
        await runner.caption(rest)
    finally:
        built = [c for c in rest if work.builds(c)]
        tracks = {t for c in built for q in work.questions if (t := work.track(c, q))}
        keep_building(work.folder, work.store, work.cache, tracks)
    await runner.answer(rest)
    columns = [*first, *rest]
    stale = work.stale()
    current = work.current(stale)
    outcome = runner.outcome(columns, current, time.monotonic() - began).model_copy(
        update={"gates": tuple(judged), "stopped": tuple(sorted(stopped))}
    )
    work.results.settle((q.id, c) for q in work.questions for c in work.columns)
    write_about(work, command, stale, outcome, judged)
    write_predictions(work.folder, work.questions, columns, current)
    return outcome


def _check_videos(work: RunContext) -> None:
    """Raises UsageError where no video is at hand and a setting needs one: each answer of it would
    be an error, and trying again could not help."""
    needing = [w.name for w in work.config.ways if not w.blind]
    places = work.places
    if not needing or places.recordings or not places.missing:
        return
    id, why = next(iter(places.missing.items()))
    remedy = "name a memory that holds them"
    if not work.config.given_memory:
        remedy = "give their folder with --media, or a memory of them with --memory"
    raise UsageError(
        f"{', '.join(needing)}: no video is at hand ({id}: {why})",
        f"{remedy}; clean needs none",
    )


class _Runner:
    def __init__(
        self, work: RunContext, at_once: int, on_note: OnNote, on_progress: OnProgress
    ) -> None:
        self.work = work
        self.places = asyncio.Semaphore(at_once)
        self.on_note = on_note
        self.on_progress = on_progress
        self.asked = self.kept = self.in_a_row = 0
        self.again: Counter[str] = Counter()
        self.faults: list[str] = []

    def outcome(
        self, columns: Sequence[Arm], current: Mapping[Key, Finished], seconds: float
    ) -> RunSummary:
        work, purse = self.work, self.work.purse
        keys = [(q.id, c) for q in work.questions for c in columns]
        held = [current[key] for key in keys if key in current]
        cells = len(keys)
        return RunSummary(
            cells=cells,
            asked=self.asked,
            kept=self.kept,
            left=cells - self.asked - self.kept,
            by_status=dict(Counter(f.answer.status.value for f in held)),
            asked_again=dict(self.again),
            faults=tuple(self.faults),
            uncaptioned=tuple(work.uncaptioned()),
            halted=purse.closed.message if purse.closed else "",
            remedy=purse.closed.remedy if purse.closed else "",
            seconds=seconds,
            spent=purse.spent(),
            spent_in_all=purse.earlier + purse.spent(),
            unpriced=purse.unpriced,
        )

    # -- captions -----------------------------------------------------------------------------

    async def caption(self, columns: Sequence[Arm]) -> None:
        """Build the captions that these columns read, each once."""
        work = self.work
        todo: dict[tuple[str, str], tuple[Arm, Question, Recording, int]] = {}
        for column in filter(work.builds, columns):
            for question in work.questions:
                track = work.track(column, question) or ""
                for recording in work.captioned(question, column):
                    left = work.unfinished(column, recording, question)
                    if left:
                        held = (column, question, recording, left)
                        todo.setdefault((recording.id, track), held)
        if not todo:
            return
        total = sum(left for *_, left in todo.values())
        progress = RunProgress("captions", total)

        def window(fault: str) -> None:
            progress.done += not fault
            progress.errors += bool(fault)
            progress.last_error = fault or progress.last_error
            progress.spent = self.work.purse.spent()
            self.on_progress(progress)

        def gap(track: str, recording: str, span: Span, usage: Usage) -> None:
            keep_gap(work.folder, gap_key(track, recording, span), usage)

        for column, question, recording, _ in todo.values():
            if work.purse.closed:
                return
            models = work.models(column)
            assert models is not None
            try:
                async with models:
                    fault = await captions.build(
                        work.store,
                        recording,
                        column,
                        work.config,
                        models,
                        shown=work.shown(question, column),
                        on_window=window,
                        on_gap=gap,
                    )
            except BudgetExhausted:
                return
            except (ConfigError, StoreError, MissingExtraError):
                raise
            except EgomemError as error:
                fault = str(error)
            if fault:
                self.faults.append(f"{recording.name}: {fault}")
                self.on_note(self.faults[-1])

    # -- answers ------------------------------------------------------------------------------

    async def answer(self, columns: Sequence[Arm]) -> None:
        """Answer what is not finished, models by models, question by question."""
        plans: list[tuple[list[Arm], list[tuple[Question, dict[Arm, Trial]]]]] = []
        total = 0
        places = {column: (self._rank(column), _models_of(column)) for column in columns}
        for place in dict.fromkeys(sorted(places.values(), key=lambda place: place[0])):
            group = [column for column in columns if places[column] == place]
            work = []
            for question in self.work.questions:
                cells = {c: self.work.cell(question, c) for c in group}
                left = {c: cell for c, cell in cells.items() if self._left(cell)}
                total += len(left)
                if left:
                    work.append((question, left))
            plans.append((group, work))
        progress = RunProgress("answers", total)
        for group, asked in plans:
            models = self.work.models(group[0])
            if models is not None and self.work.purse.closed:
                continue
            try:
                if models is None:
                    await self._group(group, asked, progress)
                else:
                    async with models:
                        await self._group(group, asked, progress)
            except BaseExceptionGroup as failed:
                raise failed.exceptions[0] from None

    def _rank(self, column: Arm) -> int:
        """How many groups of models answer before a column, as it starts from their answers."""
        bases = self.work.config.bases(column).values()
        ranks = [self._rank(b) + (_models_of(b) != _models_of(column)) for b in bases]
        return max(ranks, default=0)

    def _left(self, cell: Trial) -> bool:
        changed = cell.changed(self.work.results.cells.get((cell.question.id, cell.column)))
        self.kept += not changed
        return bool(changed)

    async def _group(
        self,
        columns: Sequence[Arm],
        asked: Iterable[tuple[Question, dict[Arm, Trial]]],
        progress: RunProgress,
    ) -> None:
        async def one(question: Question, left: dict[Arm, Trial]) -> None:
            try:
                await self._question(question, columns, left, progress)
            finally:
                self.places.release()

        async with asyncio.TaskGroup() as group:
            for question, left in asked:
                await self.places.acquire()
                if columns[0].reader and self.work.purse.closed:
                    break
                group.create_task(one(question, left))

    async def _question(
        self,
        question: Question,
        columns: Sequence[Arm],
        left: dict[Arm, Trial],
        progress: RunProgress,
    ) -> None:
        """One question in all columns of the same models. A column that starts from the answer of
        another one starts from the very answer that is reported there."""
        config, cells = self.work.config, self.work.results.cells
        memos: dict[Arm, dict[str, asyncio.Task[Answer]]] = {}
        for column in config.in_order(left):
            before = cells.get((question.id, column))
            cell = self.work.cell(question, column)  # what it starts from is answered by now
            if not cell.changed(before):
                self.kept += 1
                progress.total -= 1
                continue
            starts = self.work.way(column).lineage[:-1]
            bases = config.bases(column)
            memo = memos[column] = {
                name: memos[arm][name]
                if name in memos.get(arm, {})
                else asyncio.create_task(_given(cells[question.id, arm].answer))
                for name, arm in bases.items()
                if name in memos.get(arm, {}) or (question.id, arm) in cells
            }
            if before and starts and (base := left[column].kept_base(before)):
                memo.setdefault(starts[0].name, asyncio.create_task(_given(base)))
            try:
                said = await self._cell(question, column, memo)
            except BudgetExhausted:
                continue  # not answered; what was paid for it is kept
            usage, named = worth(said), self.work.places.named
            rests_on = {s.name: memo[s.name].result() for s in starts if _well(memo.get(s.name))}
            for start in rests_on.values():
                usage += worth(start)
            apart = starts[0].name if starts and starts[0].name not in bases else ""
            base = rests_on.get(apart)
            if before is not None:
                self.again.update(cell.changed(before))
            self.work.results.add(
                Finished(
                    question=question.id,
                    column=column,
                    parts=cell.parts,
                    answer=named(said),
                    base=named(base) if base else None,
                    usage=usage,
                )
            )
            self._count(said, progress)

    async def _cell(
        self, question: Question, column: Arm, memo: dict[str, asyncio.Task[Answer]]
    ) -> Answer:
        work = self.work
        way = work.way(column)
        strategy = way.strategy
        if why_not := work.why_not(question, column):
            return Answer(text="", status=Status.ERROR, strategy=strategy, reason=why_not)
        if way.evidence and not question.evidence:
            reason = "the question names no evidence"
            return Answer(text="", status=Status.ABSTAINED, strategy=strategy, reason=reason)
        given = work.config.strategy_settings(column, work.track(column, question))
        localised = work.places.localised(question)
        try:
            return await answer(
                localised,
                work.view(question, way),
                strategy,
                dependency_settings=given,
                models=work.models(column),
                frames=work.frames,
                memo=memo,
            )
        except (BudgetExhausted, ConfigError, StoreError, MissingExtraError):
            raise
        except EgomemError as error:
            reason = str(error)
        except Exception as error:
            log.error("%s, %s", question.id, column.label, exc_info=error)
            reason = f"unexpected {type(error).__name__}: {error}; please report this"
        return Answer(text="", status=Status.ERROR, strategy=strategy, reason=reason)

    def _count(self, said: Answer, progress: RunProgress) -> None:
        self.asked += 1
        progress.done += 1
        progress.spent = self.work.purse.spent()
        failed = said.status is Status.ERROR
        if said.trace:  # of a cell that nobody was asked about, no server is to blame
            self.in_a_row = self.in_a_row + 1 if failed else 0
        if failed:
            progress.errors += 1
            progress.last_error = said.reason
        self.on_progress(progress)
        if self.in_a_row >= IN_A_ROW:
            raise ModelError(
                f"{IN_A_ROW} errors in a row, the last: {said.reason}",
                "mend it and run the same command again; what is finished stays",
            )


async def _given(said: Answer) -> Answer:
    return said


def _well(task: asyncio.Task[Answer] | None) -> bool:
    return task is not None and task.done() and not task.cancelled() and task.exception() is None


def _models_of(column: Arm) -> tuple[str, str]:
    return column.reader, column.captioner


def worth(said: Answer) -> Usage:
    """What an answer's own requests cost, those from a cache in full: as if it stood alone."""
    total = Usage()
    for step in said.trace:
        if isinstance(step, dict) and step.get("step") == "asked":
            used = Usage.model_validate(step.get("usage"))
            total += used.model_copy(update={"requests": max(1, used.requests)})
    if not total.requests:
        return said.usage
    return total
