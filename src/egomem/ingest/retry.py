"""Windows whose observation failed: which to retry, and how to report them."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.memory import Completed, Store
from egomem.memory.failed_windows import FailedWindow, failed_windows, window_unit
from egomem.observe import FrameObserver
from egomem.records import Recording
from egomem.text import plural
from egomem.timeline import Span


def completed_work(
    store: Store, recording: Recording, observers: Sequence[FrameObserver]
) -> set[Completed]:
    """The finished work on a recording, without windows to retry.

    A window that was cut off is retried where more tokens are allowed now.
    """
    done = store.completed(recording.id)
    for observer in observers:
        limit = getattr(observer, "max_tokens", None)
        failures = (
            failed_windows(store, recording.id, observer.track.id) if isinstance(limit, int) else ()
        )
        for failure in failures:
            # A refusal has no limit to raise: it is not asked again.
            if failure.tokens is not None and failure.tokens < (limit or 0):
                done.discard(Completed(recording.id, observer.track.id, window_unit(failure.span)))
    return done


def past_failures(
    store: Store, recording: Recording, observers: Sequence[FrameObserver], todo: Sequence[Span]
) -> list[str]:
    """One line a track on windows that failed earlier and are not in `todo`."""
    retried = set(map(window_unit, todo))
    lines = []
    for observer in observers:
        failures = failed_windows(store, recording.id, observer.track.id)
        not_retried = [failure for failure in failures if window_unit(failure.span) not in retried]
        if not_retried:
            windows = describe_failed_windows(not_retried)
            lines.append(f"{observer.track.source}: no observation of {windows}")
    return lines


def describe_failed_windows(failures: Sequence[FailedWindow], max_listed: int = 5) -> str:
    """`2 windows: 1:00-1:30 refused, 2:00-2:30 truncated`"""
    more = f" and {len(failures) - max_listed} more" if len(failures) > max_listed else ""
    many = plural(len(failures), "window")
    return f"{many}: {', '.join(map(str, failures[:max_listed]))}{more}"
