"""Ingest recordings: observe each window and store it, resumable at every window.

A recording's id follows from its bytes, so the same file again adds nothing, wherever it lies. A
window's observations and the mark that it is finished are stored in one transaction: a kill loses
nothing that was stored, and the next run continues behind it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from pathlib import Path

from egomem.errors import EgomemError, ForgottenError, MediaError, StoreError, UsageError
from egomem.hashing import recording_id
from egomem.ingest.completion import is_transcribed, observed_otherwise, unfinished_windows
from egomem.ingest.job import FileJob, FileProgress, Observers, SamplingOptions, damages
from egomem.ingest.known_files import ignored_wearer, is_changed, known_recording, originals
from egomem.ingest.observe_sound import observe_sound
from egomem.ingest.observe_streams import is_followed, observe_streams
from egomem.ingest.observe_windows import observe_windows
from egomem.ingest.report import FileOutcome, IngestReport, OnStep, Step
from egomem.ingest.retry import past_failures
from egomem.ingest.start_times import Start, find_starts
from egomem.ingest.stream_files import stream_notes, streams_of, with_streams
from egomem.media import MediaInfo, content_hash, probe
from egomem.media.streams import StreamFile
from egomem.memory import Store
from egomem.records import Recording

log = logging.getLogger(__name__)


async def ingest(
    store: Store,
    files: Sequence[Path],
    observers: Observers,
    *,
    sampling: SamplingOptions | None = None,
    wearer: str | None = None,
    default_wearer: str = "me",
    start: datetime | None = None,
    zone: tzinfo | None = None,
    streams: Sequence[StreamFile] = (),
    find_streams: bool = True,
    notes: Sequence[str] = (),
    on_plan: Callable[[list[Recording]], None] = lambda recordings: None,
    on_step: OnStep = lambda step: None,
) -> IngestReport:
    """Ingest files one by one; a file that cannot be used is reported, and the rest are ingested.

    `start` is the instant of the first file's second 0 and overrides every other source; the other
    files must then be chapters of the same recording. `zone` is where it was recorded. `wearer` is
    who the user says wore the camera; it counts for files that are new, as `default_wearer` does
    without it. `streams` are those of a single recording, and go before those that lie beside it,
    which `find_streams` takes. Of files with the same bytes one is ingested. `on_plan` gets the
    recordings before the first is observed, and may raise to stop. A StoreError ends the run,
    because nothing could be stored after it; what was stored stays.
    """
    sampling = sampling or SamplingOptions()
    outcomes: dict[Path, FileOutcome] = {}
    probed: dict[Path, tuple[MediaInfo, str]] = {}
    for path in files:
        on_step(Step(str(path), "reading", 0, 1))
        try:
            _check_name(path)
            facts = await asyncio.to_thread(probe, path)
            # All files before the first is observed: chapters, copies and the plan need them
            # together.
            probed[path] = facts, await asyncio.to_thread(content_hash, path)
        except Exception as error:
            outcomes[path] = _failed(path, error)
        on_step(Step(str(path), "reading", 1, 1))
    stored_recordings = store.recordings()
    digests = {path: digest for path, (_, digest) in probed.items()}
    copies = originals(digests, {r.path for r in stored_recordings})
    facts_of = {path: facts for path, (facts, _) in probed.items() if path not in copies}
    starts: dict[Path, Start] = {}
    if probed:
        starts = find_starts(facts_of, given=start, zone=zone, stored=stored_recordings)
    recordings: dict[Path, Recording] = {}
    notes_of: dict[Path, list[str]] = {}
    for path, facts in facts_of.items():
        digest = probed[path][1]
        stored = store.recording(recording_id(digest))
        recordings[path], notes_of[path] = known_recording(
            path,
            digest,
            facts,
            starts[path],
            stored,
            wearer=wearer or default_wearer,
            given=start,
            zone=zone,
        )
        # What is remembered of a recording is not changed by a later option; that it was not has to
        # be said.
        notes_of[path] += ignored_wearer(recordings[path], wearer)
    if streams and len(recordings) > 1:
        raise UsageError(
            f"streams were given for {len(recordings)} recordings", "ingest them one by one"
        )
    # Before anything is paid for.
    on_plan(list(recordings.values()))
    for path, recording in recordings.items():
        try:
            progress = FileProgress()
            its_streams = await asyncio.to_thread(
                streams_of, path, recording, streams, find=find_streams
            )
            job = FileJob(
                store,
                path,
                facts_of[path],
                with_streams(recording, its_streams.infos),
                observers,
                sampling,
                progress,
                on_step,
                its_streams,
            )
            notes_of[path] += stream_notes(recording, its_streams)
            progress.faults += its_streams.faults
            outcomes[path] = await _ingest_file(job, notes_of[path])
        except (ForgottenError, UsageError) as error:
            # Somebody may forget a recording while it is being ingested, which ends this one alone.
            if store.recording(recording.id) is not None:
                outcomes[path] = _failed(path, error)
                continue
            await asyncio.to_thread(_forget_replies, store.folder, [recording.id])
            outcomes[path] = _failed(path, _forgotten(path))
        except StoreError:
            raise
        except Exception as error:
            # Whatever is wrong with one file, the others are still worth ingesting.
            outcomes[path] = _failed(path, error)
    outcomes |= {path: _copied(path, outcomes[first]) for path, first in copies.items()}
    return IngestReport(outcomes=tuple(outcomes[path] for path in files), notes=tuple(notes))


def _forgotten(path: Path) -> ForgottenError:
    return ForgottenError(
        f"{path.name} was forgotten while it was being ingested, and nothing of it is stored",
        "ingest it again to remember it",
    )


def _forget_replies(folder: Path, recordings: list[str]) -> None:
    """Delete the cached replies of recordings: a request under way may have ended after the
    forgetting.
    """
    from egomem.memory import replies  # which knows of models

    replies.forget(folder, recordings=recordings)


def _copied(path: Path, outcome: FileOutcome) -> FileOutcome:
    """The outcome of a file whose bytes are those of another one."""
    return FileOutcome(
        path=str(path),
        status="unchanged",
        recording=outcome.recording,
        seconds=outcome.seconds,
        notes=(f"a copy of {outcome.path} (the same bytes): nothing to do",),
    )


def _check_name(path: Path) -> None:
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


async def _ingest_file(job: FileJob, notes: list[str]) -> FileOutcome:
    store, recording, progress = job.store, job.recording, job.progress
    notes = list(notes)
    notes += [f"known to be damaged: {damage}" for damage in damages(recording)]
    observers = job.observers
    notes += observed_otherwise(store, recording, observers.frames)
    todo = unfinished_windows(store, recording, observers.frames, job.sampling.window)
    progress.faults += past_failures(store, recording, observers.frames, todo)
    unheard = [o for o in observers.sound if not is_transcribed(store, recording, o)]
    # A file without sound is heard to its end by definition.
    if not job.info.audio:
        unheard = []
    unfollowed = [o for o in observers.streams if not is_followed(store, recording, o, job.streams)]
    stored = store.recording(recording.id)
    is_updated = stored is not None and is_changed(stored, recording)
    # Before its observations: they refer to it.
    if is_updated or stored != recording:
        store.put_recording(recording)
    worked = bool(todo or unheard or unfollowed)
    started = time.perf_counter()
    # Sound first: composed captions and transcripts of a window need what was said in it.
    for observer in unheard:
        await observe_sound(job, observer)
    for stream_observer in unfollowed:
        await observe_streams(job, stream_observer)
    if worked:
        await observe_windows(job, todo)
        log.info("ingested %s in %.1f s", job.path, time.perf_counter() - started)
    faults = progress.error_lines()
    return FileOutcome(
        path=str(job.path),
        status="partial"
        if faults
        else "done"
        if worked
        else "updated"
        if is_updated
        else "unchanged",
        recording=recording.id,
        seconds=recording.duration,
        windows=progress.windows,
        observations=progress.observations,
        notes=(*notes, *progress.time_notes()),
        faults=faults,
    )
