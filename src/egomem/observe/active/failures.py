"""Requests that failed in a run: which were left without a reply, and where a log goes on."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.errors import ModelError
from egomem.observe.active.loop import CaptionRun
from egomem.observe.active.state import CaptionLog, StopReason
from egomem.records import Status


def first_without_reply(faults: Sequence[str]) -> str:
    """Return the first request without a reply, as a backend writes it; "" if all were answered."""
    parsed = ((f, f.split(": ", 2)) for f in faults)
    return next((f for f, parts in parsed if parts[1:2] == [Status.ERROR.value]), "")


def require_caption(run: CaptionRun, *, logged: bool = False) -> CaptionRun:
    """Return the run, if its models were able to establish something or found nothing.

    Raises ModelError if there is no caption because there is no draft or a request got no reply:
    that says nothing of the recording. `logged`: the same command goes on from a log.
    """
    if run.caption:
        return run
    faults = run.state.faults
    failed = first_without_reply(faults)
    if not failed and run.state.stop in (StopReason.FAILED, StopReason.SINGLE):
        failed = "; ".join(faults)
    if not failed:
        return run
    again = "the same command goes on behind the last answered request" if logged else ""
    raise ModelError(f"no caption of {run.log.scene.name}: {failed}", again)


def answered_part(log: CaptionLog) -> CaptionLog:
    """Return what of a log can be gone on from: without the events behind a failed request.

    A log that has a caption in spite of one is not cut: what it established stays.
    """
    kept = []
    for event in log.events:
        if first_without_reply(getattr(event, "faults", ())):
            break
        kept.append(event)
    if any(getattr(e, "reason", None) is StopReason.FAILED for e in log.events):
        kept = []
    return log.model_copy(update={"events": tuple(kept)})
