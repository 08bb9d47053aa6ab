"""The captions of a run: made before the answers that read them, each window once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from egomem.errors import ConfigError, EgomemError, MissingExtraError, StoreError
from egomem.evaluate import captions
from egomem.evaluate.budget import BudgetExhausted
from egomem.evaluate.caption_usage import (
    at_least_one_request,
    failed_window_key,
    usage_of_captions,
)
from egomem.evaluate.config import Arm
from egomem.evaluate.run_folder import OpenRun
from egomem.evaluate.run_summary import OnNote, OnProgress, RunProgress
from egomem.records import Question, Recording, Usage
from egomem.timeline import Span


class _Job(NamedTuple):
    """A recording that is captioned for an arm, with a question that reads its captions."""

    arm: Arm
    question: Question
    recording: Recording
    windows: int


async def make_captions(
    run: OpenRun, arms: Iterable[Arm], on_note: OnNote, on_progress: OnProgress
) -> list[str]:
    """Make the captions that these arms read; returns what went wrong, a line for each recording.

    Ends early where the budget is spent. Whatever ends it, the usage of the captions that there are
    is written down. Raises ConfigError, StoreError and MissingExtraError.
    """
    arms = list(arms)
    try:
        return await _work_off(run, _jobs(run, arms), on_note, on_progress)
    finally:
        tracks = run.inputs.made_tracks(arms, run.questions)
        recorded = run.record.stored.caption_usage
        usage = usage_of_captions(run.store, run.cache, tracks, recorded)
        run.record.add_caption_usage(usage)


def _jobs(run: OpenRun, arms: Iterable[Arm]) -> list[_Job]:
    """A job for each recording and track."""
    inputs = run.inputs
    jobs: dict[tuple[str, str], _Job] = {}
    for arm in filter(inputs.makes_captions, arms):
        for question in run.questions:
            track = inputs.track(arm, question) or ""
            for recording in inputs.captioned_recordings(question, arm):
                windows = inputs.windows_to_caption(arm, recording, question)
                if windows:
                    job = _Job(arm, question, recording, windows)
                    jobs.setdefault((recording.id, track), job)
    return list(jobs.values())


async def _work_off(
    run: OpenRun, jobs: list[_Job], on_note: OnNote, on_progress: OnProgress
) -> list[str]:
    progress = RunProgress("captions", sum(job.windows for job in jobs))
    faults: list[str] = []

    def on_window(fault: str) -> None:
        progress.advance(fault)
        progress.spent = run.budget.spent()
        on_progress(progress)

    def on_gap(track: str, recording: str, window: Span, usage: Usage) -> None:
        # Its reply was no caption, and such replies are not cached: this is all that is left of it.
        key = failed_window_key(track, recording, window)
        run.record.add_caption_usage({key: at_least_one_request(usage)})

    for arm, question, recording, _ in jobs:
        client = run.clients.of(arm)
        if run.budget.closed or client is None:
            return faults
        try:
            async with client:
                fault = await captions.caption_recording(
                    run.store,
                    recording,
                    arm,
                    run.config,
                    client,
                    selection=run.inputs.frame_selection(question, arm),
                    on_window=on_window,
                    on_gap=on_gap,
                )
        except BudgetExhausted:
            return faults
        except (ConfigError, StoreError, MissingExtraError):
            raise
        except EgomemError as error:
            fault = str(error)
        if fault:
            faults.append(f"{recording.name}: {fault}")
            on_note(faults[-1])
    return faults
