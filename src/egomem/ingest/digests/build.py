"""Write the digests that are missing or out of date, level by level, and nothing else.

Each digest carries a hash of what lies in its window. A late import or a forgetting changes those
of the windows that it touches, and of the longer ones above them; these are written again and put
in the place of the old ones in one transaction. A kill loses no digest that is finished.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from egomem.errors import EgomemError
from egomem.ingest.digests.extractive import Summarizer, Summary
from egomem.ingest.digests.facts import (
    DigestFigures,
    Fact,
    carried_facts,
    facts_of,
    figures_of,
    joined_facts,
)
from egomem.ingest.digests.levels import Level, WindowKey
from egomem.ingest.digests.material import material
from egomem.ingest.digests.parts import Part, parts_of, parts_of_digest
from egomem.ingest.digests.plan import LevelPlan, plan_level
from egomem.ingest.digests.record import digest_observation, facts_in, figures_in, statements_in
from egomem.ingest.digests.tracks import track_of
from egomem.memory import Store
from egomem.memory.exchange import observation_keys
from egomem.records import Observation, Record, Recording, Usage
from egomem.timeline import Span

_BATCH = 64
"""Digests that are stored together where they cost nothing to make again."""


class LevelReport(Record):
    """Digests of a level: `built` now, `current` ones left alone, `removed` ones of windows that
    hold nothing any more, `failed` ones, and `waiting` ones above a failed one. `figures` are of
    all that are there now."""

    level: str
    built: int = 0
    current: int = 0
    removed: int = 0
    failed: int = 0
    waiting: int = 0
    figures: DigestFigures = DigestFigures()


class DigestReport(Record):
    """Results of writing digests: levels, faults with how often each befell, and the cost."""

    levels: tuple[LevelReport, ...] = ()
    faults: tuple[str, ...] = ()
    usage: Usage = Usage()

    def __add__(self, other: DigestReport) -> DigestReport:
        return DigestReport(
            levels=(*self.levels, *other.levels),
            faults=(*self.faults, *other.faults),
            usage=self.usage + other.usage,
        )

    @property
    def built(self) -> int:
        return sum(level.built for level in self.levels)

    @property
    def failed(self) -> int:
        return sum(level.failed + level.waiting for level in self.levels)


OnDigest = Callable[[str, int, int], None]
"""(level, digests done, of how many)"""


async def build_digests(
    store: Store,
    summarizer: Summarizer,
    levels: Sequence[Level],
    *,
    again: bool = False,
    on_digest: OnDigest = lambda level, count, total: None,
) -> DigestReport:
    """Bring the digests of these levels, by this summarizer, up to date with the memory.

    `again` writes all of them anew. A window that fails is reported, the rest goes on, and the next
    call tries it again; digests above it wait for it.
    """
    recordings = {r.id: r for r in store.recordings()}
    keys = material(observation_keys(store), store.tracks())
    faults: Counter[str] = Counter()
    reports: list[LevelReport] = []
    below: LevelPlan | None = None
    for number, level in enumerate(levels, 1):
        track = track_of(summarizer, levels[:number])
        store.put_track(track)
        plan = plan_level(store, keys, recordings, track, level, below)
        writer = _LevelWriter(store, summarizer, recordings, plan, faults, on_digest)
        reports.append(await writer.run(list(plan.bases) if again else plan.stale))
        below = plan_level(store, keys, recordings, track, level, below)
    lines = tuple(fault + (f" ({n} times)" if n > 1 else "") for fault, n in faults.items())
    return DigestReport(levels=tuple(reports), faults=lines, usage=summarizer.usage)


class _Sources(NamedTuple):
    """What a digest is made of: parts in order of time, all facts, ids, the stretch covered."""

    parts: list[Part]
    facts: list[Fact]
    rests_on: list[str]
    span: Span


class _LevelWriter:
    """Writes the digests of one level."""

    def __init__(
        self,
        store: Store,
        summarizer: Summarizer,
        recordings: dict[str, Recording],
        plan: LevelPlan,
        faults: Counter[str],
        on_digest: OnDigest,
    ) -> None:
        self._store = store
        self._summarizer = summarizer
        self._recordings = recordings
        self._plan = plan
        self._faults = faults
        self._on_digest = on_digest
        self._batch: list[tuple[WindowKey, Observation]] = []
        self._failed = 0
        self._done = 0

    async def run(self, todo: Sequence[WindowKey]) -> LevelReport:
        plan = self._plan
        if plan.surplus:
            self._store.exchange(((d.n, d.id) for d in plan.surplus), [])
        limiter = asyncio.Semaphore(max(1, self._summarizer.concurrency))

        async def write(window: WindowKey) -> None:
            async with limiter:
                await self._write(window, len(todo))

        try:
            if self._summarizer.concurrency > 1:
                await asyncio.gather(*map(write, todo))
            else:
                for window in todo:
                    await write(window)
        finally:
            self._flush()
        digests = self._store.view().observations(tracks=[plan.track.id])
        return LevelReport(
            level=plan.level.name,
            built=self._done,
            current=len(plan.bases) - len(todo),
            removed=len(plan.surplus),
            failed=self._failed,
            waiting=len(plan.windows) - len(plan.bases),
            figures=sum(map(figures_in, digests), DigestFigures()),
        )

    async def _write(self, window: WindowKey, total: int) -> None:
        sources = self._sources(window)
        try:
            summary = await self._summarizer.summarise(window, sources.parts)
        except EgomemError as error:
            self._failed += 1
            self._faults[str(error)] += 1
            return
        self._batch.append((window, self._digest(window, sources, summary)))
        self._done += 1
        # What was paid for is stored at once; what was chosen is stored together.
        if self._summarizer.model is not None or len(self._batch) >= _BATCH:
            self._flush()
        self._on_digest(self._plan.level.name, self._done + self._failed, total)

    def _flush(self) -> None:
        stored = self._plan.stored
        old = [(stored[w].n, stored[w].id) for w, _ in self._batch if w in stored]
        if self._batch:
            self._store.exchange(old, [digest for _, digest in self._batch])
        self._batch.clear()

    def _sources(self, window: WindowKey) -> _Sources:
        plan, keys = self._plan, self._plan.windows[window]
        zeros = {
            id: r.clock.start.timestamp() if r.clock else 0.0 for id, r in self._recordings.items()
        }
        span = Span(
            min(zeros[key.recording or ""] + key.start for key in keys),
            max(zeros[key.recording or ""] + key.end for key in keys),
        )
        view = self._store.view()
        if plan.below is not None:
            below = plan.below.stored
            digests = view.read(below[child].n for child in plan.children[window])
            parts = [part for d in digests for part in parts_of_digest(statements_in(d))]
            facts = joined_facts(facts_in(d) for d in digests)
            return _Sources(sorted(parts, key=_in_order), facts, [d.id for d in digests], span)
        observations = view.read(key.n for key in keys)
        by_recording: dict[str, list[Observation]] = defaultdict(list)
        for o in observations:
            by_recording[o.recording or ""].append(o)
        parts = [
            part
            for id, group in by_recording.items()
            for part in parts_of(group, self._recordings.get(id))
        ]
        parts.sort(key=_in_order)
        return _Sources(parts, facts_of(parts), [o.id for o in observations], span)

    def _digest(self, window: WindowKey, sources: _Sources, summary: Summary) -> Observation:
        parts, facts, rests_on, span = sources
        carried = carried_facts(facts)
        return digest_observation(
            window,
            self._plan.track,
            span=span,
            statements=summary.statements,
            facts=carried,
            figures=figures_of(summary.statements, facts, carried, parts),
            basis=self._plan.bases[window],
            rests_on=rests_on,
            request=summary.request,
            note=summary.note,
        )


def _in_order(part: Part) -> tuple[float, float, str]:
    return part.start, part.end, part.text
