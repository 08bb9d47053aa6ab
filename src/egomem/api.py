"""`Memory`: the one door that the command line, pages and Python users take.

    memory = egomem.open("my-memory")
    memory.ingest("day1.mp4", start="2026-03-02T08:10+01:00")
    for hit in memory.search("red cup"): ...
    answer = memory.ask("Where did I leave the keys?")

Each method has an async twin (`aingest`, `asearch`, `aask`). Heavy parts are imported when they are
first used, so that opening and searching stay quick.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import datetime
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar

from egomem.config import DEFAULT_K
from egomem.errors import MediaError, UsageError
from egomem.memory import Store, View
from egomem.records import Answer, Question, Recording
from egomem.timeline import Moment, RecordingTime, Span

if TYPE_CHECKING:
    from egomem.answer import StrategyResult
    from egomem.config import Settings
    from egomem.ingest import IngestReport, ObserverSet, OnStep
    from egomem.ingest.importing import ImportOutcome
    from egomem.ingest.summary import MemorySummary
    from egomem.media import Frame
    from egomem.memory.check import CheckReport as Check
    from egomem.memory.export import ExportReport
    from egomem.memory.forget import ForgetReceipt
    from egomem.models import ModelClient
    from egomem.models.embedders import Embedder
    from egomem.recall import Hit, SearchResult

P = ParamSpec("P")
T = TypeVar("T")


def _plain(
    method: Callable[Concatenate[Memory, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Memory, P], T]:
    """The plain twin of an async method; it works inside a running loop (a notebook), too."""

    @wraps(method)
    def run(self: Memory, /, *given: P.args, **named: P.kwargs) -> T:
        return self._wait(method(self, *given, **named))

    return run


class Memory:
    """One memory in one folder. Use it as a context manager, or call `close`."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self._chosen: dict[tuple[float, float, float | None, int, str], ObserverSet] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({str(self.folder)!r})"

    @property
    def folder(self) -> Path:
        return self.store.folder

    def close(self) -> None:
        self.store.close()

    # -- what was, and until when -------------------------------------------------------------

    def until(self, at: Moment | str | None = None) -> View:
        """The memory as it was at a moment (None: all of it); the only way a question sees it.

        `at` may be written: "2026-03-02 10:30", "yesterday evening", or a second of one recording
        as "street.mp4 1:20". Raises TimeError where it cannot be read.
        """
        return self.store.view(self._moment(at))

    def _moment(self, at: Moment | str | None) -> Moment | None:
        if not isinstance(at, str):
            return at
        from egomem.timeline import read_moment

        recordings = self.store.recordings()
        for r in recordings:
            for name in (r.name, r.id):
                if at.startswith(name + " "):
                    moment = read_moment(at[len(name) :].strip(), recording=r.id)
                    if isinstance(moment, RecordingTime):
                        return moment
        only = recordings[0].id if len(recordings) == 1 else None
        return read_moment(at, now=self._now(), recording=only)

    def _now(self) -> datetime | None:
        """What relative times count from: the end of the last recording whose clock is known."""
        return max((_end(r) for r in self.store.recordings() if r.clock), default=None)

    # -- the four things one does -------------------------------------------------------------

    async def aingest(
        self,
        *paths: str | Path,
        window: float | None = None,
        fps: float | None = None,
        start: datetime | str | None = None,
        zone: str | None = None,
        wearer: str | None = None,
        budget: float | None = None,
        caption_tokens: int | None = None,
        caption: Literal["direct", "active"] = "direct",
        on_note: Callable[[str], None] = lambda line: None,
        on_step: OnStep = lambda step: None,
    ) -> IngestReport:
        """Watch recordings and remember them; what is already known is not watched again.

        `paths`: files, folders or globs. `window`: seconds. `start`: the instant of the recording's
        second 0, with its zone; only for one recording (which may be cut into chapters). `zone`:
        where it was recorded ("Europe/Berlin"), for starts told by file names. `budget`: US dollars
        that captions may cost. `caption_tokens`: of one caption at most. `caption` "active": each
        window's caption is checked, and what it cannot establish is looked for again. `on_note` is
        told what a user should know before it begins (such as what captioning will take), `on_step`
        how far it is. Returns what became of each file; one that cannot be used is reported there,
        and the rest goes on.
        """
        from egomem.ingest import SamplingOptions, choose_observers, ingest, media_files
        from egomem.timeline import read_start, zone_of

        files = media_files(paths)
        window = self.settings.window if window is None else window
        fps = self.settings.fps if fps is None else fps
        place = zone_of(zone) if zone else None
        began = read_start(start, zone=place) if isinstance(start, str) else start
        tokens = self.settings.caption_tokens if caption_tokens is None else caption_tokens
        key = (window, fps, budget, tokens, caption)
        chosen = self._chosen.get(key)
        if chosen is None:
            chosen = await asyncio.to_thread(
                choose_observers,
                self.models,
                window=window,
                fps=fps,
                budget=budget,
                caption=caption,
                max_tokens=tokens,
                transcriber=self.settings.model.get("transcriber", "embedded"),
            )
        if chosen.captioner is None:  # models are loaded once; a captioner counts one ingest's cost
            self._chosen[key] = chosen

        def plan(recordings: list[Recording]) -> None:
            if line := chosen.plan(recordings, self.models, window=window, fps=fps):
                on_note(line)

        for note in chosen.notes:
            on_note(note)
        report = await ingest(
            self.store,
            files,
            chosen.observers,
            notes=chosen.notes,
            watching=SamplingOptions(window=window, fps=fps, ahead=chosen.ahead),
            wearer=wearer or self.settings.wearer,
            start=began,
            zone=place,
            on_plan=plan,
            on_step=on_step,
        )
        if self.embedder is not None:
            from egomem.recall import add_vectors

            await asyncio.to_thread(add_vectors, self.store, self.embedder)
        usage = chosen.captioner.so_far.usage if chosen.captioner else report.usage
        return report.model_copy(update={"usage": usage})

    ingest = _plain(aingest)

    def search(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        at: Moment | str | None = None,
        profile: str = "default",
    ) -> list[Hit]:
        """The `k` moments that speak most for the query, best first; [] where none does."""
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
        from egomem.recall import find

        view = self.until(at)
        now = self._now() if view.until is None else None
        return find(view, query, k=k, profile=profile, embedder=self.embedder, now=now)

    async def asearch(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        at: Moment | str | None = None,
        profile: str = "default",
    ) -> list[Hit]:
        return await asyncio.to_thread(self.search, query, k=k, at=at, profile=profile)

    asearch.__doc__ = search.__doc__

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
        without one, `caption` where a reader model is set, else the extractive reader.
        """
        from egomem.answer import answer

        question = _question(question, options, self._moment(at))
        name = strategy or ("caption" if self._reads() else "extractive")
        return await answer(
            question,
            self.store.view(question.at),
            name,
            settings=settings,
            models=self.models,
            embedder=self.embedder,
            frames=self._frames,
        )

    ask = _plain(aask)

    async def acompare(
        self,
        question: str | Question,
        *,
        strategies: Sequence[str] = (),
        options: Sequence[str] = (),
        at: Moment | str | None = None,
    ) -> list[StrategyResult]:
        """Several strategies on one question, side by side; without names, all that can run.

        A strategy that cannot run has the status `error` and says why; the others go on.
        """
        from egomem.answer import compare
        from egomem.answer import strategies as registered

        question = _question(question, options, self._moment(at))
        reads = self._reads()
        able = [n for n, s in registered().items() if not s.oracle and (reads or not s.roles)]
        return await compare(
            question,
            self.store.view(question.at),
            list(strategies) or able,
            models=self.models,
            embedder=self.embedder,
            frames=self._frames,
        )

    compare = _plain(acompare)

    # -- in, out, and away --------------------------------------------------------------------

    def import_files(
        self, *paths: str | Path, videos: str | Path | None = None, **options: Any
    ) -> list[ImportOutcome]:
        """Remember captions and transcripts that exist already; see `egomem import --help`.

        `videos`: a folder in which the recordings lie. `options` are those of
        `egomem.ingest.readers.read_options` (map, source, track, wearer, zone ...).
        """
        from egomem.ingest.importing import import_files
        from egomem.ingest.readers import read_options

        return import_files(self.store, paths, read_options(**options), videos=videos)

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

        `format`: webvtt, srt, jsonl or parquet; without one, by the ending of `target`.
        """
        from egomem.memory.export import export, format_of

        view = self.until(at).narrow(recordings=recordings)
        return export(view, target, format_of(target, format), sources=sources, tracks=tracks)

    def forget(
        self,
        *,
        recording: str | None = None,
        span: Span | None = None,
        between: tuple[datetime, datetime] | None = None,
        wearer: str | None = None,
        match: str | None = None,
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Remove every trace of what meets all that is given, wherever it lies in the folder.

        `span`: seconds of `recording`; `between`: two aware instants; `match`: a text. Composed
        captions that rested on it are composed anew from what is left. `dry_run` changes nothing.
        """
        receipt = self.store.forget(
            recording=recording,
            span=span,
            between=between,
            wearer=wearer,
            match=match,
            dry_run=dry_run,
        )
        if not dry_run:
            from egomem.ingest.recompose import recompose

            recompose(self.store, [*receipt.observations, *receipt.resting])
        return receipt

    def check(self, *, repair: bool = False) -> Check:
        """Verify the folder: record, index, vectors, pictures. `repair` makes derived data anew."""
        from egomem.memory.check import check

        return check(self.store, repair=repair)

    # -- what it holds ------------------------------------------------------------------------

    def names(self) -> dict[str, str]:
        """Recording id -> the name of its file."""
        return {r.id: r.name for r in self.store.recordings()}

    def summary(self) -> MemorySummary:
        """What the memory holds, for `egomem show`."""
        from egomem.ingest.summary import summarise

        return summarise(self.store)

    # -- who helps ----------------------------------------------------------------------------

    @cached_property
    def models(self) -> ModelClient | None:
        """The models that fill the roles, or None where no role is set (or only `embedded`)."""
        named = {role for role, spec in self.settings.model.items() if spec != "embedded"}
        if not named - {"embedder", "transcriber"}:
            return None
        from egomem.memory.replies import ReplyCache
        from egomem.models import models_of

        return models_of(self.settings, cache=ReplyCache(self.folder))

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder role, or None: search then goes by words alone."""
        spec = self.settings.model.get("embedder", "embedded")
        if spec == "embedded":
            return None
        from egomem.models.embedders import embedder

        return embedder(spec)

    def _reads(self) -> bool:
        if self.models is None:
            return False
        from egomem.models import Role

        return self.models.has(Role.READER)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from plain code, also where an event loop already runs (a notebook)."""

        async def whole() -> T:
            try:
                async with self.models or nullcontext():  # connections stay open for all of it
                    return await work
            finally:
                work.close()

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(whole())
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, whole()).result()

    def _frames(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]:
        """Frames of a remembered recording, from its file. Raises MediaError where it is gone."""
        from egomem.media import frames

        held = self.store.recording(recording)
        if held is None or held.path is None:
            raise UsageError(f"the memory holds no video for the recording {recording}")
        _same_file(held, held.path)
        return frames(held.path, times, side=side)


def open_memory(
    folder: str | Path | None = None,
    *,
    create: bool | None = None,
    models: Iterable[str] | Mapping[str, str] = (),
    fit: bool | None = None,
) -> Memory:
    """Open the memory in `folder`; without one, that of the settings (see `egomem.config`).

    `create`: make it where there is none (the default here); False raises NoMemoryError instead.
    `models`: `{role: spec}` or ["role=spec", ...]; a spec without a role fills every role. `fit`:
    shrink requests that are over a limit, and record it.
    """
    from egomem.config import load_settings, model_table

    table = dict(models) if isinstance(models, Mapping) else model_table(models)
    settings = load_settings(memory=Path(folder) if folder else None, model=table or None, fit=fit)
    if settings.model:
        from egomem.models.roles import read_specs

        read_specs(settings.model)  # a spec that cannot be read is said before anything is done
    return Memory(Store.open(settings.memory, create=create is not False), settings)


def _same_file(recording: Recording, path: str) -> None:
    """Raises MediaError where another file lies now at the place of a recording's."""
    size = recording.facts.get("bytes")
    file = Path(path)
    if size is not None and file.is_file() and file.stat().st_size != size:
        raise MediaError(
            f"{path} is not the file that was remembered as {recording.name} any more",
            "ingest the right one from where it lies now",
        )


def _question(question: str | Question, options: Sequence[str], at: Moment | None) -> Question:
    """Raises UsageError for a question or an option without text, and for options alike."""
    if not isinstance(question, str):
        return question
    if not question.strip():
        raise UsageError("the question is empty", "write what you want to know")
    if not all(option.strip() for option in options):
        raise UsageError("an option is empty", "give each --option a text")
    if len({option.strip().casefold() for option in options}) < len(options):
        raise UsageError("two options are the same", "give each --option a text of its own")
    return Question.of(question, tuple(options), at=at)


def _end(recording: Recording) -> datetime:
    end = recording.instant(recording.duration)
    assert end is not None
    return end
