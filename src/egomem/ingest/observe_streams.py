"""Observing the streams beside a recording: gaze, motion, position."""

from __future__ import annotations

import asyncio

from egomem.errors import StoreError
from egomem.hashing import SHORT_LENGTH, hash_json
from egomem.ingest.job import FileJob
from egomem.ingest.observer_check import check_emitted, failure_line
from egomem.media.streams import RecordingStreams
from egomem.memory import Completed, Store
from egomem.observe import StreamObserver
from egomem.records import Recording


def is_followed(
    store: Store, recording: Recording, observer: StreamObserver, streams: RecordingStreams
) -> bool:
    """Whether an observer has followed these streams, or has none to follow."""
    unit = _unit(observer, streams)
    return not unit or Completed(recording.id, observer.track.id, unit) in store.completed(
        recording.id
    )


def _unit(observer: StreamObserver, streams: RecordingStreams) -> str:
    """The finished work on these streams, as the memory marks it; "" where there is none to do."""
    bases = [
        [placed.kind, placed.info.basis]
        for placed in streams.placed
        if placed.kind in observer.kinds
    ]
    return f"streams {hash_json(sorted(bases))[:SHORT_LENGTH]}" if bases else ""


async def observe_streams(job: FileJob, observer: StreamObserver) -> None:
    """Let an observer follow a recording's streams. One that fails is a fault of the job; what it
    observed before stays."""
    store, recording, track = job.store, job.recording, observer.track
    store.put_track(track)
    stretches = observer.follow(job.streams, recording)
    try:
        # Reading blocks, so each stretch is computed in a thread: the loop stays free.
        while (stretch := await asyncio.to_thread(next, stretches, None)) is not None:
            end, observations = stretch
            check_emitted(observer, observations)
            job.progress.observations += store.add(observations)
            job.step("following", end)
    except StoreError:
        raise
    except Exception as error:  # an observer may be anybody's
        job.progress.faults.append(f"{track.source}: {failure_line(observer, error)}")
        return
    mark = Completed(recording.id, track.id, _unit(observer, job.streams))
    store.add([], completed=[mark])
    job.step("following", recording.duration)
