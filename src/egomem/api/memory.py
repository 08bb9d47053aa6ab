"""`Memory`: the one door that the command line, pages and Python users take.

    memory = egomem.open("my-memory")
    memory.ingest("day1.mp4", start="2026-03-02T08:10+01:00")
    for hit in memory.search("red cup"): ...
    answer = memory.ask("Where did I leave the keys?")

Each method has an async twin (`aingest`, `asearch`, `aask`). Heavy parts are imported when first
used, so that opening and searching stay quick.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from egomem.api.looking import LazyViewer, evidence_at, evidence_of_hit
from egomem.api.memory_digests import MemoryDigests
from egomem.defaults import DEFAULT_K
from egomem.errors import UsageError
from egomem.memory.moments import moment_of
from egomem.memory.recording_names import find_recording
from egomem.records import Answer, Evidence, Question, Recording
from egomem.sync import blocking, in_thread
from egomem.timeline import Moment

if TYPE_CHECKING:
    from egomem.answer import StrategyResult
    from egomem.ingest import IngestReport, OnStep
    from egomem.ingest.importing import ImportOutcome
    from egomem.ingest.observer_set import ObserverSets
    from egomem.ingest.summary import MemorySummary
    from egomem.media import Frame
    from egomem.media.streams import StreamFile
    from egomem.memory.check import CheckReport as Check
    from egomem.memory.export import ExportReport
    from egomem.memory.forget import ForgetReceipt
    from egomem.memory.forget_selection import Conditions
    from egomem.observe import AnyObserver
    from egomem.recall import Hit, Query, SearchResult


class Memory(MemoryDigests):
    """One memory in one folder. Use it as a context manager, or call `close`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({str(self.folder)!r})"

    @cached_property
    def _observer_sets(self) -> ObserverSets:
        from egomem.ingest.observer_set import ObserverSets

        return ObserverSets()

    def close(self) -> None:
        """Close the store and the cached replies."""
        self._owned.close()

    # -- ingest, search, ask, compare ---------------------------------------------------------

    async def aingest(
        self,
        *paths: str | Path,
        window: float | None = None,
        fps: float | None = None,
        start: datetime | str | None = None,
        zone: str | None = None,
        wearer: str | None = None,
        streams: Sequence[StreamFile] = (),
        find_streams: bool = True,
        budget: float | None = None,
        caption_tokens: int | None = None,
        caption: Literal["direct", "active"] = "direct",
        observers: Sequence[str | AnyObserver] = ("default",),
        observer_settings: Mapping[str, Mapping[str, Any]] | None = None,
        digests: bool | None = None,
        on_again: Callable[[str], None] = lambda line: None,
        on_note: Callable[[str], None] = lambda line: None,
        on_step: OnStep = lambda step: None,
    ) -> IngestReport:
        """Observe recordings and remember them; what is already finished is not observed again.

        `paths`: files, folders or globs. `window`: seconds. `start`: the instant of second 0, with
        its zone; for one recording only (which may be split into chapters). `zone`: where it was
        recorded ("Europe/Berlin"), for starts in file names. `streams`: gaze, motion, position
        beside the recording, of one recording only; `find_streams`: those that lie beside it
        under documented names, too. `budget`: US dollars for captions.
        `caption_tokens`: maximum tokens per caption. `caption` "active": each window's caption is
        checked, and what it does not establish is looked for again. `observers`: names of `egomem
        plugins` and objects with a `track` and `observe` or `hear`; "default" stands for speech,
        text, objects and captions. `observer_settings`: by name. `digests`: write
        digests of hours and days as well; None: where the memory has some. `on_again` is told where
        known recordings would be observed at another rate, and may raise. `on_note` gets notes for
        the user (such as what captioning will cost), `on_step` the progress. Returns the outcome of
        each file; a bad file does not stop the others.
        """
        from egomem.ingest import SamplingOptions, find_media, ingest
        from egomem.ingest.completion import observed_again
        from egomem.timeline import read_start, zone_of

        files = find_media(paths)
        window = self.settings.window if window is None else window
        fps = self.settings.fps if fps is None else fps
        recording_zone = zone_of(zone) if zone else None
        start_instant = read_start(start, zone=recording_zone) if isinstance(start, str) else start
        observer_set = await asyncio.to_thread(
            self._observer_sets.choose,
            self.models,
            window=window,
            fps=fps,
            observers=tuple(observers),
            settings={name: dict(v) for name, v in (observer_settings or {}).items()},
            budget=budget,
            caption=caption,
            max_tokens=caption_tokens or self.settings.caption_tokens,
            transcriber=self.settings.model.get("transcriber", "embedded"),
        )

        def plan(recordings: list[Recording]) -> None:
            frame_observers = observer_set.observers.frames
            if line := observed_again(self.store, recordings, frame_observers, fps):
                on_again(line)
            if line := observer_set.plan(recordings, window):
                on_note(line)

        notes = (*files.notes, *observer_set.notes)
        for note in notes:
            on_note(note)
        report = await ingest(
            self.store,
            files.files,
            observer_set.observers,
            notes=notes,
            sampling=SamplingOptions(window=window, fps=fps, concurrency=observer_set.concurrency),
            wearer=wearer,
            default_wearer=self.settings.wearer,
            start=start_instant,
            zone=recording_zone,
            streams=streams,
            find_streams=find_streams,
            on_plan=plan,
            on_step=on_step,
        )
        if self.embedder is not None:
            from egomem.recall import add_vectors

            await asyncio.to_thread(add_vectors, self.store, self.embedder)
        digested = await self._keep_digests(digests=digests, on_note=on_note)
        usage = observer_set.usage + digested.usage
        return report.model_copy(update={"usage": usage, "digests": digested})

    ingest = blocking(aingest)

    def search(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        at: Moment | str | None = None,
        profile: str = "default",
    ) -> list[Hit]:
        """The `k` moments that match the query best, best first; [] where none does."""
        return list(self.find(query, k=k, at=at, profile=profile).hits)

    def find(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        at: Moment | str | None = None,
        profile: str = "default",
    ) -> SearchResult:
        """As `search`, with how the query was read and notes on what could not be resolved."""
        from egomem.recall import check_length, find, read_for

        check_length(query)
        if not query.strip():
            raise UsageError("the query is empty", "write what you want to find")
        view = self.until(at)
        return find(view, read_for(view, query), k=k, profile=profile, embedder=self.embedder)

    def read_question(
        self, question: str, *, options: Sequence[str] = (), at: Moment | str | None = None
    ) -> Query:
        """How a question is read, by `search` and by `ask`: see `egomem.recall.Query`."""
        from egomem.recall import check_length, read_for

        check_length(question, options)
        return read_for(self.until(at), question, options)

    asearch = in_thread(search)

    async def aask(
        self,
        question: str | Question,
        *,
        options: Sequence[str] = (),
        at: Moment | str | None = None,
        strategy: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Answer from what was remembered until `at`, with evidence, or abstain.

        `options` make it multiple choice. `strategy`: a name of `egomem.answer.strategies()`;
        without one, `retrieve` where a reader model is set, else the extractive reader.
        """
        from egomem.answer import answer, question_of

        question = question_of(question, options, moment_of(self._existing, at))
        name = strategy or ("retrieve" if self._has_reader() else "extractive")
        view = self._existing.view(question.at)
        reply = await answer(
            question,
            view,
            name,
            settings=settings,
            models=self.models,
            embedder=self.embedder,
            frames=self._frames,
        )
        viewer = LazyViewer(view)
        evidence = tuple(piece.seen_by(viewer) for piece in reply.evidence)
        return reply.model_copy(update={"evidence": evidence})

    ask = blocking(aask)

    async def acompare(
        self,
        question: str | Question,
        *,
        strategies: Sequence[str] = (),
        options: Sequence[str] = (),
        at: Moment | str | None = None,
    ) -> list[StrategyResult]:
        """Several strategies on one question, side by side; without names, all that can run.

        A strategy that cannot run has the status `error` and the reason; the others run.
        """
        from egomem.answer import compare, question_of
        from egomem.answer import strategies as registered

        question = question_of(question, options, moment_of(self._existing, at))
        reads = self._has_reader()
        able = [n for n, s in registered().items() if not s.oracle and (reads or not s.roles)]
        return await compare(
            question,
            self._existing.view(question.at),
            list(strategies) or able,
            models=self.models,
            embedder=self.embedder,
            frames=self._frames,
        )

    compare = blocking(acompare)

    def look(
        self,
        what: Evidence | Hit | str,
        *,
        at: Moment | str | None = None,
        clip: bool = False,
        to: str | Path | None = None,
    ) -> Path:
        """The path of a picture, or with `clip` of a clip, of what is pointed at.

        `what`: evidence of an answer, a hit, or a place: "street.mp4 1:20", a wall-clock time.
        `to`: a folder; without one, a new private one among the system's temporary files. Boxes of
        what was detected or read there are drawn. Nothing after `at` is shown.
        """
        from egomem.memory.evidence_view import EvidenceViewer

        view = self.until(at)
        if isinstance(what, str):
            what = evidence_at(view, what)
        evidence = what if isinstance(what, Evidence) else evidence_of_hit(what)
        viewer = EvidenceViewer(view)
        save = viewer.save_clip if clip else viewer.save_frame
        return save(evidence, None if to is None else Path(to))

    # -- import, export, forget, check --------------------------------------------------------

    def import_files(
        self, *paths: str | Path, videos: str | Path | None = None, **options: Any
    ) -> list[ImportOutcome]:
        """Remember existing captions and transcripts; see `egomem import --help`.

        `videos`: a folder with the recordings. `options` are those of
        `egomem.ingest.readers.read_options` (map, source, track, wearer, zone ...).
        """
        from egomem.ingest.importing import import_files
        from egomem.ingest.readers import read_options

        outcomes = import_files(self.store, paths, read_options(**options), videos=videos)
        self.keep_digests()
        return outcomes

    def export(
        self,
        target: str | Path,
        format: str | None = None,
        *,
        at: Moment | str | None = None,
        recordings: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        tracks: Sequence[str] | None = None,
    ) -> ExportReport:
        """Write the memory, as it was `at` a moment, or a part of it.

        `format`: webvtt, srt, jsonl or parquet; without one, by the suffix of `target`.
        """
        from egomem.memory.export import export, format_of

        names = None if recordings is None else [self.recording(name).id for name in recordings]
        view = self.until(at).narrow(recordings=names)
        return export(view, target, format_of(target, format), sources=sources, tracks=tracks)

    def forget(self, *, dry_run: bool = False, **conditions: Unpack[Conditions]) -> ForgetReceipt:
        """Delete every trace of what meets all conditions given, wherever it lies in the folder.

        Conditions: `recording` (id), `span` (seconds of it), `between` (two aware instants),
        `wearer`, `match` (a text). Composed captions that rested on it are composed again from what
        remains, and digests without a model are written again. `dry_run` changes nothing.
        """
        from egomem.ingest.recompose import recompose

        if (name := conditions.get("recording")) is not None:
            conditions["recording"] = self.recording(name).id
        receipt = self._existing.forget(dry_run=dry_run, recompose=recompose, **conditions)
        if not dry_run:
            self.keep_digests()
        return receipt

    def check(self, *, repair: bool = False) -> Check:
        """Verify the folder: record, index, vectors, thumbnails. `repair` rebuilds derived data."""
        from egomem.memory.check import check

        report = check(self._existing, repair=repair)
        if repair and report.ok:
            self.keep_digests()
        return replace(report, notes=(*report.notes, *self.digest_notes()))

    # -- contents -----------------------------------------------------------------------------

    def names(self) -> dict[str, str]:
        """Recording id -> the name of its file."""
        return {r.id: r.name for r in self._existing.recordings()}

    def recording(self, name: str) -> Recording:
        """The recording of a name, an id or the start of an id; see `find_recording`."""
        return find_recording(self._existing.recordings(), name)

    def summary(self) -> MemorySummary:
        """What the memory holds, for `egomem show`."""
        from egomem.ingest.summary import summarise

        return summarise(self._existing)

    # -- frames --------------------------------------------------------------------

    def _frames(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]:
        from egomem.memory.frames import recorded_frames  # decoding is loaded when it is needed

        return recorded_frames(self._existing, recording, times, side)
