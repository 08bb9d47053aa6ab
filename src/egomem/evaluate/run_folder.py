"""A run's folder, opened: its questions, memory, cached replies, and the cells that it is made of.

RUN/run.json        command, configuration and its hash, versions, gates, when
RUN/benchmark.json  the questions and the names of the videos, as they were asked
RUN/answers.jsonl   a line for each finished cell
RUN/memory/         captions, each built once
RUN/replies.db      model replies, so that nothing is asked twice
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egomem.answer.video import spread
from egomem.benchmarks import Benchmark
from egomem.errors import LockedError, UsageError
from egomem.evaluate import captions
from egomem.evaluate.budget import RunBudget
from egomem.evaluate.conditions import Condition
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.durations import lengths
from egomem.evaluate.fingerprint import Trial, baseline_digest, cell, digest, memory_digest
from egomem.evaluate.results import Finished, Key, Results
from egomem.evaluate.video_map import Blind, VideoMap, from_files, in_memory
from egomem.media import Frame, frames
from egomem.memory import Store, View
from egomem.memory.lock import NAME as LOCK
from egomem.memory.lock import WriterLock
from egomem.memory.replies import ReplyCache
from egomem.models import ModelClient, RequestPolicy
from egomem.records import Observation, Question, Recording, Source
from egomem.text import plural
from egomem.timeline import Span

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

POINT = 1e-3
"""Seconds that a moment without length is given, so that something overlaps it."""
LOST = "not at hand"
"""The memory part of a cell whose video is not there."""
UNBUILT = "not built yet"
"""The memory part of a cell whose captions are still to be made."""
UNANSWERED = "not answered yet"
"""The baseline of a cell that starts from an answer which is still to be given."""


@dataclass
class RunContext:
    """What planning and running share. Made by `opened`."""

    benchmark: Benchmark
    config: Config
    folder: Path
    store: Store
    places: VideoMap
    results: Results
    cache: ReplyCache
    conduct: RequestPolicy
    environ: Mapping[str, str]
    blind: Blind
    purse: RunBudget = field(default_factory=RunBudget)
    _whole: set[tuple[str, str]] = field(default_factory=set)
    _digests: dict[Any, str] = field(default_factory=dict)
    _shown: dict[Any, captions.Shown] = field(default_factory=dict)
    _tracks: dict[Arm, str | None] = field(default_factory=dict)
    _models: dict[Arm, ModelClient] = field(default_factory=dict)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Those of this run, in the benchmark's order."""
        return chosen(self.benchmark.questions, self.config)

    @cached_property
    def columns(self) -> list[Arm]:
        return self.config.columns()

    def way(self, column: Arm) -> Condition:
        return self.config.way(column)

    def models(self, column: Arm) -> ModelClient | None:
        """The models of a column; one set for all columns of the same models."""
        if not column.reader:
            return None
        key = column.model_copy(update={"setting": ""})
        if key not in self._models:
            self._models[key] = ModelClient(
                self._specs(key),
                limits=self.config.limits(key.reader),
                conduct=self.conduct,
                cache=self.cache,
                environ=self.environ,
                hold=self.purse.hold,
            )
            self.purse.watch(self._models[key])
        return self._models[key]

    def _specs(self, column: Arm) -> dict[str, str]:
        specs = {"reader": column.reader, "verifier": self.config.verifier or column.reader}
        return specs | ({"captioner": column.captioner} if column.captioner else {})

    def specs(self, column: Arm) -> list[str]:
        """The models that a column asks."""
        if not column.reader:
            return []
        held = self._specs(column)
        if not self.way(column).verifies:
            del held["verifier"]
        return list(held.values())

    def shown(self, question: Question, column: Arm) -> captions.Shown | None:
        """What `video` shows of a question, of which aligned captions are made; None for others."""
        way = self.way(column)
        if way.captions != "aligned" or not self.builds(column) or self.places.lost(question):
            return None
        localised = self.places.localised(question)
        key = (column.reader, str(localised.at), localised.recording)
        if key not in self._shown:
            seen = self.view(question, way).recordings()
            looks = spread(seen, self.config.frame_limit(column.reader), self.config.fps)
            whole = {r.id: r.duration for r in self.places.recordings.values()}
            self._shown[key] = captions.Shown.of(looks, whole)
        return self._shown[key]

    def captioned(self, question: Question, column: Arm) -> list[Recording]:
        """The recordings whose captions a cell reads, as long as they are captioned for it; there
        is nothing to caption of sound alone."""
        shown = self.shown(question, column)
        held = self.recordings(question) if shown is None else shown.recordings
        return [r for r in held if r.has_pictures]

    def track(self, column: Arm, question: Question | None = None) -> str | None:
        """The id of the caption track that a column reads; None where the strategy chooses.

        Aligned captions of what a question may see of a recording have a track of their own.
        """
        shown = self.shown(question, column) if question else None
        if shown is not None and shown.cut:
            return f"{self.track(column)}{shown.cut}"
        if column not in self._tracks:
            self._tracks[column] = self._track(column)
        return self._tracks[column]

    def _track(self, column: Arm) -> str | None:
        way = self.way(column)
        if way.captions == "none" or not way.reads_track:
            return None
        if way.captions == "held" or self.config.given_memory:
            return captions.held_track(self.store, way, self.config)
        models = self.models(column)
        assert models is not None
        return captions.captioner(models, way, self.config, column.reader).track.id

    def recordings(self, question: Question) -> list[Recording]:
        """What a question is about: its video, or all of them."""
        if question.recording is None:
            return list(self.places.recordings.values())
        held = self.places.recordings.get(question.recording)
        return [held] if held else []

    def view(self, question: Question, way: Condition) -> View:
        """What a setting may see of the memory: the past, of the question's video."""
        if way.blind:
            return self.blind.view(question.at)
        localised = self.places.localised(question)
        view = self.store.view(localised.at)
        if localised.recording is not None:
            known = {r.id for r in self.store.recordings()}
            view = view.narrow(recordings=[r for r in [localised.recording] if r in known])
        elif not self.config.given_memory:
            # A file that has changed since has left its old recording behind.
            view = view.narrow(recordings=[r.id for r in self.places.recordings.values()])
        if way.evidence and localised.evidence:
            spans = [e.span for e in localised.evidence]
            whole = Span(min(s.start for s in spans), max(s.end for s in spans) + POINT)
            view = view.narrow(span=whole)
        return view

    def unfinished(
        self, column: Arm, recording: Recording, question: Question | None = None
    ) -> int:
        """Windows that are still to be captioned for a column, or for a question in it."""
        way, track = self.way(column), self.track(column, question)
        if not self.builds(column) or track is None or way.window is None:
            return 0
        if (track, recording.id) in self._whole:
            return 0
        tokens = self.config.caption_tokens
        left = len(captions.unfinished(self.store, recording, track, way.window, tokens))
        if not left:
            self._whole.add((track, recording.id))
        return left

    def uncaptioned(self) -> list[captions.Uncaptioned]:
        """The windows that have no caption in the tracks that this run makes and reads."""
        made = [c for c in self.columns if self.builds(c)]
        tracks = [t for c in made for q in self.questions if (t := self.track(c, q))]
        about = {r.id for q in self.questions for r in self.recordings(q)}
        held = {v: r.id for v, r in self.places.recordings.items() if r.id in about}
        return captions.uncaptioned(self.store, held, tracks)

    def builds(self, column: Arm) -> bool:
        """Whether a column's captions are made by this run."""
        made = self.way(column).captions in ("windows", "aligned")
        return made and not self.config.given_memory

    def cell(self, question: Question, column: Arm) -> Trial:
        """The cell with the hashes of all that its answer depends on."""
        way, track = self.way(column), self.track(column, question)
        memory = self._memory(question, way, track, column)
        baseline = self._baseline(question, column)
        return cell(question, column, self.config, track, memory, baseline)

    def stale(self) -> dict[str, dict[str, str]]:
        """The answers that this configuration asks again: column -> question -> digest of the
        parts of the answer that is there."""
        found: dict[str, dict[str, str]] = {}
        for column in self.columns:
            for question in self.questions:
                held = self.results.cells.get((question.id, column))
                if held and self.cell(question, column).changed(held) not in ((), ("failed",)):
                    found.setdefault(column.label, {})[question.id] = digest(held.parts)
        return found

    def current(self, stale: Mapping[str, Mapping[str, str]]) -> dict[Key, Finished]:
        """The answers without those that are `stale`."""
        return {
            (id, column): held
            for (id, column), held in self.results.cells.items()
            if id not in stale.get(column.label, {})
        }

    def _baseline(self, question: Question, column: Arm) -> str | None:
        """The answers of other columns that a cell starts from, as they are now; None where there
        are none."""
        answers = []
        for base in self.config.bases(column).values():
            held = self.results.cells.get((question.id, base))
            if held is None or self.cell(question, base).changed(held):
                return UNANSWERED
            answers.append(held.answer)
        return baseline_digest(answers) if answers else None

    def _memory(self, question: Question, way: Condition, track: str | None, column: Arm) -> str:
        if way.blind:
            return ""
        if self.places.lost(question):
            return LOST
        recordings = self.recordings(question)
        if any(self.unfinished(column, r, question) for r in self.captioned(question, column)):
            return UNBUILT
        localised = self.places.localised(question)
        ids = tuple(r.id for r in recordings)
        sources = self._sources(column)
        evidence = localised.evidence if way.evidence else ()
        key = (str(localised.at), ids, localised.recording, track, sources, evidence)
        if key not in self._digests:
            read = self.read(question, column)
            observations = None if read is None else [o.id for o in read]
            self._digests[key] = memory_digest(self.view(question, way), ids, observations, track)
        return self._digests[key]

    def _sources(self, column: Arm) -> frozenset[Source] | None:
        """The sources of the observations that a column may read; None where it may be all."""
        settings = self.config.configured(column, None)
        sources = [s.sources(settings[s.name]) for s in self.way(column).lineage]
        known = [each for each in sources if each is not None]
        return None if len(known) < len(sources) else frozenset().union(*known)

    def read(self, question: Question, column: Arm) -> list[Observation] | None:
        """The observations that a column may read for a question; None where it reads none."""
        way = self.way(column)
        if way.captions == "none":
            return None
        view, sources = self.view(question, way), self._sources(column)
        track = self.track(column, question)
        if track is None or sources is None:
            return view.observations(sources=sources)
        others = [t.id for t in self.store.tracks() if t.source in sources - {"caption"}]
        return view.observations(tracks=[track, *others])

    def why_not(self, question: Question, column: Arm) -> str:
        """Why a cell cannot be answered here; "" where it can."""
        way = self.way(column)
        if way.blind:
            return ""
        if lost := self.places.lost(question):
            return lost
        held = self.recordings(question)
        if way.looks and held and not any(r.path and Path(r.path).is_file() for r in held):
            return f"the video of {held[0].name} is not at hand, and {way.name} looks at frames"
        left = sum(self.unfinished(column, r, question) for r in self.captioned(question, column))
        return f"{plural(left, 'window has', 'windows have')} no caption" if left else ""

    def frames(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]:
        """Frames of a recording, from its file."""
        held = self.store.recording(recording)
        if held is None or held.path is None:
            raise UsageError(f"the video of {recording} is not at hand")
        return frames(held.path, times, side=side)

    def cells(self, columns: Iterable[Arm] | None = None) -> Iterator[Trial]:
        """The cells, question by question within each column."""
        for column in self.columns if columns is None else columns:
            for question in self.questions:
                yield self.cell(question, column)


def chosen(questions: Sequence[Question], config: Config) -> tuple[Question, ...]:
    """The first `limit` questions, and of these a shard: whole videos, dealt out in turn."""
    held = list(questions[: config.limit])
    if config.shard is None:
        return tuple(held)
    order = {v: k for k, v in enumerate(dict.fromkeys(_video(q) for q in held))}
    shard = config.shard
    return tuple(q for q in held if order[_video(q)] % shard.count == shard.index - 1)


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
    conduct: RequestPolicy | None = None,
    environ: Mapping[str, str] = os.environ,
    budget: float | None = None,
    max_requests: int | None = None,
    on_note: Callable[[str], None] = lambda line: None,
) -> AsyncIterator[RunContext]:
    """Open a run's folder, made where there is none; one process at a time may.

    `memory`: a memory with captions that exist; without one, the run keeps its own. `budget` (US
    dollars) and `max_requests` hold for the run in all, earlier calls too. `on_note` is told what
    takes long. Raises LockedError where another process is at it.
    """
    config = config.model_copy(update={"given_memory": memory is not None}).checked()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        store = Store.open(memory or folder / "memory", create=memory is None)
        cache, blind = ReplyCache(folder), Blind()
        try:
            purse = RunBudget(budget=budget, max_requests=max_requests)
            purse.recall(cache.stats().spent.values())
            about = benchmark.only(q.id for q in chosen(benchmark.questions, config))
            if any(q.recording is None for q in about.questions):
                about = benchmark  # asked about all of the memory
            if all(w.blind for w in config.ways):
                places = VideoMap()
            elif memory is not None:
                places = in_memory(about, store)
            else:
                places = await from_files(about, store, folder, on_note)
            # All of them, so that the shards of a run say the same of its videos.
            known = places if memory is None else in_memory(benchmark, store)
            told = lengths(benchmark.videos, known.recordings)
            yield RunContext(
                benchmark=benchmark.with_lengths(told),
                config=config,
                folder=folder,
                store=store,
                places=places,
                results=Results.read(folder),
                cache=cache,
                conduct=conduct or RequestPolicy(),
                environ=environ,
                blind=blind,
                purse=purse,
            )
        finally:
            blind.close()
            cache.close()
            store.close()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run's folder."""
    with WriterLock(folder, 0.2).held():
        yield


def at_work(folder: Path) -> str:
    """Who is at a run now, for a person; "" where nobody is, or nobody can be."""
    if not (folder / LOCK).exists() or not os.access(folder / LOCK, os.W_OK):
        return ""
    try:
        with WriterLock(folder, 0.0).held():
            return ""
    except LockedError as held:
        return held.message
