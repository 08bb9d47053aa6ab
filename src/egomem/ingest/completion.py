"""Which work on a recording is finished: windows of each observer, and stretches of sound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.ingest.retry import completed_work
from egomem.memory import Completed, Store
from egomem.memory.failed_windows import window_unit
from egomem.observe import FrameObserver, SoundObserver
from egomem.records import Recording, Track
from egomem.text import plural
from egomem.timeline import Span, windows

TRANSCRIBED_UNTIL = "until "
"""Begins the unit of sound that is stored up to a second."""


def unfinished_windows(
    store: Store, recording: Recording, observers: Sequence[FrameObserver], window: float
) -> list[Span]:
    """The windows that at least one observer has not finished."""
    done = completed_work(store, recording, observers)
    return [
        span
        for span in windows(recording.duration, window)
        if any(not is_finished(done, recording, o, span) for o in observers)
    ]


def is_finished(
    done: set[Completed], recording: Recording, observer: FrameObserver, span: Span
) -> bool:
    """Whether an observer has finished a window.

    A track without a window length records what is seen at any time once, so finished windows of
    another length that cover this one count.
    """
    track = observer.track
    if Completed(recording.id, track.id, window_unit(span)) in done:
        return True
    # A caption of [0, 60) is no caption of [0, 30).
    if track.window is not None:
        return False
    reached = span.start
    units = (d.unit for d in done if d.track == track.id and d.unit[0].isdigit())
    for start, end in sorted(map(_bounds, units)):
        # A gap between finished windows ends the stretch: what lies behind it does not cover this
        # one.
        if start <= reached:
            reached = max(reached, end)
    return reached >= _bounds(window_unit(span))[1]


def _bounds(unit: str) -> tuple[float, float]:
    start, _, end = unit.partition("-")
    return float(start), float(end)


def is_transcribed(store: Store, recording: Recording, observer: SoundObserver) -> bool:
    """Whether an observer has heard all of a recording."""
    return Completed(recording.id, observer.track.id, "all") in store.completed(recording.id)


def transcribed_until(done: set[Completed], track: str) -> float:
    """The end (s) of the last stretch of sound that is stored completely."""
    units = (d.unit for d in done if d.track == track)
    return max(
        (
            float(u.removeprefix(TRANSCRIBED_UNTIL))
            for u in units
            if u.startswith(TRANSCRIBED_UNTIL)
        ),
        default=0.0,
    )


def observed_otherwise(
    store: Store, recording: Recording, observers: Sequence[FrameObserver]
) -> Iterator[str]:
    """A line for each observer that has seen a recording with other options, and sees it anew."""
    finished = {unit.track for unit in store.completed(recording.id)}
    tracks = {track.id: track for track in store.tracks()}
    for observer in observers:
        now = observer.track
        before = [
            track
            for id in sorted(finished)
            if (track := tracks.get(id))
            and (track.source, track.observer, track.model) == (now.source, now.observer, now.model)
        ]
        options = [o for o in dict.fromkeys(map(_options, before)) if o != _options(now)]
        if options and now.id not in finished:
            yield (
                f"{now.source.replace('_', ' ')} was observed with other options "
                f"({'; '.join(options)}); it "
                f"is observed again, beside that ({_options(now)})"
            )


def other_rates(
    store: Store, recording: Recording, observers: Sequence[FrameObserver]
) -> list[str]:
    """The frame rates at which a recording was observed by these observers, where all of it would
    now be observed again at another: `1fps`."""
    finished = {unit.track for unit in store.completed(recording.id)}
    before = [track for track in store.tracks() if track.id in finished]
    rates = [
        _rate(track)
        for observer in observers
        if observer.track.id not in finished
        for track in before
        if (track.source, track.observer, track.model)
        == (observer.track.source, observer.track.observer, observer.track.model)
        and _rate(track) != _rate(observer.track)
    ]
    return list(dict.fromkeys(filter(None, rates)))


def observed_again(
    store: Store, recordings: Sequence[Recording], observers: Sequence[FrameObserver], fps: float
) -> str:
    """A line on known recordings that this rate would have observed all over; "" where none is."""
    rates = {r.name: before for r in recordings if (before := other_rates(store, r, observers))}
    if not rates:
        return ""
    name, earlier = next(iter(rates.items()))
    more = f" and {plural(len(rates) - 1, 'other recording')}" if len(rates) > 1 else ""
    return (
        f"{name}{more} was observed at {', '.join(earlier)}; at {fps:g}fps it would be observed "
        "all over, beside that"
    )


def _rate(track: Track) -> str:
    return next((p for p in (track.sampling or "").split(",") if p.endswith("fps")), "")


def _options(track: Track) -> str:
    """The rate and the window of a track, which the user may have given: `2fps`."""
    rate = _rate(track)
    window = f"windows of {track.window:g} s" if track.window is not None else ""
    return ", ".join(part for part in (rate, window) if part) or "other settings"
