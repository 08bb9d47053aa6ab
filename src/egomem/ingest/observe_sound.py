"""Observing the sound of a recording: each stretch is stored at once, so that a kill loses none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from egomem.errors import StoreError
from egomem.ingest.completion import TRANSCRIBED_UNTIL, transcribed_until
from egomem.ingest.job import SOUND_DAMAGE, FileJob
from egomem.ingest.observer_check import check_emitted, failure_line
from egomem.media import AudioReader, audio
from egomem.memory import Completed
from egomem.observe import SoundObserver
from egomem.records import Observation
from egomem.timeline import Span, format_time

MIN_LOST_S = 0.1
"""Seconds of lost sound that are reported: a camera that splits its recording in the middle of a
packet loses less at each joint."""


async def observe_sound(job: FileJob, observer: SoundObserver) -> None:
    """Let an observer hear a recording from where an earlier run stopped.

    Sound that cannot be decoded becomes a fault of the job and a fact of the recording; an observer
    that fails, a fault of the job. What came before stays.
    """
    store, recording, track = job.store, job.recording, observer.track
    store.put_track(track)
    begin = transcribed_until(store.completed(recording.id), track.id)
    rest = Span(begin, max(begin, recording.duration))
    reader = audio(job.path, span=rest)

    def stretches() -> Iterator[tuple[float, list[Observation]]]:
        yield from observer.hear(reader, recording)

    source = stretches()
    try:
        # Recognition blocks, so each stretch is computed in a thread: the loop stays free.
        while (stretch := await asyncio.to_thread(next, source, None)) is not None:
            end, observations = stretch
            check_emitted(observer, observations)
            mark = Completed(recording.id, track.id, f"{TRANSCRIBED_UNTIL}{end!r}")
            job.progress.observations += store.add(observations, completed=[mark])
            job.step("listening", end)
    except StoreError:
        raise
    except Exception as error:  # an observer may be anybody's
        job.progress.faults.append(f"sound: {failure_line(observer, error)}")
    else:
        store.add([], completed=[Completed(recording.id, track.id, "all")])
    if damage := _sound_damage(reader, recording.duration):
        job.record_damage(SOUND_DAMAGE, damage)
    job.step("listening", recording.duration)


def _sound_damage(reader: AudioReader, duration: float) -> str:
    """One line on the stretches without sound; "" where nothing that could be heard is lost."""
    stretches = []
    for begin, end in reader.lost:
        if (duration if end is None else end) - begin < MIN_LOST_S:
            continue
        if end is not None:
            stretches.append(f"between {format_time(begin)} and {format_time(end)}")
        elif begin:
            stretches.append(f"after {format_time(begin)} of {format_time(duration)}")
        else:
            stretches.append("that can be decoded")
    return f"no sound {' and '.join(stretches)} ({reader.cause})" if stretches else ""
