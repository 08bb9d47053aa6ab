"""The answers of a run: models by models, question by question, each durable once it is given."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from egomem.answer import answer as answer_question
from egomem.errors import ConfigError, EgomemError, MissingExtraError, ModelError, StoreError
from egomem.evaluate.budget import BudgetExhausted
from egomem.evaluate.config import Arm
from egomem.evaluate.fingerprint import Trial
from egomem.evaluate.run_folder import OpenRun
from egomem.evaluate.run_summary import OnProgress, RunProgress
from egomem.evaluate.stored_run import Finished
from egomem.records import Answer, Question, Status, Usage

log = logging.getLogger(__name__)

MAX_CONSECUTIVE_ERRORS = 20
"""So many errors, one after the other, end a run: the server is gone or the key is wrong."""

Memo = dict[str, asyncio.Task[Answer]]
"""Name of a strategy -> its answer, for the strategies that start from it."""
_Work = list[tuple[Question, dict[Arm, Trial]]]
"""Questions with the trials of each that are to be answered."""


class AnswerStage:
    """Answers the trials of a run that are not finished, `concurrency` questions at once.

    `answered` trials were answered, `kept` were finished before; `asked_again` says why trials were
    answered anew: part -> how many.
    """

    def __init__(self, run: OpenRun, concurrency: int, on_progress: OnProgress) -> None:
        self.answered = self.kept = 0
        self.asked_again: Counter[str] = Counter()
        self._run = run
        self._slots = asyncio.Semaphore(concurrency)
        self._on_progress = on_progress
        self._consecutive_errors = 0

    async def answer(self, arms: Sequence[Arm]) -> None:
        """Answer all that is not finished in these arms.

        Raises ModelError after `MAX_CONSECUTIVE_ERRORS`, ConfigError, StoreError and
        MissingExtraError.
        """
        # Models by models: one client is open at a time, and a server that loads a model on demand
        # loads it once.
        groups = [(group, self._to_do(group)) for group in self._groups(arms)]
        total = sum(len(trials) for _, work in groups for _, trials in work)
        progress = RunProgress("answers", total)
        for group, work in groups:
            client = self._run.clients.of(group[0])
            # Arms without a model cost nothing, and are answered whatever the budget says.
            if client is not None and self._run.budget.closed:
                continue
            try:
                if client is None:
                    await self._answer_group(group, work, progress)
                else:
                    async with client:
                        await self._answer_group(group, work, progress)
            except BaseExceptionGroup as several:
                # A task group wraps what its tasks raise; callers wait for the error itself.
                raise several.exceptions[0] from None

    def _groups(self, arms: Sequence[Arm]) -> list[list[Arm]]:
        """Arms of the same models together, those that others start from first."""
        places = {arm: (self._rank(arm), _models_of(arm)) for arm in arms}
        order = dict.fromkeys(sorted(places.values(), key=lambda place: place[0]))
        return [[arm for arm in arms if places[arm] == place] for place in order]

    def _rank(self, arm: Arm) -> int:
        """How many groups of models answer before an arm, as it starts from their answers."""
        bases = self._run.config.bases(arm).values()
        ranks = [self._rank(base) + (_models_of(base) != _models_of(arm)) for base in bases]
        return max(ranks, default=0)

    def _to_do(self, arms: Sequence[Arm]) -> _Work:
        work = []
        for question in self._run.questions:
            trials = {arm: self._run.fingerprints.trial(question, arm) for arm in arms}
            open_trials = {arm: t for arm, t in trials.items() if t.changed(self._before(t))}
            self.kept += len(trials) - len(open_trials)
            if open_trials:
                work.append((question, open_trials))
        return work

    def _before(self, trial: Trial) -> Finished | None:
        return self._run.record.stored.cells.get((trial.question.id, trial.arm))

    async def _answer_group(self, arms: Sequence[Arm], work: _Work, progress: RunProgress) -> None:
        async def one(question: Question, trials: Mapping[Arm, Trial]) -> None:
            try:
                await self._answer_question(question, trials, progress)
            finally:
                self._slots.release()

        async with asyncio.TaskGroup() as group:
            for question, trials in work:
                # Before the task is made: a run of 100,000 trials must not have as many tasks
                # waiting.
                await self._slots.acquire()
                if arms[0].reader and self._run.budget.closed:
                    break
                group.create_task(one(question, trials))

    async def _answer_question(
        self, question: Question, trials: Mapping[Arm, Trial], progress: RunProgress
    ) -> None:
        """Answer one question in all arms of the same models. An arm that starts from the answer of
        another one starts from the very answer that is reported there."""
        memos: dict[Arm, Memo] = {}
        for arm in self._run.config.in_order(trials):
            trial = trials[arm]
            if self._run.config.bases(arm):
                trial = self._run.fingerprints.trial(question, arm)
            before = self._before(trial)
            # What it starts from is answered by now, and may be what it was.
            if not trial.changed(before):
                self.kept += 1
                progress.total -= 1
                continue
            memo = memos[arm] = self._memo(question, arm, memos)
            starts = self._run.config.condition(arm).lineage[:-1]
            # A failed look must not cost its caption answer a second time.
            if before and starts and (base := trials[arm].kept_base(before)):
                memo.setdefault(starts[0].name, asyncio.create_task(_ready(base)))
            try:
                answer = await self._answer_trial(question, arm, memo)
            except BudgetExhausted:
                continue  # not answered; what was paid for it is kept
            # Counted only now: a trial that the budget stopped was not asked again.
            if before is not None:
                self.asked_again.update(trial.changed(before))
            self._run.record.add(self._finished(trial, answer, memo))
            self._count(answer, progress)

    def _memo(self, question: Question, arm: Arm, memos: Mapping[Arm, Memo]) -> Memo:
        """The answers of other arms that an arm starts from: given just now, or stored."""
        memo = {}
        for name, base in self._run.config.bases(arm).items():
            stored = self._run.record.stored.cells.get((question.id, base))
            if name in memos.get(base, {}):
                memo[name] = memos[base][name]
            elif stored is not None:
                memo[name] = asyncio.create_task(_ready(stored.answer))
        return memo

    def _finished(self, trial: Trial, answer: Answer, memo: Memo) -> Finished:
        """The answer as it is stored: it names videos, counts what it starts from, and holds that
        answer where no other arm does."""
        starts = self._run.config.condition(trial.arm).lineage[:-1]
        bases = self._run.config.bases(trial.arm)
        rests_on = {s.name: memo[s.name].result() for s in starts if _is_given(memo.get(s.name))}
        usage = sum(map(standalone_usage, rests_on.values()), standalone_usage(answer))
        base = None
        # Where another arm reports it, it is stored there; twice, the two could differ.
        if starts and starts[0].name not in bases:
            base = rests_on.get(starts[0].name)
        with_video_names = self._run.videos.named
        return Finished(
            question=trial.question.id,
            arm=trial.arm,
            parts=trial.parts,
            answer=with_video_names(answer),
            base=with_video_names(base) if base else None,
            usage=usage,
        )

    async def _answer_trial(self, question: Question, arm: Arm, memo: Memo) -> Answer:
        inputs, config = self._run.inputs, self._run.config
        condition = config.condition(arm)
        strategy = condition.strategy
        if obstacle := inputs.obstacle(question, arm):
            return Answer(text="", status=Status.ERROR, strategy=strategy, reason=obstacle)
        # The oracle of an unanswerable question: nothing to be shown is an abstention, and no error
        # to be tried again.
        if condition.evidence and not question.evidence:
            reason = "the question names no evidence"
            return Answer(text="", status=Status.ABSTAINED, strategy=strategy, reason=reason)
        try:
            return await answer_question(
                inputs.videos.localised(question),
                inputs.view(question, condition),
                strategy,
                dependency_settings=config.strategy_settings(arm, inputs.track(arm, question)),
                models=self._run.clients.of(arm),
                frames=inputs.frames,
                memo=memo,
            )
        # These would befall every other trial, too: a status for each would fill the run with them.
        except (BudgetExhausted, ConfigError, StoreError, MissingExtraError):
            raise
        except EgomemError as error:
            reason = str(error)
        except Exception as error:
            # A fault of one strategy's code must not end a run of many hours.
            log.error("%s, %s", question.id, arm.label, exc_info=error)
            reason = f"unexpected {type(error).__name__}: {error}; please report this"
        return Answer(text="", status=Status.ERROR, strategy=strategy, reason=reason)

    def _count(self, answer: Answer, progress: RunProgress) -> None:
        self.answered += 1
        failed = answer.status is Status.ERROR
        progress.advance((answer.reason or "error") if failed else "")
        progress.spent = self._run.budget.spent()
        if answer.trace:  # a trial for which nothing was sent says nothing about a server
            self._consecutive_errors = self._consecutive_errors + 1 if failed else 0
        self._on_progress(progress)
        # A wrong key fails at every request: going on would store thousands of errors, and cost
        # hours of waiting.
        if self._consecutive_errors >= MAX_CONSECUTIVE_ERRORS:
            raise ModelError(
                f"{MAX_CONSECUTIVE_ERRORS} errors in a row, the last: {answer.reason}",
                "fix the cause and run the same command again; finished answers are kept",
            )


async def _ready(answer: Answer) -> Answer:
    return answer


def _is_given(task: asyncio.Task[Answer] | None) -> bool:
    return task is not None and task.done() and not task.cancelled() and task.exception() is None


def _models_of(arm: Arm) -> tuple[str, str]:
    return arm.reader, arm.captioner


def standalone_usage(answer: Answer) -> Usage:
    """What an answer's own requests cost, those from a cache in full: as if it stood alone."""
    total = Usage()
    for step in answer.trace:
        if isinstance(step, dict) and step.get("step") == "asked":
            # A cached reply cost nothing now; a table of costs must not depend on which arm ran
            # first.
            usage = Usage.model_validate(step.get("usage"))
            total += usage.model_copy(update={"requests": max(1, usage.requests)})
    return total if total.requests else answer.usage
