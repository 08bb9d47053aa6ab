"""Observing the sound of a recording: each stretch is stored at once, so that a kill loses none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from egomem.errors import StoreError
from egomem.ingest.completion import TRANSCRIBED_UNTIL, transcribed_until
from egomem.ingest.job import FileJob
from egomem.ingest.observer_check import check_emitted, failure_line
from egomem.media import audio
from egomem.memory import Completed
from egomem.observe import SoundObserver
from egomem.records import Observation
from egomem.timeline import Span


async def observe_sound(job: FileJob, observer: SoundObserver) -> None:
    """Let an observer hear a recording from where an earlier run stopped.

    Sound that cannot be decoded, and an observer that fails, become faults of the job; what came
    before stays.
    """
    store, recording, track = job.store, job.recording, observer.track
    store.put_track(track)
    begin = transcribed_until(store.completed(recording.id), track.id)
    rest = Span(begin, max(begin, recording.duration))

    def stretches() -> Iterator[tuple[float, list[Observation]]]:
        yield from observer.hear(audio(job.path, span=rest), recording)

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
    job.step("listening", recording.duration)
