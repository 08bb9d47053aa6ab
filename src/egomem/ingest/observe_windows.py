"""Observing a recording window by window; frames are decoded only once for all observers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from egomem.errors import StoreError
from egomem.ingest.completion import is_finished
from egomem.ingest.job import DAMAGE, FileJob
from egomem.ingest.observer_check import check_emitted, failure_line
from egomem.ingest.retry import completed_work
from egomem.media import DecodeReport, Frame, FrameReader, MediaInfo, distinct, frames, jpeg
from egomem.memory import Completed
from egomem.memory.failed_windows import FailedWindow, to_completed, window_unit
from egomem.memory.thumbnails import keep_thumbnail
from egomem.observe import Window, WindowFailed
from egomem.records import Observation
from egomem.timeline import Span, format_time, sample_times


async def observe_windows(job: FileJob, todo: Sequence[Span]) -> None:
    """Show the windows `todo` to the frame observers, several at once, and store what they see.

    A picture that cannot be decoded in places becomes a fault of the job, and a fact of the
    recording.
    """
    recording = job.recording
    for observer in job.observers.frames:
        job.store.put_track(observer.track)
    reader = _frame_reader(job, todo)
    source = _by_window(reader, todo)
    # A slot is taken before the next window is decoded, so that no more frames than those of
    # `concurrency` windows are ever in memory.
    slots = asyncio.Semaphore(job.sampling.concurrency)

    async def observe(span: Span, window_frames: tuple[Frame, ...]) -> None:
        try:
            await _observe(job, Window(recording, span, window_frames))
        finally:
            slots.release()
        job.step("watching", span.end)

    try:
        async with asyncio.TaskGroup() as group:
            while True:
                await slots.acquire()
                window = await asyncio.to_thread(next, source, None)
                if window is None:
                    break
                group.create_task(observe(*window))
    except BaseExceptionGroup as group_error:
        # The first error is the cause; the others are windows that it cancelled.
        raise group_error.exceptions[0] from None
    if reader is not None and (damage := _damage(reader.report, job.info)):
        job.progress.faults.append(f"{job.path.name}: {damage}")
        facts = {**recording.facts, DAMAGE: damage}
        with job.store.writing():
            if job.store.recording(recording.id) is not None:  # it may have been forgotten
                job.store.put_recording(recording.model_copy(update={"facts": facts}))


async def _observe(job: FileJob, window: Window) -> None:
    """Show a window to every observer that has not finished it; store all in one transaction."""
    store, recording, span = job.store, window.recording, window.span
    observers = job.observers.frames
    done = completed_work(store, recording, observers)
    track_ids = {o.track.id for o in observers}
    finished_ids = {o.track.id for o in observers if is_finished(done, recording, o, span)}
    # Observers build on what is stored of the window, but not on what this run makes anew.
    context = [
        o
        for o in store.view().observations(recording=recording.id, span=span)
        if o.track not in track_ids or o.track in finished_ids
    ]
    window = replace(window, context=tuple(context))
    completed: list[Completed] = []
    observations: list[Observation] = []
    for observer in observers:
        track = observer.track
        if track.id in finished_ids:
            continue
        mark = Completed(recording.id, track.id, window_unit(span))
        try:
            new = await observer.observe(window)
            check_emitted(observer, new)
        except StoreError:
            raise
        except Exception as error:  # an observer may be anybody's
            fault = f"{track.source}: {failure_line(observer, error)}"
            job.progress.failed.setdefault(fault, []).append(span)
            if isinstance(error, WindowFailed):
                # Finished without a result: asking again would cost the same and fail the same.
                failure = FailedWindow(span, error.status.value, error.tokens)
                completed += [mark, to_completed(recording.id, track.id, failure)]
            continue
        observations += new
        completed.append(mark)
        if job.sampling.concurrency == 1:  # else the windows beside it have come further
            share = len(completed) / (len(observers) + 1)
            job.step("watching", span.start + share * span.length)
        window = replace(window, context=(*window.context, *new))
    picture = _picture(job, window)
    with store.writing():  # or the recording could be forgotten between the two
        thumbnails = []
        if picture and store.recording(recording.id):
            thumbnails = [keep_thumbnail(store.folder, recording.id, span.start, picture)]
        new_count = store.add(observations, completed=completed, thumbnails=thumbnails)
    job.progress.count_times(observations)
    job.progress.observations += new_count
    job.progress.windows += 1


def _frame_reader(job: FileJob, todo: Sequence[Span]) -> FrameReader | None:
    if job.info.video is None or not todo:
        return None
    times = [t for span in todo for t in sample_times(span, job.sampling.fps)]
    return frames(job.path, times, side=job.sampling.side, info=job.info)


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


def _picture(job: FileJob, window: Window) -> bytes | None:
    """The JPEG of a window's middle frame; None where there is none, or none is kept."""
    if not job.sampling.thumbnail or not window.frames:
        return None
    middle = window.frames[len(window.frames) // 2]
    return jpeg(middle, side=job.sampling.thumbnail)


def _damage(report: DecodeReport, facts: MediaInfo) -> str:
    """One line on the stretches without a picture; "" where everything could be decoded."""
    stretches = [
        f"between {format_time(before or 0.0)} and {format_time(after)}"
        for before, after in report.lost
        if after is not None
    ]
    if report.decoded_until is not None:
        length = format_time(facts.duration)
        stretches.append(f"after {format_time(report.decoded_until)} of {length}")
    cause = f" ({report.cause})" if report.cause else ""
    return f"no picture {' and '.join(stretches)}{cause}" if stretches else ""
