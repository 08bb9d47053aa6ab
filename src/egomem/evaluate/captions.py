"""Captions of a run: built once for each recording, captioner and window, and read by all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from egomem.answer.video import spread
from egomem.errors import ConfigError, EgomemError, StoreError
from egomem.evaluate.config import Column, Config
from egomem.evaluate.purse import Spent
from egomem.evaluate.ways import Way
from egomem.ingest import Observers, Watching, ingest
from egomem.media import distinct, frames
from egomem.memory import Done, Store
from egomem.models import Limits, Models, Role
from egomem.observe import Window
from egomem.observe.captioner import Captioner
from egomem.records import Observation, Recording, Track
from egomem.timeline import Span, windows

AHEAD = 8
"""Windows captioned at once."""

OnWindow = Callable[[str], None]
"""Told of each window: "" where it has its caption now, else why not."""


class Aligned:
    """A captioner of windows that hold exactly the frames of VideoQA; a track of its own."""

    def __init__(self, inner: Captioner, frames: int) -> None:
        self.inner = inner
        held = inner.track
        self.track = held.model_copy(update={"sampling": f"{held.sampling}-aligned{frames}"})

    async def observe(self, window: Window) -> list[Observation]:
        seen = await self.inner.observe(window)
        return [o.model_copy(update={"track": self.track.id}) for o in seen]


class Watched:
    """A captioner of which each window is told, and that ends cleanly where the budget is spent:
    windows that are under way are finished, and no other is begun."""

    def __init__(self, inner: Captioner | Aligned, on_window: OnWindow) -> None:
        self.inner = inner
        self.track = inner.track
        self.spent: Spent | None = None
        self._on_window = on_window
        self._under_way = 0
        self._ended = asyncio.Event()

    async def observe(self, window: Window) -> list[Observation]:
        self._under_way += 1
        try:
            self.check()
            made = await self.inner.observe(window)
        except Spent as spent:
            self.spent = spent
        except EgomemError as error:
            self._on_window(str(error))
            raise
        else:
            self._on_window("")
            return made
        finally:
            self._under_way -= 1
            self._ended.set()
        while self._under_way:
            self._ended.clear()
            await self._ended.wait()
        raise self.spent

    def check(self) -> None:
        """Raise Spent where nothing more can be captioned."""
        if self.spent is not None:
            raise self.spent


def captioner(models: Models, way: Way, config: Config, reader: str) -> Captioner | Aligned:
    """Who captions for a setting. `reader` decides the frames of an aligned one."""
    made = Captioner(models, window=way.window or 30.0, fps=config.fps, transcript=False)
    return Aligned(made, config.frame_limit(reader)) if way.captions == "aligned" else made


def held_track(store: Store, way: Way, config: Config) -> str | None:
    """The caption track of a given memory that a setting reads; None: the best one of the view.

    Raises ConfigError where the window names none or several.
    """
    if config.track is not None:
        return config.track
    if way.window is None:
        return None
    known = [t for t in store.tracks() if t.source == "caption"]
    fits = [t.id for t in known if t.window == way.window]
    if len(fits) == 1:
        return fits[0]
    there = ", ".join(t.id for t in known) or "none"
    what = "several tracks" if fits else "no track"
    raise ConfigError(
        f"{way.name}: the memory holds {what} of captions of {way.window:g} s windows",
        f"name one with --track, or use the setting {way.strategy}; there are: {there}",
    )


def unfinished(store: Store, recording: Recording, track: Track, window: float) -> list[Span]:
    """The windows of a recording that are not captioned yet."""
    done = {d.unit for d in store.done(recording.id) if d.track == track.id}
    return [s for s in windows(recording.duration, window) if _unit(s) not in done]


def _unit(span: Span) -> str:
    return f"{span.start:g}-{span.end:g}"  # as ingest names it


async def build(
    store: Store,
    recording: Recording,
    column: Column,
    config: Config,
    models: Models,
    *,
    on_window: OnWindow = lambda fault: None,
) -> str:
    """Caption what is not captioned yet; "" or why some of it could not be.

    Each window is durable as soon as it is captioned, and no question is known here. Raises Spent
    where the budget does not allow the next one.
    """
    way = config.way(column)
    by = captioner(models, way, config, column.reader)
    window = way.window or 30.0
    todo = unfinished(store, recording, by.track, window)
    if not todo:
        return ""
    limits = models.limits(Role.CAPTIONER)
    watched = Watched(by, on_window)
    if isinstance(by, Aligned):
        faults = await _aligned(store, recording, watched, todo, config, column, limits)
    else:
        report = await ingest(
            store,
            [Path(recording.path or "")],
            Observers(frames=(watched,)),
            watching=Watching(window=window, fps=config.fps, side=limits.side, ahead=AHEAD),
            on_step=lambda step: watched.check(),
        )
        faults = list(report.outcomes[0].faults)
    watched.check()
    left = unfinished(store, recording, by.track, window)
    if not left:
        return ""
    why = faults[0] if faults else "the file cannot be watched"
    return f"{len(left)} windows have no caption ({why})"


async def _aligned(
    store: Store,
    recording: Recording,
    by: Watched,
    todo: Sequence[Span],
    config: Config,
    column: Column,
    limits: Limits,
) -> list[str]:
    """Windows of the frames that `video` shows this reader."""
    store.put_track(by.track)
    (looks,) = spread([recording], config.frame_limit(column.reader), config.fps)
    faults: list[str] = []

    async def one(span: Span) -> None:
        times = [t for t in looks.times if span.start <= t < span.end]
        path = recording.path or ""
        try:
            seen = await asyncio.to_thread(
                lambda: tuple(distinct(frames(path, times, side=limits.side))) if times else ()
            )
            made = await by.observe(Window(recording, span, seen))
        except StoreError:
            raise
        except EgomemError as error:
            faults.append(f"{_unit(span)} s: {error}")
            return
        store.add(made, done=[Done(recording.id, by.track.id, _unit(span))])

    for begin in range(0, len(todo), AHEAD):
        by.check()
        await asyncio.gather(*(one(span) for span in todo[begin : begin + AHEAD]))
    return faults
