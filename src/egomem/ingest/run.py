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

from egomem.errors import EgomemError, MediaError, StoreError
from egomem.hashing import recording_id
from egomem.ingest.completion import is_transcribed, unfinished_windows
from egomem.ingest.job import DAMAGE, FileJob, FileProgress, Observers, SamplingOptions
from egomem.ingest.observe_sound import observe_sound
from egomem.ingest.observe_windows import observe_windows
from egomem.ingest.report import FileOutcome, IngestReport, OnStep, Step
from egomem.ingest.retry import past_failures
from egomem.ingest.start_times import Start, find_starts
from egomem.media import MediaInfo, content_hash, probe
from egomem.memory import Store
from egomem.records import Recording

log = logging.getLogger(__name__)


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
            _check_name(path)
            facts = await asyncio.to_thread(probe, path)
            probed[path] = facts, await asyncio.to_thread(content_hash, path)
        except Exception as error:
            outcomes[path] = _failed(path, error)
        on_step(Step(str(path), "reading", 1, 1))
    facts_of = {path: facts for path, (facts, _) in probed.items()}
    starts = find_starts(facts_of, given=start, zone=zone) if probed else {}
    recordings: dict[Path, Recording] = {}
    for path, (facts, digest) in probed.items():
        # Two files with the same bytes are one recording: the later name is kept.
        twins = (r for r in reversed(recordings.values()) if r.sha256 == digest)
        stored = next(twins, None) or store.recording(recording_id(digest))
        recordings[path] = _recording(path, digest, facts, wearer, starts[path], stored)
    on_plan(list(recordings.values()))
    for path, recording in recordings.items():
        try:
            progress = FileProgress()
            job = FileJob(
                store, path, facts_of[path], recording, observers, sampling, progress, on_step
            )
            outcomes[path] = await _ingest_file(job, starts[path])
        except StoreError:
            raise
        except Exception as error:
            # Whatever is wrong with one file, the others are still worth ingesting.
            outcomes[path] = _failed(path, error)
    return IngestReport(outcomes=tuple(outcomes[path] for path in files), notes=tuple(notes))


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


async def _ingest_file(job: FileJob, start: Start) -> FileOutcome:
    store, recording, progress = job.store, job.recording, job.progress
    # A stored recording may keep an older clock; notes on a start that is not used would mislead.
    notes = list(start.notes) if start.clock == recording.clock else []
    if damage := recording.facts.get(DAMAGE):
        notes.append(f"known to be damaged: {damage}")
    observers = job.observers
    todo = unfinished_windows(store, recording, observers.frames, job.sampling.window)
    progress.faults += past_failures(store, recording, observers.frames, todo)
    unheard = [o for o in observers.sound if not is_transcribed(store, recording, o)]
    if not job.info.audio:
        unheard = []
    if store.recording(recording.id) != recording:
        store.put_recording(recording)
    worked = bool(todo or unheard)
    started = time.perf_counter()
    for observer in unheard:
        await observe_sound(job, observer)
    if worked:
        await observe_windows(job, todo)
        log.info("ingested %s in %.1f s", job.path, time.perf_counter() - started)
    faults = progress.error_lines()
    return FileOutcome(
        path=str(job.path),
        status="partial" if faults else "done" if worked else "unchanged",
        recording=recording.id,
        seconds=recording.duration,
        windows=progress.windows,
        observations=progress.observations,
        notes=tuple(notes),
        faults=faults,
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
