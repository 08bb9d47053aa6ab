"""Captions of a run: built once for each recording, captioner and window, and read by all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from egomem.answer.frames import FrameTimes
from egomem.defaults import DEFAULT_WINDOW
from egomem.errors import ConfigError, EgomemError, StoreError, UsageError
from egomem.evaluate.budget import BudgetExhausted
from egomem.evaluate.conditions import Condition
from egomem.evaluate.config import Arm, Config
from egomem.hashing import hash_json
from egomem.ingest import Observers, SamplingOptions, ingest
from egomem.media import distinct, frames
from egomem.memory import Completed, Store
from egomem.memory.failed_windows import (
    FailedWindow,
    failed_windows,
    from_completed,
    to_completed,
    window_unit,
)
from egomem.models import Limits, ModelClient, Role
from egomem.observe import Window, WindowFailed
from egomem.observe.captioner import Captioner
from egomem.records import Observation, Record, Recording, Usage
from egomem.text import plural
from egomem.timeline import Span, format_span, windows

CONCURRENCY = 8
"""Windows captioned at once."""

OnGap = Callable[[str, str, Span, Usage], None]
"""Told what a window took that has no caption: track, recording, window."""
OnWindow = Callable[[str], None]
"""Told of each window: "" where it has its caption now, else why not."""


@dataclass(frozen=True)
class FrameSelection:
    """What `video` shows of the recordings that a question may see: `recordings`, as long as they
    were by then, and the times of the frames of each. `cut` names it in a track, and is "" where it
    is one whole recording."""

    recordings: tuple[Recording, ...]
    times: dict[str, tuple[float, ...]]
    cut: str

    @classmethod
    def of_whole_videos(
        cls, looks: Sequence[FrameTimes], whole: Mapping[str, float]
    ) -> FrameSelection:
        """The same where the frames of each recording are its own, and of no other."""
        selection = cls.of(looks, whole)
        # Frames of whole recordings are the same for all questions, so that these share captions.
        if all(look.recording.duration >= whole[look.recording.id] for look in looks):
            return replace(selection, cut="")
        return selection

    @classmethod
    def of(cls, looks: Sequence[FrameTimes], whole: Mapping[str, float]) -> FrameSelection:
        """`whole`: the full length of each recording in seconds."""
        recordings = tuple(look.recording for look in looks)
        times = {look.recording.id: look.times for look in looks}
        ends = [(r.id, r.duration) for r in recordings]
        cut = ""
        # The name of a track must follow from its frames alone, or two questions would share
        # captions of different frames.
        if len(looks) != 1:
            cut = f"-over{len(looks)}-{hash_json([ends, sorted(times.items())], ascii=True)[:8]}"
        # By its end and not by a hash: a reader of the memory sees what it is.
        elif ends[0][1] < whole[ends[0][0]]:
            cut = f"-until{ends[0][1]:g}"
        return cls(recordings, times, cut)


def track_with_cuts(store: Store, track: str) -> list[str]:
    """A track, and those of aligned captions of what single questions may see of a recording."""
    return [track, *(t.id for t in store.tracks() if is_cut(t.id, track))]


def is_cut(id: str, track: str) -> bool:
    """Whether the track `id` holds what single questions may see, where `track` holds whole
    recordings."""
    return id.startswith((f"{track}-over", f"{track}-until"))  # and not `-aligned768` itself


class AlignedCaptioner:
    """A captioner of windows that hold exactly the frames that were selected; a track of its own
    for each selection of frames (see `FrameSelection.cut`). `kind`: whether these are the frames of
    VideoQA ("aligned") or of whole videos ("whole")."""

    def __init__(self, inner: Captioner, frames: int, cut: str = "", kind: str = "aligned") -> None:
        self.inner = inner
        self.max_tokens = inner.max_tokens
        inner_track = inner.track
        # The request's limit of images is no part of it: exactly the frames of `video` are sent, or
        # none.
        sampling = (inner_track.sampling or "").partition("-max")[0]
        self.track = inner_track.model_copy(update={"sampling": f"{sampling}-{kind}{frames}{cut}"})

    async def observe(self, window: Window) -> list[Observation]:
        # Thinning them out would be a silent departure from CapMem's control, whose point is that
        # both sides see the same frames.
        if len(window.frames) > self.inner.max_images:
            raise UsageError(
                f"video shows {len(window.frames)} frames of this window, and a request of the "
                f"captioner holds {self.inner.max_images} (limits.captioner.images): the captions "
                "would not be aligned",
                "name shorter windows, as in aligned@8, or lower --frames",
            )
        observations = await self.inner.observe(window)
        return [o.model_copy(update={"track": self.track.id}) for o in observations]


class WatchedCaptioner:
    """A captioner of which each window is told, and that ends cleanly where the budget is spent:
    windows that are under way are finished, and no other is begun."""

    def __init__(
        self, inner: Captioner | AlignedCaptioner, on_window: OnWindow, on_gap: OnGap | None = None
    ) -> None:
        self.inner = inner
        self.track = inner.track
        self.max_tokens = inner.max_tokens
        self.spent: BudgetExhausted | None = None
        self._on_window = on_window
        self._on_gap = on_gap
        self._under_way = 0
        self._ended = asyncio.Event()

    async def observe(self, window: Window) -> list[Observation]:
        self._under_way += 1
        try:
            self.check()
            observations = await self.inner.observe(window)
        except BudgetExhausted as spent:
            self.spent = spent
        except EgomemError as error:
            # A refused window was paid for, too.
            if isinstance(error, WindowFailed) and self._on_gap:
                self._on_gap(self.track.id, window.recording.id, window.span, error.usage)
            self._on_window(str(error))
            raise
        else:
            self._on_window("")
            return observations
        finally:
            self._under_way -= 1
            self._ended.set()
        # Those under way are paid for already: they are waited for, so that their captions are
        # kept.
        while self._under_way:
            self._ended.clear()
            await self._ended.wait()
        raise self.spent

    def check(self) -> None:
        """Raise BudgetExhausted where nothing more can be captioned."""
        if self.spent is not None:
            raise self.spent


def captioner(
    models: ModelClient, condition: Condition, config: Config, reader: str, cut: str = ""
) -> Captioner | AlignedCaptioner:
    """Who captions for a setting. `reader` decides the frames of an aligned one, `cut` says of what
    they were chosen."""
    inner = Captioner(
        models,
        window=condition.window,
        fps=config.fps,
        # CaptionQA is from frames; a transcript in the prompt would make it another setting.
        transcript=False,
        max_tokens=config.caption_tokens,
    )
    if condition.captions == "whole":
        return AlignedCaptioner(inner, config.whole_frame_limit(reader), cut, kind="whole")
    if condition.captions != "aligned":
        return inner
    return AlignedCaptioner(inner, config.frame_limit(reader), cut)


def given_track(store: Store, condition: Condition, config: Config) -> str | None:
    """The caption track of a given memory that a setting reads; None: the best one of the view.

    Raises ConfigError where the window names none or several.
    """
    if config.track is not None:
        return config.track
    if condition.window is None:
        return None
    tracks = [t for t in store.tracks() if t.source == "caption"]
    matches = [t.id for t in tracks if t.window == condition.window]
    if len(matches) == 1:
        return matches[0]
    existing = ", ".join(t.id for t in tracks) or "none"
    what = "several tracks" if matches else "no track"
    raise ConfigError(
        f"{condition.name}: the memory holds {what} of captions of {condition.window:g} s windows",
        f"name one with --track, or use the setting {condition.strategy}; there are: {existing}",
    )


def caption_windows(recording: Recording, window: float | None) -> list[Span]:
    """The windows of a recording that are captioned; `window` None: one of all of it."""
    if window is None:
        return [Span(0.0, recording.duration)] if recording.duration > 0 else []
    return windows(recording.duration, window)


def unfinished(
    store: Store, recording: Recording, track: str, window: float | None, tokens: int
) -> list[Span]:
    """The windows of a recording that are still to be captioned. One that was cut off is, where
    more than it had are allowed now (`tokens`)."""
    done = store.completed(recording.id)
    done_units = {d.unit for d in done if d.track == track}
    if from_completed(done, track):
        done_units -= {
            window_unit(gap.span)
            for gap in failed_windows(store, recording.id, track)
            # Asking again under the same limit would cut it off at the same place, and cost the
            # same.
            if gap.tokens is not None and gap.tokens < tokens
        }
    return [s for s in caption_windows(recording, window) if window_unit(s) not in done_units]


class Uncaptioned(Record):
    """A window that has no caption, as the captioner refused, was cut off, or said nothing that can
    be read (`status`). `start` and `end` in seconds; questions are answered without it."""

    track: str
    video: str
    start: float
    end: float
    status: str

    def __str__(self) -> str:
        return f"{self.video} {format_span(Span(self.start, self.end))} {self.status}"


def uncaptioned(
    store: Store, recordings: Mapping[str, str], tracks: Iterable[str]
) -> list[Uncaptioned]:
    """The windows without a caption of some tracks; `recordings`: video -> its recording's id."""
    return [
        Uncaptioned(track=track, video=video, start=g.span.start, end=g.span.end, status=g.status)
        for track in dict.fromkeys(tracks)
        for video, id in recordings.items()
        for g in failed_windows(store, id, track)
    ]


def uncaptioned_text(windows: Sequence[Uncaptioned], limit: int = 5) -> str:
    """`2 windows have no caption: v1 1:00-1:30 refused, ...`"""
    many = plural(len(windows), "window has", "windows have")
    rest = f" and {len(windows) - limit} more" if len(windows) > limit else ""
    return f"{many} no caption: {', '.join(map(str, windows[:limit]))}{rest}"


async def caption_recording(
    store: Store,
    recording: Recording,
    column: Arm,
    config: Config,
    models: ModelClient,
    *,
    selection: FrameSelection | None = None,
    on_window: OnWindow = lambda fault: None,
    on_gap: OnGap | None = None,
) -> str:
    """Caption what is not captioned yet; "" or why some of it could not be, and is tried again.

    `selection`: what aligned captions are made of. A window that is refused, cut off or unreadable
    is finished, without a caption. Each window is durable as soon as it is captioned, and no
    question is known here. Raises BudgetExhausted where the budget does not allow the next one.
    """
    condition = config.condition(column)
    selected = captioner(
        models, condition, config, column.reader, selection.cut if selection else ""
    )
    window = condition.window
    tokens = config.caption_tokens
    todo = unfinished(store, recording, selected.track.id, window, tokens)
    if not todo:
        return ""
    limits = models.limits(Role.CAPTIONER)
    watcher = WatchedCaptioner(selected, on_window, on_gap)
    if selection is not None:
        times = selection.times[recording.id]
        faults = await _aligned(store, recording, watcher, todo, times, limits)
    else:
        report = await ingest(
            store,
            [Path(recording.path or "")],
            Observers(frames=(watcher,)),
            sampling=SamplingOptions(
                window=window or DEFAULT_WINDOW,
                fps=config.fps,
                side=limits.side,
                concurrency=CONCURRENCY,
            ),
            on_step=lambda step: watcher.check(),
        )
        faults = list(report.outcomes[0].faults)
    watcher.check()
    unfinished_windows = unfinished(store, recording, selected.track.id, window, tokens)
    if not unfinished_windows:
        return ""
    why = faults[0] if faults else "the file cannot be watched"
    return f"{plural(len(unfinished_windows), 'window has', 'windows have')} no caption ({why})"


async def _aligned(
    store: Store,
    recording: Recording,
    by: WatchedCaptioner,
    todo: Sequence[Span],
    times: Sequence[float],
    limits: Limits,
) -> list[str]:
    """Windows of the frames that `video` shows."""
    store.put_track(by.track)
    faults: list[str] = []

    async def one(span: Span) -> None:
        frame_times = [t for t in times if span.start <= t < span.end]
        path = recording.path or ""
        try:
            window_frames = await asyncio.to_thread(
                lambda: (
                    tuple(distinct(frames(path, frame_times, side=limits.side)))
                    if frame_times
                    else ()
                )
            )
            observations = await by.observe(Window(recording, span, window_frames))
        except StoreError:
            raise
        except WindowFailed as error:
            gap = FailedWindow(span, error.status.value, error.tokens)
            done = [
                Completed(recording.id, by.track.id, window_unit(span)),
                to_completed(recording.id, by.track.id, gap),
            ]
            store.add([], completed=done)
            return
        except EgomemError as error:
            faults.append(f"{window_unit(span)} s: {error}")
            return
        store.add(observations, completed=[Completed(recording.id, by.track.id, window_unit(span))])

    for begin in range(0, len(todo), CONCURRENCY):
        by.check()
        await asyncio.gather(*(one(span) for span in todo[begin : begin + CONCURRENCY]))
    return faults
