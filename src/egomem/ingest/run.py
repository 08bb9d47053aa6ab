"""Ingest recordings: observe each window and store it, resumable at every window.

A recording's id follows from its bytes, so the same file again adds nothing, wherever it lies. A
window's observations and the mark that it is finished are stored in one transaction: a kill loses
nothing that was stored, and the next run continues behind it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from pathlib import Path

from egomem.errors import EgomemError, MediaError, StoreError
from egomem.hashing import recording_id
from egomem.ingest import start_times
from egomem.ingest.completion import (
    TRANSCRIBED_UNTIL,
    is_finished,
    is_transcribed,
    transcribed_until,
    unfinished_windows,
)
from egomem.ingest.report import FileOutcome, IngestReport, OnStep, Step
from egomem.ingest.retry import completed_work, past_failures
from egomem.ingest.start_times import Start
from egomem.media import DecodeReport as DecodeReport
from egomem.media import (
    Frame,
    FrameReader,
    MediaInfo,
    audio,
    content_hash,
    distinct,
    frames,
    jpeg,
    probe,
)
from egomem.memory import Completed, Store
from egomem.memory.failed_windows import FailedWindow, window_unit
from egomem.memory.failed_windows import to_completed as gap_mark
from egomem.memory.thumbnails import keep_thumbnail
from egomem.observe import Observer, SpeechObserver, Window, WindowFailed
from egomem.records import Observation, Recording
from egomem.timeline import DEFAULT_FPS, DEFAULT_WINDOW, Span, format_time, sample_times, windows

log = logging.getLogger(__name__)


DAMAGE = "damage"
"""What of a recording's facts says which part of its picture could not be decoded."""


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How recordings are sampled.

    `window`: length in seconds (CapMem: 30 or 60). `fps`: frames a second for observers (CapMem:
    1). `side`: longest side of a frame in pixels. `concurrency`: windows observed at once, for
    observers that wait on a server; their frames are held in memory. `thumbnail`: longest side of
    the picture kept of each window, 0 for none.
    """

    window: float = DEFAULT_WINDOW
    fps: float = DEFAULT_FPS
    side: int = 1280
    concurrency: int = 1
    thumbnail: int = 320

    def __post_init__(self) -> None:
        windows(1.0, self.window)  # what cannot be is said before anything is watched
        sample_times(Span(0.0, 1.0), self.fps)


@dataclass(frozen=True, slots=True)
class Observers:
    """The observers: `speech` hears the whole recording first, then `frames` see each window."""

    speech: SpeechObserver | None = None
    frames: Sequence[Observer] = ()


@dataclass(slots=True)
class _FileProgress:
    """What has been done on one file so far; becomes its FileOutcome."""

    observations: int = 0
    windows: int = 0
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: dict[str, list[Span]] = field(default_factory=dict)

    def error_lines(self) -> tuple[str, ...]:
        """All errors; one repeated over many windows (a dead server) becomes a single line."""
        lines = list(self.faults)
        for fault, spans in self.failed.items():
            first = min(spans)
            where = f"{window_unit(first)} s" if len(spans) == 1 else f"{len(spans)} windows"
            since = "" if len(spans) == 1 else f" from {format_time(first.start)} on"
            lines.append(f"{where}{since}, {fault}")
        return tuple(lines)


async def ingest(
    store: Store,
    files: Sequence[Path],
    observers: Observers,
    *,
    sampling: SamplingOptions | None = None,
    wearer: str = "me",
    start: datetime | None = None,
    zone: tzinfo | None = None,
    notes: Sequence[str] = (),
    on_plan: Callable[[list[Recording]], None] = lambda recordings: None,
    on_step: OnStep = lambda step: None,
) -> IngestReport:
    """Ingest files one by one; a file that cannot be used is reported, and the rest are ingested.

    `start` is the instant of the first file's second 0 and overrides every other source; the other
    files must then be chapters of the same recording. `zone` is where names and sidecars without a
    zone were written. `on_plan` gets the recordings before the first is observed, and may raise to
    stop. A StoreError ends the run, because nothing could be stored after it; what was stored
    stays.
    """
    sampling = sampling or SamplingOptions()
    outcomes: dict[Path, FileOutcome] = {}
    probed: dict[Path, tuple[MediaInfo, str]] = {}
    for path in files:
        on_step(Step(str(path), "reading", 0, 1))
        try:
            _nameable(path)
            facts = await asyncio.to_thread(probe, path)
            probed[path] = facts, await asyncio.to_thread(content_hash, path)
        except Exception as error:
            outcomes[path] = _failed(path, error)
        on_step(Step(str(path), "reading", 1, 1))
    facts_of = {path: facts for path, (facts, _) in probed.items()}
    starts = start_times.find_starts(facts_of, given=start, zone=zone) if probed else {}
    recordings: dict[Path, Recording] = {}
    for path, (facts, digest) in probed.items():
        twins = (r for r in reversed(recordings.values()) if r.sha256 == digest)
        stored = next(twins, None) or store.recording(recording_id(digest))
        recordings[path] = _recording(path, digest, facts, wearer, starts[path], stored)
    on_plan(list(recordings.values()))
    for path, recording in recordings.items():
        try:
            outcomes[path] = await _one(
                store, path, facts_of[path], recording, starts[path], observers, sampling, on_step
            )
        except StoreError:
            raise
        except Exception as error:
            outcomes[path] = _failed(path, error)
    return IngestReport(outcomes=tuple(outcomes[path] for path in files), notes=tuple(notes))


def _nameable(path: Path) -> None:
    try:
        str(path.resolve()).encode()
    except UnicodeEncodeError:
        raise MediaError(f"the name of {path} is not UTF-8", "rename it") from None


def _failed(path: Path, error: Exception) -> FileOutcome:
    if isinstance(error, EgomemError):
        return FileOutcome(
            path=str(path), status="failed", faults=(error.message,), remedy=error.remedy
        )
    log.error("ingest of %s", path, exc_info=error)
    fault = f"{path}: unexpected {type(error).__name__}: {error}"
    return FileOutcome(
        path=str(path), status="failed", faults=(fault,), remedy="please report this"
    )


async def _one(
    store: Store,
    path: Path,
    facts: MediaInfo,
    recording: Recording,
    start: Start,
    observers: Observers,
    sampling: SamplingOptions,
    on_step: OnStep,
) -> FileOutcome:
    notes = list(start.notes) if start.clock == recording.clock else []
    if damage := recording.facts.get(DAMAGE):
        notes.append(f"known to be damaged: {damage}")
    tally = _FileProgress(notes=notes)
    todo = unfinished_windows(store, recording, observers.frames, sampling.window)
    tally.faults += past_failures(store, recording, observers.frames, todo)
    listen = bool(facts.audio) and not is_transcribed(store, recording, observers.speech)
    if store.recording(recording.id) != recording:
        store.put_recording(recording)
    if not todo and not listen:
        return FileOutcome(
            path=str(path),
            status="partial" if tally.faults else "unchanged",
            recording=recording.id,
            seconds=recording.duration,
            notes=tuple(notes),
            faults=tally.error_lines(),
        )
    started = time.perf_counter()
    if listen and observers.speech is not None:
        await _listen(store, path, recording, observers.speech, tally, on_step)
    await _watch(store, path, facts, recording, observers.frames, sampling, todo, tally, on_step)
    log.info("ingested %s in %.1f s", path, time.perf_counter() - started)
    return FileOutcome(
        path=str(path),
        status="partial" if tally.error_lines() else "done",
        recording=recording.id,
        seconds=recording.duration,
        windows=tally.windows,
        observations=tally.observations,
        notes=tuple(tally.notes),
        faults=tally.error_lines(),
    )


def _recording(
    path: Path, digest: str, facts: MediaInfo, wearer: str, start: Start, stored: Recording | None
) -> Recording:
    """The recording of a file. One that is stored keeps its wearer, and its clock unless a start
    was found.
    """
    fact_values = facts.model_dump(mode="json", exclude={"path"})
    if stored is not None and DAMAGE in stored.facts:
        fact_values[DAMAGE] = stored.facts[DAMAGE]
    return Recording(
        id=recording_id(digest),
        wearer=stored.wearer if stored else wearer,
        name=path.name,
        path=str(path.resolve()),
        sha256=digest,
        duration=facts.duration,
        clock=start.clock or (stored.clock if stored else None),
        facts=fact_values,
    )


async def _listen(
    store: Store,
    path: Path,
    recording: Recording,
    speech: SpeechObserver,
    tally: _FileProgress,
    on_step: OnStep,
) -> None:
    """Transcribe from where an earlier run stopped; each stretch of sound is stored at once."""
    track = speech.track
    store.put_track(track)
    begin = transcribed_until(store.completed(recording.id), track.id)
    rest = Span(begin, max(begin, recording.duration))

    def stretches() -> Iterator[tuple[float, list[Observation]]]:
        yield from speech.hear(audio(path, span=rest), recording)

    source = stretches()
    try:
        while (stretch := await asyncio.to_thread(next, source, None)) is not None:
            end, observations = stretch
            mark = Completed(recording.id, track.id, f"{TRANSCRIBED_UNTIL}{end!r}")
            tally.observations += store.add(observations, completed=[mark])
            on_step(Step(str(path), "listening", min(end, recording.duration), recording.duration))
    except EgomemError as error:
        if isinstance(error, StoreError):
            raise
        tally.faults.append(f"sound: {error}")
    else:
        store.add([], completed=[Completed(recording.id, track.id, "all")])
    on_step(Step(str(path), "listening", recording.duration, recording.duration))


async def _watch(
    store: Store,
    path: Path,
    facts: MediaInfo,
    recording: Recording,
    observers: Sequence[Observer],
    sampling: SamplingOptions,
    todo: Sequence[Span],
    tally: _FileProgress,
    on_step: OnStep,
) -> None:
    """Show every unfinished window to the observers; frames are decoded only once."""
    for observer in observers:
        store.put_track(observer.track)
    stream = _frames(path, facts, todo, sampling)
    source = _by_window(stream, todo)
    slots = asyncio.Semaphore(sampling.concurrency)

    async def observe(span: Span, window_frames: tuple[Frame, ...]) -> None:
        try:
            await _observe(
                store, Window(recording, span, window_frames), observers, sampling, tally
            )
        finally:
            slots.release()
        on_step(Step(str(path), "watching", span.end, recording.duration))

    try:
        async with asyncio.TaskGroup() as group:
            while True:
                await slots.acquire()
                window = await asyncio.to_thread(next, source, None)
                if window is None:
                    break
                group.create_task(observe(*window))
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    if stream is not None and (damage := _damage(stream.report, facts)):
        tally.faults.append(f"{path.name}: {damage}")
        new_facts = {**recording.facts, DAMAGE: damage}
        store.put_recording(recording.model_copy(update={"facts": new_facts}))


def _damage(report: DecodeReport, facts: MediaInfo) -> str:
    """One line on the stretches without a picture; "" where everything could be decoded."""
    lost = [
        f"between {format_time(before or 0.0)} and {format_time(after)}"
        for before, after in report.lost
        if after is not None
    ]
    if report.decoded_until is not None:
        length = format_time(facts.duration)
        lost.append(f"after {format_time(report.decoded_until)} of {length}")
    cause = f" ({report.cause})" if report.cause else ""
    return f"no picture {' and '.join(lost)}{cause}" if lost else ""


def _frames(
    path: Path, facts: MediaInfo, todo: Sequence[Span], sampling: SamplingOptions
) -> FrameReader | None:
    if facts.video is None or not todo:
        return None
    times = [t for span in todo for t in sample_times(span, sampling.fps)]
    return frames(path, times, side=sampling.side, info=facts)


def _by_window(
    stream: FrameReader | None, spans: Sequence[Span]
) -> Iterator[tuple[Span, tuple[Frame, ...]]]:
    """Each span with its frames; a window is yielded as soon as its last frame is decoded."""
    source = iter(stream or ())
    frame = next(source, None)
    for span in spans:
        window_frames = []
        while frame is not None and frame.requested < span.end:
            window_frames.append(frame)
            frame = next(source, None)
        yield span, tuple(distinct(window_frames))


async def _observe(
    store: Store,
    window: Window,
    observers: Sequence[Observer],
    sampling: SamplingOptions,
    tally: _FileProgress,
) -> None:
    """Observe one window with every observer that has not finished it; store all in one
    transaction.
    """
    recording = window.recording
    done = completed_work(store, recording, observers)
    marks = {
        o.track.id: Completed(recording.id, o.track.id, window_unit(window.span)) for o in observers
    }
    track_ids = {o.track.id for o in observers}
    finished_ids = {o.track.id for o in observers if is_finished(done, recording, o, window.span)}
    context = store.view().observations(recording=recording.id, span=window.span)
    window = replace(
        window,
        held=tuple(o for o in context if o.track not in track_ids or o.track in finished_ids),
    )
    completed = []
    observations: list[Observation] = []
    for observer in observers:
        mark = marks[observer.track.id]
        if observer.track.id in finished_ids:
            continue
        try:
            new = await observer.observe(window)
        except StoreError:
            raise
        except EgomemError as error:
            fault = f"{observer.track.source}: {error}"
            tally.failed.setdefault(fault, []).append(window.span)
            if isinstance(error, WindowFailed):
                gap = FailedWindow(window.span, error.status.value, error.tokens)
                completed += [mark, gap_mark(recording.id, observer.track.id, gap)]
            continue
        observations += new
        completed.append(mark)
        window = replace(window, held=(*window.held, *new))
    _keep_thumbnail(store, window, sampling)
    tally.observations += store.add(observations, completed=completed)
    tally.windows += 1


def _keep_thumbnail(store: Store, window: Window, sampling: SamplingOptions) -> None:
    if not sampling.thumbnail or not window.frames:
        return
    middle = window.frames[len(window.frames) // 2]
    picture = jpeg(middle, side=sampling.thumbnail)
    keep_thumbnail(store.folder, window.recording.id, window.span.start, picture)
