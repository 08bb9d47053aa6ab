"""Windows of which nothing could be told: which are shown again, and what a report says of them."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.memory import Completed, Store
from egomem.memory.failed_windows import FailedWindow, failed_windows, window_unit
from egomem.observe import Observer
from egomem.records import Recording
from egomem.text import plural
from egomem.timeline import Span


def completed_work(
    store: Store, recording: Recording, observers: Sequence[Observer]
) -> set[Completed]:
    """What is finished; a window that was cut off is not, where more tokens are allowed now."""
    done = store.done(recording.id)
    for observer in observers:
        limit = getattr(observer, "max_tokens", None)
        held = (
            failed_windows(store, recording.id, observer.track.id) if isinstance(limit, int) else ()
        )
        for gap in held:
            if gap.tokens is not None and gap.tokens < (limit or 0):
                done.discard(Completed(recording.id, observer.track.id, window_unit(gap.span)))
    return done


def past_failures(
    store: Store, recording: Recording, observers: Sequence[Observer], todo: Sequence[Span]
) -> list[str]:
    """What earlier runs could not tell and this one, with `todo`, does not try; a line a track."""
    again = set(map(window_unit, todo))
    found = []
    for observer in observers:
        held = failed_windows(store, recording.id, observer.track.id)
        left = [gap for gap in held if window_unit(gap.span) not in again]
        if left:
            found.append(
                f"{observer.track.source}: nothing is told of {describe_failed_windows(left)}"
            )
    return found


def describe_failed_windows(held: Sequence[FailedWindow], most: int = 5) -> str:
    """`2 windows: 1:00-1:30 refused, 2:00-2:30 truncated`"""
    more = f" and {len(held) - most} more" if len(held) > most else ""
    many = plural(len(held), "window")
    return f"{many}: {', '.join(map(str, held[:most]))}{more}"
