"""Transcribing a recording: each stretch of sound is stored at once, so that a kill loses none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from egomem.errors import EgomemError, StoreError
from egomem.ingest.completion import TRANSCRIBED_UNTIL, transcribed_until
from egomem.ingest.job import FileJob
from egomem.media import audio
from egomem.memory import Completed
from egomem.observe import SpeechObserver
from egomem.records import Observation
from egomem.timeline import Span


async def transcribe(job: FileJob, speech: SpeechObserver) -> None:
    """Transcribe a recording from where an earlier run stopped.

    Sound that cannot be decoded becomes a fault of the job; what came before it stays.
    """
    store, recording, track = job.store, job.recording, speech.track
    store.put_track(track)
    begin = transcribed_until(store.completed(recording.id), track.id)
    rest = Span(begin, max(begin, recording.duration))

    def stretches() -> Iterator[tuple[float, list[Observation]]]:
        yield from speech.hear(audio(job.path, span=rest), recording)

    source = stretches()
    try:
        # Recognition blocks, so each stretch is computed in a thread: the loop stays free.
        while (stretch := await asyncio.to_thread(next, source, None)) is not None:
            end, observations = stretch
            mark = Completed(recording.id, track.id, f"{TRANSCRIBED_UNTIL}{end!r}")
            job.progress.observations += store.add(observations, completed=[mark])
            job.step("listening", end)
    except EgomemError as error:
        if isinstance(error, StoreError):
            raise
        job.progress.faults.append(f"sound: {error}")
    else:
        store.add([], completed=[Completed(recording.id, track.id, "all")])
    job.step("listening", recording.duration)
