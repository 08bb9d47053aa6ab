"""A run's folder, opened by the one process that may write to it.

RUN/run.json        command, configuration and its hash, versions, gates, when
RUN/benchmark.json  the questions and the names of the videos, as they were asked
RUN/videos.json     the file of each video, and its recording in the memory
RUN/run.db          the answers, and what captions took
RUN/answers.jsonl   the same answers for other programs, written at the end
RUN/memory/         captions, each built once
RUN/replies.db      model replies, so that nothing is asked twice
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from egomem.benchmarks import Benchmark
from egomem.errors import LockedError
from egomem.evaluate.budget import RunBudget
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.durations import video_durations
from egomem.evaluate.fingerprint import Fingerprints, digest
from egomem.evaluate.model_clients import ModelClients
from egomem.evaluate.run_db import RunDatabase
from egomem.evaluate.shuffle import shuffled
from egomem.evaluate.trial_inputs import TrialInputs
from egomem.evaluate.video_map import BlindViews, VideoMap, videos_from_files, videos_in_memory
from egomem.memory import Store
from egomem.memory.lock import NAME as LOCK
from egomem.memory.lock import WriterLock
from egomem.memory.replies import ReplyCache
from egomem.models import RequestPolicy
from egomem.records import Question


@dataclass(frozen=True)
class OpenRun:
    """A run's folder that this process has the lock of, and what is made of it. Made by `opened`,
    which closes all of it.

    `benchmark` has the lengths of the videos where they are known; `questions` are those of this
    run, in its order.
    """

    folder: Path
    benchmark: Benchmark
    config: Config
    questions: tuple[Question, ...]
    store: Store
    record: RunDatabase
    cache: ReplyCache
    budget: RunBudget
    clients: ModelClients
    inputs: TrialInputs
    fingerprints: Fingerprints

    @property
    def arms(self) -> list[Arm]:
        return self.config.arms()

    @property
    def videos(self) -> VideoMap:
        return self.inputs.videos


def chosen_questions(questions: Sequence[Question], config: Config) -> tuple[Question, ...]:
    """The first `limit` questions, shuffled where asked for, and of these a shard: whole videos,
    dealt out in turn."""
    first = list(questions[: config.limit])
    if (seed := config.shuffle_options) is not None:
        first = [shuffled(question, seed) for question in first]
    if config.shard is None:
        return tuple(first)
    # Whole videos: their captions are then made by one shard alone.
    order = {v: k for k, v in enumerate(dict.fromkeys(_video(q) for q in first))}
    shard = config.shard
    return tuple(q for q in first if order[_video(q)] % shard.count == shard.index - 1)


def _video(question: Question) -> str:
    return question.recording or f"question {question.id}"


def question_digest(questions: Sequence[Question]) -> str:
    """Of which questions a run asks, by id and order."""
    return digest([q.id for q in questions])


@asynccontextmanager
async def opened(
    benchmark: Benchmark,
    config: Config,
    folder: Path,
    *,
    memory: Path | None = None,
    policy: RequestPolicy | None = None,
    environ: Mapping[str, str] = os.environ,
    budget: float | None = None,
    max_requests: int | None = None,
    on_note: Callable[[str], None] = lambda line: None,
) -> AsyncIterator[OpenRun]:
    """Open a run's folder, made where there is none; one process at a time may.

    `memory`: a memory with captions that exist; without one, the run keeps its own. `budget` (US
    dollars) and `max_requests` hold for the run in all, earlier calls too. `on_note` is told what
    takes long. Raises LockedError where another process is at it.
    """
    config = config.model_copy(update={"given_memory": memory is not None}).checked()
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as owned:
        # First, as everything below writes.
        owned.enter_context(locked(folder))
        record = owned.enter_context(RunDatabase.open(folder, on_note))
        store = owned.enter_context(Store.open(memory or folder / "memory", create=memory is None))
        cache = owned.enter_context(ReplyCache(folder))
        blind = BlindViews()
        owned.callback(blind.close)
        run_budget = RunBudget(budget=budget, max_requests=max_requests)
        run_budget.add_earlier(cache.stats().spent.values())
        questions = chosen_questions(benchmark.questions, config)
        videos = await _videos(benchmark, questions, config, store, folder, memory, on_note)
        # All of a given memory, so that the shards of a run say the same of its videos.
        all_videos = videos if memory is None else videos_in_memory(benchmark, store)
        benchmark = benchmark.with_lengths(video_durations(benchmark.videos, all_videos.recordings))
        clients = ModelClients(config, cache, run_budget, policy or RequestPolicy(), environ)
        inputs = TrialInputs(config, store, videos, blind, clients)
        yield OpenRun(
            folder=folder,
            benchmark=benchmark,
            config=config,
            questions=chosen_questions(benchmark.questions, config),
            store=store,
            record=record,
            cache=cache,
            budget=run_budget,
            clients=clients,
            inputs=inputs,
            fingerprints=Fingerprints(config, inputs, record.stored),
        )


async def _videos(
    benchmark: Benchmark,
    questions: Sequence[Question],
    config: Config,
    store: Store,
    folder: Path,
    memory: Path | None,
    on_note: Callable[[str], None],
) -> VideoMap:
    """The recordings of the videos that these questions are about; none where nobody looks."""
    if all(condition.blind for condition in config.conditions):
        return VideoMap()
    # A question about all videos needs all of them.
    if all(question.recording is not None for question in questions):
        benchmark = benchmark.only(question.id for question in questions)
    if memory is not None:
        return videos_in_memory(benchmark, store)
    return await videos_from_files(benchmark, store, folder, on_note)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run's folder."""
    with WriterLock(folder, 0.2).held():
        yield


def lock_owner(folder: Path) -> str:
    """Owner of the run's lock as text; "" where it is unlocked or the folder is read-only."""
    if not (folder / LOCK).exists() or not os.access(folder / LOCK, os.W_OK):
        return ""
    try:
        with WriterLock(folder, 0.0).held():
            return ""
    except LockedError as locked_by:
        return locked_by.message
