"""One recording, observed: its sound from start to end, then its windows; stored as it goes.

Each window is stored in one transaction together with the marks of those that finished it. An
observer that fails is reported, and the others go on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from egomem.errors import EgomemError, ModelError, StoreError
from egomem.ingest.completion import TRANSCRIBED_UNTIL, is_finished, transcribed_until
from egomem.ingest.report import OnStep, Step
from egomem.ingest.retry import completed_work
from egomem.media import (
    DecodeReport,
    Frame,
    FrameReader,
    MediaInfo,
    audio,
    distinct,
    frames,
    jpeg,
)
from egomem.memory import Completed, Store
from egomem.memory.failed_windows import FailedWindow, to_completed, window_unit
from egomem.memory.thumbnails import keep_thumbnail
from egomem.observe import AnyObserver, FrameObserver, SoundObserver, Window, WindowFailed
from egomem.records import Observation, Recording
from egomem.timeline import DEFAULT_FPS, DEFAULT_WINDOW, Span, format_time, sample_times, windows

log = logging.getLogger(__name__)

DAMAGE = "damage"
"""The fact of a recording that says which part of its picture could not be decoded."""


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
    """Who observes: `sound` hears the whole recording first, then `frames` sees each window."""

    sound: Sequence[SoundObserver] = ()
    frames: Sequence[FrameObserver] = ()


@dataclass(slots=True)
class FileProgress:
    """What was observed of one file so far, and what went wrong; becomes its FileOutcome."""

    observations: int = 0
    windows: int = 0
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: dict[str, list[Span]] = field(default_factory=dict)

    def error_lines(self) -> tuple[str, ...]:
        """All errors; one repeated over many windows (a server that has gone) is a single line."""
        lines = list(self.faults)
        for fault, spans in self.failed.items():
            first = min(spans)
            where = f"{window_unit(first)} s" if len(spans) == 1 else f"{len(spans)} windows"
            since = "" if len(spans) == 1 else f" from {format_time(first.start)} on"
            lines.append(f"{where}{since}, {fault}")
        return tuple(lines)


async def observe_sound(
    store: Store,
    path: Path,
    recording: Recording,
    observer: SoundObserver,
    progress: FileProgress,
    on_step: OnStep,
) -> None:
    """Hear a recording from where an earlier run stopped; each stretch is durable at once."""
    track = observer.track
    store.put_track(track)
    begin = transcribed_until(store.completed(recording.id), track.id)
    rest = Span(begin, max(begin, recording.duration))

    def hear() -> Iterator[tuple[float, list[Observation]]]:
        yield from observer.hear(audio(path, span=rest), recording)

    stretches = hear()
    try:
        while (stretch := await asyncio.to_thread(next, stretches, None)) is not None:
            end, observations = stretch
            _check_emitted(observer, observations)
            mark = Completed(recording.id, track.id, f"{TRANSCRIBED_UNTIL}{end!r}")
            progress.observations += store.add(observations, completed=[mark])
            on_step(Step(str(path), "listening", min(end, recording.duration), recording.duration))
    except StoreError:
        raise
    except Exception as error:
        progress.faults.append(f"sound: {_reason(observer, error)}")
    else:
        store.add([], completed=[Completed(recording.id, track.id, "all")])
    on_step(Step(str(path), "listening", recording.duration, recording.duration))


async def observe_windows(
    store: Store,
    path: Path,
    facts: MediaInfo,
    recording: Recording,
    observers: Sequence[FrameObserver],
    sampling: SamplingOptions,
    todo: Sequence[Span],
    progress: FileProgress,
    on_step: OnStep,
) -> None:
    """Give every unfinished window to the observers; the frames are decoded once."""
    for observer in observers:
        store.put_track(observer.track)
    reader = _frame_reader(path, facts, todo, sampling)
    source = _by_window(reader, todo)
    slots = asyncio.Semaphore(sampling.concurrency)

    async def observe(span: Span, window_frames: tuple[Frame, ...]) -> None:
        try:
            window = Window(recording, span, window_frames)
            await _observe(store, window, observers, sampling, progress)
        finally:
            slots.release()
        on_step(Step(str(path), "watching", span.end, recording.duration))

    try:
        async with asyncio.TaskGroup() as group:
            while True:
                # Before the next window is decoded: its frames are memory.
                await slots.acquire()
                item = await asyncio.to_thread(next, source, None)
                if item is None:
                    break
                group.create_task(observe(*item))
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    if reader is not None and (damage := _damage(reader.report, facts)):
        progress.faults.append(f"{path.name}: {damage}")
        damaged = {**recording.facts, DAMAGE: damage}
        store.put_recording(recording.model_copy(update={"facts": damaged}))


def _damage(report: DecodeReport, facts: MediaInfo) -> str:
    """Which stretches have no picture, in a line; "" where all of it could be decoded."""
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


def _frame_reader(
    path: Path, facts: MediaInfo, todo: Sequence[Span], sampling: SamplingOptions
) -> FrameReader | None:
    if facts.video is None or not todo:
        return None
    times = [t for span in todo for t in sample_times(span, sampling.fps)]
    return frames(path, times, side=sampling.side, info=facts)


def _by_window(
    reader: FrameReader | None, spans: Sequence[Span]
) -> Iterator[tuple[Span, tuple[Frame, ...]]]:
    """Each span with the frames wanted in it; a window is given out when its last frame is in."""
    source = iter(reader or ())
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
    observers: Sequence[FrameObserver],
    sampling: SamplingOptions,
    progress: FileProgress,
) -> None:
    """One window: every observer that has not finished it, then one transaction for all of them."""
    recording = window.recording
    done = completed_work(store, recording, observers)
    track_ids = {o.track.id for o in observers}
    finished = {o.track.id for o in observers if is_finished(done, recording, o, window.span)}
    overlapping = store.view().observations(recording=recording.id, span=window.span)
    # What these observers emitted before is context once it is whole: half a window of it, left by
    # a run that allowed fewer tokens, would be read by the others as all that was there.
    window = replace(
        window,
        context=tuple(o for o in overlapping if o.track not in track_ids or o.track in finished),
    )
    marks: list[Completed] = []
    observations: list[Observation] = []
    for observer in observers:
        track_id = observer.track.id
        if track_id in finished:
            continue
        mark = Completed(recording.id, track_id, window_unit(window.span))
        try:
            emitted = await observer.observe(window)
            _check_emitted(observer, emitted)
        except StoreError:
            raise
        except Exception as error:
            fault = f"{observer.track.source}: {_reason(observer, error)}"
            progress.failed.setdefault(fault, []).append(window.span)
            if isinstance(error, WindowFailed):
                failure = FailedWindow(window.span, error.status.value, error.tokens)
                marks += [mark, to_completed(recording.id, track_id, failure)]
            continue
        observations += emitted
        marks.append(mark)
        window = replace(window, context=(*window.context, *emitted))
    _keep_thumbnail(store, window, sampling)
    progress.observations += store.add(observations, completed=marks)
    progress.windows += 1


def _check_emitted(observer: AnyObserver, observations: Sequence[Observation]) -> None:
    """Raise ModelError where an observation is not of its observer's track: it would be stored
    among another's, and never be observed anew with its own."""
    track = observer.track
    for observation in observations:
        if (observation.track, observation.source) != (track.id, track.source):
            raise ModelError(
                f"{type(observer).__name__} emitted {observation.source} of the track "
                f"{observation.track}, and its own is {track.id}",
                "fix the observer",
            )


def _reason(observer: AnyObserver, error: Exception) -> str:
    """Why an observer failed, in a line; an error that is none of ours is logged with its trace."""
    if isinstance(error, EgomemError):
        return str(error)
    log.error("%s", observer.track.id, exc_info=error)
    return f"{type(observer).__name__} failed with {type(error).__name__}: {error}"


def _keep_thumbnail(store: Store, window: Window, sampling: SamplingOptions) -> None:
    if not sampling.thumbnail or not window.frames:
        return
    middle = window.frames[len(window.frames) // 2]
    picture = jpeg(middle, side=sampling.thumbnail)
    keep_thumbnail(store.folder, window.recording.id, window.span.start, picture)
